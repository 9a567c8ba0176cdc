/**
 * Replaces every source of chance of this process: clock, timers, random bytes, and work that Node would do on other threads. Must
 * be loaded before any module of the project. Several worlds may follow one another in a process: each has a scheduler of its own, and
 * what an earlier one has left behind never runs.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import zlib from 'node:zlib';
import { Random } from './random.ts';
import { Scheduler } from './scheduler.ts';

/** Parts of the real world that the simulation itself uses. */
export const real = {
  setImmediate: globalThis.setImmediate,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  now: performance.now.bind(performance),
};

/** Signatures and digests that other threads compute at the moment: no event runs before they are done. */
export const onThreads = { underWay: 0 };

/** Virtual time begins here: 2026-09-01, at noon, so that few runs see the end of a day. */
export const EPOCH = Date.UTC(2026, 8, 1, 12);
/** A turn of the event loop. */
const TURN_MS = 0.01;

class VirtualTimer {
  #scheduled: { cancel(): void };
  readonly #again: () => { cancel(): void };

  constructor(again: () => { cancel(): void }) {
    this.#again = again;
    this.#scheduled = again();
  }

  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  refresh(): this {
    this.#scheduled.cancel();
    this.#scheduled = this.#again();
    return this;
  }
  replace(scheduled: { cancel(): void }): void {
    this.#scheduled = scheduled;
  }
  close(): this {
    this.#scheduled.cancel();
    return this;
  }
  [Symbol.toPrimitive](): number {
    return 0;
  }
  [Symbol.dispose](): void {
    this.close();
  }
}

/** While modules are loaded. */
let scheduler = new Scheduler(0);
let bytes = new Random(0, 3);
/** Libraries keep such stores beyond the end of a world: which world fills one must not matter to it. */
const POOL_BYTES = 4_096;
const pools = new Random(0, 4);

/** From now on chance comes from this scheduler. */
export function enterWorld(next: Scheduler, seed: number): void {
  scheduler = next;
  bytes = new Random(seed, 3);
}

replaceClock();
replaceTimers();
replaceRandom();
replaceThreadWork();
syncBuiltinESMExports();

function replaceClock(): void {
  const RealDate = Date;
  const now = (): number => Math.floor(EPOCH + scheduler.now + (scheduler.owner?.skewMs ?? 0));
  class VirtualDate extends RealDate {
    constructor(...args: unknown[]) {
      if (args.length === 0) super(now());
      else super(...(args as [number]));
    }
    static override now(): number {
      return now();
    }
  }
  globalThis.Date = VirtualDate as DateConstructor;
  performance.now = () => 1_000 + scheduler.now;
  (process.hrtime as { bigint(): bigint }).bigint = () => BigInt(Math.round((1_000 + scheduler.now) * 1e6));
}

function replaceTimers(): void {
  const delayOf = (ms: unknown): number => Math.max(1, Math.min(Number(ms) || 1, 2 ** 31 - 1));
  const timeout = (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
    new VirtualTimer(() => scheduler.after(delayOf(ms), 'timer', () => run(...args)));
  const interval = (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    let timer: VirtualTimer | undefined;
    const next = (): { cancel(): void } =>
      scheduler.after(delayOf(ms), 'interval', () => {
        timer?.replace(next());
        run(...args);
      });
    timer = new VirtualTimer(next);
    return timer;
  };
  const immediate = (run: (...args: unknown[]) => void, ...args: unknown[]) =>
    new VirtualTimer(() => scheduler.after(TURN_MS, 'turn', () => run(...args)));
  const clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.close();
  };
  const sleep = (ms?: number, value?: unknown, options?: { readonly signal?: AbortSignal }) =>
    new Promise((resolve, reject) => {
      const { signal } = options ?? {};
      if (signal?.aborted === true) return reject(signal.reason);
      const timer = timeout(() => resolve(value), ms);
      signal?.addEventListener('abort', () => {
        timer.close();
        reject(
          Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR' }),
        );
      });
    });
  const own = {
    ...{ setTimeout: timeout, setInterval: interval, setImmediate: immediate },
    ...{ clearTimeout: clear, clearInterval: clear, clearImmediate: clear },
  };
  Object.assign(globalThis, own);
  Object.assign(timers, own);
  Object.assign(timersPromises, {
    setTimeout: sleep,
    setImmediate: (value?: unknown) => new Promise((resolve) => immediate(() => resolve(value))),
  });
  Object.assign(AbortSignal, {
    timeout(ms: number) {
      const controller = new AbortController();
      timeout(() => controller.abort(new DOMException('The operation timed out.', 'TimeoutError')), ms);
      return controller.signal;
    },
  });
}

function replaceRandom(): void {
  const fill = <T extends ArrayBufferView>(target: T): T => {
    const source = target.byteLength < POOL_BYTES ? bytes : pools;
    source.fill(new Uint8Array(target.buffer, target.byteOffset, target.byteLength));
    return target;
  };
  const uuid = (): string => {
    const raw = fill(new Uint8Array(16));
    raw[6] = ((raw[6] as number) & 0x0f) | 0x40;
    raw[8] = ((raw[8] as number) & 0x3f) | 0x80;
    const hex = Buffer.from(raw).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
  const own = {
    randomBytes(size: number, done?: (error: null, bytes: Buffer) => void) {
      const made = fill(Buffer.alloc(size));
      if (done === undefined) return made;
      process.nextTick(done, null, made);
      return undefined;
    },
    randomFillSync: fill,
    randomUUID: uuid,
    randomInt: (from: number, to?: number) =>
      to === undefined ? bytes.below(from) : from + bytes.below(to - from),
  };
  Object.assign(crypto, own);
  for (const [name, value] of Object.entries({ getRandomValues: fill, randomUUID: uuid }))
    Object.defineProperty(globalThis.crypto, name, { value, configurable: true });
  Math.random = () => bytes.share();
}

/** On this thread, and therefore in an order that the seed decides; what passkeys sign is waited for. */
function replaceThreadWork(): void {
  for (const name of ['deflate', 'inflate', 'gzip', 'gunzip', 'brotliCompress'] as const) {
    const sync = (zlib as never as Record<string, (...args: unknown[]) => Buffer>)[`${name}Sync`] as (
      ...args: unknown[]
    ) => Buffer;
    const own = (...args: unknown[]) => {
      const done = args.pop() as (error: unknown, result?: Buffer) => void;
      try {
        process.nextTick(done, null, sync(...args));
      } catch (error) {
        process.nextTick(done, error);
      }
    };
    Object.assign(zlib, { [name]: own });
  }
  const { subtle } = globalThis.crypto;
  for (const name of ['digest', 'importKey', 'verify'] as const) {
    const work = (subtle[name] as (...args: unknown[]) => Promise<unknown>).bind(subtle);
    const value = (...args: unknown[]) => {
      onThreads.underWay += 1;
      return work(...args).finally(() => {
        onThreads.underWay -= 1;
      });
    };
    Object.defineProperty(subtle, name, { value, configurable: true });
  }
}
