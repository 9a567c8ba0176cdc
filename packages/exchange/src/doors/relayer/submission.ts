/** A body of `POST /submit`: read, built again, and compared. What differs in any field is refused, as is another's signature. */
import {
  type Address,
  asAddress,
  bytesToHex,
  type ContractCall,
  CTF_COLLATERAL_ADAPTER,
  controlsWallet,
  convertCall,
  mergeCall,
  NEG_RISK_COLLATERAL_ADAPTER,
  POSITION_ROUTER,
  parseAddress,
  parseHex,
  parseSignature,
  type RecoverPublicKey,
  type RelayTerms,
  recoverAddress,
  redeemCall,
  redeemPositionCall,
  relayRequest,
  SAFE_MULTISEND,
  signedRelayBody,
  splitCall,
  type WalletOwner,
} from '@bellwether/protocol';
import { WireError } from '../polymarket/requests.ts';

export interface Submission {
  /** Of what the owner signed: the transaction's name. */
  readonly digest: `0x${string}`;
  readonly owner: WalletOwner;
  readonly type: RelayTerms['type'];
  readonly nonce: bigint;
  /** `null`: approvals alone. */
  readonly effect: Exclude<CallEffect, { readonly kind: 'approval' }> | null;
  /** The body as it was sent. */
  readonly body: Readonly<Record<string, unknown>>;
}

interface SubmissionTerms {
  readonly recover: RecoverPublicKey;
  readonly chainId: number;
  /** Epoch milliseconds; `null`: the deadline was judged when it was taken. */
  readonly now: number | null;
  /** The only account that delivers for proxy wallets. */
  readonly relay: Address;
}

/** The venue grants a batch so much time, at the most. */
const MOST_AHEAD_S = 300;

type Fields = Readonly<Record<string, unknown>>;

const refused = (text: string): WireError => new WireError(400, text);
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const numberOf = (value: unknown, name: string): bigint => {
  if (typeof value !== 'string' || !/^\d{1,78}$/.test(value)) throw refused(`invalid ${name}`);
  return BigInt(value);
};
const addressOf = (value: unknown, name: string): Address => {
  const address = parseAddress(value);
  if (address === null) throw refused(`invalid ${name}`);
  return address;
};

/** @throws WireError */
export function readSubmission(given: unknown, terms: SubmissionTerms): Submission {
  const body = fieldsOf(given);
  // Before its fields: it has neither a nonce nor, for a deposit wallet, a signature.
  if (body.type === 'SAFE-CREATE' || body.type === 'WALLET-CREATE')
    throw refused(`${body.type} is not needed: every wallet of an owner is deployed on paper`);
  const eoa = addressOf(body.from, 'from');
  const nonce = numberOf(body.nonce, 'nonce');
  const { owner, calls, relayTerms } = partsOf(body, { eoa, nonce }, terms);
  if (!controlsWallet(eoa, owner.type, owner.wallet)) throw refused('wallet is not controlled by from');
  if (calls === null) throw refused('invalid data');
  const request = relayRequest(owner, calls, relayTerms, terms.chainId);
  const signature = requireSigned(body.signature, request.digest, { owner, ...terms });
  requireSame(body, signedRelayBody(request, signature));
  return {
    digest: bytesToHex(request.digest),
    ...{ owner, nonce, body, type: relayTerms.type },
    effect: soleEffect(calls),
  };
}

interface Parts {
  readonly owner: WalletOwner;
  readonly calls: readonly ContractCall[] | null;
  readonly relayTerms: RelayTerms;
}

function partsOf(
  body: Fields,
  { eoa, nonce }: { readonly eoa: Address; readonly nonce: bigint },
  { now, relay }: SubmissionTerms,
): Parts {
  const params = fieldsOf(body.signatureParams);
  const data = String(body.data ?? '').toLowerCase();
  switch (body.type) {
    case 'PROXY': {
      const wallet = addressOf(body.proxyWallet, 'proxyWallet');
      if (addressOf(params.relay, 'relay') !== relay) throw refused('unknown relay');
      return {
        owner: { eoa, wallet, type: 1 },
        calls: callsOfProxyData(data),
        relayTerms: { type: 'PROXY', nonce, relay },
      };
    }
    case 'SAFE': {
      const wallet = addressOf(body.proxyWallet, 'proxyWallet');
      return {
        owner: { eoa, wallet, type: 2 },
        calls: callsOfSafe(addressOf(body.to, 'to'), data, params.operation === '1'),
        relayTerms: { type: 'SAFE', nonce },
      };
    }
    case 'WALLET': {
      const given = fieldsOf(body.depositWalletParams);
      const deadlineS = Number(numberOf(given.deadline, 'deadline'));
      const aheadS = now === null ? 1 : deadlineS - now / 1000;
      if (aheadS <= 0 || aheadS > MOST_AHEAD_S) throw refused('invalid deadline');
      const wallet = addressOf(given.depositWallet, 'depositWallet');
      return {
        owner: { eoa, wallet, type: 3 },
        calls: batchCalls(given.calls),
        relayTerms: { type: 'WALLET', nonce, deadlineS },
      };
    }
    default:
      throw refused('invalid transaction type');
  }
}

function batchCalls(given: unknown): readonly ContractCall[] | null {
  if (!Array.isArray(given) || given.length === 0 || given.length > 20) return null;
  return given.map((one) => {
    const { target, data } = fieldsOf(one);
    if (typeof data !== 'string' || parseHex(data) === null) throw refused('invalid data');
    return { to: addressOf(target, 'target'), data: data.toLowerCase() as `0x${string}` };
  });
}

/** @returns the signature in the form that `signedRelayBody` takes */
function requireSigned(
  given: unknown,
  digest: Uint8Array,
  { owner, recover }: { readonly owner: WalletOwner } & Pick<SubmissionTerms, 'recover'>,
): `0x${string}` {
  const bytes = typeof given === 'string' ? parseHex(given) : null;
  if (bytes === null || bytes.length === 0) throw refused('invalid signature');
  const plain = bytes.slice();
  const last = plain.length - 1;
  // A Safe's signature of a personal message.
  if (owner.type === 2 && plain[last]! > 30) plain[last] = plain[last]! - 4;
  const parsed = parseSignature(plain);
  const recovered = parsed.ok ? recoverAddress(recover, digest, parsed) : null;
  if (recovered === null || !recovered.ok || recovered.address !== owner.eoa)
    throw refused('invalid signature');
  return bytesToHex(plain);
}

/** Every field as the venue's client makes it: a fee, a refund, a value or another contract is none of ours. */
function requireSame(body: Fields, built: Fields, path = ''): void {
  for (const [name, value] of Object.entries(built)) {
    const given = body[name];
    const where = `${path}${name}`;
    if (Array.isArray(value)) {
      const list = Array.isArray(given) ? given : [];
      if (list.length !== value.length) throw refused(`invalid ${where}`);
      for (const [at, one] of value.entries())
        requireSame(fieldsOf(list[at]), one as Fields, `${where}.${at}.`);
    } else if (typeof value === 'object' && value !== null)
      requireSame(fieldsOf(given), value as Fields, `${where}.`);
    else if (!(name === 'metadata' || sameText(given, value))) throw refused(`invalid ${where}`);
  }
}

const sameText = (given: unknown, value: unknown): boolean =>
  typeof given === 'string' && given.toLowerCase() === String(value).toLowerCase();

/** Of a whole event of Protocol V2, by selector, with the way round. */
const NOT_ON_PAPER: Readonly<Record<string, string>> = {
  '0x40657b52': 'horizontalSplit: split a set of one question instead, then convert its NO shares',
  '0x24f24944': 'horizontalMerge: sell the YES shares instead, or redeem them after the resolution',
};

/** What the paper exchange can do at once: one effect, and any approvals. @throws WireError */
function soleEffect(calls: readonly ContractCall[]): Submission['effect'] {
  let effect: Submission['effect'] = null;
  for (const call of calls) {
    const found = effectOf(call);
    if (found === null) {
      const named = call.to === POSITION_ROUTER ? NOT_ON_PAPER[call.data.slice(0, 10)] : undefined;
      if (named !== undefined) throw refused(`the paper relayer does not make ${named}`);
      throw refused(`call to ${call.to} is not allowed`);
    }
    if (found.kind === 'approval') continue;
    const isSame =
      effect !== null &&
      effect.kind === 'redeem' &&
      found.kind === 'redeem' &&
      effect.conditionId === found.conditionId;
    if (effect !== null && !isSame)
      throw refused('the paper relayer makes one split, merge, conversion or redemption a request');
    effect = found;
  }
  return effect;
}

// Reads what calls of the venue's contracts say: the other direction of the protocol package's encoders, for what they make.

/** What a call does to the paper exchange; `approval`: nothing, for every contract may move paper money. */
type CallEffect =
  | { readonly kind: 'split' | 'merge' | 'convert'; readonly conditionId: string; readonly amount: bigint }
  | { readonly kind: 'redeem'; readonly conditionId: string }
  | { readonly kind: 'approval' };

const WORD = 64;
const SELECTOR = 10;
/** Hex digits of the 29 bytes of an event. */
const EVENT = 58;
const APPROVALS: ReadonlySet<string> = new Set(['0x095ea7b3', '0xa22cb465']);

/** The nth word after the selector; `null`: there is none. */
const wordAt = (data: string, nth: number): string | null => {
  const word = data.slice(SELECTOR + nth * WORD, SELECTOR + (nth + 1) * WORD);
  return /^[0-9a-f]{64}$/.test(word) ? word : null;
};
const numberAt = (data: string, nth: number): bigint | null => {
  const word = wordAt(data, nth);
  return word === null ? null : BigInt(`0x${word}`);
};

/** `null`: the paper exchange does not know the call. Known is only what the protocol package would have made. */
function effectOf({ to, data }: ContractCall): CallEffect | null {
  if (APPROVALS.has(data.slice(0, SELECTOR))) return { kind: 'approval' };
  const isRouted = to === POSITION_ROUTER;
  const condition = wordAt(data, isRouted ? 0 : 2);
  if (condition === null) return null;
  const conditionId = `0x${condition}`;
  const negRisk = to === NEG_RISK_COLLATERAL_ADAPTER;
  if (!isRouted && !negRisk && to !== CTF_COLLATERAL_ADAPTER) return null;
  const same = (made: () => ContractCall): boolean => {
    try {
      const call = made();
      return call.to === to && call.data === data;
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
  };
  const amount = numberAt(data, isRouted ? 1 : 4);
  if (amount !== null) {
    if (same(() => splitCall({ conditionId, negRisk }, amount)))
      return { kind: 'split', conditionId, amount };
    if (same(() => mergeCall({ conditionId, negRisk }, amount)))
      return { kind: 'merge', conditionId, amount };
  }
  const [outcome, shares] = [numberAt(data, 1), numberAt(data, 2)];
  // Event and place in it, which together are the condition.
  const named = `0x${condition.slice(0, EVENT)}${(wordAt(data, 1) ?? '').slice(-4)}00`;
  if (isRouted && shares !== null && same(() => convertCall({ conditionId: named, negRisk: true }, shares)))
    return { kind: 'convert', conditionId: named, amount: shares };
  const isRedemption = isRouted
    ? outcome !== null &&
      shares !== null &&
      same(() => redeemPositionCall(conditionId, { outcome: outcome === 0n ? 0 : 1, amount: shares }))
    : same(() => redeemCall(conditionId, negRisk));
  return isRedemption ? { kind: 'redeem', conditionId } : null;
}

/** The calls that a proxy wallet's factory forwards: kind, target, value, offset, length and bytes of each. */
function callsOfProxyData(data: string): readonly ContractCall[] | null {
  const count = numberAt(data, 1);
  if (count === null || count === 0n || count > 20n) return null;
  const base = 2;
  const calls: ContractCall[] = [];
  for (let nth = 0; nth < Number(count); nth += 1) {
    const offset = numberAt(data, base + nth);
    if (offset === null || offset % 32n !== 0n || offset > 1_000_000n) return null;
    const at = base + Number(offset) / 32;
    const call = callAt(data, { target: at + 1, bytes: at + 4 });
    if (call === null) return null;
    calls.push(call);
  }
  return calls;
}

function callAt(
  data: string,
  { target, bytes }: { readonly target: number; readonly bytes: number },
): ContractCall | null {
  const [word, length] = [wordAt(data, target), numberAt(data, bytes)];
  if (word === null || length === null || length > 100_000n) return null;
  const from = SELECTOR + (bytes + 1) * WORD;
  const hex = data.slice(from, from + 2 * Number(length));
  const to = parseAddress(`0x${word.slice(24)}`);
  return to === null || hex.length !== 2 * Number(length) ? null : { to, data: `0x${hex}` };
}

/** The calls of a Safe: one, or those of the pinned multisend. */
function callsOfSafe(to: Address, data: string, isDelegate: boolean): readonly ContractCall[] | null {
  if (!isDelegate) return parseHex(data) === null ? null : [{ to, data: data as `0x${string}` }];
  if (to !== SAFE_MULTISEND) return null;
  const length = numberAt(data, 1);
  if (length === null || length > 100_000n) return null;
  const packed = data.slice(SELECTOR + 2 * WORD, SELECTOR + 2 * WORD + 2 * Number(length));
  const calls: ContractCall[] = [];
  // Operation 1 byte, target 20, value 32, length 32.
  for (let at = 0; at < packed.length; ) {
    const target = parseAddress(`0x${packed.slice(at + 2, at + 42)}`);
    const size = packed.slice(at + 106, at + 170);
    if (target === null || !/^[0-9a-f]{64}$/.test(size) || calls.length >= 20) return null;
    const end = at + 170 + 2 * Number(BigInt(`0x${size}`));
    if (end > packed.length) return null;
    calls.push({ to: asAddress(target), data: `0x${packed.slice(at + 170, end)}` });
    at = end;
  }
  return calls.length === 0 ? null : calls;
}
