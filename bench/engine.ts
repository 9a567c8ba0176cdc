/**
 * How many orders per second the matching engine alone processes on one thread: no journal, no network.
 *
 * The mix, over 100 markets and 200 accounts: half are limit orders that come to rest around a moving price, three
 * in ten cross the spread (all three match kinds), two in ten cancel an open order. Every command counts as one.
 * The commands are prepared first, so that only the engine is timed; each run starts with a new engine.
 */
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Engine } from '../packages/exchange/src/engine/engine.ts';
import type { EngineCommand, NewOrder, Outcome, Side } from '../packages/exchange/src/engine/types.ts';

const MARKETS = 100;
const ACCOUNTS = 200;
const COMMANDS = 100_000;
const RUNS = 7;
/** Micro collateral per account, and sets per account and market. */
const DEPOSIT = 10_000_000_000_000n;
const SETS = 10_000_000_000n;

export interface EngineBench {
  /** Commands per second, median of the runs. */
  readonly ordersPerSecond: number;
  readonly runs: readonly number[];
  readonly commands: number;
  readonly fills: number;
  /** Bytes of heap that the engine occupies after all commands, and the open orders at that moment. */
  readonly heapBytes: number;
  readonly openOrders: number;
  readonly snapshotBytes: number;
  /** Milliseconds for one snapshot, median. */
  readonly snapshotMs: number;
}

export async function benchEngine(): Promise<EngineBench> {
  const commands = makeCommands();
  const runs: number[] = [];
  let fills = 0;
  for (let run = 0; run < RUNS; run += 1) {
    const engine = prepared();
    const start = performance.now();
    fills = passThrough(engine, commands);
    runs.push(Math.round((commands.length / (performance.now() - start)) * 1000));
    engine.checkConservation();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const before = heapUsed();
  const engine = prepared();
  passThrough(engine, commands);
  const heapBytes = heapUsed() - before;
  let openOrders = 0;
  for (let index = 0; index < ACCOUNTS; index += 1)
    openOrders += engine.openOrders(`account-${index}`).length;
  const times = Array.from({ length: RUNS }, () => {
    const start = performance.now();
    engine.snapshot();
    return performance.now() - start;
  });
  return {
    ordersPerSecond: median(runs),
    runs,
    commands: commands.length,
    fills,
    heapBytes,
    openOrders,
    snapshotBytes: engine.snapshot().length,
    snapshotMs: median(times),
  };
}

/** Applies every command, a millisecond apart. @returns the number of matches */
function passThrough(engine: Engine, commands: readonly EngineCommand[]): number {
  let fills = 0;
  for (let index = 0; index < commands.length; index += 1) {
    for (const event of engine.apply(commands[index]!, 2 + index)) if (event.kind === 'fill') fills += 1;
  }
  return fills / 2;
}

/** An engine with markets, funded accounts and tokens to sell. */
function prepared(): Engine {
  const engine = new Engine();
  for (let index = 0; index < MARKETS; index += 1) {
    engine.apply(
      {
        kind: 'list',
        market: {
          conditionId: conditionId(index),
          tokenIds: [`${2 * index}`, `${2 * index + 1}`],
          tickSize: 100,
          minOrderSize: 5_000_000n,
          feeRate: 40_000n,
          feeExponent: 1,
        },
      },
      1,
    );
  }
  for (let index = 0; index < ACCOUNTS; index += 1) {
    engine.apply({ kind: 'deposit', account: `account-${index}`, amount: DEPOSIT }, 1);
    for (let market = 0; market < MARKETS; market += 1)
      engine.apply(
        { kind: 'split', account: `account-${index}`, conditionId: conditionId(market), amount: SETS },
        1,
      );
  }
  return engine;
}

/** 66 characters, as on the wire. */
const conditionId = (index: number): string => `0x${index.toString(16).padStart(64, '0')}`;

function makeCommands(): EngineCommand[] {
  const random = generator(7);
  const pick = (count: number): number => Math.floor(random() * count);
  const resting: { orderId: string; account: string }[] = [];
  const commands: EngineCommand[] = [];
  for (let index = 0; index < COMMANDS; index += 1) {
    const roll = random();
    if (roll < 0.2 && resting.length > 0) {
      // Some are already filled by then, as in real trading.
      const [order] = resting.splice(resting.length - 1 - pick(Math.min(resting.length, 2_000)), 1);
      commands.push({ kind: 'cancel', account: order!.account, orderIds: [order!.orderId] });
      continue;
    }
    const market = pick(MARKETS);
    const middle = 3_000 + ((market * 37 + Math.floor(index / 20_000)) % 40) * 100;
    const crossing = roll >= 0.7;
    const outcome: Outcome = random() < 0.5 ? 'YES' : 'NO';
    const side: Side = random() < 0.5 ? 'BUY' : 'SELL';
    const own = outcome === 'YES' ? middle : 10_000 - middle;
    const away = (crossing ? -500 : 100 + 100 * pick(8)) * (side === 'BUY' ? -1 : 1);
    const order: NewOrder = {
      orderId: `0x${(index + 1).toString(16).padStart(64, '0')}`,
      account: `account-${pick(ACCOUNTS)}`,
      conditionId: conditionId(market),
      outcome,
      side,
      limit: own + away,
      size: BigInt(5 + pick(40)) * 1_000_000n,
      timeInForce: crossing ? 'FAK' : 'GTC',
      postOnly: false,
    };
    if (!crossing) resting.push(order);
    commands.push({ kind: 'place', order });
  }
  return commands;
}

/** A small seeded generator (mulberry32): the same commands on every machine. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const result = await benchEngine();
  console.log(`engine: ${result.ordersPerSecond.toLocaleString('en')} orders/s (median of ${RUNS} runs)`);
  console.log(`  runs ${result.runs.map((run) => run.toLocaleString('en')).join(', ')}`);
  console.log(
    `  ${result.commands} commands, ${result.fills} matches, ${result.openOrders} orders open at the end`,
  );
  console.log(`  engine ${(result.heapBytes / 1e6).toFixed(1)} MB of heap`);
  console.log(
    `  snapshot ${(result.snapshotBytes / 1e6).toFixed(2)} MB in ${result.snapshotMs.toFixed(1)} ms`,
  );
}
