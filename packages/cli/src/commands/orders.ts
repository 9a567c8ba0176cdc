/** Orders of this agent: a list, one with its story, and cancelling. */
import type { BellwetherClient, Order, OrderDetail, QuotedOrderDetail } from '@bellwether/sdk';
import type { Command } from 'commander';
import { CliError, usage } from '../cli-error.ts';
import { count } from '../options.ts';
import { action, examples, type Run, type Start } from '../run.ts';
import { type Column, columns, oneLine, outcomeText } from '../terminal.ts';

interface ListOptions {
  readonly all?: boolean;
  readonly market?: string;
  readonly venue?: string;
  readonly limit: number;
}

const minute = (iso: string): string => iso.slice(0, 16).replace('T', ' ');

const ORDERS: readonly Column<Order>[] = [
  { title: 'ORDER ID', value: ({ orderId }) => orderId, shrinks: true },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'SIDE', value: ({ side }) => side },
  { title: 'OUTCOME', value: ({ outcome, outcomeName }) => outcomeText(outcome, outcomeName), shrinks: true },
  { title: 'PRICE', value: ({ price }) => price, align: 'right' },
  { title: 'SIZE', value: ({ orderSize }) => orderSize, align: 'right' },
  { title: 'FILLED', value: ({ filledSize }) => filledSize, align: 'right' },
  { title: 'MARKET', value: ({ marketQuestion }) => marketQuestion, shrinks: true },
  { title: 'CREATED', value: ({ createdAt }) => minute(createdAt) },
];

/** Order lists are narrowed by condition id; people name a market as they like. */
async function conditionOf(client: BellwetherClient, market: string, venue?: string): Promise<string> {
  const found = await client.getMarket(market, venue === undefined ? {} : { venue });
  return found.conditionId;
}

async function list(run: Run, options: ListOptions): Promise<void> {
  const { all, market, venue, limit } = options;
  const client = await run.client();
  const query = {
    limit,
    ...(venue === undefined ? {} : { venue }),
    ...(market === undefined ? {} : { marketConditionId: await conditionOf(client, market, venue) }),
  };
  const found = await run.waiting(
    'Reading orders',
    all === true ? client.listOrders(query) : client.listOpenOrders(query),
  );
  run.output.answer(found, () =>
    run.output.table(
      ORDERS,
      found,
      all === true ? 'No orders yet.' : 'No open orders. --all shows the past.',
    ),
  );
}

const isQuoted = (order: OrderDetail | QuotedOrderDetail): order is QuotedOrderDetail => 'action' in order;

/** Both kinds of orders have what is shown here. */
const orderFacts = (order: OrderDetail | QuotedOrderDetail) =>
  [
    ['order id', order.orderId],
    ['status', order.status],
    ['venue', order.venue],
    ['market', isQuoted(order) ? order.title : order.marketQuestion],
    [
      'order',
      isQuoted(order)
        ? `${order.action} ${outcomeText(order.side, order.outcomeName)}`
        : `${order.side} ${order.orderSize} ${outcomeText(order.outcome, order.outcomeName)} at ${order.price} (${order.orderType})`,
    ],
    ['filled', order.filledSize],
    ['average price', order.avgPrice],
    ['fee', order.feePaid],
    ['wallet', order.walletAddress],
    ...(order.errorCode === null
      ? []
      : ([
          ['refused', `${order.errorCode}: ${order.errorMessage ?? ''}`],
          ['fix', order.fix],
        ] as const)),
    ['created', order.createdAt],
    ['changed', order.updatedAt],
  ] as const;

export function orderText(run: Run, order: OrderDetail | QuotedOrderDetail): string {
  const fills = run.output.table(
    [
      { title: 'FILLED AT', value: ({ filledAt }) => filledAt },
      { title: 'PRICE', value: (fill) => fill.price, align: 'right' },
      { title: 'SHARES', value: (fill) => fill.size, align: 'right' },
      { title: 'COST', value: (fill) => fill.cost, align: 'right' },
      { title: 'FEE', value: (fill) => fill.fee, align: 'right' },
    ] satisfies Column<{ filledAt: string; price: number; size: number; cost: number; fee: number }>[],
    order.fills,
    'No fills.',
  );
  const journal = order.journal.map(({ at, event, status, detail }) =>
    columns(at, event, status, detail ?? ''),
  );
  return [run.output.facts(orderFacts(order)), fills, journal.join('\n')].join('\n\n');
}

async function show(run: Run, orderId: string): Promise<void> {
  const client = await run.client();
  const order = await run.waiting('Reading the order', client.getOrder(orderId));
  run.output.answer(order, () => orderText(run, order));
}

interface CancelOptions {
  readonly market?: string;
  readonly all?: boolean;
  readonly venue?: string;
}

interface Canceled {
  readonly canceled: readonly string[];
  readonly notCanceled: Readonly<Record<string, string>>;
}

async function cancelBy(
  client: BellwetherClient,
  orderId: string | undefined,
  options: CancelOptions,
): Promise<Canceled> {
  const { market, venue } = options;
  if (orderId !== undefined) return client.cancelOrder(orderId);
  const where = venue === undefined ? {} : { venue };
  if (market === undefined) return client.cancelMarket(where);
  return client.cancelMarket({ ...where, marketConditionId: await conditionOf(client, market, venue) });
}

async function cancel(run: Run, orderId: string | undefined, options: CancelOptions): Promise<void> {
  const ways = [orderId, options.market, options.all].filter((way) => way !== undefined).length;
  if (ways !== 1)
    throw usage(
      'Say what to cancel: one order by its id, --market, or --all.',
      'bellwether orders lists the open orders.',
    );
  const client = await run.client();
  const answer = await run.waiting('Cancelling', cancelBy(client, orderId, options));
  const { canceled, notCanceled } = answer;
  const reasons = Object.entries(notCanceled);
  if (orderId !== undefined && canceled.length === 0) {
    const [, reason] = reasons[0] ?? [];
    throw new CliError('refused', 'not_canceled', reason ?? 'The order was not canceled.', {
      orderId,
      fix: `See what became of it: bellwether orders ${orderId}`,
    });
  }
  run.output.answer(answer, () =>
    [
      canceled.length === 0 ? 'Nothing was open.' : `Canceled ${canceled.length}:`,
      ...canceled.map(oneLine),
      ...reasons.map(([id, reason]) => `Not canceled: ${oneLine(id)}: ${oneLine(reason)}`),
    ].join('\n'),
  );
  if (reasons.length > 0)
    throw new CliError('refused', 'not_canceled', `${reasons.length} of the orders were not canceled.`, {
      fix: 'The list says why; try those again.',
    });
}

export function addOrderCommands(program: Command, start: Start): void {
  examples(
    program
      .command('orders')
      .description('open orders, or one order with its fills and its story')
      .argument('[order-id]', 'show this one')
      .option('--all', 'also orders that have ended')
      .option('--market <market>', 'only in this market')
      .option('--venue <name>', 'only of this venue')
      .option('--limit <n>', 'how many', count, 50)
      .action(
        action(start, {
          run: (run: Run, options: ListOptions, orderId?: string) =>
            orderId === undefined ? list(run, options) : show(run, orderId),
        }),
      ),
    'bellwether orders',
    'bellwether orders --all --market 101 --json',
  );
  examples(
    program
      .command('cancel')
      .description('cancel one order, those of a market, or all open orders of this agent')
      .argument('[order-id]', 'this one')
      .option('--market <market>', 'every open order in this market')
      .option('--all', 'every open order of this agent')
      .option('--venue <name>', 'with --all or --market: only of this venue')
      .action(
        action(start, {
          run: (run: Run, options: CancelOptions, orderId?: string) => cancel(run, orderId, options),
        }),
      ),
    'bellwether cancel --market 101',
    'bellwether cancel --all',
  );
}
