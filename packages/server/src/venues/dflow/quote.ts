/**
 * Requests one quote from the venue and returns a checked executable quote, a preview, or a degraded quote with the
 * reason. Never throws, and never returns a transaction that failed a check.
 */
import { QUOTE_ERRORS, type QuoteErrorCode } from '@bellwether/contract';
import {
  divide,
  formatDecimal,
  formatMicro,
  MICRO,
  type Micro,
  notional,
} from '@bellwether/contract/decimals';
import {
  effectsOf,
  MalformedTransaction,
  overreaches,
  parseBase64Strict,
  parseTransaction,
  type QuoteTerms,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  type SolanaTransaction,
} from '@bellwether/protocol';
import { resultIsUnknown } from '../../domain/market.ts';
import { VenueUnavailable } from '../../domain/unavailable.ts';
import { microSaid } from '../../domain/untrusted-text.ts';
import type { Chain, Simulation } from '../chain.ts';
import type { QuotedAmounts, QuoteQuestion, TickerMarket, VenueQuote } from '../quotes.ts';
import type { DflowClient, OrderRefusal, WireOrder } from './client.ts';
import { costOf, QUOTE_CODES } from './translate.ts';

/** The life of a blockhash; the node that made it may be some blocks ahead of ours. */
const BLOCKHASH_BLOCKS = 150;
const NODE_LEAD_BLOCKS = 64;
const NETWORK_FEE = 5_000n;
/** Rent of a token account: 170 bytes for outcome tokens, 165 for collateral. */
const RENT = { outcome: 2_074_080n, collateral: 2_039_280n } as const;
/** An order of this rail is filled later; of one that is executed at once no fill would be listed. */
const EXECUTION_MODE = 'async';
const BPS = 10_000n;
const ROUTE_NOT_FOUND = 'route_not_found';

interface QuoteContext {
  readonly client: DflowClient;
  readonly fresh: (ticker: string) => Promise<TickerMarket | null>;
  readonly chain: Chain;
  readonly collateral: SolanaAddress;
  /** Slippage: how much less than quoted a fill may give. */
  readonly slippageBps: number;
  /** The most by which an order may move the price. */
  readonly priceImpactPercent: number;
  /** When the maintenance of an hour ends; `null`: none that is known. */
  readonly maintenanceEnd: (at: number) => number | null;
  readonly clock: { now(): number };
  /** Logs each message once. */
  readonly note: (context: object, message: string) => void;
  readonly log: {
    error(context: object, message: string): void;
    warn(context: object, message: string): void;
  };
}

/** Why there is no transaction; thrown within this file only. */
class Degraded extends Error {
  readonly code: QuoteErrorCode;
  readonly sentence: string | null;

  constructor(code: QuoteErrorCode, sentence: string | null = null) {
    super(code);
    this.code = code;
    this.sentence = sentence;
  }
}

interface AskedQuote extends QuoteQuestion {
  readonly market: TickerMarket;
  readonly inputMint: SolanaAddress;
  readonly outputMint: SolanaAddress;
  readonly isRedemption: boolean;
}

export async function quote(context: QuoteContext, question: QuoteQuestion): Promise<VenueQuote> {
  let market: TickerMarket | null = null;
  try {
    market = await context.fresh(question.ticker);
    if (market === null) throw new Degraded('market_not_found');
    const asked = checkedAgainst(context, question, market);
    const rest = resting(context);
    // A redemption is tried at any hour.
    if (rest !== null && !asked.isRedemption) throw rest;
    return await quoteFor(context, asked);
  } catch (thrown) {
    const error = (thrown instanceof VenueUnavailable ? resting(context) : null) ?? thrown;
    if (error instanceof Degraded)
      return { kind: 'degraded', code: error.code, message: error.sentence, market };
    const expected = error instanceof VenueUnavailable;
    if (!expected) context.log.error({ err: error, ticker: question.ticker }, 'quoting failed');
    const message = expected ? sentence(error.message) : null;
    return { kind: 'degraded', code: 'venue_unavailable', message, market };
  }
}

/** Why the venue is closed now, as far as its hours say. */
function resting({ maintenanceEnd, clock }: QuoteContext): Degraded | null {
  const end = maintenanceEnd(clock.now());
  if (end === null) return null;
  const until = new Date(end).toISOString();
  return new Degraded(
    'venue_maintenance',
    `The venue is closed for its weekly maintenance until ${until}; ask again then.`,
  );
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** Checks the question against the market. @throws Degraded */
function checkedAgainst(context: QuoteContext, question: QuoteQuestion, market: TickerMarket): AskedQuote {
  const { outcome, side, amount } = question;
  const mint = market.tokenIds[outcome === 'YES' ? 0 : 1] as SolanaAddress;
  const isRedemption = market.phase === 'settled' && side === 'SELL';
  if (isRedemption) requirePayout(market, outcome);
  else requireOpen(market, side);
  if (side === 'BUY') {
    const ask = market.asks[outcome];
    // Less than the price without fees can never be enough; the venue checks the rest, because it knows its fees.
    if (ask !== null && amount < notional(MICRO, ask, 'ceil'))
      throw new Degraded('amount_too_small', tooSmall(ask));
  } else if (amount < MICRO) {
    throw new Degraded('amount_too_small', 'Contracts are whole: sell at least one.');
  }
  return {
    ...question,
    market,
    inputMint: side === 'BUY' ? context.collateral : mint,
    outputMint: side === 'BUY' ? mint : context.collateral,
    isRedemption,
  };
}

function requirePayout({ pays, unknownRedemption }: TickerMarket, outcome: 'YES' | 'NO'): void {
  if (unknownRedemption !== undefined)
    throw new Degraded('market_closed', redemptionIsUnknown(unknownRedemption));
  if (pays[outcome] === null)
    throw new Degraded('market_closed', 'The market is settled, but redemption is not open.');
  if (pays[outcome] === 0)
    throw new Degraded('market_closed', 'This outcome has lost: its tokens pay nothing.');
}

const redemptionIsUnknown = (word: string): string =>
  `The venue says "${word}" of its redemption, which this desk does not know: it redeems nothing of this market until it does. Ask the desk's operator.`;

function requireOpen({ phase, unknownResult, unknownRedemption }: TickerMarket, side: 'BUY' | 'SELL'): void {
  if (phase === 'active') return;
  if (unknownRedemption !== undefined && side === 'SELL')
    throw new Degraded('market_closed', redemptionIsUnknown(unknownRedemption));
  if (unknownResult !== undefined) throw new Degraded('market_closed', resultIsUnknown(unknownResult));
  const why =
    phase === 'inactive'
      ? 'The market does not trade at the moment.'
      : `The market is ${phase} and does not trade any more.`;
  throw new Degraded('market_closed', why);
}

const tooSmall = (ask: number): string =>
  `One contract costs ${formatMicro(costOf(1n, ask))} now, fees included.`;

async function quoteFor(context: QuoteContext, asked: AskedQuote): Promise<VenueQuote> {
  if (asked.side === 'SELL' && asked.amount % MICRO !== 0n) throw await fractionOf(context, asked);
  if (asked.wallet !== null) await requireReady(context, asked, asked.wallet);
  const answer = await context.client.order({
    inputMint: asked.inputMint,
    outputMint: asked.outputMint,
    amount: asked.amount.toString(),
    userPublicKey: asked.wallet,
    destinationWallet: asked.wallet === null ? null : asked.destination,
    slippageBps: context.slippageBps,
    predictionMarketSlippageBps: context.slippageBps,
    // What is redeemed has no price that could move.
    priceImpactTolerancePct: asked.isRedemption ? null : context.priceImpactPercent,
    includeAddressLookupTables: asked.wallet === null ? null : true,
  });
  if (answer.kind === 'refused') throw await explained(context, asked, answer.refusal);
  const amounts = amountsOf(context, asked, answer.order);
  const impact = impactOf(context, asked, answer.order);
  const shown = impact === null ? {} : { priceImpact: impact };
  if (asked.wallet === null) return { kind: 'preview', market: asked.market, amounts, ...shown };
  const quote = await executable(context, asked, { wallet: asked.wallet, amounts, order: answer.order });
  return { ...quote, ...shown };
}

/** In millionths; `null` for none: of a redemption, or where the venue, which knows the tolerance, says none. @throws Degraded */
function impactOf(
  context: QuoteContext,
  asked: AskedQuote,
  { priceImpactPct: said }: WireOrder,
): Micro | null {
  if (asked.isRedemption) return null;
  if (said === undefined || said === null) {
    context.note({}, 'DFlow leaves out the price impact of an order');
    return null;
  }
  const loss = microSaid(said, String(said).startsWith('-') ? 'floor' : 'ceil');
  if (loss === null) throw refused(context, asked, 'its price impact cannot be read');
  // Whichever sign the venue gives to a loss.
  const impact = loss < 0n ? -loss : loss;
  if (impact <= BigInt(context.priceImpactPercent) * PERCENT) return impact;
  throw new Degraded(
    'price_impact_too_high',
    `The order would move the price by ${percentText(impact)} %, and this desk takes at most ${context.priceImpactPercent} %: order less.`,
  );
}

/** One percent in millionths. */
const PERCENT: Micro = 10_000n;
const PERCENT_DECIMALS = 4;
const percentText = (millionths: Micro): string => formatDecimal(millionths, PERCENT_DECIMALS);

/** Names the whole numbers beside it that can be sold: nothing is rounded without a word. */
async function fractionOf(
  { chain }: QuoteContext,
  { wallet, inputMint, amount }: AskedQuote,
): Promise<Degraded> {
  const below = amount - (amount % MICRO);
  const above = below + MICRO;
  const account = wallet === null ? null : await chain.tokenAccount(wallet, inputMint);
  const isHeld = account !== null && !account.frozen && account.amount >= above;
  return new Degraded(
    'fraction_of_contract',
    `Contracts are whole: sell ${formatMicro(below)}${isHeld ? ` or ${formatMicro(above)}` : ''} instead of ${formatMicro(amount)}.`,
  );
}

/** Asks for the identity and the balances at once; a missing identity is said first. @throws Degraded */
async function requireReady(context: QuoteContext, asked: AskedQuote, wallet: SolanaAddress): Promise<void> {
  const balances = requireBalances(context, asked, wallet);
  // Heard below, unless the identity ends the quote.
  balances.catch(() => {});
  const receiver = asked.destination ?? wallet;
  // Without an answer the order is asked for: DFlow refuses it where the identity is missing.
  if (asked.side === 'BUY' && (await context.client.isVerified(receiver)) === false)
    throw unverified(receiver, null);
  await balances;
}

const unverified = (receiver: SolanaAddress, deepLink: string | null): Degraded =>
  new Degraded(
    'kyc_required',
    `A person must prove their identity for the receiving wallet before it can buy: ${deepLink ?? `https://dflow.net/proof?wallet=${receiver}`} The page wants the wallet's signature: "bellwether identity" makes the whole link where its key is.`,
  );

/** @throws Degraded with the figures */
async function requireBalances(
  context: QuoteContext,
  asked: AskedQuote,
  wallet: SolanaAddress,
): Promise<void> {
  const { chain, collateral } = context;
  const { inputMint, outputMint, amount, side } = asked;
  const receiver = asked.destination ?? wallet;
  const [input, output, lamports] = await Promise.all([
    chain.tokenAccount(wallet, inputMint),
    chain.tokenAccount(receiver, outputMint),
    chain.lamports(wallet),
  ]);
  const held = input === null || input.frozen ? 0n : input.amount;
  if (held < amount) {
    const what = side === 'BUY' ? 'collateral' : 'contracts';
    throw new Degraded(
      'insufficient_balance',
      `The wallet ${wallet} holds ${formatMicro(held)} of the ${formatMicro(amount)} ${what} that the order needs.`,
    );
  }
  const rent = outputMint === collateral ? RENT.collateral : RENT.outcome;
  const needed = NETWORK_FEE + (output === null ? rent : 0n);
  if (lamports < needed)
    throw new Degraded(
      'insufficient_balance',
      `The wallet ${wallet} holds ${lamports} lamports; network fees and rent take at least ${needed}.`,
    );
}

/** For most failures DFlow reports only that it finds no route: check the market for the reason. Reference §2.4. */
async function explained(context: QuoteContext, asked: AskedQuote, refusal: OrderRefusal): Promise<Degraded> {
  const { code, message, deepLink } = refusal;
  const known = QUOTE_CODES.get(code);
  if (known === 'kyc_required' && asked.wallet !== null) {
    const receiver = asked.destination ?? asked.wallet;
    context.client.forgetVerified(receiver);
    return unverified(receiver, deepLink);
  }
  if (known === 'price_impact_too_high')
    return new Degraded(
      known,
      `The order would move the price by more than ${context.priceImpactPercent} %, which is the most that this desk takes: order less. DFlow says: ${message === '' ? code : message}`,
    );
  if (known === 'wallet_restricted')
    return new Degraded(known, `${QUOTE_ERRORS[known]} It says: ${message === '' ? code : message}`);
  if (known !== undefined) return new Degraded(known, message === '' ? null : message);
  if (code !== ROUTE_NOT_FOUND) {
    context.log.warn({ code }, 'DFlow refused an order by a code that is not translated');
    return new Degraded('route_not_found', `DFlow: ${message === '' ? code : message} (${code})`);
  }
  const market = await context.fresh(asked.ticker);
  if (market === null) return new Degraded('market_not_found');
  if (market.phase !== 'active' && !asked.isRedemption) return new Degraded('market_closed');
  const rest = resting(context);
  if (rest !== null) return rest;
  if (!(await context.client.exchangeTrades())) return new Degraded('venue_maintenance');
  if (asked.isRedemption) return new Degraded('route_not_found', 'DFlow does not redeem these tokens now.');
  if (asked.side !== 'BUY') return new Degraded('route_not_found');
  const ask = market.asks[asked.outcome];
  if (ask === null) return new Degraded('route_not_found', `There is no offer of ${asked.outcome} now.`);
  return asked.amount < costOf(1n, ask)
    ? new Degraded('amount_too_small', tooSmall(ask))
    : new Degraded('route_not_found');
}

/** Checks the answer's figures against the question. @throws Degraded */
function amountsOf(context: QuoteContext, asked: AskedQuote, order: WireOrder): QuotedAmounts {
  const inAmount: Micro = BigInt(order.inAmount);
  const outAmount: Micro = BigInt(order.outAmount);
  const minOutAmount: Micro = BigInt(order.minOutAmount);
  const payout = payoutOf(asked, inAmount);
  // What DFlow promises least is its own word: the setting bounds it here.
  const least = divide((payout ?? outAmount) * (BPS - BigInt(context.slippageBps)), BPS, 'floor');
  const faults: readonly (readonly [boolean, string])[] = [
    [order.inputMint !== asked.inputMint || order.outputMint !== asked.outputMint, 'it trades other tokens'],
    [inAmount <= 0n || inAmount > asked.amount, 'it takes another amount than was asked for'],
    [minOutAmount <= 0n || minOutAmount > outAmount, 'it promises no least amount'],
    [
      payout !== null && outAmount < payout,
      `it pays ${formatMicro(outAmount)}, and these contracts pay ${formatMicro(payout ?? 0n)}`,
    ],
    [
      minOutAmount < least,
      `it promises ${formatMicro(minOutAmount)} at least, and the slippage of this desk allows no less than ${formatMicro(least)}`,
    ],
    [order.otherAmountThreshold !== order.minOutAmount, 'its least amounts differ'],
    [order.executionMode !== EXECUTION_MODE, `its execution mode is ${JSON.stringify(order.executionMode)}`],
    [(order.revertMint ?? asked.inputMint) !== asked.inputMint, 'it would give other tokens back'],
    [(order.initPredictionMarketCost ?? 0) > 0, 'it makes the wallet pay for opening the market'],
  ];
  const fault = faults.find(([wrong]) => wrong);
  if (fault !== undefined) throw refused(context, asked, fault[1]);
  return {
    inputMint: asked.inputMint,
    outputMint: asked.outputMint,
    inAmount,
    outAmount,
    minOutAmount,
    isRedemption: asked.isRedemption,
  };
}

/** What the contracts of a redemption pay; `null`: it is none. */
const payoutOf = ({ isRedemption, market, outcome }: AskedQuote, contracts: Micro): Micro | null =>
  isRedemption ? notional(contracts, market.pays[outcome] ?? 0, 'floor') : null;

interface Built {
  readonly wallet: SolanaAddress;
  readonly amounts: QuotedAmounts;
  readonly order: WireOrder;
}

/** @throws Degraded when the transaction fails a check */
async function executable(
  context: QuoteContext,
  asked: AskedQuote,
  built: Built,
): Promise<VenueQuote & { readonly kind: 'executable' }> {
  const { chain, clock, collateral } = context;
  const { wallet, amounts, order } = built;
  const { transaction: base64, lastValidBlockHeight } = order;
  if (!base64 || !lastValidBlockHeight) throw refused(context, asked, 'there is no transaction in it');
  const terms: QuoteTerms = {
    wallet,
    inputMint: amounts.inputMint,
    outputMint: amounts.outputMint,
    maxInput: amounts.inAmount,
    minOutput: amounts.minOutAmount,
    destination: asked.destination,
    maxLamports: maxLamports(order.prioritizationFeeLamports),
    collateralMint: collateral,
  };
  const read = readChecked(base64, terms);
  if (read.kind === 'fault') throw refused(context, asked, read.fault);
  const wire = parseBase64Strict(base64)!;
  const [height, simulation, blockMs] = await Promise.all([
    chain.blockHeight(),
    chain.simulate(wire, wallet, false),
    chain.blockMs(),
  ]);
  const left = lastValidBlockHeight - height;
  if (left <= 0 || left > BLOCKHASH_BLOCKS + NODE_LEAD_BLOCKS)
    throw refused(context, asked, 'its blockhash is not as old as it says');
  if (simulation.kind === 'unknown')
    throw new Degraded('venue_unavailable', 'The Solana node could not simulate the transaction.');
  if (simulation.kind === 'would_fail') throw wouldFail(context, asked, simulation.reason);
  const fault = faultOfChanges(simulation.changes, terms);
  if (fault !== null) throw refused(context, asked, fault);
  return {
    kind: 'executable',
    market: asked.market,
    amounts,
    wire,
    message: read.transaction.message,
    lastValidBlockHeight,
    expectedEnd: Math.floor(clock.now() + left * blockMs),
  };
}

/** Nodes report missing lamports in several ways; a payer without lamports does not exist as an account. */
const LACKS_LAMPORTS = /^(InsufficientFundsFor(Fee|Rent)|AccountNotFound|InvalidRentPayingAccount)/;

function wouldFail(context: QuoteContext, asked: AskedQuote, reason: string): Degraded {
  if (LACKS_LAMPORTS.test(reason))
    return new Degraded(
      'insufficient_balance',
      'The wallet holds too few lamports for network fees and rent.',
    );
  return refused(context, asked, `it would fail (${reason})`);
}

/** Logs the fault and hides DFlow's answer. */
function refused(context: QuoteContext, asked: AskedQuote, fault: string): Degraded {
  const { ticker, outcome, side, wallet } = asked;
  context.log.error({ ticker, outcome, side, wallet, fault }, "DFlow's order was not shown");
  return new Degraded('route_not_found', `DFlow's transaction was not accepted: ${fault}.`);
}

// Checks whether a transaction that DFlow built may be given to a wallet: its bytes, its programs, its instructions, and
// the transfers in a node's simulation. It trusts no field of DFlow's answer.

/** Reference §3.3, point 9. Programs are always named in the message itself, never by a lookup table. */
const ALLOWED: ReadonlySet<string> = new Set(Object.values(SOLANA_PROGRAMS));
/** Their instructions do not show their effects: only the simulation does. */
const OPAQUE: ReadonlySet<string> = new Set([SOLANA_PROGRAMS.dflowAggregator, SOLANA_PROGRAMS.dflowMarkets]);

const PRIORITY_FEE_CAP = 5_000_000n;
const SIGNATURE_FEE = 5_000n;
/** Two token accounts at most (170 bytes each), and the account in which DFlow keeps the order (344 bytes). */
const MOST_RENT = 2n * 2_074_080n + 3_285_120n;
/** The priority fee is a price times a limit, each rounded. */
const ROUNDING = 1_000n;

/** The maximum cost of fees and rent to the wallet. @param priorityFee DFlow's figure, if it sends one */
function maxLamports(priorityFee: number | null | undefined): bigint {
  const said = priorityFee === null || priorityFee === undefined ? PRIORITY_FEE_CAP : BigInt(priorityFee);
  return SIGNATURE_FEE + (said < PRIORITY_FEE_CAP ? said : PRIORITY_FEE_CAP) + ROUNDING + MOST_RENT;
}

type Read =
  | { readonly kind: 'read'; readonly transaction: SolanaTransaction }
  | { readonly kind: 'fault'; readonly fault: string };

/** Checks the bytes only. */
function readChecked(base64: string, terms: QuoteTerms): Read {
  const fault = (text: string): Read => ({ kind: 'fault', fault: text });
  let transaction: SolanaTransaction;
  try {
    transaction = parseTransaction(base64);
  } catch (error) {
    if (error instanceof MalformedTransaction) return fault(error.message);
    throw error;
  }
  const { accountKeys, requiredSignatures, instructions } = transaction;
  if (accountKeys[0] !== terms.wallet) return fault('somebody else than the wallet would pay for it');
  if (requiredSignatures !== 1) return fault('it needs more signatures than the wallet’s');
  const stranger = instructions.find(({ program }) => !ALLOWED.has(program));
  if (stranger !== undefined) return fault(`it calls the program ${stranger.program}`);
  const unread = effectsOf(transaction).find(
    ({ kind, program }) => kind === 'unknown' && !OPAQUE.has(program),
  );
  if (unread !== undefined) return fault(`its instruction ${unread.index + 1} is not one that is known`);
  // Unknown instructions that remain are opaque; the simulation limits their effects.
  const [over] = overreaches(transaction, terms).filter(({ code }) => code !== 'instruction_not_known');
  return over === undefined ? { kind: 'read', transaction } : fault(over.detail);
}

/** Checks the simulated transfers. The venue fills an order later, so that nothing need arrive. `null`: only what the terms allow. */
function faultOfChanges(changes: (Simulation & { kind: 'ok' })['changes'], terms: QuoteTerms): string | null {
  let paid = 0n;
  for (const { account, mint, before, after, authorityChanged } of changes) {
    const lost = before - after;
    if (authorityChanged) return `it would change who rules the account ${account}`;
    if (mint === null) {
      if (lost > terms.maxLamports) return `it would cost ${lost} lamports`;
    } else if (mint === terms.inputMint) {
      paid += lost;
    } else if (lost > 0n) {
      return `it would take ${lost} of the mint ${mint} too`;
    }
  }
  return paid > terms.maxInput ? `it would take ${paid} instead of at most ${terms.maxInput}` : null;
}
