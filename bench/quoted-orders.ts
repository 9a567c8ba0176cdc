/**
 * Quoted orders through the whole service on the sandbox: how long a quote, a submit and the time to the fill take, one
 * after another and from many agents at once. Run it with `node bench/quoted-orders.ts`.
 */
import { BellwetherClient, SolanaSigner } from '@bellwether/sdk';
import { newDataFolder, removeFolder, startService } from './service.ts';

const AGENTS = 16;
const TRADES_EACH = 25;
const FILL_DELAY_MS = 600;
const SPEND = 5;

export interface Times {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface QuotedOrdersRow {
  readonly what: string;
  readonly quote: Times;
  readonly submit: Times;
  /** From the answer of the submit to the record of the fill; the sandbox itself waits FILL_DELAY_MS of it. */
  readonly fill: Times;
  readonly perSecond: number;
  readonly reverted: number;
}

interface Trader {
  readonly client: BellwetherClient;
  readonly signer: SolanaSigner;
}

const timesOf = (samples: readonly number[]): Times => {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99) };
};

async function newTrader(baseUrl: string): Promise<Trader> {
  const { apiKeyCode } = await new BellwetherClient({ baseUrl }).registerAgent({ name: 'Bench' });
  const client = new BellwetherClient({ baseUrl, apiKey: apiKeyCode });
  const signer = SolanaSigner.generate();
  await client.updateSolAddress(signer.address);
  await client.updateSettings({
    maxTradesPerDay: 5000,
    maxTradeAmount: 100_000,
    dailyTradeAmountLimit: 1_000_000,
  });
  return { client, signer };
}

async function tradeOnce({ client, signer }: Trader, ticker: string) {
  const ask = { ticker, side: 'YES', action: 'BUY', amount: SPEND } as const;
  const from = performance.now();
  const quote = await client.venueB.quote(ask);
  const quoted = performance.now();
  const verified = client.venueB.verify(quote, ask, { wallet: signer.address });
  const signed = client.venueB.sign(verified, signer);
  const sending = performance.now();
  const { orderId } = await client.venueB.submit(quote.quoteId, signed);
  const submitted = performance.now();
  return { orderId, quoteMs: quoted - from, submitMs: submitted - sending, submitted };
}

async function measure(
  what: string,
  traders: readonly Trader[],
  tickers: readonly string[],
): Promise<QuotedOrdersRow> {
  const quotes: number[] = [];
  const submits: number[] = [];
  const fills: number[] = [];
  const waits: Promise<void>[] = [];
  let reverted = 0;
  const from = performance.now();
  await Promise.all(
    traders.map(async (trader, nth) => {
      for (let i = 0; i < TRADES_EACH; i++) {
        const trade = await tradeOnce(trader, tickers[(nth * TRADES_EACH + i) % tickers.length] ?? '');
        quotes.push(trade.quoteMs);
        submits.push(trade.submitMs);
        const filled = async () => {
          const order = await trader.client.venueB.wait(trade.orderId);
          // Sixteen agents on one book move it: an order that would yield too little is reverted.
          if (order.status === 'reverted') reverted += 1;
          else if (order.status !== 'filled')
            throw new Error(`an order is ${order.status}: ${order.errorMessage}`);
          const last = order.journal.at(-1);
          fills.push(Date.parse(last?.at ?? '') - Date.parse(order.createdAt));
        };
        waits.push(filled());
      }
    }),
  );
  const seconds = (performance.now() - from) / 1000;
  await Promise.all(waits);
  return {
    what,
    quote: timesOf(quotes),
    submit: timesOf(submits),
    fill: timesOf(fills),
    perSecond: quotes.length / seconds,
    reverted,
  };
}

export async function benchQuotedOrders(): Promise<readonly QuotedOrdersRow[]> {
  const dataDir = newDataFolder();
  const env = { RATE_LIMITS: 'off', LOG_LEVEL: 'warn', PAPER_B_FILL_DELAY_MS: String(FILL_DELAY_MS) };
  const service = await startService({ dataDir, env });
  try {
    const traders: Trader[] = [];
    for (let i = 0; i < AGENTS; i++) traders.push(await newTrader(service.url));
    const first = traders[0];
    if (first === undefined) throw new Error('no agent');
    const markets = await first.client.listMarkets({ q: '*', venue: 'kalshi', limit: 100 });
    const tickers = markets
      .filter(({ bestAsk, endDate }) => {
        const price = Number(bestAsk);
        return price > 0.2 && price < 0.8 && Date.parse(endDate) > Date.now() + 3_600_000;
      })
      .map(({ id }) => id);
    await measure('warm', [first], tickers);
    return [
      await measure('quoted orders, 1 agent', [first], tickers),
      await measure(`quoted orders, ${AGENTS} agents`, traders, tickers),
    ];
  } finally {
    await service.stop();
    removeFolder(dataDir);
  }
}

if (import.meta.main) {
  for (const { what, quote, submit, fill, perSecond, reverted } of await benchQuotedOrders()) {
    const text = ({ p50Ms, p99Ms }: Times) => `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
    console.log(
      `${what}: quote ${text(quote)}; submit ${text(submit)}; to the fill ${text(fill)}; ${perSecond.toFixed(0)} trades/s, ${reverted} reverted`,
    );
  }
}
