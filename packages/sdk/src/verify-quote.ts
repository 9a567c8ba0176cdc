/**
 * Whether a quote's transaction does what the agent asked for, and nothing else. The service is not trusted: the bytes
 * are decoded here and compared with the agent's ask, not with the quote's own description. Which token is bought or sold is
 * not for the quote to say either, except for a key that holds paper money alone.
 */
import type { Quote } from '@bellwether/contract';
import { DecimalError, type Micro, parseMicro } from '@bellwether/contract/decimals';
import {
  MalformedTransaction,
  type OrderEffects,
  orderEffects,
  parseSolanaAddress,
  parseTransaction,
  parseTransactionBytes,
  type QuoteTerms,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  type SolanaTransaction,
  sha256HexOf,
  USDC_MINT,
} from '@bellwether/protocol';
import type { KeyUse } from './key-use.ts';
import { QuoteError, type UnsafeReason, UnsafeTransaction } from './quote-error.ts';
import { simulatedOverreaches } from './simulate-quote.ts';
import { SolanaRpc } from './solana-rpc.ts';
import type { Fetch } from './transport.ts';
import { NEED, needOptions } from './usage-error.ts';

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
