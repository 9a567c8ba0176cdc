import { type Micro, parseMicro } from '@bellwether/contract/decimals';
import {
  identityLink,
  isProblem,
  type Quote,
  type QuoteAsk,
  type QuotedOrderDetail,
  type QuoteLabels,
  type VerifiedQuote,
} from '@bellwether/sdk';
import { findMint, rememberPurchase } from '@bellwether/sdk/keystore';
import { z } from 'zod';
import { atomsOf, flagOf, idOf, numberOf, type StrangersTexts, ToolProblem, wordOf } from '../answer.ts';
import {
  ACTS,
  CANCEL_AFTER_MS,
  type Call,
  CLIENT_ORDER_ID,
  OUTCOME,
  QUANTITY,
  READS,
  REASONING,
  SIDE,
  spend,
  spendingOf,
  tool,
} from '../tool.ts';
import { sideOf } from './orders.ts';

/** A quote as it was shown, and what it was asked for. */
interface KeptQuote {
  readonly quote: Quote;
  readonly ask: QuoteAsk;
}

const MOST_QUOTES = 100;
/** A submitted quote can be submitted again, which has no second effect. */
const KEPT_MS = 15 * 60_000;

/** The last quotes of this process: what is traded is the quote that was shown. */
export class QuoteShelf {
  readonly #quotes = new Map<string, KeptQuote & { readonly until: number }>();

  keep(quote: Quote, ask: QuoteAsk, now = Date.now()): void {
    for (const [id, { until }] of this.#quotes)
      if (until <= now || this.#quotes.size >= MOST_QUOTES) this.#quotes.delete(id);
    this.#quotes.set(quote.quoteId, { quote, ask, until: now + KEPT_MS });
  }

  find(quoteId: string): KeptQuote {
    const kept = this.#quotes.get(quoteId);
    if (kept !== undefined) return kept;
    throw new ToolProblem({
      code: 'quote_not_found',
      message: 'This server has given no such quote, or it is long over.',
      fix: 'Ask for a new one with quote_venue_b.',
    });
  }
}

const TICKER = z
  .string()
  .min(1)
  .max(120)
  .describe('id of a market of venue B, from search_markets with its venue');

/** DFlow's own page, where a person sees the wallets of their identity. */
const IDENTITY_PAGE = 'https://dflow.net/proof';

/** Made on this machine, because a link of the desk could lead a person with their papers anywhere. */
const identityFacts = ({ quoteErrorCode }: Quote, { config, solana }: Call['desk']) =>
  quoteErrorCode !== 'kyc_required'
    ? {}
    : {
        identityLink: identityLink({
          signer: solana(),
          redirectUri: IDENTITY_PAGE,
          paperDesk: config.place.url,
        }),
      };

function quoteFacts(quote: Quote, texts: StrangersTexts) {
  texts.add('title', quote.title);
  texts.addName('outcomeName', quote.side, quote.outcomeName);
  texts.add('notice', quote.quoteErrorMessage);
  return {
    quoteId: idOf(quote.quoteId),
    market: idOf(quote.marketTicker),
    status: wordOf(quote.status),
    outcome: wordOf(quote.side),
    side: wordOf(quote.action),
    yesPrice: numberOf(quote.yesPrice),
    noPrice: numberOf(quote.noPrice),
    takesAtMost: atomsOf(quote.inAmount),
    givesExpected: atomsOf(quote.outAmount),
    givesAtLeast: atomsOf(quote.minOutAmount),
    priceImpactPercent: numberOf(quote.priceImpactPercent),
    isRedemption: flagOf(quote.isRedemption),
    secondsLeft: Math.max(0, Math.floor(((numberOf(quote.expiresAt) ?? 0) - Date.now()) / 1000)),
    tradable: quote.unsignedTransaction !== undefined && quote.quoteErrorCode === undefined,
    refusal: quote.quoteErrorCode === undefined ? null : wordOf(quote.quoteErrorCode),
  };
}

export const quoteTool = (shelf: QuoteShelf) =>
  tool({
    name: 'quote_venue_b',
    title: 'Ask venue B for a quote',
    description:
      'A price and a transaction for a market of venue B. BUY takes amount, SELL takes size; a SELL of a settled market redeems it. takesAtMost, givesExpected and givesAtLeast are collateral or shares. refusal says why there is nothing to trade; with approval_required trade_venue_b asks the owner, with kyc_required identityLink is for the person alone. Nothing is traded until trade_venue_b.',
    annotations: READS,
    input: z.strictObject({
      market: TICKER,
      outcome: OUTCOME,
      side: SIDE,
      amount: QUANTITY.optional().describe('of a BUY: collateral to spend at most, fees included'),
      size: QUANTITY.optional().describe('of a SELL: contracts, whole ones'),
    }),
    contradictions: ({ side, amount, size }) =>
      (side === 'SELL' ? size : amount) === undefined || (side === 'SELL' ? amount : size) !== undefined
        ? ['a BUY takes amount, a SELL takes size, and neither takes the other']
        : [],
    async run({ market, outcome, side, amount = 0, size = 0 }, call: Call) {
      const { desk, texts, signal } = call;
      const terms = { ticker: market, side: await sideOf(outcome, { market }, call) };
      const ask: QuoteAsk =
        side === 'BUY' ? { ...terms, action: side, amount } : { ...terms, action: side, shares: size };
      const quote = await desk.client.venueB.quote(ask, desk.solana().address, { signal });
      shelf.keep(quote, ask);
      return { ...quoteFacts(quote, texts), ...identityFacts(quote, desk) };
    },
  });

async function verify({ quote, ask }: KeptQuote, { desk }: Call): Promise<VerifiedQuote> {
  const { solanaRpc, place, env } = desk.config;
  const { address: wallet, use } = desk.solana();
  const { venueB } = desk.client;
  const mint = use === 'paper' ? undefined : await findMint(place, ask, env);
  const known = { wallet, use, mint };
  return solanaRpc === null
    ? venueB.verify(quote, ask, known)
    : venueB.verifyOnChain(quote, ask, { ...known, rpcUrl: solanaRpc });
}

/** The quote with its transaction, once the owner has approved it. */
async function askOwner(
  shelf: QuoteShelf,
  { quote, ask }: KeptQuote,
  {
    labels,
    waitSeconds,
    call: { desk, signal },
  }: { readonly labels: QuoteLabels; readonly waitSeconds: number; readonly call: Call },
): Promise<KeptQuote> {
  try {
    const options = { timeoutMs: waitSeconds * 1000, signal };
    const approved = await desk.client.venueB.askOwner(quote, labels, options);
    shelf.keep(approved, ask);
    return { quote: approved, ask };
  } catch (error) {
    if (!isProblem(error, 'quote_not_executable')) throw error;
    throw new ToolProblem({
      code: 'approval_required',
      message:
        'No owner can approve this quote: the agent had no owner when it was given, or it was canceled.',
      fix: 'Unless the agent has an owner, ask the person to open the claim address of this agent and to sign in there. Then ask for a new quote with quote_venue_b; or order for no more than approvalAbove.',
    });
  }
}

/** Question about figures that were asked for and verified; the market by its ticker. */
function questionAbout({ quote, ask }: KeptQuote): string {
  const what =
    ask.action === 'BUY'
      ? `BUY ${ask.side} for at most ${ask.amount} collateral`
      : `SELL ${ask.shares} ${ask.side} shares`;
  return `Place this order? ${what}, market ${idOf(ask.ticker)} (venue B). Quote id ${idOf(quote.quoteId)}.`;
}

/** The order's outcome, when it comes in time. A desk that has frozen is waited for no longer. */
async function outcomeOf(
  orderId: string,
  timeoutMs: number,
  { desk, signal }: Call,
): Promise<QuotedOrderDetail | null> {
  if (timeoutMs <= 0) return null;
  try {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    return await desk.client.venueB.wait(orderId, { timeoutMs, signal: inTime });
  } catch {
    // A submitted order is known by its submission: how the wait ended changes nothing.
    return null;
  }
}

export const tradeQuoteTool = (shelf: QuoteShelf) =>
  tool({
    name: 'trade_venue_b',
    title: 'Trade a quote of venue B',
    description:
      'Checks the whole transaction of a quote on this machine, signs and submits it. It counts against the spending limit of the day, a SELL by its size; above a threshold the person is asked first, and a quote with the refusal approval_required asks the owner. The same quoteId again has no second effect. status submitted: on its way; filled, reverted, expired, failed: final.',
    annotations: { ...ACTS, idempotentHint: true },
    input: z.strictObject({
      quoteId: z.string().regex(/^[A-Za-z0-9._:-]{1,64}$/),
      waitSeconds: z
        .int()
        .min(0)
        .max(40)
        .default(20)
        .describe('how long to wait in all: for the owner, and for the outcome'),
      clientOrderId: CLIENT_ORDER_ID.describe(
        'your own name for the trade: another trade under it is refused, so a repetition cannot buy twice',
      ),
      cancelAfterMs: CANCEL_AFTER_MS.describe('what has not left the desk by then is canceled'),
      reasoning: REASONING,
    }),
    async run({ quoteId, waitSeconds, clientOrderId, cancelAfterMs, reasoning }, call) {
      const { desk, texts } = call;
      const kept = shelf.find(quoteId);
      const { ask } = kept;
      const labels = { source: 'mcp', ...(reasoning === undefined ? {} : { reasoning }) };
      let verified = kept.quote.quoteErrorCode === 'approval_required' ? null : await verify(kept, call);
      let leftMs = waitSeconds * 1000;
      const quantity: Micro = parseMicro(ask.action === 'BUY' ? ask.amount : ask.shares);
      const spent = await spend(call, {
        order: { orderId: quoteId },
        // The desk could give one quote id to many transactions.
        countedAs: () => (verified === null ? null : `b:${verified.digest}`),
        // A sale counts its contracts, each of which may be worth one collateral.
        cost: quantity,
        stake: quantity,
        question: () => questionAbout(kept),
        prepare: async () => {
          const begun = Date.now();
          verified ??= await verify(await askOwner(shelf, kept, { labels, waitSeconds, call }), call);
          // Clients give up a call after a minute.
          leftMs -= Date.now() - begun;
        },
        send: () => {
          const signed = desk.once.venueB.sign(verified as VerifiedQuote, desk.solana());
          const { mint, mintIsBelieved } = verified as VerifiedQuote;
          if (ask.action === 'BUY' && !mintIsBelieved)
            rememberPurchase(desk.config.place, { ticker: ask.ticker, side: ask.side, mint });
          const name = clientOrderId === undefined ? {} : { clientOrderId };
          const time = cancelAfterMs === undefined ? {} : { cancelAfterMs };
          return desk.once.venueB.submit(quoteId, signed, { ...labels, ...name, ...time });
        },
      });
      if ('ask' in spent) return spent.ask;
      const { answer } = spent;
      texts.add('refusal.detail', answer.errorMessage);
      const order = answer.success ? await outcomeOf(answer.orderId, leftMs, call) : null;
      return {
        placed: flagOf(answer.success),
        status: wordOf(order?.status ?? answer.status),
        orderId: idOf(answer.orderId),
        transaction: idOf(answer.txSignature),
        filledSize: numberOf(order?.filledSize ?? answer.filledSize),
        averagePrice: numberOf(order?.avgPrice ?? answer.avgPrice),
        fee: numberOf(order?.feePaid ?? null),
        spendingLimit: spendingOf(desk.limit.standing()),
      };
    },
  });
