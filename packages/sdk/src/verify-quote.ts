/**
 * Whether a quote's transaction does what the agent asked for, and nothing else. The service is not trusted: the bytes
 * are decoded here and compared with the agent's ask, not with the quote's own description. Which token is bought or sold is
 * not for the quote to say either, except for a key that holds paper money alone.
 */
import type { Quote } from '@bellwether/contract';
import { DecimalError, type Micro, parseMicro } from '@bellwether/contract/decimals';
import {
  associatedTokenAddress,
  equalBytes,
  MalformedTransaction,
  type OrderEffects,
  orderEffects,
  parseBase64Strict,
  parseSolanaAddress,
  parseTransaction,
  parseTransactionBytes,
  type QuoteTerms,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  type SolanaTransaction,
  sha256HexOf,
  toBase58,
  toBase64,
  USDC_MINT,
} from '@bellwether/protocol';
import type {
  Address,
  Base64EncodedDataResponse,
  Base64EncodedWireTransaction,
  Commitment,
  Rpc,
  RpcTransport,
  Signature,
  SolanaRpcApi,
} from '@solana/kit';
import { NEED, needOptions, QuoteError, type UnsafeReason, UnsafeTransaction } from './errors.ts';
import type { KeyUse } from './signer.ts';
import type { Fetch } from './transport.ts';

/** Trade that an agent wants. */
export type QuoteAsk = {
  readonly ticker: string;
  readonly side: 'YES' | 'NO';
  /** Who receives, when that is not the wallet that pays. */
  readonly destination?: string;
} & (
  | {
      readonly action: 'BUY';
      /** Collateral to spend at most, fees included; at most 6 decimals. */
      readonly amount: number | string;
    }
  | {
      readonly action: 'SELL';
      /** Contracts; at most 6 decimals. */
      readonly shares: number | string;
    }
);

export interface VerifyOptions {
  /** The wallet that pays and signs. */
  readonly wallet: string;
  /** Network fee, priority and rent together; default 15,000,000 (0.015 SOL). */
  readonly maxLamports?: bigint;
  /** Default USDC. */
  readonly collateralMint?: string;
  /** The market's [YES, NO] tokens, as you know them from another source than this service. */
  readonly mints?: readonly [yes: string, no: string];
  /** The token of the asked outcome alone, from another source than this service. */
  readonly mint?: string | undefined;
  /** The purpose of the wallet's key. Only for `paper` does the quote's own word count for the tokens. */
  readonly use?: KeyUse | null | undefined;
  /** Epoch milliseconds; default the clock. */
  readonly now?: number;
}

declare const verified: unique symbol;

/** Made only by `verifyQuote`; the only type that can be signed. */
export interface VerifiedQuote {
  readonly quote: Quote;
  readonly wallet: SolanaAddress;
  /** The unsigned transaction. */
  readonly wire: Uint8Array;
  /** SHA-256 of the signed bytes, as 64 hex digits: the name of the order that no service chooses. */
  readonly digest: string;
  /** Atoms of the input token that the transaction takes: millionths of collateral, or of a contract. */
  readonly takes: bigint;
  /** Atoms that the transaction names in return; `null`: it names none, as on a paper chain. */
  readonly promises: bigint | null;
  /** The outcome's token. */
  readonly mint: SolanaAddress;
  /** Whether only the quote says that it is this outcome's: such a transaction is signed by keys for paper alone. */
  readonly mintIsBelieved: boolean;
  readonly [verified]: true;
}

/** A priority fee of at most 5,000,000, an order's account, and two token accounts. */
const DEFAULT_MAX_LAMPORTS = 15_000_000n;

/** Nothing is rounded. @throws QuoteError `invalid_amount` */
export function exactMicro(value: number | string, need: string): Micro {
  try {
    const micro = parseMicro(value);
    if (micro >= 0n) return micro;
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
  }
  throw new QuoteError('invalid_amount', `${need} that is not negative and has at most 6 decimals`);
}

/** @throws QuoteError `invalid_amount` */
export function askedAtoms(ask: QuoteAsk): Micro {
  const [name, value] = ask.action === 'BUY' ? ['amount', ask.amount] : ['shares', ask.shares];
  const need = `a ${ask.action} needs ${name}: a number`;
  const atoms = exactMicro(value as number | string, need);
  if (atoms > 0n) return atoms;
  throw new QuoteError('invalid_amount', `${need} above 0`);
}

/** @throws QuoteError `invalid_solana_address` */
export function solanaAddress(text: string): SolanaAddress {
  const address = parseSolanaAddress(text);
  if (address === null) throw new QuoteError('invalid_solana_address', `"${text}" is not base58 of 32 bytes`);
  return address;
}

const ATOMS = /^\d{1,20}$/;
const atoms = (text: string | undefined): bigint =>
  text !== undefined && ATOMS.test(text) ? BigInt(text) : -1n;

interface Expected {
  readonly input: string;
  readonly output: string;
  readonly outcome: string;
  readonly mintIsBelieved: boolean;
  readonly collateral: SolanaAddress;
  readonly asked: Micro;
}

/** @throws QuoteError `mint_not_known` */
function outcomeToken(quote: Quote, ask: QuoteAsk, { mint, mints, use }: VerifyOptions) {
  const at = ask.side === 'YES' ? 0 : 1;
  const known = mint ?? mints?.[at];
  if (known !== undefined) return { outcome: known, mintIsBelieved: false };
  if (use === 'paper') return { outcome: [quote.yesMint, quote.noMint][at]!, mintIsBelieved: true };
  throw new QuoteError(
    'mint_not_known',
    `Only the quote says which token is ${ask.side} of ${ask.ticker}, and this key is not for paper alone: nothing was signed.`,
  );
}

function expectedOf(quote: Quote, ask: QuoteAsk, options: VerifyOptions): Expected {
  const collateral = solanaAddress(options.collateralMint ?? USDC_MINT);
  const { outcome, mintIsBelieved } = outcomeToken(quote, ask, options);
  const [input, output] = ask.action === 'BUY' ? [collateral, outcome] : [outcome, collateral];
  return { input, output, outcome, mintIsBelieved, collateral, asked: askedAtoms(ask) };
}

/** Compares the quote's own figures with the ask. */
function* contradictions(quote: Quote, ask: QuoteAsk, expected: Expected): Generator<UnsafeReason> {
  const other = (what: string): UnsafeReason => ({
    code: 'other_order',
    detail: `the quote has another ${what}`,
  });
  if (quote.marketTicker !== ask.ticker) yield other('market');
  if (quote.side !== ask.side) yield other('outcome');
  if (quote.action !== ask.action) yield other('action');
  if (atoms(quote.scaledAmount) !== expected.asked) yield other('amount');
  const mints = new Set([quote.yesMint, quote.noMint, expected.collateral]);
  if (mints.size < 3 || quote.inputMint !== expected.input || quote.outputMint !== expected.output)
    yield { code: 'wrong_mint', detail: 'the quote exchanges other tokens than those of the order' };
  const [most, out, least] = [quote.inAmount, quote.outAmount, quote.minOutAmount].map(atoms);
  if (most! <= 0n || most! > expected.asked)
    yield { code: 'input_exceeded', detail: `the quote takes ${most} atoms, asked were ${expected.asked}` };
  if (least! <= 0n || out! < least!)
    yield { code: 'nothing_promised', detail: 'the quote promises no least amount in return' };
}

function parsed(base64: string): SolanaTransaction | UnsafeReason {
  try {
    return parseTransaction(base64);
  } catch (error) {
    if (error instanceof MalformedTransaction) return { code: 'malformed', detail: error.message };
    throw error;
  }
}

interface Checked {
  readonly quote: Quote;
  readonly wallet: SolanaAddress;
  readonly reasons: readonly UnsafeReason[];
  /** Present when the quote can be read at all. */
  readonly read?: {
    readonly tx: SolanaTransaction;
    readonly terms: QuoteTerms;
    readonly effects: OrderEffects;
    readonly expected: Expected;
  };
}

function check(quote: Quote, ask: QuoteAsk, options: VerifyOptions): Checked {
  needOptions('verify', quote, { quoteId: NEED.text('a quote of this client') });
  needOptions('verify', ask, {
    ticker: NEED.text('the id of a market of venue B'),
    // A name of an outcome would pass for NO.
    side: NEED.oneOf('YES', 'NO'),
  });
  needOptions('verify', options, { wallet: NEED.text('the wallet that pays and signs') });
  const { unsignedTransaction, quoteErrorCode } = quote;
  if (unsignedTransaction === undefined || quoteErrorCode !== undefined || quote.previewOnly)
    throw new QuoteError(
      'quote_not_executable',
      quote.quoteErrorMessage ?? 'The quote is a preview: name a wallet to get a transaction.',
      quoteErrorCode,
    );
  if (quote.expiresAt <= (options.now ?? Date.now()))
    throw new QuoteError('quote_expired', 'The quote has expired: ask for a new one.');
  const wallet = solanaAddress(options.wallet);
  const expected = expectedOf(quote, ask, options);
  const reasons = [...contradictions(quote, ask, expected)];
  const tx = parsed(unsignedTransaction);
  if ('code' in tx) return { quote, wallet, reasons: [...reasons, tx] };
  const [inputMint, outputMint] = [parseSolanaAddress(expected.input), parseSolanaAddress(expected.output)];
  if (inputMint === null || outputMint === null) {
    const detail = "the quote's mints are no addresses";
    return { quote, wallet, reasons: [...reasons, { code: 'wrong_mint', detail }] };
  }
  const quoted = atoms(quote.inAmount);
  const terms: QuoteTerms = {
    wallet,
    inputMint,
    outputMint,
    maxInput: quoted < expected.asked ? quoted : expected.asked,
    minOutput: atoms(quote.minOutAmount),
    destination: ask.destination === undefined ? null : solanaAddress(ask.destination),
    maxLamports: options.maxLamports ?? DEFAULT_MAX_LAMPORTS,
    collateralMint: expected.collateral,
  };
  const effects = orderEffects(tx, terms);
  const read = { tx, terms, effects, expected };
  return { quote, wallet, reasons: [...reasons, ...effects.overreaches], read };
}

function accept({ quote, wallet, read }: Checked, takes = read!.effects.takes): VerifiedQuote {
  const { tx, terms, effects, expected } = read!;
  return {
    quote,
    wallet,
    wire: parseTransactionBytes(quote.unsignedTransaction!),
    digest: sha256HexOf(tx.message),
    takes,
    promises: effects.promises,
    mint: terms.inputMint === expected.outcome ? terms.inputMint : terms.outputMint,
    mintIsBelieved: expected.mintIsBelieved,
  } as VerifiedQuote;
}

/**
 * @throws QuoteError when there is nothing to sign (`quote_not_executable`, `quote_expired`) or the ask is invalid
 * @throws UnsafeTransaction when signing would do anything else than the ask
 */
export function verifyQuote(quote: Quote, ask: QuoteAsk, options: VerifyOptions): VerifiedQuote {
  const checked = check(quote, ask, options);
  if (checked.reasons.length > 0) throw new UnsafeTransaction(checked.reasons);
  return accept(checked);
}

export interface OnChainOptions extends VerifyOptions {
  /** A Solana node that you trust: its simulation decides what an unreadable instruction does. */
  readonly rpcUrl: string;
  /** Programs whose instructions may be unreadable; default DFlow's. */
  readonly opaque?: readonly string[];
  readonly fetch?: Fetch;
}

/**
 * The same for transactions with DFlow instructions that cannot be read: the readable ones are checked as usual, and a
 * node simulates what the whole would move. Weaker than reading: a program may behave differently later.
 * @throws QuoteError, UnsafeTransaction, SolanaRpcError
 */
export async function verifyQuoteOnChain(
  quote: Quote,
  ask: QuoteAsk,
  options: OnChainOptions,
): Promise<VerifiedQuote> {
  needOptions('verifyOnChain', options, { rpcUrl: NEED.url });
  const { rpcUrl, opaque = [SOLANA_PROGRAMS.dflowAggregator, SOLANA_PROGRAMS.dflowMarkets] } = options;
  const checked = check(quote, ask, options);
  const readable = checked.reasons.filter(
    ({ code, program }) => code !== 'instruction_not_known' || !opaque.includes(program ?? ''),
  );
  if (readable.length > 0 || checked.read === undefined) throw new UnsafeTransaction(checked.reasons);
  if (checked.reasons.length > 0) {
    // An opaque instruction's takings are bounded by the simulation; it counts as the most that is allowed.
    const rpc = new SolanaRpc(rpcUrl, options.fetch);
    const moved = await simulatedOverreaches(rpc, checked.read.tx, {
      ...checked.read.terms,
      opaque,
      readable: checked.read.effects.takes,
    });
    if (moved.length > 0) throw new UnsafeTransaction(moved);
    return accept(checked, checked.read.terms.maxInput);
  }
  return accept(checked);
}

// Simulates at a node what a transaction with an opaque instruction would take from a wallet: its lamports and token
// accounts before and after. The transaction may call only known programs, so that the wallet's other assets (stakes,
// nonces) are out of reach.

/** Bytes of a lookup table before its addresses. */
const TABLE_HEADER_BYTES = 56;
const KEY_BYTES = 32;
/** Layout of a token account: mint 0, owner 32, amount 64, delegated amount 121, and extensions after 165. */
const TOKEN_ACCOUNT = { bytes: 165, owner: 32, amount: 64, delegated: 121, kindOfAccount: 2 } as const;
const AMOUNT_BYTES = 8;

type Held = NonNullable<ChainAccount>;

/** Every address the transaction can reach, those in lookup tables included; `null` when a table cannot be read. */
async function reachable(rpc: SolanaRpc, tx: SolanaTransaction): Promise<readonly string[] | null> {
  if (tx.lookups.length === 0) return tx.accountKeys;
  const tables = await rpc.accounts(tx.lookups.map(({ table }) => table));
  const addresses: string[] = [...tx.accountKeys];
  for (const [i, { writable, readonly }] of tx.lookups.entries()) {
    for (const index of [...writable, ...readonly]) {
      const start = TABLE_HEADER_BYTES + KEY_BYTES * index;
      const key = tables[i]?.data.slice(start, start + KEY_BYTES);
      if (key?.length !== KEY_BYTES) return null;
      addresses.push(toBase58(key));
    }
  }
  return addresses;
}

const isTokenAccount = ({ owner, data }: Held): boolean =>
  (owner === SOLANA_PROGRAMS.token || owner === SOLANA_PROGRAMS.token2022) &&
  (data.length === TOKEN_ACCOUNT.bytes ||
    (data.length > TOKEN_ACCOUNT.bytes && data[TOKEN_ACCOUNT.bytes] === TOKEN_ACCOUNT.kindOfAccount));

const keyAt = ({ data }: Held, offset: number): string => toBase58(data.slice(offset, offset + KEY_BYTES));
const numberAt = ({ data }: Held, offset: number): bigint =>
  new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(offset, true);

/** Equal apart from the balance: owner, delegate, close authority, state and extensions. */
function sameRights(before: Held, after: Held): boolean {
  const masked = ({ data }: Held): Uint8Array =>
    data
      .slice()
      .fill(0, TOKEN_ACCOUNT.amount, TOKEN_ACCOUNT.amount + AMOUNT_BYTES)
      .fill(0, TOKEN_ACCOUNT.delegated, TOKEN_ACCOUNT.delegated + AMOUNT_BYTES);
  return (
    before.owner === after.owner &&
    numberAt(after, TOKEN_ACCOUNT.delegated) <= numberAt(before, TOKEN_ACCOUNT.delegated) &&
    equalBytes(masked(before), masked(after))
  );
}

function* outOfReach(
  addresses: readonly string[],
  accounts: readonly ChainAccount[],
  opaque: readonly string[],
): Generator<UnsafeReason> {
  const known = new Set<string>([...Object.values(SOLANA_PROGRAMS), ...opaque]);
  for (const [i, account] of accounts.entries()) {
    const address = addresses[i]!;
    if (account?.executable && !known.has(address))
      yield {
        code: 'instruction_not_known',
        detail: `it may call ${address}, a program that is not known`,
        program: address,
      };
    if (account?.owner === SOLANA_PROGRAMS.system && account.data.length > 0)
      yield { code: 'changes_account', detail: `it uses the nonce account ${address}` };
  }
}

/** @throws SolanaRpcError */
async function simulatedOverreaches(
  rpc: SolanaRpc,
  tx: SolanaTransaction,
  terms: QuoteTerms & {
    readonly opaque: readonly string[];
    /** Atoms of the input that instructions take which can be read. */
    readonly readable: bigint;
  },
): Promise<readonly UnsafeReason[]> {
  const addresses = await reachable(rpc, tx);
  if (addresses === null)
    return [{ code: 'account_not_decidable', detail: 'a lookup table of the transaction cannot be read' }];
  const accounts = await rpc.accounts(addresses);
  const reasons = [...outOfReach(addresses, accounts, terms.opaque)];
  const own = addresses.filter((_, i) => {
    const account = accounts[i];
    return account != null && isTokenAccount(account) && keyAt(account, TOKEN_ACCOUNT.owner) === terms.wallet;
  });
  const watched = [terms.wallet, ...own];
  const receiving = receivers(terms).filter(
    (address) => addresses.includes(address) && !watched.includes(address),
  );
  const before = watched.map((address) => accounts[addresses.indexOf(address)] ?? null);
  const unsigned = toBase64(unsignedWire(tx));
  const { err, accounts: after } = await rpc.simulate(unsigned, [...watched, ...receiving]);
  if (err !== null) return [{ code: 'would_fail', detail: `it would fail: ${err}` }];
  const known = receiving.map((address) => accounts[addresses.indexOf(address)] ?? null);
  const { found, taken } = losses(watched, before, after, terms);
  const gained = gainOf([...before, ...known], after, terms);
  // Amounts that are taken beyond the readable opening have to be paid for at once: nothing else binds them to the order.
  if (taken > terms.readable && gained < terms.minOutput)
    found.push({
      code: 'nothing_received',
      detail: `what cannot be read brings ${gained} atoms at once, and the quote says at least ${terms.minOutput}`,
    });
  return [...reasons, ...found];
}

/** Where what was bought may arrive. */
const receivers = ({ wallet, destination, outputMint }: QuoteTerms): readonly string[] =>
  [SOLANA_PROGRAMS.token, SOLANA_PROGRAMS.token2022].map((program) =>
    associatedTokenAddress(destination ?? wallet, outputMint, program),
  );

function gainOf(
  before: readonly ChainAccount[],
  after: readonly ChainAccount[],
  { wallet, destination, outputMint }: QuoteTerms,
): bigint {
  const held = (account: ChainAccount | undefined): bigint => {
    const counts =
      account != null &&
      isTokenAccount(account) &&
      keyAt(account, 0) === outputMint &&
      keyAt(account, TOKEN_ACCOUNT.owner) === (destination ?? wallet);
    return counts ? numberAt(account, TOKEN_ACCOUNT.amount) : 0n;
  };
  return after.reduce((sum, account, at) => sum + held(account) - held(before[at]), 0n);
}

const SIGNATURE_BYTES = 64;

function unsignedWire(tx: SolanaTransaction): Uint8Array {
  const wire = new Uint8Array(1 + SIGNATURE_BYTES * tx.requiredSignatures + tx.message.length);
  wire[0] = tx.requiredSignatures;
  wire.set(tx.message, 1 + SIGNATURE_BYTES * tx.requiredSignatures);
  return wire;
}

/** @param watched the wallet first, then its token accounts */
function losses(
  watched: readonly string[],
  before: readonly ChainAccount[],
  after: readonly ChainAccount[],
  { inputMint, maxInput, maxLamports }: QuoteTerms,
): { readonly found: UnsafeReason[]; readonly taken: bigint } {
  const found: UnsafeReason[] = [];
  const spent = (before[0]?.lamports ?? 0n) - (after[0]?.lamports ?? 0n);
  if (spent > maxLamports)
    found.push({
      code: 'lamports_exceeded',
      detail: `it costs ${spent} lamports, allowed are ${maxLamports}`,
    });
  if (after[0] != null && after[0].owner !== before[0]?.owner)
    found.push({ code: 'gives_rights_away', detail: 'it gives the wallet itself to a program' });
  let taken = 0n;
  for (let i = 1; i < watched.length; i++) {
    const [held, left] = [before[i]!, after[i]];
    if (left == null || left.data.length !== held.data.length || !sameRights(held, left)) {
      found.push({
        code: 'gives_rights_away',
        detail: `it closes ${watched[i]} or changes who may use it`,
      });
      continue;
    }
    const lost = numberAt(held, TOKEN_ACCOUNT.amount) - numberAt(left, TOKEN_ACCOUNT.amount);
    if (lost > 0n && keyAt(held, 0) !== inputMint)
      found.push({
        code: 'wrong_mint',
        detail: `it takes tokens that the quote does not sell from ${watched[i]}`,
      });
    else if (lost > 0n) taken += lost;
  }
  if (taken > maxInput)
    found.push({
      code: 'input_exceeded',
      detail: `it takes ${taken} atoms, the quote says at most ${maxInput}`,
    });
  return { found, taken };
}

// The few questions to a Solana node that quotes and delegations need. Reads are asked with commitment `confirmed`.

const TIMEOUT_MS = 10_000;
const COMMITMENT: Commitment = 'confirmed';

/** The node answered with an error, or not at all (`code` 0). The node's URL may hold a key and is not quoted. */
export class SolanaRpcError extends Error {
  override readonly name = 'SolanaRpcError';
  /** JSON-RPC's, or 0. */
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

interface LatestBlockhash {
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
}

/** `null`: no account at this address. */
type ChainAccount = {
  readonly lamports: bigint;
  /** The program that it belongs to. */
  readonly owner: string;
  readonly executable: boolean;
  readonly data: Uint8Array;
} | null;

interface SimulationAnswer {
  /** The node's error as JSON; `null`: it would succeed. */
  readonly err: string | null;
  readonly accounts: readonly ChainAccount[];
}

type SignatureStatus = 'unseen' | 'confirmed' | { readonly failed: string };

type Ask<T> = (rpc: Rpc<SolanaRpcApi>) => { send(options: { abortSignal: AbortSignal }): Promise<T> };

export class SolanaRpc {
  readonly #transport: RpcTransport;

  constructor(url: string, send: Fetch = fetch) {
    this.#transport = async <T>({ payload, signal }: Parameters<RpcTransport>[0]): Promise<T> => {
      const response = await send(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: toJson(payload),
        ...(signal === undefined ? {} : { signal }),
      });
      const answer = (await response.json()) as { error?: { code?: number; message?: string } };
      // Kit fails on errors without the details that it expects, which some nodes leave out.
      if (answer.error !== undefined)
        throw new SolanaRpcError(
          answer.error.code ?? 0,
          `${methodOf(payload)}: ${answer.error.message ?? 'refused'}`,
        );
      return answer as T;
    };
  }

  /** @throws SolanaRpcError */
  async latestBlockhash(): Promise<LatestBlockhash> {
    const { value } = await this.#ask((rpc) => rpc.getLatestBlockhash({ commitment: COMMITMENT }));
    return { blockhash: value.blockhash, lastValidBlockHeight: Number(value.lastValidBlockHeight) };
  }

  /** @throws SolanaRpcError */
  async blockHeight(): Promise<number> {
    return Number(await this.#ask((rpc) => rpc.getBlockHeight({ commitment: COMMITMENT })));
  }

  /** The same bytes may be sent again and again. @throws SolanaRpcError when the node refuses it */
  async send(base64: string): Promise<void> {
    await this.#ask((rpc) =>
      rpc.sendTransaction(base64 as Base64EncodedWireTransaction, {
        encoding: 'base64',
        preflightCommitment: COMMITMENT,
        maxRetries: 0n,
      }),
    );
  }

  /** @throws SolanaRpcError */
  async status(signature: string): Promise<SignatureStatus> {
    const { value } = await this.#ask((rpc) =>
      rpc.getSignatureStatuses([signature as Signature], { searchTransactionHistory: true }),
    );
    const item = value[0];
    if (item === null || item === undefined) return 'unseen';
    if (item.err !== null) return { failed: toJson(item.err) };
    return item.confirmationStatus === 'confirmed' || item.confirmationStatus === 'finalized'
      ? 'confirmed'
      : 'unseen';
  }

  /** In the order asked for; at most 100. @throws SolanaRpcError */
  async accounts(addresses: readonly string[]): Promise<readonly ChainAccount[]> {
    const { value } = await this.#ask((rpc) =>
      rpc.getMultipleAccounts(addresses as readonly Address[], {
        encoding: 'base64',
        commitment: COMMITMENT,
      }),
    );
    return accountsOf(value, addresses.length);
  }

  /** Reads some accounts as they would be after an unsigned transaction. @throws SolanaRpcError */
  async simulate(base64: string, addresses: readonly string[]): Promise<SimulationAnswer> {
    const { value } = await this.#ask((rpc) =>
      rpc.simulateTransaction(base64 as Base64EncodedWireTransaction, {
        encoding: 'base64',
        commitment: COMMITMENT,
        sigVerify: false,
        replaceRecentBlockhash: false,
        accounts: { encoding: 'base64', addresses: addresses as readonly Address[] },
      }),
    );
    if (value.err !== null) return { err: toJson(value.err), accounts: [] };
    return { err: null, accounts: accountsOf(value.accounts ?? [], addresses.length) };
  }

  async #ask<T>(ask: Ask<T>): Promise<T> {
    const { createSolanaRpcFromTransport } = await import('@solana/kit');
    const rpc = createSolanaRpcFromTransport(this.#transport) as Rpc<SolanaRpcApi>;
    let answer: T;
    try {
      answer = await ask(rpc).send({ abortSignal: AbortSignal.timeout(TIMEOUT_MS) });
    } catch (error) {
      // Anything else may quote the URL.
      throw error instanceof SolanaRpcError ? error : unreadable();
    }
    if (answer === undefined) throw unreadable();
    return answer;
  }
}

const unreadable = (): SolanaRpcError => new SolanaRpcError(0, 'no readable answer from the Solana node');

/** Kit reads and writes integers as bigint; on the wire they are numbers. */
const toJson = (value: unknown): string =>
  JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? Number(item) : item));

const methodOf = (payload: unknown): string => (payload as { readonly method: string }).method;

interface WireAccount {
  readonly lamports: bigint;
  readonly owner: string;
  readonly executable: boolean;
  readonly data: Base64EncodedDataResponse;
}

function accountsOf(wire: readonly (WireAccount | null)[], count: number): readonly ChainAccount[] {
  if (wire.length !== count) throw new SolanaRpcError(0, 'the Solana node left accounts out');
  return wire.map((account) => {
    if (account === null) return null;
    const data = parseBase64Strict(account.data[0]);
    if (data === null) throw new SolanaRpcError(0, 'the Solana node gave an account that cannot be read');
    const { lamports, owner, executable } = account;
    return { lamports, owner, executable, data };
  });
}
