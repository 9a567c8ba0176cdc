/**
 * Judges a trade by quote with the safeguards, by the facts that its agent's ledger gives. A submit reads them under
 * the agent's lock and reserves. A quote only looks, so that no caller gets a transaction that may not be sent: its
 * chain takes everything that is signed, whether it came through the desk or not.
 */

import { outcomeName, type SubmitRequest } from '@bellwether/contract';
import { DecimalError, formatMicro, type Micro, parseMicro } from '@bellwether/contract/decimals';
import {
  ED25519_SIGNATURE_BYTES,
  equalBytes,
  MalformedTransaction,
  parseTransaction,
  parseTransactionBytes,
  readTransaction,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  type SolanaTransaction,
  signatureFaults,
  toBase58,
  transactionId,
  type VerifyEd25519,
} from '@bellwether/protocol';
import type { AgentStore } from '../agents/index.ts';
import {
  type GivenApproval,
  type ObtainApprovalNeeds,
  requireApproval,
  withApproval,
} from '../approvals/index.ts';
import { averagePrice, legsOf } from '../domain/amounts.ts';
import type { Denial } from '../domain/denial.ts';
import type { BoundTerms } from '../domain/draft.ts';
import type { Caller, NewQuotedOrder, Standing } from '../domain/records.ts';
import {
  type ApprovalNeed,
  approvalNeeded,
  assess,
  type CheckedFigures,
  checkedFigures,
  type Verdict,
  verdicts,
} from '../domain/safeguards.ts';
import { ChainUnavailable } from '../domain/unavailable.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import {
  type NewChainOrder,
  type NoteRefusalNeeds,
  type OrderStore,
  type PlaceOrderNeeds,
  type Recorded,
  requireReady,
  type TradeLedger,
  type TradeScope,
} from '../trading/index.ts';
import { quotingVenue } from '../venues/asking.ts';
import type { Simulation } from '../venues/chain.ts';
import type { Venue, VenueWith } from '../venues/venue.ts';
import { type ExecutableQuote, isExecutable, mintOf, type OutcomeNeeds } from './outcomes.ts';
import type { QuoteRow } from './quote-store.ts';

export interface QuotingNeeds extends OutcomeNeeds, PlaceOrderNeeds, NoteRefusalNeeds, ObtainApprovalNeeds {
  readonly orders: OrderStore;
  readonly ledger: TradeLedger;
  readonly agents: AgentStore;
  readonly signatures: { readonly verifyEd25519?: VerifyEd25519 };
}

type ChainTrade = Pick<ExecutableQuote, 'wallet' | 'ticker' | 'mints' | 'side' | 'amounts'>;

/** A redemption is no trade: it takes no budget. */
export const budgetOf = ({ side, amounts }: Pick<ChainTrade, 'side' | 'amounts'>): Micro =>
  amounts.isRedemption ? 0n : legsOf(side, amounts).collateral;

/** A quote is its transaction, byte for byte: nothing about it can differ. */
export const boundTerms = ({ expiresAt }: Pick<ExecutableQuote, 'expiresAt'>): BoundTerms => ({
  orderType: 'FAK',
  isLimitOrder: false,
  postOnly: false,
  deferExec: false,
  endsAt: expiresAt,
});

interface QuoteVerdict {
  /** Denial of any safeguard, approval apart. */
  readonly denial: Denial | null;
  /** The approval that an order lacks that nothing else refuses. */
  readonly need: ApprovalNeed | null;
  readonly all: () => readonly Verdict[];
  readonly figures: () => CheckedFigures;
}

const HARMLESS: QuoteVerdict = { denial: null, need: null, all: () => [], figures: () => ({}) };

/** A redemption is never blocked by a safeguard. */
function verdictOn({ backend }: Venue, trade: ChainTrade, standing: Standing): QuoteVerdict {
  if (trade.amounts.isRedemption) return HARMLESS;
  const { safeguards } = standing;
  const facts = {
    ...standing,
    // The wallet's signature stands for a credential.
    hasCredentials: true,
    claimMissing: backend === 'live' && !standing.claimed,
    addsExposure: trade.side === 'BUY',
    mayRest: true,
    amount: budgetOf(trade),
  };
  const denial = assess(safeguards, facts);
  return {
    denial,
    need: denial === null ? approvalNeeded(safeguards, facts) : null,
    all: () => verdicts(safeguards, facts),
    figures: () => checkedFigures(safeguards, facts),
  };
}

/** Answer that a submit would get at this moment. Reserves nothing. */
export async function lookAhead(
  needs: QuotingNeeds,
  caller: Caller,
  trade: ChainTrade,
): Promise<QuoteVerdict & { readonly standing: Standing | null }> {
  if (trade.amounts.isRedemption) return { ...HARMLESS, standing: null };
  const standing = await needs.ledger.look({
    caller,
    funder: trade.wallet,
    signer: trade.wallet,
    conditionId: trade.ticker,
    tokenIds: trade.mints,
    at: needs.clock.now(),
  });
  return { ...verdictOn(quotingVenue(needs), trade, standing), standing };
}

/** Sentence of a denial: the figures behind it, and what to do, where that depends on the case. */
export function sentenceOf({ detail, context, fix }: Denial): string {
  const figures = Object.entries(context ?? {}).map(([name, value]) => `${name} ${String(value)}`);
  return [
    detail,
    ...(figures.length === 0 ? [] : [`(${figures.join(', ')})`]),
    ...(fix === undefined ? [] : [fix]),
  ].join(' ');
}

// Reasons to refuse a signed transaction: first those that need no lock, then those that are judged while the agent's lock is held.

/** After this the follower takes up what was recorded and, it seems, never sent. */
const TAKEN_UP_AFTER_MS = 3_000;

export interface Submission {
  readonly caller: Caller;
  readonly request: SubmitRequest;
  readonly requestId: string;
  readonly venue: VenueWith<'quotes'>;
  readonly quote: QuoteRow;
  /** The agent's order that has this transaction already. */
  readonly twin: string | null;
}

/** A transaction that is the quoted one, signed, and as far as the chain can tell harmless. */
export interface SoundSubmission {
  readonly quote: ExecutableQuote;
  readonly transaction: NewChainOrder;
}

/** The quote, the fields sent along, the transaction itself, what the chain says of it. @throws Refusal */
export async function judgeSubmission(
  needs: QuotingNeeds,
  { request, venue, quote: quoted, twin }: Submission,
): Promise<SoundSubmission> {
  const quote = await requireUsable(needs, venue, quoted);
  requireSameFields(request, quote);
  const signed = requireSigned(request.signedTransaction, quote, needs.signatures.verifyEd25519);
  const wire = parseTransactionBytes(request.signedTransaction);
  await requireHarmless(venue, wire, quote);
  const signature = transactionId(signed);
  const dueAt = needs.clock.now() + TAKEN_UP_AFTER_MS;
  // The same submission at the same time is no twin: the look under the lock finds it.
  if (twin !== null && twin !== quote.quoteId) throw alreadyUsed(twin);
  return { quote, transaction: { orderId: quote.quoteId, signature, wire, dueAt } };
}

export const alreadyUsed = (orderId: string): Refusal =>
  refusal('quote_already_used', 'Another signed transaction was submitted for this quote.', {
    orderId,
    path: 'quoteId',
  });

/** @throws Refusal quote_not_executable, quote_expired */
export async function requireUsable(
  { clock }: Pick<QuotingNeeds, 'clock'>,
  { quotes }: VenueWith<'quotes'>,
  quote: QuoteRow,
): Promise<ExecutableQuote> {
  if (!isExecutable(quote)) {
    const why =
      quote.errorCode === null
        ? 'This quote was a preview: no wallet was known to make a transaction for.'
        : `This quote holds no transaction: ${quote.errorCode}.`;
    throw refusal('quote_not_executable', why, { path: 'quoteId' });
  }
  if (quote.withdrawn) throw withdrawn();
  const { lastValidBlockHeight } = quote.transaction;
  const now = clock.now();
  if (now >= quote.expiresAt) {
    const at = new Date(quote.expiresAt).toISOString();
    throw refusal('quote_expired', `This quote was good until ${at}.`, { path: 'quoteId' });
  }
  const height = await quotes.chain.blockHeight().catch(() => null);
  if (height !== null && height > lastValidBlockHeight) {
    throw refusal(
      'quote_expired',
      `The chain is at block ${height}; this transaction could land until block ${lastValidBlockHeight}.`,
      { path: 'quoteId' },
    );
  }
  return quote;
}

export const withdrawn = (): Refusal =>
  refusal('quote_not_executable', 'This quote was canceled.', { path: 'quoteId' });

/** Checks fields that are sent along; they are not used. @throws Refusal quote_mismatch, every field at once */
function requireSameFields(request: SubmitRequest, quote: ExecutableQuote): void {
  const asked = formatMicro(quote.asked);
  const isBuy = quote.side === 'BUY';
  const pairs = [
    ['marketTicker', request.marketTicker, quote.ticker],
    ['side', request.side?.toUpperCase(), quote.outcome],
    ['action', request.action?.toUpperCase(), quote.side],
    ['amount', exact(request.amount), isBuy ? asked : 'none'],
    ['shares', exact(request.shares), isBuy ? 'none' : asked],
    ['userPublicKey', request.userPublicKey, quote.wallet],
    ['destinationWallet', request.destinationWallet, quote.destination ?? quote.wallet],
    ['inAmount', request.inAmount, quote.amounts.inAmount.toString()],
    ['outAmount', request.outAmount, quote.amounts.outAmount.toString()],
    ['minOutAmount', request.minOutAmount, quote.amounts.minOutAmount.toString()],
  ] as const;
  const faults = pairs
    .filter(([, sent, quoted]) => sent !== undefined && sent !== quoted)
    .map(([path, sent, quoted]): Denial => {
      const detail = `${path} is ${sent}; the quote says ${quoted}.`;
      return { code: 'quote_mismatch', path, detail };
    });
  const [first, ...rest] = faults;
  if (first !== undefined) throw new Refusal([first, ...rest]);
}

/** A number finer than six decimals equals no quote. */
function exact(value: number | undefined): string | undefined {
  if (value === undefined) return undefined;
  try {
    return formatMicro(parseMicro(value));
  } catch (error) {
    if (error instanceof DecimalError) return String(value);
    throw error;
  }
}

/** The quote, the venue's state, the safeguards, the owner's approval. @returns what to record @throws Refusal */
export function judgeQuotedOrder(
  { clock }: QuotingNeeds,
  { caller, request, requestId, venue }: Submission,
  { quote, approval }: { readonly quote: ExecutableQuote; readonly approval: GivenApproval | null },
  scope: TradeScope,
): Pick<Recorded<NewQuotedOrder>, 'order' | 'checked' | 'reserves'> {
  if (scope.quoteWithdrawn) throw withdrawn();
  requireReady(venue);
  const verdict = verdictOn(venue, quote, scope);
  if (verdict.denial !== null) throw new Refusal([verdict.denial]);
  if (verdict.need !== null)
    requireApproval(verdict.need, {
      scope,
      orderId: quote.quoteId,
      binds: boundTerms(quote),
      amount: budgetOf(quote),
      approval,
      now: clock.now(),
      verdicts: verdict.all,
    });
  const { side, amounts } = quote;
  const { contracts, collateral } = legsOf(side, amounts);
  const worst = legsOf(side, { inAmount: amounts.inAmount, outAmount: amounts.minOutAmount });
  const createdAt = clock.now();
  const order: NewQuotedOrder = {
    kind: 'quoted',
    orderId: quote.quoteId,
    agentId: caller.agentId,
    userId: scope.userId,
    venue: venue.id,
    marketId: quote.ticker,
    conditionId: quote.ticker,
    question: quote.title,
    tokenId: mintOf(quote),
    outcome: quote.outcome,
    outcomeName: outcomeName(quote.outcomes, quote.outcome),
    side,
    isLimitOrder: false,
    timeInForce: 'FAK',
    postOnly: false,
    deferExec: false,
    price: averagePrice(side, contracts, collateral),
    limit: worst.contracts === 0n ? 0 : averagePrice(side, worst.contracts, worst.collateral),
    shares: contracts,
    money: collateral,
    funder: quote.wallet,
    walletAddress: quote.wallet,
    isRedemption: amounts.isRedemption,
    expiration: null,
    feeAmount: 0n,
    reasoning: request.reasoning ?? null,
    source: request.source ?? null,
    skillSlug: request.skillSlug ?? null,
    clientOrderId: request.clientOrderId ?? null,
    cancelAt: request.cancelAfterMs === undefined ? null : createdAt + request.cancelAfterMs,
    requestId,
    createdAt,
  };
  return {
    order,
    checked: withApproval(verdict.figures(), verdict.need, approval),
    reserves: budgetOf(quote),
  };
}

// The signed transaction that an agent hands in, held against the one that was quoted: the same message byte for byte,
// every signature there and right, and, as far as the chain can tell beforehand, nothing moved but what was quoted.

const PATH = 'signedTransaction';

const refuse = (denial: Omit<Denial, 'path'>): Refusal => new Refusal([{ path: PATH, ...denial }]);

/** @returns the bytes, of any content; `null` when the text is no base64 */
export function bytesOf(text: string): Uint8Array | null {
  try {
    return parseTransactionBytes(text);
  } catch {
    return null;
  }
}

/** The id of a transaction, read without judging the rest of it; `null` when there cannot be one. */
export function signatureIn(text: string): string | null {
  const bytes = bytesOf(text);
  // One byte counts the signatures; the first is the id.
  const first = bytes?.subarray(1, 1 + ED25519_SIGNATURE_BYTES);
  return first?.length === ED25519_SIGNATURE_BYTES ? toBase58(first) : null;
}

/** @throws Refusal transaction_malformed … transaction_signature_invalid, in the documented order */
function requireSigned(text: string, quote: ExecutableQuote, verify?: VerifyEd25519): SolanaTransaction {
  const tx = readSigned(text);
  if (!equalBytes(tx.message, quote.transaction.message)) {
    throw refuse({
      code: 'transaction_mismatch',
      ...mismatchOf(tx, unsigned(quote.transaction.message)),
      context: firstDifference(tx.message, quote.transaction.message),
    });
  }
  const [fault] = signatureFaults(tx, verify);
  if (fault !== undefined) {
    const missing = fault.kind === 'missing';
    throw refuse({
      code: missing ? 'transaction_not_signed' : 'transaction_signature_invalid',
      detail: 'Invalid order payload',
      diagnosis: {
        check: missing ? 'signature_present' : 'signature',
        signer: fault.signer,
        expected: missing
          ? `a signature of ${fault.signer}`
          : `the Ed25519 signature of ${fault.signer} over the message's bytes`,
      },
    });
  }
  return tx;
}

function readSigned(text: string): SolanaTransaction {
  try {
    return parseTransaction(text);
  } catch (error) {
    if (!(error instanceof MalformedTransaction)) throw error;
    const code =
      error.fault === 'version_not_supported' ? 'transaction_version_not_supported' : 'transaction_malformed';
    const [initial = '', ...others] = error.message;
    throw refuse({
      code,
      detail: `${initial.toUpperCase()}${others.join('')}.`,
      context: { fault: error.fault },
    });
  }
}

const VERSION_FLAG = 0x80;
const MISMATCH = 'The message of this transaction is not, byte for byte, the one that was quoted.';

/** Wallets add instructions to what they sign: a fee for priority, a guard, a memo. */
function mismatchOf(sent: SolanaTransaction, quoted: SolanaTransaction): Pick<Denial, 'detail' | 'fix'> {
  const added = new Map<SolanaAddress, number>();
  for (const { program } of sent.instructions) added.set(program, (added.get(program) ?? 0) + 1);
  for (const { program } of quoted.instructions) added.set(program, (added.get(program) ?? 0) - 1);
  const named = [...added].filter(([, count]) => count > 0).map(([program]) => programName(program));
  if (named.length > 0)
    return {
      detail: `${MISMATCH} It has instructions more than that, of ${named.join(', ')}.`,
      fix: 'Your wallet added them. Switch off what it adds to a transaction (priority fees, guards), or sign the bytes of unsignedTransaction with a signer that changes nothing.',
    };
  const isRenewed = sent.recentBlockhash !== quoted.recentBlockhash;
  return { detail: isRenewed ? `${MISMATCH} It has another blockhash.` : MISMATCH };
}

/** A message with the room of its signatures, as it is handed out to be signed. */
function unsigned(message: Uint8Array): SolanaTransaction {
  const [first = 0, second = 0] = message;
  // A version precedes the count of signing keys.
  const count = first & VERSION_FLAG ? second : first;
  const signatures = new Uint8Array(count * ED25519_SIGNATURE_BYTES);
  return readTransaction(Uint8Array.from([count, ...signatures, ...message]));
}

function programName(address: SolanaAddress): string {
  const [name] = Object.entries(SOLANA_PROGRAMS).find(([, known]) => known === address) ?? [];
  return name === undefined ? address : `${name} (${address})`;
}

/** Where two messages begin to differ, for a person who looks for the reason. */
function firstDifference(sent: Uint8Array, quoted: Uint8Array) {
  const shorter = Math.min(sent.length, quoted.length);
  let at = 0;
  while (at < shorter && sent[at] === quoted[at]) at += 1;
  return { differsAtByte: at, sentBytes: sent.length, quotedBytes: quoted.length };
}

/** Refuses what the chain would refuse; what it cannot tell beforehand passes. @throws Refusal transaction_would_fail */
async function requireHarmless(
  { quotes }: VenueWith<'quotes'>,
  wire: Uint8Array,
  quote: ExecutableQuote,
): Promise<void> {
  const simulation = await quotes.chain.simulate(wire, quote.wallet, true);
  const fault = simulationFault(simulation, quote);
  if (fault === null) return;
  const missing = simulation.kind === 'would_fail' ? await missingMoney(quotes, quote) : null;
  throw refuse({
    code: 'transaction_would_fail',
    detail: missing === null ? fault : `${missing} ${fault}`,
    ...(missing === null
      ? {}
      : { fix: 'Fund the wallet or ask for a smaller quote, then sign the new one.' }),
  });
}

/** The commonest reason in words: what the wallet no longer holds; `null`: it has enough, or the chain does not say. */
async function missingMoney(
  { chain }: VenueWith<'quotes'>['quotes'],
  { wallet, side, amounts }: ExecutableQuote,
): Promise<string | null> {
  try {
    const held =
      side === 'BUY'
        ? ((await chain.tokenAccount(wallet, amounts.inputMint))?.amount ?? 0n)
        : (await chain.outcomeAccounts(wallet))
            .filter(({ mint }) => mint === amounts.inputMint)
            .reduce((sum, { amount }) => sum + amount, 0n);
    if (held >= amounts.inAmount) return null;
    const unit = side === 'BUY' ? 'collateral' : 'contracts';
    return `The wallet holds ${formatMicro(held)} ${unit}, and this takes ${formatMicro(amounts.inAmount)}.`;
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}

function simulationFault(simulation: Simulation, { amounts }: ExecutableQuote): string | null {
  if (simulation.kind === 'unknown') return null;
  if (simulation.kind === 'would_fail') {
    return `The chain would refuse this transaction: ${simulation.reason}.`;
  }
  const lost = new Map<string, bigint>();
  for (const change of simulation.changes) {
    if (change.authorityChanged) return `It would change who controls the account ${change.account}.`;
    if (change.mint === null) continue;
    lost.set(change.mint, (lost.get(change.mint) ?? 0n) + change.before - change.after);
  }
  for (const [mint, amount] of lost) {
    const allowed = mint === amounts.inputMint ? amounts.inAmount : 0n;
    if (amount > allowed) {
      return `It would take ${formatMicro(amount)} of ${mint}; the quote says ${formatMicro(allowed)} at most.`;
    }
  }
  return null;
}
