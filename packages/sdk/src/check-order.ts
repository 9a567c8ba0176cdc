/**
 * Finds what is wrong with a signed order without any call: its form, its numbers, and who signed what. The signature is judged
 * by the code with which the service judges it, so the answer here is the answer there.
 */
import { divide, formatMicro, PIPS, type Pips, parseTick, pipsToNumber } from '@bellwether/contract/decimals';
import {
  asAddress,
  describeDomain,
  type ExchangeContracts,
  exchangeDomain,
  exchangeDomains,
  hexToBytes,
  nobleRecover,
  type OrderFields,
  type OrderProfile,
  POLYGON_CHAIN_ID,
  parseAddress,
  parseHex,
  type RefusedOrder,
  type SentOrder,
  type SignatureType,
  signsExtras,
  type VerifiedOrder,
  verifyOrder,
  ZERO_ADDRESS,
} from '@bellwether/protocol';

export type OrderCheckName = 'form' | 'amounts' | 'price' | 'expiration' | 'signature' | 'order id';

export interface OrderFinding {
  readonly check: OrderCheckName;
  /** `unknown`: something else has to be mended first, or was not given. */
  readonly state: 'good' | 'wrong' | 'unknown';
  readonly found: string;
  /** Set unless it is good. */
  readonly nextStep: string | null;
}

export interface OrderCheck {
  /** True when nothing is wrong. What only the market knows stays unknown without `negRisk` and `tickSize`. */
  readonly isSound: boolean;
  /** The EIP-712 digest, when the signature is good. */
  readonly orderId: string | null;
  readonly findings: readonly OrderFinding[];
}

export interface OrderCheckOptions {
  /** Whether the market excludes others; default: that of the body, else either. */
  readonly negRisk?: boolean;
  /** Tick of the market; default: that of the body. */
  readonly tickSize?: string;
  /** Default: `polymarket` for version 2 with a timestamp, if `interface` does not fit. */
  readonly profile?: OrderProfile;
  /** Default 137. */
  readonly chainId?: number;
  readonly contracts?: ExchangeContracts;
  /** Epoch milliseconds; default the local clock. */
  readonly now?: () => number;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isUint = (value: unknown): boolean =>
  typeof value === 'number'
    ? Number.isSafeInteger(value) && value >= 0
    : typeof value === 'string' && /^\d{1,78}$/.test(value);
const isAddressText = (value: unknown): boolean => parseAddress(value) !== null;
const isWord = (value: unknown): boolean => typeof value === 'string' && parseHex(value)?.length === 32;

interface FieldRule {
  readonly fits: (value: unknown) => boolean;
  readonly what: string;
  readonly optional?: true;
}

const ADDRESS: FieldRule = { fits: isAddressText, what: 'an address: 0x and 40 hex digits' };
const UINT: FieldRule = { fits: isUint, what: 'a whole number, as text' };
const optional = (rule: FieldRule): FieldRule => ({ ...rule, optional: true });

const FIELDS: Readonly<Record<string, FieldRule>> = {
  salt: UINT,
  maker: ADDRESS,
  signer: ADDRESS,
  taker: optional(ADDRESS),
  tokenId: UINT,
  makerAmount: UINT,
  takerAmount: UINT,
  expiration: optional(UINT),
  nonce: optional(UINT),
  feeRateBps: optional(UINT),
  side: { fits: (value) => ['BUY', 'SELL', '0', '1'].includes(String(value)), what: '"BUY" or "SELL"' },
  signatureType: { fits: (value) => ['0', '1', '2', '3'].includes(String(value)), what: '0, 1, 2 or 3' },
  signature: {
    fits: (value) => typeof value === 'string' && parseHex(value) !== null && value.length > 2,
    what: '0x and hex digits',
  },
  timestamp: optional(UINT),
  metadata: optional({ fits: isWord, what: '0x and 64 hex digits' }),
  builder: optional({ fits: isWord, what: '0x and 64 hex digits' }),
};

const finding =
  (state: OrderFinding['state']) =>
  (check: OrderCheckName, found: string, nextStep: string | null = null): OrderFinding => ({
    check,
    state,
    found,
    nextStep,
  });
const good = finding('good');
const wrong = finding('wrong');
const unknown = finding('unknown');

const FORM_FIRST = 'Mend the form first.';

/**
 * @param order a body of POST /markets/trade, the venue's own body, or the signed order alone; anything is taken and judged
 * @example
 * const { findings } = checkOrder(order, { negRisk: market.negRisk, tickSize: market.tickSize });
 */
export function checkOrder(order: unknown, options: OrderCheckOptions = {}): OrderCheck {
  const body = isObject(order) ? order : {};
  const signed = isObject(body.order) ? body.order : body;
  const form = formFindings(order, signed);
  if (form.some(({ state }) => state === 'wrong'))
    return {
      isSound: false,
      orderId: null,
      findings: [...form, unknown('signature', 'it cannot be judged', FORM_FIRST)],
    };
  const sent = sentOrder(signed, body);
  const negRisk = options.negRisk ?? (typeof body.negRisk === 'boolean' ? body.negRisk : undefined);
  const tickSize = options.tickSize ?? (typeof body.tickSize === 'string' ? body.tickSize : undefined);
  const signature = judged(sent, negRisk, options);
  const findings = [
    ...form,
    ...numberFindings(sent.fields, tickSize, options.now ?? Date.now),
    ...signatureFindings(sent, signature, negRisk),
  ];
  return {
    isSound: findings.every(({ state }) => state !== 'wrong'),
    orderId: signature.ok ? signature.orderId : null,
    findings,
  };
}

function formFindings(given: unknown, signed: Json): OrderFinding[] {
  if (!isObject(given))
    return [
      wrong(
        'form',
        'it is no JSON object',
        'Give the order as an object: the body of a trade, or its "order".',
      ),
    ];
  const faults = Object.entries(FIELDS).flatMap(([name, { fits, what, optional: mayMiss }]) => {
    const value = signed[name];
    if (value === undefined || value === null)
      return mayMiss === true ? [] : [wrong('form', `${name} is missing`, `Add ${name}: ${what}.`)];
    return fits(value) ? [] : [wrong('form', `${name} is malformed`, `${name} is ${what}.`)];
  });
  return faults.length > 0 ? faults : [good('form', 'every field is there')];
}

const bigintOf = (value: unknown): bigint => BigInt((value ?? 0) as string | number);

function sentOrder(signed: Json, body: Json): SentOrder {
  const hasExtras = ['timestamp', 'metadata', 'builder'].some((name) => signed[name] != null);
  const word = (value: unknown) => (value == null ? new Uint8Array(32) : hexToBytes(String(value)));
  const { orderVersion } = body;
  return {
    fields: {
      salt: bigintOf(signed.salt),
      maker: asAddress(String(signed.maker).toLowerCase()),
      signer: asAddress(String(signed.signer).toLowerCase()),
      taker: asAddress(String(signed.taker ?? ZERO_ADDRESS).toLowerCase()),
      tokenId: bigintOf(signed.tokenId),
      makerAmount: bigintOf(signed.makerAmount),
      takerAmount: bigintOf(signed.takerAmount),
      expiration: bigintOf(signed.expiration),
      nonce: bigintOf(signed.nonce),
      feeRateBps: bigintOf(signed.feeRateBps),
      side: ['BUY', '0'].includes(String(signed.side)) ? 0 : 1,
      signatureType: Number(signed.signatureType) as SignatureType,
    },
    extras: hasExtras
      ? {
          timestamp: bigintOf(signed.timestamp),
          metadata: word(signed.metadata),
          builder: word(signed.builder),
        }
      : null,
    signature: String(signed.signature),
    version: orderVersion === 1 || orderVersion === 2 ? orderVersion : null,
  };
}

function numberFindings(
  fields: OrderFields,
  tickSize: string | undefined,
  now: () => number,
): OrderFinding[] {
  const { side, makerAmount, takerAmount } = fields;
  const [shares, money] = side === 0 ? [takerAmount, makerAmount] : [makerAmount, takerAmount];
  return [
    amountsFinding(fields, shares, money),
    priceFinding({ isBuy: side === 0, shares, money }, tickSize),
    expirationFinding(fields.expiration, now),
  ];
}

function amountsFinding(fields: OrderFields, shares: bigint, money: bigint): OrderFinding {
  const { side, salt, taker, nonce, feeRateBps } = fields;
  if (shares === 0n || money === 0n)
    return wrong(
      'amounts',
      'an amount is 0',
      'Sign an order with shares and collateral above 0, in millionths.',
    );
  const odd = [
    ...(salt > BigInt(Number.MAX_SAFE_INTEGER)
      ? ['salt is above 2^53−1, which JSON numbers cannot carry']
      : []),
    ...(taker === ZERO_ADDRESS ? [] : ['taker is not the zero address']),
    ...(nonce === 0n ? [] : ['nonce is not 0']),
    ...(feeRateBps === 0n ? [] : ['feeRateBps is not 0']),
  ];
  const said = `${side === 0 ? 'BUY' : 'SELL'} ${formatMicro(shares)} shares for ${formatMicro(money)}`;
  return odd.length === 0
    ? good('amounts', said)
    : wrong(
        'amounts',
        `${said}; ${odd.join('; ')}`,
        'Sign again with taker, nonce and feeRateBps 0, and a salt below 2^53.',
      );
}

/** As the service reads it back: floored for a BUY, ceiled for a SELL. */
function priceFinding(
  { isBuy, shares, money }: { readonly isBuy: boolean; readonly shares: bigint; readonly money: bigint },
  tickSize: string | undefined,
): OrderFinding {
  if (shares === 0n) return unknown('price', 'there are no shares', 'Mend the amounts first.');
  const known = parseTick(tickSize);
  const tick: Pips = known ?? 1;
  const ticks = divide(money * BigInt(PIPS), shares * BigInt(tick), isBuy ? 'floor' : 'ceil');
  const price = ticks * BigInt(tick);
  if (price < BigInt(tick) || price > BigInt(PIPS - tick))
    return wrong(
      'price',
      `${formatMicro((money * 1_000_000n) / shares)} a share is not between 0 and 1`,
      'makerAmount is what the maker gives: collateral in a BUY, shares in a SELL. Are they the wrong way round?',
    );
  const said = `${pipsToNumber(Number(price))} a share`;
  return known === null
    ? unknown('price', said, "Give the market's tick size, such as 0.01, to check the grid.")
    : good('price', `${said}, on the grid of ${tickSize}`);
}

function expirationFinding(expiration: bigint, now: () => number): OrderFinding {
  if (expiration === 0n) return good('expiration', 'none');
  const seconds = Number(expiration);
  // Epoch milliseconds by mistake would be a date beyond the year 33658.
  if (seconds > 1e12)
    return wrong(
      'expiration',
      `${expiration} is no time in seconds`,
      'Sign the expiration in epoch seconds.',
    );
  const text = new Date(seconds * 1000).toISOString();
  return seconds * 1000 <= now()
    ? wrong('expiration', `${text} has passed`, 'Sign an order with a later expiration.')
    : good('expiration', text);
}

type JudgedSignature =
  | (VerifiedOrder & {
      readonly negRisk: boolean;
      readonly profile: OrderProfile;
      /** Which contract it is signed for, in words. */
      readonly contract: string;
    })
  | RefusedOrder;

/** The first way in which it is good; else what is wrong with the most likely way. */
function judged(sent: SentOrder, negRisk: boolean | undefined, options: OrderCheckOptions): JudgedSignature {
  const { profile, chainId = POLYGON_CHAIN_ID, contracts } = options;
  const domains = exchangeDomains(chainId, contracts);
  const profiles: readonly OrderProfile[] =
    profile !== undefined ? [profile] : sent.extras === null ? ['interface'] : ['interface', 'polymarket'];
  let refused: RefusedOrder | null = null;
  for (const one of profiles)
    for (const risk of negRisk === undefined ? [false, true] : [negRisk]) {
      const verdict = verifyOrder(sent, risk, { domains, chainId, profile: one, recover: nobleRecover });
      if (verdict.ok) {
        const contract = describeDomain(exchangeDomain(domains, verdict.exchangeVersion, risk));
        return { ...verdict, negRisk: risk, profile: one, contract };
      }
      refused ??= verdict;
    }
  return refused as RefusedOrder;
}

function signatureFindings(
  sent: SentOrder,
  verdict: JudgedSignature,
  negRisk: boolean | undefined,
): OrderFinding[] {
  if (!verdict.ok) {
    const { check, culprit, recovered } = verdict.diagnosis;
    const who = typeof recovered === 'string' ? `; the signature is that of ${recovered}` : '';
    const what = typeof culprit === 'string' ? `${check}: ${culprit}` : check;
    return [wrong('signature', `${what}${who}`, verdict.fix)];
  }
  const { exchangeVersion, eoa, orderId, profile, contract } = verdict;
  const where =
    negRisk === undefined && exchangeVersion !== 3
      ? `${contract}, for markets with negRisk ${verdict.negRisk}`
      : contract;
  const struct = signsExtras(exchangeVersion, profile) ? "the venue's own struct" : 'the 12-field struct';
  return [
    good('signature', `by ${eoa} for ${sent.fields.maker}: ${where}, ${struct}`),
    good('order id', orderId),
  ];
}
