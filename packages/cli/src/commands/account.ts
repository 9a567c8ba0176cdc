/** Shows what the agent has: positions, portfolio and briefing; and redeems. */
import { writeFile } from 'node:fs/promises';
import { type BellwetherClient, type Briefing, isProblem, type Position } from '@bellwether/sdk';
import type { Command } from 'commander';
import { usage } from '../cli-error.ts';
import { count, positive } from '../options.ts';
import { action, examples, type Run, type Start } from '../run.ts';
import { ownWallet, relayAsked, requireAsked, transactionText, type Unsigned } from '../signing.ts';
import { type Column, endOf, oneLine, outcomeText, paragraphs } from '../terminal.ts';

interface PositionsOptions {
  readonly market?: string;
  readonly venue?: string;
  readonly redeemable?: boolean;
  readonly closed?: boolean;
  readonly expiring?: number;
  readonly limit: number;
}

const POSITIONS: readonly Column<Position>[] = [
  { title: 'MARKET ID', value: ({ marketId }) => marketId },
  { title: 'MARKET', value: ({ title }) => title, shrinks: true },
  { title: 'OUTCOME', value: ({ outcome, outcomeName }) => outcomeText(outcome, outcomeName), shrinks: true },
  { title: 'SHARES', value: ({ size }) => size, align: 'right' },
  { title: 'COST', value: ({ avgPrice }) => avgPrice, align: 'right' },
  { title: 'NOW', value: ({ currentPrice }) => currentPrice, align: 'right' },
  { title: 'VALUE', value: ({ currentValue }) => currentValue, align: 'right' },
  { title: 'P&L', value: ({ unrealizedPnl, realizedPnl }) => unrealizedPnl + realizedPnl, align: 'right' },
  { title: 'REDEEM', value: ({ redeemable }) => (redeemable ? 'yes' : '') },
  { title: 'ENDS', value: ({ endDate }) => endOf(endDate)?.slice(0, 10) ?? '' },
];

function readPositions(client: BellwetherClient, options: PositionsOptions) {
  const { market, venue, redeemable, closed, expiring, limit } = options;
  const where = {
    limit,
    ...(venue === undefined ? {} : { venue }),
    ...(market === undefined ? {} : { market }),
  };
  if (closed === true) return client.getClosedPositions(where);
  if (expiring !== undefined) {
    const { market: _, ...rest } = where as typeof where & { market?: string };
    return client.getExpiringPositions({ ...rest, hours: expiring }).then(({ positions }) => positions);
  }
  return client.getCurrentPositions({ ...where, ...(redeemable === true ? { redeemable } : {}) });
}

async function positions(run: Run, options: PositionsOptions): Promise<void> {
  const { closed, expiring, redeemable, market } = options;
  if ([closed, expiring, redeemable].filter((one) => one !== undefined).length > 1)
    throw usage('--closed, --expiring and --redeemable are three different lists: give one of them.');
  if (expiring !== undefined && market !== undefined)
    throw usage('--expiring lists all markets: leave --market out.');
  const client = await run.client();
  const found = await run.waiting('Reading positions', readPositions(client, options));
  run.output.answer(found, () => run.output.table(POSITIONS, found, 'No such positions.'));
}

async function portfolio(run: Run, options: { readonly venue?: string }): Promise<void> {
  const client = await run.client();
  const found = await run.waiting('Reading the portfolio', client.getPortfolio(options));
  run.output.answer(found, () =>
    [
      run.output.facts([
        ['balance, all venues', found.total.balance],
        ['exposure', found.total.totalExposure],
        ['positions', found.total.positionsCount],
        ['to redeem', found.total.redeemableCount],
        ['P&L, 24 hours', found.total.pnl24h],
        ['P&L, total', found.total.pnlTotal],
        ['realised', found.total.realizedPnl],
        ['unrealised', found.total.unrealizedPnl],
        ['fees', found.total.fees],
        [`largest market on ${found.venue}`, `${found.concentration.topMarketPct} %`],
      ]),
      run.output.table(
        [
          { title: 'VENUE', value: ([name]) => name },
          { title: 'BALANCE', value: ([, venue]) => venue.balance, align: 'right' },
          { title: 'P&L', value: ([, venue]) => venue.pnl, align: 'right' },
          { title: 'POSITIONS', value: ([, venue]) => venue.positionsCount, align: 'right' },
          { title: 'EXPOSURE', value: ([, venue]) => venue.totalExposure, align: 'right' },
        ],
        Object.entries(found.venues),
        'No venues.',
      ),
      ...notices(found.warnings),
    ].join('\n\n'),
  );
}

const notices = (warnings: readonly { readonly severity: string; readonly message: string }[]): string[] =>
  warnings.length === 0
    ? []
    : [warnings.map(({ severity, message }) => oneLine(`${severity}: ${message}`)).join('\n')];

interface RedeemOptions {
  readonly all?: boolean;
  readonly venue?: string;
  /** Of a market of Protocol V2 at a live venue: what its transactions must name. */
  readonly heldYes?: number;
  readonly heldNo?: number;
}

type Redeemed = Awaited<ReturnType<BellwetherClient['redeemPosition']>>;

/** Each market once, however many of its positions pay. */
async function redeemAll(run: Run, client: BellwetherClient): Promise<Redeemed[]> {
  const found = await client.getCurrentPositions({ redeemable: true });
  const markets = new Map(found.map((position) => [position.conditionId, position]));
  const answers: Redeemed[] = [];
  for (const { venue, conditionId, marketId, outcome, size } of markets.values()) {
    try {
      answers.push(await client.redeemPosition({ venue, marketId: conditionId }));
    } catch (error) {
      if (!isProblem(error, 'wrong_venue_route')) throw error;
      // Where the venue has no route for it, a sale pays the winning tokens out: of whole contracts.
      run.output.say(
        oneLine(
          `Redeem ${marketId} with: bellwether trade sell ${marketId} ${outcome} --size ${Math.floor(size)}`,
        ),
      );
    }
  }
  return answers;
}

async function redeem(run: Run, market: string | undefined, options: RedeemOptions): Promise<void> {
  const { all, venue } = options;
  if ((market === undefined) === (all !== true))
    throw usage(
      'Say what to redeem: a market, or --all.',
      'bellwether positions --redeemable lists what can be.',
    );
  const client = await run.client();
  const answers = await run.waiting(
    'Redeeming',
    market === undefined
      ? redeemAll(run, client)
      : client
          .redeemPosition({ marketId: market, ...(venue === undefined ? {} : { venue }) })
          .then((answer) => [answer]),
  );
  const toSign: Unsigned[] = [];
  const shown: Omit<Redeemed, 'transactions' | 'relays'>[] = [];
  for (const { transactions: _, relays: __, ...answer } of answers) {
    if (answer.status !== 'unsigned') {
      shown.push(answer);
      continue;
    }
    const { status, unsigned } = await redemptionOf(run, client, answer.marketId, options);
    if (unsigned !== null) toSign.push(unsigned);
    const transactions = unsigned === null ? {} : { transactions: unsigned.transactions };
    shown.push({ ...answer, status, ...transactions });
  }
  run.output.answer(market === undefined ? shown : shown[0], () =>
    [
      run.output.table(
        [
          { title: 'MARKET ID', value: ({ marketId }) => marketId, shrinks: true },
          { title: 'STATUS', value: ({ status }) => status },
          { title: 'RECEIVED', value: ({ redeemedAmount }) => redeemedAmount, align: 'right' },
        ],
        shown,
        'Nothing can be redeemed.',
      ),
      ...toSign.map((unsigned) => transactionText(run, unsigned)),
    ].join('\n\n'),
  );
}

/**
 * Transactions of this machine's wallet alone, or the status once the relayer has what was signed; asking again has no effect.
 * @throws WalletCallsError for any others
 */
async function redemptionOf(
  run: Run,
  client: BellwetherClient,
  marketId: string,
  { venue, heldYes, heldNo }: RedeemOptions,
): Promise<{ readonly status: string; readonly unsigned: Unsigned | null }> {
  const { wallet: walletAddress } = await ownWallet(run);
  const where = venue === undefined ? {} : { venue };
  const answer = await client.redeemPosition({ marketId, walletAddress, ...where });
  const shares = {
    ...(heldYes === undefined ? {} : { YES: heldYes }),
    ...(heldNo === undefined ? {} : { NO: heldNo }),
  };
  const action = { kind: 'redeem', shares } as const;
  const [relay, ...others] = answer.relays ?? [];
  if (relay === undefined || others.length > 0)
    return {
      status: answer.status,
      unsigned: await requireAsked(run, client, { answer, action, marketId, venue }),
    };
  const prepared = { ...relay, status: answer.status };
  const { status } = await relayAsked(run, client, { answer: prepared, action, marketId, venue });
  return { status, unsigned: null };
}

function briefingText(run: Run, found: Briefing): string {
  const { agent, venues, recentTrades, riskAlerts, exitChanges } = found;
  const actions = Object.values(venues).flatMap((venue) => venue.actions);
  return [
    run.output.facts([
      ['agent', `${agent.name} (${agent.agentId})`],
      ['claimed', agent.claimed],
      ['trading', found.settings.tradingPaused || found.settings.pausedByOwner ? 'paused' : 'on'],
      ['trades today', `${agent.tradesToday} of ${agent.maxTradesPerDay}`],
      ['amount today', agent.amountToday],
      ['P&L today', agent.realizedToday],
      ['next cursor', found.nextCursor],
    ]),
    run.output.table(
      [
        { title: 'VENUE', value: ([name]) => name },
        { title: 'BALANCE', value: ([, venue]) => venue.balance, align: 'right' },
        { title: 'AVAILABLE', value: ([, venue]) => venue.availableBalance, align: 'right' },
        { title: 'POSITIONS', value: ([, venue]) => venue.currentPositionsCount, align: 'right' },
        { title: 'VALUE', value: ([, venue]) => venue.positionsValue, align: 'right' },
        { title: 'OPEN ORDERS', value: ([, venue]) => venue.openOrdersCount, align: 'right' },
        { title: 'WALLET', value: ([, venue]) => venue.walletAddress },
      ],
      Object.entries(venues),
      'No venues.',
    ),
    ...notices(riskAlerts),
    ...(actions.length === 0
      ? []
      : [actions.map(({ message }) => paragraphs(`next: ${message}`)).join('\n')]),
    ...(exitChanges.length === 0
      ? []
      : [exitChanges.map(({ createdAt, data }) => paragraphs(`${createdAt}: ${data.message}`)).join('\n')]),
    run.output.table(
      [
        { title: 'RECENT ORDER', value: ({ orderId }) => orderId, shrinks: true },
        { title: 'STATUS', value: ({ status }) => status },
        {
          title: 'ORDER',
          value: ({ side, outcome, outcomeName: name, orderSize, price }) =>
            `${side} ${orderSize} ${outcomeText(outcome, name)} at ${price}`,
        },
        { title: 'MARKET', value: ({ marketQuestion }) => marketQuestion, shrinks: true },
      ],
      recentTrades,
      'No recent orders.',
    ),
  ].join('\n\n');
}

async function briefing(
  run: Run,
  options: { readonly since?: string; readonly venue?: string },
): Promise<void> {
  const client = await run.client();
  const found = await run.waiting('Reading the briefing', client.getBriefing(options));
  run.output.answer(found, () => briefingText(run, found));
}

interface StatementOptions {
  readonly from?: string;
  readonly to?: string;
  readonly fifo?: boolean;
  readonly csv?: string;
}

type StatementFound = Awaited<ReturnType<BellwetherClient['getStatement']>>;

async function statement(run: Run, { fifo, csv, ...span }: StatementOptions): Promise<void> {
  const client = await run.client();
  const query = { ...span, method: fifo === true ? ('fifo' as const) : ('average' as const) };
  if (csv !== undefined) {
    const text = await run.waiting('Reading the statement', client.statementCsv(query));
    await writeNew(csv, text);
    // The titles, both ends, and what is not explained.
    const events = text.split('\r\n').length - 5;
    run.output.answer({ file: csv, events }, () => `${events} events are in ${oneLine(csv)}.`);
    return;
  }
  const found = await run.waiting('Reading the statement', client.getStatement({ ...query, limit: 1 }));
  run.output.answer(found, () => statementText(run, found));
}

/** @throws CliError for a file that is there: a statement that was kept is not overwritten */
async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'EEXIST' ? 'is there already, and is not overwritten' : `cannot be written (${String(code)})`;
    throw usage(`${file} ${why}.`, 'Name another file.');
  }
}

function statementText(run: Run, found: StatementFound): string {
  const { opening, closing, totals, from, to } = found;
  const groups = (title: string, of: StatementFound['byMarket']) =>
    run.output.table(
      [
        { title, value: (group) => group.title, shrinks: true },
        { title: 'GAINS', value: ({ gains }) => gains, align: 'right' },
        { title: 'LOSSES', value: ({ losses }) => losses, align: 'right' },
        { title: 'FEES', value: ({ venueFees, platformFees }) => venueFees + platformFees, align: 'right' },
        { title: 'NET', value: ({ net }) => net, align: 'right' },
      ],
      of.slice(0, GROUPS_SHOWN),
      'No results.',
    );
  return [
    run.output.facts([
      ['from', from],
      ['to', to],
      ['events', found.eventsTotal],
      ['balance at the beginning', opening.cash],
      ['+ deposits', totals.deposits],
      ['− bought', totals.bought],
      ['+ sold', totals.sold],
      ['+ payouts', totals.payouts],
      ['− fees of the venue', totals.venueFees],
      ['− fees of the platform', totals.platformFees],
      ['+ not explained', totals.notExplained],
      ['balance at the end', closing.cash],
      [`realised, ${found.method === 'fifo' ? 'first in, first out' : 'average cost'}`, totals.realizedPnl],
      ['after fees', totals.net],
      ['held, at cost', closing.costBasis],
      ['held, worth', closing.positionsValue],
      ['unrealised', closing.unrealizedPnl],
    ]),
    ...(found.isCurrent
      ? []
      : ['A venue did not answer, or a wallet traded meanwhile: the last balance is the one of the books.']),
    groups('BY MARKET', found.byMarket),
    groups('BY CATEGORY', found.byCategory),
    groups('BY SKILL', found.bySkill),
    groups('BY DAY', found.byDay.slice(-GROUPS_SHOWN)),
  ].join('\n\n');
}

const GROUPS_SHOWN = 15;
const VENUE = ['--venue <name>', 'only of this venue'] as const;

export function addAccountCommands(program: Command, start: Start): void {
  examples(
    program
      .command('positions')
      .description('what is held, what was, and what ends soon')
      .option('--market <market>', 'only in this market')
      .option(...VENUE)
      .option('--redeemable', 'only what can be redeemed')
      .option('--closed', 'instead: positions sold or redeemed to the last share')
      .option('--expiring <hours>', 'instead: in markets that end within so many hours', positive)
      .option('--limit <n>', 'how many', count, 50)
      .action(action(start, { run: positions })),
    'bellwether positions',
    'bellwether positions --expiring 24',
  );
  program
    .command('portfolio')
    .description('balance, exposure and P&L')
    .option(...VENUE)
    .action(action(start, { run: portfolio }));
  examples(
    program
      .command('statement')
      .description('what moved the money in a span of time, and what it came to')
      .option('--from <day>', 'first day or moment in UTC; default: the beginning of this year')
      .option('--to <day>', 'the moment after the last one; default: now')
      .option('--fifo', 'cost of what is sold: first in, first out, instead of the average')
      .option('--csv <file>', 'write every event into a new file, for spreadsheets')
      .action(action(start, { run: statement })),
    'bellwether statement --from 2026-01-01 --to 2027-01-01 --csv 2026.csv',
    'bellwether statement --json',
  );
  examples(
    program
      .command('redeem')
      .description('exchange the tokens of a resolved market for collateral')
      .argument('[market]', 'market id, condition id, slug or token id')
      .option('--all', 'every position that can be redeemed')
      .option(...VENUE)
      .option('--held-yes <shares>', 'YES shares of a Protocol V2 market at a live venue', positive)
      .option('--held-no <shares>', 'NO shares of it', positive)
      .action(
        action(start, {
          run: (run: Run, options: RedeemOptions, market?: string) => redeem(run, market, options),
        }),
      ),
    'bellwether redeem 101',
    'bellwether redeem --all',
  );
  examples(
    program
      .command('briefing')
      .description('how the agent stands, what needs attention, what changed')
      .option('--since <cursor>', 'only what changed since: the last next cursor, or a time')
      .option(...VENUE)
      .action(action(start, { run: briefing })),
    'bellwether briefing --json',
  );
}
