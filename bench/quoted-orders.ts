/**
 * Quoted orders through the whole service on the sandbox, quote and submit apart: one agent that waits for each answer,
 * and sixteen at once. Each round quotes, signs, submits, then waits until every order has ended, because that work (the
 * chain, the settlement, the follower) belongs to the submits. Other checkouts are measured in turns with this one.
 *
 *   node bench/quoted-orders.ts [--root CHECKOUT]… [--rounds N]
 */
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BellwetherClient, type QuoteAsk, SolanaSigner } from '@bellwether/sdk';
import { httpText, type LoadResult, runLoad } from './load.ts';
import { type Processor, used } from './processor.ts';
import { median, ms, type Ratio, type Report, type RowOptions, tableText, times, whole } from './report.ts';
import { type BenchService, newDataFolder, removeFolder, startService } from './service.ts';

const AGENTS = 16;
const QUOTES_OF_ONE = 60;
const SUBMITS_OF_ONE = 30;
const SUBMITS_OF_EACH = 30;
const ROUNDS = { short: 3, full: 7 };
const SPEND = 5;
const HOUR_MS = 3_600_000;
/** A round that takes longer has failed. */
const END_WITHIN_MS = 60_000;
const LOOK_AGAIN_MS = 200;
const ENVIRONMENT = { RATE_LIMITS: 'off', LOG_LEVEL: 'warn' };

interface Trader {
  readonly client: BellwetherClient;
  readonly apiKey: string;
  readonly signer: SolanaSigner;
}

interface Round {
  readonly quoteOfOne: LoadResult;
  readonly submitOfOne: LoadResult;
  readonly quotes: LoadResult;
  readonly submits: LoadResult;
  /** From the first of the many submits until every order had ended. */
  readonly used: Processor;
  readonly reverted: number;
}

interface Subject {
  readonly name: string;
  readonly service: BenchService;
  readonly folder: string;
  readonly traders: readonly Trader[];
  readonly tickers: readonly string[];
  readonly rounds: Round[];
}

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
  return { client, apiKey: apiKeyCode, signer };
}

async function open(root?: string, nodeArgs: readonly string[] = []): Promise<Subject> {
  const folder = newDataFolder();
  const given = root === undefined ? {} : { root };
  const service = await startService({ ...given, dataDir: folder, env: ENVIRONMENT, nodeArgs });
  const traders: Trader[] = [];
  for (let i = 0; i < AGENTS; i++) traders.push(await newTrader(service.url));
  const markets = await traders[0]!.client.listMarkets({ q: '*', venue: 'kalshi', limit: 100 });
  const tickers = markets
    .filter(({ bestAsk, endDate }) => {
      const price = Number(bestAsk);
      return price > 0.2 && price < 0.8 && Date.parse(endDate) > Date.now() + HOUR_MS;
    })
    .map(({ id }) => id);
  const name = root === undefined ? 'service' : basename(root);
  return { name, service, folder, traders, tickers, rounds: [] };
}

const askFor = ({ tickers }: Subject, nth: number): QuoteAsk => ({
  ticker: tickers[nth % tickers.length] ?? '',
  side: 'YES',
  action: 'BUY',
  amount: SPEND,
});

/** Quotes whose answers are measured and not used. */
function quoteText(subject: Subject, trader: Trader, nth: number): string {
  const { ticker: marketTicker, ...ask } = askFor(subject, nth);
  return httpText('POST', '/venueb/agent/quote', trader.apiKey, JSON.stringify({ marketTicker, ...ask }));
}

/** Signed submits, `each` of every trader, in turns. */
async function submitTexts(subject: Subject, traders: readonly Trader[], each: number): Promise<string[]> {
  const texts: string[][] = await Promise.all(
    traders.map(async ({ client, apiKey, signer }, at) => {
      const own: string[] = [];
      for (let nth = 0; nth < each; nth++) {
        const ask = askFor(subject, at * each + nth);
        const quote = await client.venueB.quote(ask);
        const verified = client.venueB.verify(quote, ask, { wallet: signer.address, use: signer.use });
        const body = { quoteId: quote.quoteId, signedTransaction: client.venueB.sign(verified, signer) };
        own.push(httpText('POST', '/venueb/agent/submit', apiKey, JSON.stringify(body)));
      }
      return own;
    }),
  );
  return Array.from({ length: each }, (_, nth) => texts.flatMap((own) => own[nth] ?? [])).flat();
}

async function load(subject: Subject, connections: number, requests: readonly string[], text: string) {
  const result = await runLoad({
    port: subject.service.port,
    ...{ connections, requests, seconds: END_WITHIN_MS / 1000 },
    ...{ expectStatus: 200, expectText: text },
  });
  if (result.bad > 0) throw new Error(`${result.bad} bad answers, e.g.\n${result.examples[0]}`);
  return result;
}

const quoted = (subject: Subject, connections: number, requests: readonly string[]) =>
  load(subject, connections, requests, '"unsignedTransaction"');
const submitted = (subject: Subject, connections: number, requests: readonly string[]) =>
  load(subject, connections, requests, '"success":true');

/** Waits until no order is open. @returns how many orders of this round were reverted: many agents move a book */
async function ended({ traders }: Subject, each: number): Promise<number> {
  const until = performance.now() + END_WITHIN_MS;
  let reverted = 0;
  for (const { client } of traders)
    for (;;) {
      const orders = await client.venueB.orders({ limit: each });
      const open = orders.filter(({ status }) => status === 'submitted' || status === 'open');
      if (open.length === 0) {
        const strange = orders.find(({ status }) => status !== 'filled' && status !== 'reverted');
        if (strange !== undefined) throw new Error(`an order is ${strange.status}: ${strange.errorMessage}`);
        reverted += orders.filter(({ status }) => status === 'reverted').length;
        break;
      }
      if (performance.now() > until) throw new Error(`${open.length} orders did not end`);
      await new Promise((look) => setTimeout(look, LOOK_AGAIN_MS));
    }
  return reverted;
}

async function measure(subject: Subject, isWarm = true): Promise<void> {
  const { service, traders } = subject;
  const one = traders.slice(0, 1);
  const quotesOfOne = Array.from({ length: QUOTES_OF_ONE }, (_, nth) => quoteText(subject, traders[0]!, nth));
  const quoteOfOne = await quoted(subject, 1, quotesOfOne);
  const submitOfOne = await submitted(subject, 1, await submitTexts(subject, one, SUBMITS_OF_ONE));
  await ended({ ...subject, traders: one }, SUBMITS_OF_ONE);
  const quotesOfMany = traders.flatMap((trader, at) =>
    Array.from({ length: QUOTES_OF_ONE / 4 }, (_, nth) => quoteText(subject, trader, at + nth)),
  );
  const quotes = await quoted(subject, AGENTS, quotesOfMany);
  const texts = await submitTexts(subject, traders, SUBMITS_OF_EACH);
  const from = service.processor();
  const submits = await submitted(subject, AGENTS, texts);
  const reverted = await ended(subject, SUBMITS_OF_EACH);
  if (!isWarm) return;
  subject.rounds.push({
    ...{ quoteOfOne, submitOfOne, quotes, submits, reverted },
    used: used(from, service.processor()),
  });
}

const middle = ({ rounds }: Subject, pick: (round: Round) => number): number => median(rounds.map(pick));

function rowOf(subject: Subject): readonly string[] {
  const each = AGENTS * SUBMITS_OF_EACH;
  return [
    subject.name,
    ms(middle(subject, ({ quoteOfOne }) => quoteOfOne.p50Ms)),
    ms(middle(subject, ({ submitOfOne }) => submitOfOne.p50Ms)),
    whole(middle(subject, ({ quotes }) => quotes.perSecond)),
    whole(middle(subject, ({ submits }) => submits.perSecond)),
    ms(middle(subject, ({ submits }) => submits.p99Ms)),
    ms(middle(subject, (round) => round.used.programMs / each)),
    ms(middle(subject, (round) => round.used.postgresMs / each)),
    whole(subject.rounds.reduce((sum, { reverted }) => sum + reverted, 0)),
  ];
}

function ratiosOf([service, ...others]: readonly Subject[]): Ratio[] {
  return others.flatMap((other): Ratio[] => [
    [
      `submits/s of ${AGENTS} agents ÷ ${other.name}`,
      times(middle(service!, (one) => one.submits.perSecond) / middle(other, (one) => one.submits.perSecond)),
      '≥ 5',
    ],
    [
      `quote p50 of one agent ÷ ${other.name}`,
      times(middle(service!, (one) => one.quoteOfOne.p50Ms) / middle(other, (one) => one.quoteOfOne.p50Ms)),
      '≤ 0.5',
    ],
  ]);
}

export async function benchQuotedOrders({ full, roots, rounds = null }: RowOptions): Promise<Report> {
  const count = rounds ?? (full ? ROUNDS.full : ROUNDS.short);
  const subjects: Subject[] = [];
  try {
    subjects.push(await open());
    for (const root of roots) subjects.push(await open(root));
    for (let round = 0; round <= count; round += 1) {
      const turn = round % subjects.length;
      for (const subject of [...subjects.slice(turn), ...subjects.slice(0, turn)])
        await measure(subject, round > 0);
    }
    return {
      ratios: ratiosOf(subjects),
      tables: [
        {
          head: [
            'quoted orders',
            ...['quote p50, 1 agent', 'submit p50, 1 agent', `quotes/s, ${AGENTS} agents`],
            ...[`submits/s, ${AGENTS} agents`, 'submit p99', 'service CPU a trade', 'PostgreSQL CPU a trade'],
            'reverted',
          ],
          rows: subjects.map(rowOf),
        },
      ],
    };
  } finally {
    for (const { service, folder } of subjects) {
      await service.stop();
      removeFolder(folder);
    }
  }
}

/** This checkout alone under the same load, for a profile. */
export async function quotedOrdersAlone(nodeArgs: readonly string[], rounds: number): Promise<Subject> {
  const subject = await open(undefined, nodeArgs);
  try {
    for (let round = 0; round <= rounds; round += 1) await measure(subject, round > 0);
    return subject;
  } finally {
    await subject.service.stop();
    removeFolder(subject.folder);
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      root: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  const rounds = values.rounds === undefined ? null : Number(values.rounds);
  if (values.profile !== undefined) {
    const subject = await quotedOrdersAlone(
      ['--cpu-prof', `--cpu-prof-dir=${resolve(values.profile)}`],
      rounds ?? ROUNDS.short,
    );
    console.log(rowOf(subject).join('; '));
  } else {
    const roots = values.root.map((root) => resolve(root));
    const { ratios, tables } = await benchQuotedOrders({ full: false, roots, rounds });
    if (ratios.length > 0) console.log(tableText({ head: ['ratio', 'figure', 'goal'], rows: ratios }));
    for (const table of tables) console.log(tableText(table));
  }
}
