/**
 * Transactions that a wallet's owner signs and sends: a split, a merge, a conversion or a redemption. They are built here from what
 * the person wants and from contracts that this package pins, and what the service gave has to be the same in every field.
 * What is signed then is what was built here.
 */
import { type Market, parseMicro, type RelayRecord, type UnsignedTransaction } from '@bellwether/contract';
import {
  type Address,
  approvalCalls,
  bytesToHex,
  type ContractCall,
  type ContractMarket,
  convertCall,
  mergeCall,
  type OwnerCall,
  ownerCalls,
  ownerOf,
  POLYGON_CHAIN_ID,
  POSITION_ROUTER,
  parseAddress,
  positionContract,
  RELAY_DEADLINE_MOST_S,
  RELAY_TYPES,
  type RelayTerms,
  redeemCall,
  redeemPositionCall,
  relayRequest,
  splitCall,
  type WalletOwner,
} from '@bellwether/protocol';
import { isTurned, knownTokens } from './build-order.ts';
import type { BellwetherClient } from './client.ts';
import { NEED, needOptions } from './errors.ts';
import type { Signer } from './signer.ts';
import { VenueReader, type VenueReaderOptions } from './venue-account.ts';

/** What the wallet is to do. Amounts are sets or shares, with at most 6 decimals. */
export type WalletAction =
  | { readonly kind: 'split' | 'merge'; readonly amount: number }
  | {
      readonly kind: 'convert';
      readonly amount: number;
      /** Of the market; a market of Protocol V2 needs none. It is proved against the market's condition. */
      readonly questionId?: string;
    }
  | {
      readonly kind: 'redeem';
      /** Of a market of Protocol V2: the shares that the wallet holds and wants paid. Others redeem everything. */
      readonly shares?: { readonly YES?: number; readonly NO?: number };
    };

/** Facts that the client knows without asking the service again. */
export interface WalletPins {
  /** The key that will sign; only its address is used here. */
  readonly signer: Pick<Signer, 'address'> & { readonly use?: Signer['use'] };
  /** The wallet that is to act: the key itself, its proxy wallet, its Safe or its deposit wallet. */
  readonly wallet: string;
  /** As it was looked up before. */
  readonly market: Pick<Market, 'conditionId' | 'clobTokenIds' | 'negRisk' | 'version'> &
    Partial<Pick<Market, 'outcomes'>>;
  /** The market's [YES, NO] tokens, as you know them from another source than this service. */
  readonly tokenIds?: readonly [yes: string, no: string] | undefined;
  /** Default 137. */
  readonly chainId?: number;
}

/** A transaction of the owner. It moves no money of the chain itself: `value` is 0. */
export interface WalletTransaction extends OwnerCall {
  readonly value: '0';
  readonly chainId: number;
}

/** What the service gave is not what was asked for. */
export class WalletCallsError extends Error {
  override readonly name = 'WalletCallsError';
  /** The path of the field that differs, such as `transactions.0.data`. */
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

const PIN_NEEDS = {
  signer: NEED.object('a Signer', 'address'),
  wallet: NEED.text('the address of the wallet that is to act'),
  market: NEED.object('a market, as listMarkets and getMarket return it', 'conditionId', 'clobTokenIds'),
} as const;
const ACTION_NEEDS = { kind: NEED.oneOf('split', 'merge', 'convert', 'redeem') } as const;
const COMPARED = ['from', 'to', 'data', 'value', 'chainId'] as const;

/**
 * The transactions by which a wallet does this, to sign and send in their order.
 * @param isApproved false: the approval of the contract comes first
 * @throws WalletCallsError; OrderBuildError for a market whose tokens are not its own
 * @example
 * const wallet = signer.wallet(2);
 * const transactions = walletTransactions({ kind: 'split', amount: 25 }, { signer, wallet, market });
 */
export function walletTransactions(
  action: WalletAction,
  pins: WalletPins,
  isApproved = true,
): readonly WalletTransaction[] {
  const { owner, calls, chainId } = walletCalls(action, pins, isApproved);
  return ownerCalls(owner, calls).map((call) => ({ ...call, value: '0', chainId }));
}

/** @internal The calls themselves, and the wallet that makes them. @throws WalletCallsError, OrderBuildError */
export function walletCalls(
  action: WalletAction,
  pins: WalletPins,
  isApproved: boolean,
): { readonly owner: WalletOwner; readonly calls: readonly ContractCall[]; readonly chainId: number } {
  needOptions('walletTransactions', action, ACTION_NEEDS);
  needOptions('walletTransactions', pins, PIN_NEEDS);
  const { signer, market, chainId = POLYGON_CHAIN_ID } = pins;
  const contract = { conditionId: market.conditionId, negRisk: market.negRisk };
  // A split, a merge and a redemption of everything are about both: which of them is YES changes nothing.
  const isOfOne = action.kind === 'convert' || (action.kind === 'redeem' && isRouted(contract));
  const [yes = '', no = ''] = market.clobTokenIds;
  // A market that lies about its kind would send collateral to another contract.
  knownTokens(market, { use: signer.use, tokenIds: pins.tokenIds ?? (isOfOne ? undefined : [yes, no]) });
  if (action.kind === 'convert' && isTurned(market))
    throw new WalletCallsError(
      'market',
      'The venue lists No first in this market, and converts the shares of what it lists second: its NO shares cannot be converted.',
    );
  const owner = ownerOf(signer.address, pins.wallet);
  if (owner === null)
    throw new WalletCallsError('wallet', `${pins.wallet} is no wallet of the key ${signer.address}.`);
  const calls = actionCalls(action, contract, isTurned(market));
  return { owner, calls: isApproved ? calls : [approvalOf(action, contract), ...calls], chainId };
}

/**
 * Compares what the service gave with what this package builds. One approval of the very contract may come first.
 * @returns the transactions as they were built here: sign and send these @throws WalletCallsError
 * @example
 * const answer = await client.splitSets({ clientOrderId: 'sets-1', marketId: market.id, amount: 25 });
 * const wallet = signer.wallet(2);
 * const transactions = verifyWalletCalls(answer, { kind: 'split', amount: 25 }, { signer, wallet, market });
 */
export function verifyWalletCalls(
  answer: { readonly status: string; readonly transactions?: readonly UnsignedTransaction[] },
  action: WalletAction,
  pins: WalletPins,
): readonly WalletTransaction[] {
  needOptions('verifyWalletCalls', answer, { status: NEED.text('the status of the answer') });
  const given = answer.transactions;
  if (answer.status !== 'unsigned' || !Array.isArray(given))
    throw new WalletCallsError(
      'status',
      `The service has nothing to sign: it answers ${quoted(answer.status)}.`,
    );
  const plain = walletTransactions(action, pins);
  const differs = firstDifference(given, plain);
  if (differs === null) return plain;
  const approved = walletTransactions(action, pins, false);
  if (firstDifference(given, approved) === null) return approved;
  throw differs;
}

const quoted = (value: unknown): string => JSON.stringify(value)?.slice(0, 80) ?? 'nothing';

function firstDifference(
  given: readonly UnsignedTransaction[],
  built: readonly WalletTransaction[],
): WalletCallsError | null {
  for (const [at, transaction] of built.entries()) {
    const other: unknown = given[at];
    if (typeof other !== 'object' || other === null)
      return new WalletCallsError(`transactions.${at}`, `The service left out transaction ${at + 1}.`);
    for (const name of COMPARED) {
      const [here, there] = [transaction[name], (other as Readonly<Record<string, unknown>>)[name]];
      if (plainly(here) === plainly(there)) continue;
      const field = `transactions.${at}.${name}`;
      return new WalletCallsError(
        field,
        `The service gave another ${field} than was asked for: ${quoted(there)} instead of ${quoted(here)}. Nothing was signed.`,
      );
    }
  }
  if (given.length === built.length) return null;
  return new WalletCallsError(
    `transactions.${built.length}`,
    `The service wants ${given.length} transactions signed; there are ${built.length} to sign. Nothing was signed.`,
  );
}

/** Hex has two spellings; a number and its text are different things. */
const plainly = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value);

function actionCalls(action: WalletAction, market: ContractMarket, turned: boolean): readonly ContractCall[] {
  try {
    switch (action.kind) {
      case 'split':
        return [splitCall(market, micro(action.amount))];
      case 'merge':
        return [mergeCall(market, micro(action.amount))];
      case 'convert':
        return [convertCall(market, micro(action.amount), action.questionId ?? null)];
      case 'redeem':
        return redeemCalls(action, market, turned);
    }
  } catch (error) {
    if (error instanceof RangeError) throw new WalletCallsError('action', `${error.message}.`);
    throw error;
  }
}

function redeemCalls(
  { shares }: Extract<WalletAction, { readonly kind: 'redeem' }>,
  market: ContractMarket,
  turned: boolean,
): readonly ContractCall[] {
  if (!isRouted(market)) return [redeemCall(market.conditionId, market.negRisk)];
  // In the order of the condition.
  const names = turned ? (['NO', 'YES'] as const) : (['YES', 'NO'] as const);
  const wanted = names.flatMap((name, nth) => {
    const amount = shares?.[name] ?? 0;
    return amount === 0 ? [] : [{ outcome: nth as 0 | 1, amount: micro(amount) }];
  });
  if (wanted.length === 0)
    throw new RangeError('a market of Protocol V2 is redeemed by amount: say which shares');
  return wanted.map((one) => redeemPositionCall(market.conditionId, one));
}

const isRouted = (market: ContractMarket): boolean => positionContract(market) === POSITION_ROUTER;

function approvalOf({ kind }: WalletAction, market: ContractMarket): ContractCall {
  const spender: Address = positionContract(market);
  const asset = kind === 'split' ? 'collateral' : 'tokens';
  const call = approvalCalls().find((one) => one.spender === spender && one.asset === asset);
  if (call === undefined) throw new WalletCallsError('action', `${spender} needs no approval.`);
  return { to: call.to, data: call.data };
}

function micro(amount: number): bigint {
  try {
    return parseMicro(amount);
  } catch {
    throw new RangeError('an amount is a number with at most 6 decimals');
  }
}

// Requests to the venue's relayer, which makes a wallet's calls without the network's price. What the service prepared is compared in
// every field with what is built here from the person's terms, from contracts that this package pins, and from the nonce
// that the relayer itself says: with a nonce of the service's choice, two signatures for one split could both be used.

export const LIVE_RELAYER = 'https://relayer-v2.polymarket.com';

/** Terms that the relayer itself names for the next request of a wallet. */
export interface OwnRelayTerms {
  readonly nonce: string;
  /** For a proxy wallet: the account that delivers. */
  readonly relay: string | null;
}

export interface RelayPins extends WalletPins {
  /** As {@link readRelayTerms} read them. */
  readonly terms: OwnRelayTerms;
  /** Epoch milliseconds; default the local clock. */
  readonly now?: () => number;
}

/** A prepared request that is what the person asked for. */
export interface VerifiedRelay {
  readonly orderId: string;
  /** 32 bytes: what the key signs. */
  readonly digest: Uint8Array;
}

const RELAY_PIN_NEEDS = {
  ...PIN_NEEDS,
  terms: NEED.object('what readRelayTerms returned', 'nonce'),
} as const;
const RELAY_READ_NEEDS = {
  signer: NEED.object('a Signer', 'address'),
  wallet: NEED.text('the address of the wallet that is to act'),
} as const;
const RELAY_SIGN_NEEDS = {
  verified: NEED.object('what verifyRelay returned', 'digest', 'orderId'),
  signer: NEED.signer,
} as const;
const HTTP_OK = 200;
const SECOND_MS = 1_000;
/** Two clocks may differ by so much. */
const CLOCK_TOLERANCE_S = 30;

/**
 * Asks the relayer itself, not the service, for the terms of the wallet's next request.
 * @param options.relayerUrl default the venue's own
 * @throws WalletCallsError for a wallet that is none of the key, or when the relayer does not say
 * @example
 * const terms = await readRelayTerms({ signer, wallet: signer.wallet(2) });
 */
export async function readRelayTerms(
  options: Pick<WalletPins, 'signer' | 'wallet'> &
    Omit<VenueReaderOptions, 'clobUrl'> & { readonly relayerUrl?: string },
): Promise<OwnRelayTerms> {
  needOptions('readRelayTerms', options, RELAY_READ_NEEDS);
  const { signer, wallet, relayerUrl = LIVE_RELAYER, ...rest } = options;
  const type = typeOf({ signer, wallet });
  const reader = new VenueReader({ ...rest, clobUrl: relayerUrl });
  const path = type === 'PROXY' ? '/relay-payload' : '/nonce';
  const { status, body } = await reader.get(path, { address: signer.address, type });
  const { nonce, address } = (body ?? {}) as { nonce?: unknown; address?: unknown };
  const relay = type === 'PROXY' ? parseAddress(address) : null;
  const isWhole = /^\d{1,78}$/.test(String(nonce)) && (type !== 'PROXY' || relay !== null);
  if (status !== HTTP_OK || !isWhole)
    throw new WalletCallsError(
      'relay.nonce',
      `The relayer does not say its terms (${status}): nothing was signed.`,
    );
  return { nonce: String(nonce), relay };
}

function typeOf({ signer, wallet }: Pick<WalletPins, 'signer' | 'wallet'>): RelayTerms['type'] {
  const type = RELAY_TYPES[ownerOf(signer.address, wallet)?.type ?? 0];
  if (type !== null) return type;
  throw new WalletCallsError(
    'wallet',
    `${wallet} is no proxy wallet, Safe or deposit wallet of the key ${signer.address}.`,
  );
}

/**
 * Compares what the service prepared for the relayer with what this package builds. One approval of the very contract may
 * come first.
 * @throws WalletCallsError naming the field; OrderBuildError
 * @example
 * const wallet = signer.wallet(2);
 * const terms = await readRelayTerms({ signer, wallet });
 * const answer = await client.splitSets({ clientOrderId: 'sets-1', marketId: market.id, amount: 25 });
 * const verified = verifyRelay(answer, { kind: 'split', amount: 25 }, { signer, wallet, market, terms });
 */
export function verifyRelay(
  answer: { readonly orderId: string; readonly status: string; readonly relay?: RelayRecord },
  action: WalletAction,
  pins: RelayPins,
): VerifiedRelay {
  needOptions('verifyRelay', pins, RELAY_PIN_NEEDS);
  const { status, relay: given, orderId } = answer;
  if (status !== 'unsigned' || typeof given !== 'object' || given === null)
    throw new WalletCallsError('relay', 'The service has prepared nothing for the relayer.');
  const deadlineS = Date.parse(given.deadline) / SECOND_MS;
  requireInTime(deadlineS, pins.now ?? Date.now);
  const plain = builtRelay(deadlineS, action, pins, true);
  const difference = firstRelayDifference(given, plain);
  if (difference === null) return { orderId, digest: plain.digest };
  const approved = builtRelay(deadlineS, action, pins, false);
  if (firstRelayDifference(given, approved) === null) return { orderId, digest: approved.digest };
  throw difference;
}

/**
 * Signs a verified request: the body of POST /markets/relay.
 * @example
 * const wallet = signer.wallet(2);
 * const terms = await readRelayTerms({ signer, wallet });
 * const answer = await client.splitSets({ clientOrderId: 'sets-2', marketId: market.id, amount: 25 });
 * const verified = verifyRelay(answer, { kind: 'split', amount: 25 }, { signer, wallet, market, terms });
 * await client.relaySet(await signRelay(verified, signer));
 */
export async function signRelay(
  verified: VerifiedRelay,
  signer: Pick<Signer, 'signDigest'>,
): Promise<Parameters<BellwetherClient['relaySet']>[0]> {
  needOptions('signRelay', { verified, signer }, RELAY_SIGN_NEEDS);
  return { orderId: verified.orderId, signature: await signer.signDigest(verified.digest) };
}

function requireInTime(deadlineS: number, now: () => number): void {
  const aheadS = deadlineS - now() / SECOND_MS;
  const isGood =
    Number.isInteger(deadlineS) &&
    aheadS > -CLOCK_TOLERANCE_S &&
    aheadS <= RELAY_DEADLINE_MOST_S + CLOCK_TOLERANCE_S;
  if (!isGood)
    throw new WalletCallsError(
      'relay.deadline',
      'relay.deadline is past, or further ahead than the venue grants: nothing was signed.',
    );
}

interface BuiltRelay {
  readonly shown: Readonly<Record<string, unknown>>;
  readonly digest: Uint8Array;
}

function builtRelay(
  deadlineS: number,
  action: WalletAction,
  pins: RelayPins,
  isApproved: boolean,
): BuiltRelay {
  const { terms, signer, wallet } = pins;
  const { owner, calls, chainId } = walletCalls(action, pins, isApproved);
  const type = typeOf({ signer, wallet });
  const nonce = BigInt(terms.nonce);
  const relay = parseAddress(terms.relay);
  if (type === 'PROXY' && relay === null)
    throw new WalletCallsError(
      'relay.relay',
      'The relayer named no account that delivers (relay.relay): nothing was signed.',
    );
  const request = relayRequest(
    owner,
    calls,
    type === 'PROXY' && relay !== null
      ? { type, nonce, relay }
      : type === 'WALLET'
        ? { type, nonce, deadlineS }
        : { type: 'SAFE', nonce },
    chainId,
  );
  const digest = bytesToHex(request.digest);
  const shown = { type, nonce: terms.nonce, relay: type === 'PROXY' ? relay : null, chainId };
  return { digest: request.digest, shown: { ...shown, body: request.body, digest } };
}

/** Also a field of the service's body that the relayer's has not: it would be forwarded. */
function firstRelayDifference(given: object, { shown }: BuiltRelay): WalletCallsError | null {
  const field = differs(given, shown, 'relay', new Set(['deadline']));
  if (field === null) return null;
  return new WalletCallsError(
    field,
    `The service prepared another ${field} than was asked for. Nothing was signed.`,
  );
}

function differs(given: unknown, own: unknown, path: string, ignored: ReadonlySet<string>): string | null {
  if (typeof own !== 'object' || own === null) return plainly(given) === plainly(own) ? null : path;
  if (typeof given !== 'object' || given === null || Array.isArray(given) !== Array.isArray(own)) return path;
  const names = new Set([...Object.keys(own), ...Object.keys(given)]);
  for (const name of names) {
    if (ignored.has(name)) continue;
    const [there, here] = [(given as Record<string, unknown>)[name], (own as Record<string, unknown>)[name]];
    const found = differs(there, here, `${path}.${name}`, NOTHING_IGNORED);
    if (found !== null) return found;
  }
  return null;
}

const NOTHING_IGNORED: ReadonlySet<string> = new Set();
