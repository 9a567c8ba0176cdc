/** Finding a market, and looking at one before a trade. */
import type { Market, MarketContext } from '@bellwether/sdk';
import type { Command } from 'commander';
import { count, fraction, positive, upper } from '../options.ts';
import { action, examples, type Run, type Start } from '../run.ts';
import { type Column, endOf, outcomeName, outcomeText, paragraphs } from '../terminal.ts';

interface SearchOptions {
  readonly venue?: string;
  readonly category?: string;
  readonly order?: string;
  readonly endsBefore?: string;
  readonly closed?: boolean;
  readonly limit: number;
  readonly page: number;
}

/** The venue's names of both outcomes; none where they are simply Yes and No. */
function namesOf({ outcomes }: Pick<Market, 'outcomes'>): readonly (readonly [string, string])[] {
  const names = (['YES', 'NO'] as const).map((side, at) => [side, outcomeName(outcomes[at])] as const);
  return names.some(([side, name]) => outcomeText(side, name) !== side) ? names : [];
}

const MARKETS: readonly Column<Market>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'QUESTION', value: ({ question }) => question, shrinks: true },
  {
    title: 'YES / NO',
    value: (market) =>
      namesOf(market)
        .map(([, name]) => name)
        .join(' / '),
    shrinks: true,
  },
  { title: 'BID', value: ({ bestBid }) => bestBid, align: 'right' },
  { title: 'ASK', value: ({ bestAsk }) => bestAsk, align: 'right' },
  { title: '24H VOLUME', value: ({ volume24hr }) => Math.round(Number(volume24hr)), align: 'right' },
  { title: 'ENDS', value: ({ endDate }) => endOf(endDate)?.slice(0, 16).replace('T', ' ') ?? '' },
  { title: 'VENUE', value: ({ venue }) => venue },
];

async function search(run: Run, options: SearchOptions, words: readonly string[]): Promise<void> {
  const { venue, category, order, endsBefore, closed, limit, page } = options;
  const client = await run.client();
  const found = await run.waiting(
    'Searching',
    client.listMarkets({
      q: words.length === 0 ? '*' : words.join(' '),
      limit,
      page,
      ...(venue === undefined ? {} : { venue }),
      ...(category === undefined ? {} : { category }),
      ...(order === undefined ? {} : { order }),
      ...(endsBefore === undefined ? {} : { endsBefore }),
      ...(closed === true ? { closed } : {}),
    }),
  );
  run.output.answer(found, () => run.output.table(MARKETS, found, 'No market matches. Try fewer words.'));
}

const marketFacts = (market: Market) =>
  [
    ['id', market.id],
    ['question', market.question],
    ['condition id', market.conditionId],
    ['venue', market.venue],
    ['category', market.category],
    ['status', market.status],
    ['ends', endOf(market.endDate)],
    ...(market.gameStartTime === undefined ? [] : ([['game starts', market.gameStartTime]] as const)),
    ...(market.takerDelaySeconds === undefined
      ? []
      : ([['takers are held', `${market.takerDelaySeconds} s`]] as const)),
    ...namesOf(market),
    ['YES bid / ask', `${market.bestBid} / ${market.bestAsk}`],
    ['tick size', market.tickSize],
    ['smallest order', `${market.minOrderSize} shares`],
    ['24h volume', market.volume24hr],
    ['YES token', market.clobTokenIds[0]],
    ['NO token', market.clobTokenIds[1]],
    ...(market.untradable === undefined ? [] : ([['cannot be traded', market.untradable]] as const)),
    ...(market.unknownResult === undefined ? [] : ([['unknown result', market.unknownResult]] as const)),
  ] as const;

async function show(run: Run, options: { readonly venue?: string }, id: string): Promise<void> {
  const client = await run.client();
  const market = await run.waiting('Reading the market', client.getMarket(id, options));
  run.output.answer(market, () => {
    const rules = paragraphs(market.description);
    return `${run.output.facts(marketFacts(market))}\n\n${run.output.title('Rules (written by others)')}\n${rules}`;
  });
}

interface ContextOptions {
  readonly venue?: string;
  readonly probability?: number;
  readonly side?: 'BUY' | 'SELL';
  readonly size?: number;
}

const SLIPPAGE: readonly Column<MarketContext['slippage'][number]>[] = [
  { title: 'SIDE', value: ({ side }) => side },
  { title: 'OUTCOME', value: ({ outcome, outcomeName }) => outcomeText(outcome, outcomeName), shrinks: true },
  { title: 'AMOUNT', value: ({ amount }) => amount, align: 'right' },
  { title: 'AVERAGE', value: ({ averagePrice }) => averagePrice, align: 'right' },
  { title: 'WORST', value: ({ worstPrice }) => worstPrice, align: 'right' },
  { title: 'SHARES', value: ({ filledShares }) => filledShares, align: 'right' },
  { title: 'FEE', value: ({ fee }) => fee, align: 'right' },
  { title: 'ALL OF IT', value: ({ complete }) => complete },
];

const LEVELS_SHOWN = 5;

function contextText(run: Run, { market, orderbook, account, ...context }: MarketContext): string {
  const { output } = run;
  const depth = (name: 'yes' | 'no') =>
    output.table(
      [
        { title: `${name.toUpperCase()} BID`, value: (row) => row.bid?.price, align: 'right' },
        { title: 'SIZE', value: (row) => row.bid?.size, align: 'right' },
        { title: 'ASK', value: (row) => row.ask?.price, align: 'right' },
        { title: 'SIZE', value: (row) => row.ask?.size, align: 'right' },
      ],
      Array.from({ length: LEVELS_SHOWN }, (_, i) => ({
        bid: orderbook[name].bids[i],
        ask: orderbook[name].asks[i],
      })).filter(({ bid, ask }) => bid !== undefined || ask !== undefined),
      `${name.toUpperCase()}: no bids and no asks.`,
    );
  const mine =
    account === null
      ? []
      : ([
          ['you can spend', account.available],
          ['your YES shares', account.yesShares],
          ['your NO shares', account.noShares],
        ] as const);
  const parts = [
    output.facts([
      ['question', market.question],
      ['id', market.id],
      ['status', market.status],
      ['ends', endOf(market.endDate)],
      ...namesOf(market),
      ['spread', orderbook.spread],
      ...mine,
    ]),
    depth('yes'),
    depth('no'),
    output.table(SLIPPAGE, context.slippage, 'No slippage is known.'),
    ...(context.warnings.length === 0
      ? []
      : [context.warnings.map(({ severity, message }) => paragraphs(`${severity}: ${message}`)).join('\n')]),
    ...(context.recommendation === undefined ? [] : [paragraphs(context.recommendation)]),
    `${output.title('Rules (written by others)')}\n${paragraphs(market.description)}`,
  ];
  return parts.join('\n\n');
}

async function context(run: Run, options: ContextOptions, id: string): Promise<void> {
  const { venue, probability, side, size } = options;
  const client = await run.client();
  const found = await run.waiting(
    'Reading the market',
    client.getMarketContext(id, {
      ...(venue === undefined ? {} : { venue }),
      ...(probability === undefined ? {} : { myProbability: probability }),
      ...(side === undefined ? {} : { side }),
      ...(size === undefined ? {} : { size }),
    }),
  );
  run.output.answer(found, () => contextText(run, found));
}

const VENUE = ['--venue <name>', 'only of this venue'] as const;
const MARKET = 'market id, condition id, slug or token id; of venue B its ticker';

export function addMarketCommands(program: Command, start: Start): void {
  examples(
    program
      .command('markets')
      .description('search markets')
      .argument('[words...]', 'what to look for; without words every market')
      .option(...VENUE)
      .option('--category <name>', 'only of this category')
      .option('--order <field>', 'volume24hr, liquidity, volume, endDate or createdAt; default: relevance')
      .option('--ends-before <time>', 'only those that end before this time')
      .option('--closed', 'also markets that are closed')
      .option('--limit <n>', 'how many', count, 20)
      .option('--page <n>', 'which page', count, 1)
      .action(
        action(start, {
          run: (run: Run, options: SearchOptions, words: string[]) => search(run, options, words),
        }),
      ),
    'bellwether markets election --order liquidity',
    'bellwether markets --venue kalshi --limit 5 --json',
  );
  examples(
    program
      .command('market')
      .description('one market: its terms, its tokens, its rules')
      .argument('<market>', MARKET)
      .option(...VENUE)
      .action(action(start, { run: show })),
    'bellwether market 101',
  );
  examples(
    program
      .command('context')
      .description('everything to look at before a trade: books, slippage, warnings, what you hold')
      .argument('<market>', MARKET)
      .option(...VENUE)
      .option('--probability <p>', 'your probability of YES: adds the expected gain', fraction)
      .option('--side <side>', 'BUY or SELL: only this side of the slippage table', upper('BUY', 'SELL'))
      .option('--size <n>', 'an amount of your own for the slippage table', positive)
      .action(action(start, { run: context })),
    'bellwether context 101 --probability 0.6 --side buy --size 50',
  );
}
