/**
 * How many orders per second the matching engine alone processes on one thread, without journal and network, beside
 * `nodejs-order-book` with the same orders (engine-orders.ts). Each has a process of its own; the two alternate.
 *
 * The peer has one book for each market, with every order at its YES price. It knows no accounts: it does without
 * balances, holds, fees, tokens and the prevention of self-trades, all of which the engine does for every order.
 *
 *     node bench/engine.ts [checkout…]
 *
 * also measures the engines of other checkouts of this repository, in the same run.
 */
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { OrderBook, Side } from 'nodejs-order-book';
import type { EngineCommand } from '../packages/exchange/src/engine/commands.ts';
import type { Engine } from '../packages/exchange/src/engine/engine.ts';
import { asReceived, conditionId, MARKETS, makeOrders, type Orders } from './engine-orders.ts';

const SELF = fileURLToPath(import.meta.url);
const HERE = resolve(import.meta.dirname, '..');
const PEER = 'nodejs-order-book';
const ORDERS = 100_000;
/** The compiler optimises for what it has seen: a program's first orders are not measured. */
const WARM_UP_ORDERS = 20_000;
const ROUNDS = 5;
/**
 * An order reaches the engine just after its request was read, together with the others of its commit. So each group is
 * made when its turn comes, and only its processing is timed, of both programs.
 */
const GROUP = 64;
const SHARES = 1_000_000n;
const PIPS = 10_000;

interface Round {
  readonly ordersPerSecond: number;
  readonly matches: number;
}

export interface EngineBench {
  /** Orders (cancels included) per second, medians of the rounds. */
  readonly ordersPerSecond: number;
  readonly peerOrdersPerSecond: number;
  /** Median of the rounds' ratios. */
  readonly timesPeer: number;
  readonly runs: readonly number[];
  readonly commands: number;
  readonly fills: number;
  /** Bytes of heap that the engine occupies after all orders, and the open orders at that moment. */
  readonly heapBytes: number;
  readonly openOrders: number;
  readonly snapshotBytes: number;
  /** Milliseconds for one snapshot, median. */
  readonly snapshotMs: number;
}

type State = Pick<EngineBench, 'heapBytes' | 'openOrders' | 'snapshotBytes' | 'snapshotMs'>;

export async function benchEngine(): Promise<EngineBench> {
  const [ours, peer] = alternate([HERE, PEER]);
  const runs = ours!.map((round) => round.ordersPerSecond);
  return {
    ordersPerSecond: median(runs),
    peerOrdersPerSecond: median(peer!.map((round) => round.ordersPerSecond)),
    timesPeer: median(runs.map((rate, round) => rate / peer![round]!.ordersPerSecond)),
    runs,
    commands: ORDERS,
    fills: ours![0]!.matches,
    ...(inProcess('state', HERE) as State),
  };
}

/** The programs one after another, round by round. */
function alternate(programs: readonly string[]): Round[][] {
  const rounds: Round[][] = programs.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [index, program] of programs.entries())
      rounds[index]!.push(inProcess('round', program) as Round);
  return rounds;
}

const inProcess = (what: 'round' | 'state', program: string): unknown =>
  JSON.parse(execFileSync(process.execPath, [SELF, `--${what}`, program], { encoding: 'utf8' }));

async function measureRound(program: string): Promise<Round> {
  const orders = makeOrders(ORDERS);
  const run = program === PEER ? throughPeer : throughEngine(await engineOf(program));
  run({ ...orders, mix: orders.mix.slice(0, WARM_UP_ORDERS) });
  return run(orders);
}

const engineOf = async (checkout: string): Promise<typeof Engine> =>
  (await import(pathToFileURL(join(checkout, 'packages/exchange/src/engine/engine.ts')).href)).Engine;

const throughEngine =
  (Made: typeof Engine) =>
  (orders: Orders): Round => {
    const engine = withDepth(Made, orders);
    let now = engine.now();
    let fills = 0;
    const ordersPerSecond = rateOf(orders.mix, asReceived, (commands) => {
      for (const command of commands) {
        now += 1;
        for (const event of engine.apply(command, now)) if (event.kind === 'fill') fills += 1;
      }
    });
    engine.checkConservation();
    return { ordersPerSecond, matches: fills / 2 };
  };

/** Per second of this thread's processor time, which other work on the machine does not lengthen. */
function rateOf<Order>(
  mix: readonly EngineCommand[],
  made: (command: EngineCommand) => Order,
  run: (group: readonly Order[]) => void,
): number {
  let spent = 0;
  for (let at = 0; at < mix.length; at += GROUP) {
    const group = mix.slice(at, at + GROUP).map((command) => made(command));
    const start = process.threadCpuUsage();
    run(group);
    const { user, system } = process.threadCpuUsage(start);
    spent += user + system;
  }
  return Math.round((mix.length / spent) * 1_000_000);
}

function withDepth(Made: typeof Engine, { founding, depth }: Orders): Engine {
  const engine = new Made();
  for (const command of founding) engine.apply(command, 1);
  for (const [index, command] of depth.entries()) engine.apply(command, 1 + index);
  return engine;
}

/** The peer's form of an order, made beforehand like the engine's commands; its book is found beforehand, too. */
type Call =
  | { readonly kind: 'limit'; readonly book: OrderBook; readonly order: Parameters<OrderBook['limit']>[0] }
  | { readonly kind: 'market'; readonly book: OrderBook; readonly order: Parameters<OrderBook['market']>[0] }
  | { readonly kind: 'cancel'; readonly book: OrderBook; readonly orderId: string };

function throughPeer(orders: Orders): Round {
  const callOf = peerCalls();
  for (const command of orders.depth) send(callOf(command));
  let matches = 0;
  const made = (command: EngineCommand): Call => callOf(asReceived(command));
  const ordersPerSecond = rateOf(orders.mix, made, (calls) => {
    for (const call of calls) matches += send(call);
  });
  return { ordersPerSecond, matches };
}

/** @returns the number of orders that it matched */
function send(call: Call): number {
  if (call.kind === 'cancel') {
    call.book.cancel(call.orderId);
    return 0;
  }
  const { done, partial } =
    call.kind === 'limit' ? call.book.limit(call.order) : call.book.market(call.order);
  return done.length + (partial === null ? 0 : 1);
}

function peerCalls(): (command: EngineCommand) => Call {
  const books = new Map(
    Array.from({ length: MARKETS }, (_, market) => [conditionId(market), new OrderBook()]),
  );
  const placedIn = new Map<string, OrderBook>();
  return (command) => {
    if (command.kind === 'cancel') {
      const orderId = command.orderIds[0]!;
      return { kind: 'cancel', book: placedIn.get(orderId)!, orderId };
    }
    if (command.kind !== 'place') throw new Error(`the peer has no ${command.kind}`);
    const { order } = command;
    const book = books.get(order.conditionId)!;
    placedIn.set(order.orderId, book);
    const side = (order.outcome === 'YES') === (order.side === 'BUY') ? Side.BUY : Side.SELL;
    const size = Number(order.size / SHARES);
    if (order.timeInForce === 'FAK') return { kind: 'market', book, order: { side, size } };
    const price = order.outcome === 'YES' ? order.limit : PIPS - order.limit;
    const id = order.orderId;
    return { kind: 'limit', book, order: { id, side, size, price } };
  };
}

async function measureState(program: string): Promise<State> {
  const Made = await engineOf(program);
  const orders = makeOrders(ORDERS);
  const before = heapUsed();
  const engine = withDepth(Made, orders);
  for (const [index, command] of orders.mix.entries()) engine.apply(command, engine.now() + (index & 1));
  const heapBytes = heapUsed() - before;
  const accounts = new Set(orders.founding.flatMap((one) => (one.kind === 'deposit' ? [one.account] : [])));
  let openOrders = 0;
  for (const account of accounts) openOrders += engine.openOrders(account).length;
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    engine.snapshot();
    return performance.now() - start;
  });
  return { heapBytes, openOrders, snapshotBytes: engine.snapshot().length, snapshotMs: median(times) };
}

/** Heap in use after a full collection. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}

function print(programs: readonly string[], rounds: readonly (readonly Round[])[]): void {
  const [ours] = rounds;
  for (const [index, program] of programs.entries()) {
    const rates = rounds[index]!.map((round) => round.ordersPerSecond);
    const ratios = ours!.map((round, place) => round.ordersPerSecond / rates[place]!);
    const beside = index === 0 ? '' : `; this engine ${median(ratios).toFixed(2)} times as fast`;
    console.log(`${program}: ${median(rates).toLocaleString('en')} orders/s, median of ${ROUNDS}${beside}`);
    console.log(`  ${rates.join(', ')}; ${rounds[index]![0]!.matches} matches`);
  }
}

if (process.argv[1] === SELF) {
  const [what, program = HERE] = process.argv.slice(2);
  if (what === '--round') console.log(JSON.stringify(await measureRound(program)));
  else if (what === '--state') console.log(JSON.stringify(await measureState(program)));
  else {
    const programs = [HERE, PEER, ...process.argv.slice(2)];
    print(programs, alternate(programs));
  }
}
