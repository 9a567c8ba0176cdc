/**
 * The faults that a paper venue can be given: what its real counterpart does at times. First the plan, then the
 * switches that decide by it, then what each door does of it. A plan is data; an unknown field or an impossible value
 * is refused by name, so that a misspelt switch is not a switch that is off.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { BookView, ConditionId, Outcome } from '../../paper-exchange.ts';
import type { SocketPeer } from '../web-sockets.ts';

/** Modes in which the venue restricts clients. */
export type VenueMode = 'open' | 'restarting' | 'post_only' | 'cancel_only' | 'disabled' | 'geo_blocked';

/** Shares are of 1: 0 never, 1 always. Times in milliseconds. */
export interface FaultPlan {
  /** Decides which requests, trades and messages are hit. */
  readonly seed: string;
  readonly mode: VenueMode;
  /** Restarts of the matching engine: 425 for `downMs`, then only post-only orders for `postOnlyMs`; again after `everyMs`. */
  readonly restart: { readonly everyMs: number; readonly downMs: number; readonly postOnlyMs: number } | null;
  /** Applies to every request, before it is looked at. */
  readonly latencyMs: { readonly least: number; readonly most: number };
  /** 429 before anything happened: with the venue's Poly-RateLimit headers, and bare as from a network's edge. */
  readonly limitedShare: number;
  readonly bareLimitedShare: number;
  /** 503 before anything happened; of reads, too. */
  readonly unavailableShare: number;
  /** Orders and cancels whose answer is lost after they were executed: connection cut, 500, 200 that is no JSON. */
  readonly droppedShare: number;
  readonly failedAfterShare: number;
  readonly garbledShare: number;
  /** 500 `order timed out`: half of them before the order is executed, half after. */
  readonly timedOutShare: number;
  /**
   * Answers with 200 that lack or turn a part: a cancel that does nothing and leaves its orders out, or names them on both sides;
   * an order's amounts in base units, or one of its trades without a name; a list that says rows twice, or ends after half of them without a
   * cursor, or with one that leads back; an order under another id.
   */
  readonly halfAnswersShare: number;
  /** For how long a list of orders or trades, once shown to a key, stays as it was. */
  readonly lateListsMs: number;
  /** Orders that wait before they are matched: answered `delayed`, not cancellable meanwhile. */
  readonly delayedShare: number;
  readonly delayedMs: number;
  /** Trades that fail when they should be mined. */
  readonly failingTradesShare: number;
  /** For how long `/balance-allowance` may show an old balance, unless an update is asked for. */
  readonly balanceLagMs: number;
  /**
   * Allowances of contracts over every account, in base units by address; those that are not named may move nothing. `null`:
   * each may move everything.
   */
  readonly allowances: Readonly<Record<string, string>> | null;
  /** For how long a book, once shown, stays as it was, in answers and on sockets. */
  readonly staleBooksMs: number;
  /** Share of sockets that fall silent, also to PING, some messages after they began; and that are cut. */
  readonly frozenSocketsShare: number;
  readonly droppedSocketsShare: number;
  /** Share of messages on sockets that are sent twice, after their successor, or not at all. */
  readonly duplicatesShare: number;
  readonly reorderedShare: number;
  readonly gapsShare: number;
}

export const NO_FAULTS: FaultPlan = {
  seed: '1',
  mode: 'open',
  restart: null,
  latencyMs: { least: 0, most: 0 },
  limitedShare: 0,
  bareLimitedShare: 0,
  unavailableShare: 0,
  droppedShare: 0,
  failedAfterShare: 0,
  garbledShare: 0,
  timedOutShare: 0,
  halfAnswersShare: 0,
  lateListsMs: 0,
  delayedShare: 0,
  delayedMs: 3_000,
  failingTradesShare: 0,
  balanceLagMs: 0,
  allowances: null,
  staleBooksMs: 0,
  frozenSocketsShare: 0,
  droppedSocketsShare: 0,
  duplicatesShare: 0,
  reorderedShare: 0,
  gapsShare: 0,
};

const MODES: ReadonlySet<unknown> = new Set<VenueMode>([
  'open',
  'restarting',
  'post_only',
  'cancel_only',
  'disabled',
  'geo_blocked',
]);
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const BASE_UNITS = /^\d{1,78}$/;
const LONGEST_MS = 3_600_000;
/** Less would leave the venue no time between two restarts. */
const LEAST_EVERY_MS = 100;

type Json = Readonly<Record<string, unknown>>;

/** @throws Error with a sentence that names the field */
export function readFaultPlan(given: unknown): FaultPlan {
  const fields = recordOf(given, 'the plan of faults');
  for (const name of Object.keys(fields))
    if (!Object.hasOwn(NO_FAULTS, name)) throw new Error(`there is no fault "${name}"`);
  const read = Object.fromEntries(
    Object.entries(NO_FAULTS).map(([name, off]) => [
      name,
      fields[name] === undefined ? off : readField(name, fields[name]),
    ]),
  );
  return read as unknown as FaultPlan;
}

/** @throws Error with a sentence; @param text JSON */
export function parseFaultPlan(text: string): FaultPlan {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Error('the plan of faults is no JSON');
  }
  return readFaultPlan(given);
}

function readField(name: string, value: unknown): unknown {
  if (name === 'seed') {
    if (typeof value !== 'string' || value.length > 100)
      throw new Error('the seed of faults is a short text');
    return value;
  }
  if (name === 'mode') {
    if (!MODES.has(value)) throw new Error(`the mode of faults is one of ${[...MODES].join(', ')}`);
    return value;
  }
  if (name === 'restart') return value === null ? null : readRestart(value);
  if (name === 'latencyMs') return readLatency(value);
  if (name === 'allowances') return value === null ? null : readAllowances(value);
  return name.endsWith('Share') ? shareOf(value, name) : msOf(value, name);
}

function readRestart(value: unknown): FaultPlan['restart'] {
  const fields = exactly(recordOf(value, 'restart'), ['everyMs', 'downMs', 'postOnlyMs'], 'restart');
  const everyMs = msOf(fields.everyMs, 'restart.everyMs');
  const downMs = msOf(fields.downMs, 'restart.downMs');
  const postOnlyMs = msOf(fields.postOnlyMs, 'restart.postOnlyMs');
  if (everyMs < LEAST_EVERY_MS || downMs + postOnlyMs >= everyMs)
    throw new Error('restart.everyMs is longer than restart.downMs and restart.postOnlyMs together');
  return { everyMs, downMs, postOnlyMs };
}

function readLatency(value: unknown): FaultPlan['latencyMs'] {
  const fields = exactly(recordOf(value, 'latencyMs'), ['least', 'most'], 'latencyMs');
  const [least, most] = [msOf(fields.least, 'latencyMs.least'), msOf(fields.most, 'latencyMs.most')];
  if (least > most) throw new Error('latencyMs.least is at most latencyMs.most');
  return { least, most };
}

function readAllowances(value: unknown): Readonly<Record<string, string>> {
  const fields = recordOf(value, 'allowances');
  return Object.fromEntries(
    Object.entries(fields).map(([spender, amount]) => {
      if (!ADDRESS.test(spender)) throw new Error('allowances are by the address of a contract');
      if (typeof amount !== 'string' || !BASE_UNITS.test(amount))
        throw new Error('an allowance is a text of whole base units');
      return [spender.toLowerCase(), amount];
    }),
  );
}

function recordOf(value: unknown, name: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${name} is an object`);
  return value as Json;
}

function exactly(fields: Json, names: readonly string[], of: string): Json {
  for (const name of Object.keys(fields))
    if (!names.includes(name)) throw new Error(`there is no "${of}.${name}"`);
  return fields;
}

function shareOf(value: unknown, name: string): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1))
    throw new Error(`${name} is a number from 0 to 1`);
  return value;
}

function msOf(value: unknown, name: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > LONGEST_MS)
    throw new Error(`${name} is whole milliseconds, at most an hour`);
  return value;
}

// The switches of a running paper venue. They are off unless a plan is set, by configuration, a test or the standalone exchange's
// control route; every decision follows from the plan's seed and the number of decisions of its kind. The doors ask it; the exchange's
// own state is not touched.

/** Kinds of decisions, each with its own random sequence: another kind of traffic does not change who is hit. */
type DecisionKind =
  | 'latency'
  | 'limited'
  | 'bare'
  | 'unavailable'
  | 'dropped'
  | 'failed'
  | 'garbled'
  | 'timed_out'
  | 'timed_out_late'
  | 'half'
  | 'half_kind'
  | 'delayed'
  | 'frozen'
  | 'cut'
  | 'duplicate'
  | 'reordered'
  | 'gap';

interface Mode {
  readonly mode: VenueMode;
  /** Until the mode is over, where that is known. */
  readonly leftMs: number | null;
}

export class Faults {
  /** Epoch milliseconds. */
  readonly now: () => number;
  #plan: FaultPlan = NO_FAULTS;
  #isOn = false;
  #setAt = 0;
  #draws = new Map<DecisionKind, number>();

  constructor(now: () => number, plan: FaultPlan = NO_FAULTS) {
    this.now = now;
    this.set(plan);
  }

  get plan(): FaultPlan {
    return this.#plan;
  }

  /** False: nothing is asked of the rest. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** Fields that are not given are off. @throws Error for an impossible one */
  set(plan: Partial<FaultPlan>): void {
    this.#plan = readFaultPlan(plan);
    this.#isOn = JSON.stringify(this.#plan) !== JSON.stringify(NO_FAULTS);
    this.#setAt = this.now();
    this.#draws = new Map();
  }

  /** The mode that clients meet now: the plan's, or that of a restart. */
  mode(): Mode {
    const { mode, restart } = this.#plan;
    if (restart === null || mode !== 'open') return { mode, leftMs: null };
    const { everyMs, downMs, postOnlyMs } = restart;
    const into = (this.now() - this.#setAt) % everyMs;
    // The first restart comes after a while of service.
    const since = into - (everyMs - downMs - postOnlyMs);
    if (since < 0) return { mode: 'open', leftMs: null };
    return since < downMs
      ? { mode: 'restarting', leftMs: downMs - since }
      : { mode: 'post_only', leftMs: downMs + postOnlyMs - since };
  }

  /** Whether the next of its kind is hit. */
  hits(kind: DecisionKind, share: number): boolean {
    return share > 0 && this.#draw(kind) < share;
  }

  /** One of them, each as often. */
  pick<T>(kind: DecisionKind, of: readonly T[]): T {
    return of[Math.floor(this.#draw(kind) * of.length)] as T;
  }

  latencyMs(): number {
    const { least, most } = this.#plan.latencyMs;
    return most === 0 ? 0 : least + Math.floor(this.#draw('latency') * (most - least + 1));
  }

  /** How long an order waits before it is matched; 0: not at all. */
  delayMs(): number {
    const { delayedShare, delayedMs } = this.#plan;
    return this.hits('delayed', delayedShare) ? delayedMs : 0;
  }

  /** Whether the trade of this number fails when it should be mined. */
  fails(trade: number): boolean {
    const { seed, failingTradesShare } = this.#plan;
    return failingTradesShare > 0 && fractionOf(`${seed}\0trade\0${trade}`) < failingTradesShare;
  }

  /** From 0 to below 1. */
  #draw(kind: DecisionKind): number {
    const number = (this.#draws.get(kind) ?? 0) + 1;
    this.#draws.set(kind, number);
    return fractionOf(`${this.#plan.seed}\0${kind}\0${number}`);
  }
}

/** From 0 to below 1, the same for the same text. */
const fractionOf = (text: string): number =>
  createHash('sha256').update(text).digest().readUIntBE(0, 6) / 2 ** 48;

// The faults of the doors of CLOB and relayer: hooks around its routes, which know nothing of them. Wire reference 2.5 and 2.14.

const GEO_TEXT =
  'Trading restricted in your region, please refer to available regions - https://docs.polymarket.com/developers/CLOB/geoblock';
const DISABLED_TEXT = 'Trading is currently disabled. Check polymarket.com for updates';
const CANCEL_ONLY_TEXT =
  'Trading is currently cancel-only. New orders are not accepted, but cancels are allowed.';
const POST_ONLY_TEXT = 'post-only mode: only post-only orders and cancels are allowed';
const LIMITED_TEXT = 'Too Many Requests';

interface FaultAnswer {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

type Trading = 'order' | 'cancel' | 'submit';

/** Kind of a request, by method and path below the mount; `null` for reads and keys. */
function tradingOf({ method, url }: FastifyRequest, mount: string): Trading | null {
  const [path = ''] = url.slice(mount.length).split('?', 1);
  if (method === 'POST' && path === '/submit') return 'submit';
  if (method === 'POST') return path === '/order' || path === '/orders' ? 'order' : null;
  if (method !== 'DELETE') return null;
  return ['/order', '/orders', '/cancel-all', '/cancel-market-orders'].includes(path) ? 'cancel' : null;
}

const FIRST_CURSOR = 'MA==';
const LISTS: ReadonlySet<string> = new Set(['/data/orders', '/data/trades']);
const OWN_ORDER = '/data/order/';

/** What a half answer may be of; `null`: its answers are whole. */
function halvedOf(request: FastifyRequest, mount: string): 'order' | 'cancel' | 'list' | 'record' | null {
  const trading = tradingOf(request, mount);
  if (trading !== null) return trading === 'submit' ? null : trading;
  const [path = ''] = request.url.slice(mount.length).split('?', 1);
  if (request.method !== 'GET') return null;
  return LISTS.has(path) ? 'list' : path.startsWith(OWN_ORDER) ? 'record' : null;
}

/** A cancel of some orders that none of them hears of; `null`: it names none. */
function halfCancel(faults: Faults, request: FastifyRequest): FaultAnswer | null {
  const named = jsonIn(request.body);
  const ids = Array.isArray(named) ? named : [(named as { readonly orderID?: unknown } | null)?.orderID];
  if (!ids.every((id): id is string => typeof id === 'string')) return null;
  const turned = { canceled: ids, not_canceled: Object.fromEntries(ids.map((id) => [id, 'try again'])) };
  return { status: 200, body: faults.pick('half_kind', [{ canceled: [], not_canceled: {} }, turned]) };
}

const inBaseUnits = (value: unknown): unknown =>
  typeof value === 'string' && value !== '' ? String(Math.round(Number(value) * 1e6)) : value;

/** Parts of an answer to an order that are turned or missing. */
const HALF_ORDERS: readonly ((answer: Json) => Json)[] = [
  (answer) => ({
    ...answer,
    makingAmount: inBaseUnits(answer.makingAmount),
    takingAmount: inBaseUnits(answer.takingAmount),
  }),
  ({ tradeIDs, ...answer }) =>
    Array.isArray(tradeIDs) ? { ...answer, tradeIDs: [...tradeIDs.slice(1), null] } : answer,
  ({ status: _, ...answer }) => answer,
];

const rowsOf = ({ data }: Json): readonly unknown[] => (Array.isArray(data) ? data : []);
const firstHalf = (answer: Json): readonly unknown[] => rowsOf(answer).slice(0, rowsOf(answer).length / 2);
const HALF_LISTS: readonly ((answer: Json, cursor: string) => Json)[] = [
  (answer) => ({ ...answer, data: rowsOf(answer).flatMap((row) => [row, row]) }),
  ({ next_cursor: _, ...answer }) => ({ ...answer, data: firstHalf(answer) }),
  (answer, cursor) => ({ ...answer, data: firstHalf(answer), next_cursor: cursor }),
];

function halved(
  faults: Faults,
  of: ReturnType<typeof halvedOf>,
  { request, payload }: { readonly request: FastifyRequest; readonly payload: unknown },
): unknown {
  const answer = jsonIn(payload);
  if (typeof answer !== 'object' || answer === null) return payload;
  if (of === 'order') {
    const half = faults.pick('half_kind', HALF_ORDERS);
    // A client that reads the legs by their place, and not by their ids, is wrong.
    return JSON.stringify(Array.isArray(answer) ? answer.map(half).reverse() : half(answer as Json));
  }
  if (of === 'list') {
    const { next_cursor: cursor } = request.query as { readonly next_cursor?: string };
    return JSON.stringify(faults.pick('half_kind', HALF_LISTS)(answer as Json, cursor ?? FIRST_CURSOR));
  }
  if (of === 'record') return JSON.stringify({ ...answer, id: `0x${'f'.repeat(64)}` });
  return payload;
}

/** `null` for what is none. */
function jsonIn(text: unknown): unknown {
  try {
    return JSON.parse(String(text ?? ''));
  } catch {
    return null;
  }
}

const MOST_LATE_LISTS = 10_000;

/** Lists as they were shown last, by key and request; of those beyond the bound none is late. */
class LateLists {
  readonly #faults: Faults;
  readonly #shown = new Map<string, { readonly payload: unknown; readonly at: number }>();

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  /** @returns what the key is shown: this, or for a while what it was shown before */
  show({ headers, url }: FastifyRequest, payload: unknown): unknown {
    const at = this.#faults.now();
    for (const [key, one] of this.#shown) {
      if (at - one.at < this.#faults.plan.lateListsMs) break;
      this.#shown.delete(key);
    }
    const key = `${String(headers.poly_api_key)} ${url}`;
    const before = this.#shown.get(key);
    if (before === undefined && this.#shown.size < MOST_LATE_LISTS) this.#shown.set(key, { payload, at });
    return before?.payload ?? payload;
  }
}

const TIMED_OUT: FaultAnswer = { status: 500, body: { error: 'order timed out' } };

const retryAfter = (ms: number | null): Record<string, string> =>
  ms === null ? {} : { 'retry-after': String(Math.max(1, Math.ceil(ms / 1_000))) };

/** Must be called after the door's guard: strangers stay bounded in every fault that the venue shows. */
export function injectFaults(door: FastifyInstance, mount: string, faults: Faults): void {
  const timesOutLate = new WeakSet<FastifyRequest>();
  const late = new LateLists(faults);

  door.addHook('onRequest', async (request, reply) => {
    if (!faults.isOn) return undefined;
    const waitMs = faults.latencyMs();
    if (waitMs > 0) await sleep(waitMs);
    const answer = beforeKeys(faults, tradingOf(request, mount));
    return answer === null ? undefined : sendFault(reply, answer);
  });

  door.addHook('preHandler', async (request, reply) => {
    if (!faults.isOn) return undefined;
    const trading = tradingOf(request, mount);
    if (trading === 'cancel' && faults.hits('half', faults.plan.halfAnswersShare)) {
      const half = halfCancel(faults, request);
      return half === null ? undefined : sendFault(reply, half);
    }
    if (trading !== 'order') return undefined;
    const { mode, leftMs } = faults.mode();
    if (mode === 'post_only' && !isPostOnly(request.body)) return sendFault(reply, postOnly(leftMs));
    if (!faults.hits('timed_out', faults.plan.timedOutShare)) return undefined;
    if (faults.hits('timed_out_late', 0.5)) {
      timesOutLate.add(request);
      return undefined;
    }
    return sendFault(reply, TIMED_OUT);
  });

  // After the handler: what was asked for has happened, and the answer does not say so.
  door.addHook('onSend', async (request, reply, payload) => {
    if (!faults.isOn || reply.statusCode !== 200) return payload;
    const { droppedShare, failedAfterShare, garbledShare, halfAnswersShare, lateListsMs } = faults.plan;
    const of = halvedOf(request, mount);
    const shown = of === 'list' && lateListsMs > 0 ? late.show(request, payload) : payload;
    if (of !== null && of !== 'cancel' && faults.hits('half', halfAnswersShare))
      return halved(faults, of, { request, payload: shown });
    const trading = tradingOf(request, mount);
    if (trading === null) return shown;
    if (faults.hits('dropped', droppedShare)) {
      request.raw.socket.destroy();
      return payload;
    }
    if (faults.hits('failed', failedAfterShare)) {
      reply.code(500);
      return JSON.stringify({ error: 'could not run the execution' });
    }
    if (timesOutLate.has(request)) {
      reply.code(TIMED_OUT.status);
      return JSON.stringify(TIMED_OUT.body);
    }
    if (faults.hits('garbled', garbledShare)) return String(payload).slice(0, -2);
    return payload;
  });
}

/** Refusals that come before the key is looked at. */
function beforeKeys(faults: Faults, trading: Trading | null): FaultAnswer | null {
  const { limitedShare, bareLimitedShare, unavailableShare } = faults.plan;
  if (faults.hits('unavailable', unavailableShare))
    return { status: 503, body: { error: 'Service is not ready' }, headers: retryAfter(1_000) };
  if (trading === null) return null;
  const { mode, leftMs } = faults.mode();
  if (mode === 'restarting') return { status: 425, headers: retryAfter(leftMs ?? 1_000) };
  if (mode === 'disabled') return { status: 503, body: { error: DISABLED_TEXT } };
  if (trading === 'order' && mode === 'geo_blocked') return { status: 403, body: { error: GEO_TEXT } };
  if (trading === 'order' && mode === 'cancel_only')
    return { status: 503, body: { error: CANCEL_ONLY_TEXT } };
  if (faults.hits('limited', limitedShare)) return limited(faults.now());
  if (faults.hits('bare', bareLimitedShare))
    return { status: 429, body: { error: LIMITED_TEXT }, headers: retryAfter(1_000) };
  return null;
}

const limited = (now: number): FaultAnswer => ({
  status: 429,
  body: { error: LIMITED_TEXT },
  headers: {
    ...retryAfter(1_000),
    'poly-ratelimit-remaining': '0',
    'poly-ratelimit-reset': String(Math.ceil(now / 1_000) + 1),
    'poly-ratelimit-tier': 'Standard',
  },
});

const postOnly = (leftMs: number | null): FaultAnswer => ({
  status: 503,
  body: {
    error: POST_ONLY_TEXT,
    code: 'post_only_mode',
    retry_after_seconds: Math.max(1, Math.ceil((leftMs ?? 60_000) / 1_000)),
  },
  headers: retryAfter(leftMs ?? 60_000),
});

/** Every order of the body is post-only. What is no JSON is left to the route. */
function isPostOnly(body: unknown): boolean {
  const given = jsonIn(body);
  const orders = Array.isArray(given) ? given : [given];
  return (
    given === null || orders.every((order) => (order as { postOnly?: unknown } | null)?.postOnly === true)
  );
}

function sendFault(reply: FastifyReply, { status, body, headers = {} }: FaultAnswer): FastifyReply {
  reply.code(status).headers(headers);
  return body === undefined ? reply.send() : reply.send(body);
}

// Faults of a venue's socket towards its client. Wraps the sending side of one socket.

/** A socket that is going to freeze or be cut does so after so many messages. */
const MESSAGES_BEFORE = 5;

export interface Line {
  send(text: string): void;
  /** The answer to PING: it is neither lost nor repeated alone, but a frozen socket does not give it. */
  pong(): void;
}

const PONG = 'PONG';

export function openLine(peer: SocketPeer, faults: Faults | undefined): Line {
  if (faults === undefined) return { send: (text) => peer.send(text), pong: () => peer.send(PONG) };
  return new FaultyLine(peer, faults);
}

class FaultyLine implements Line {
  readonly #peer: SocketPeer;
  readonly #faults: Faults;
  #sent = 0;
  #fate: 'none' | 'frozen' | 'cut' | undefined;
  /** Sent after its successor. */
  #held: string | undefined;

  constructor(peer: SocketPeer, faults: Faults) {
    this.#peer = peer;
    this.#faults = faults;
  }

  send(text: string): void {
    const faults = this.#faults;
    if (!faults.isOn) {
      this.#flush(text);
      return;
    }
    if (this.#isLost()) return;
    const { duplicatesShare, reorderedShare, gapsShare } = faults.plan;
    if (faults.hits('gap', gapsShare)) return;
    if (this.#held === undefined && faults.hits('reordered', reorderedShare)) {
      this.#held = text;
      return;
    }
    this.#flush(text);
    if (faults.hits('duplicate', duplicatesShare)) this.#peer.send(text);
  }

  pong(): void {
    if (this.#faults.isOn && this.#isFrozen()) return;
    this.#peer.send(PONG);
  }

  #flush(text: string): void {
    this.#sent += 1;
    this.#peer.send(text);
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#peer.send(held);
  }

  #isFrozen(): boolean {
    return this.#fate === 'frozen' && this.#sent >= MESSAGES_BEFORE;
  }

  /** Whether what is to be sent never arrives. */
  #isLost(): boolean {
    const faults = this.#faults;
    const { frozenSocketsShare, droppedSocketsShare } = faults.plan;
    this.#fate ??= faults.hits('frozen', frozenSocketsShare)
      ? 'frozen'
      : faults.hits('cut', droppedSocketsShare)
        ? 'cut'
        : 'none';
    if (this.#fate === 'none' || this.#sent < MESSAGES_BEFORE) return false;
    if (this.#fate === 'cut') this.#peer.cut();
    return true;
  }
}

// Books that a fault keeps as they were shown.

/** Most books that are remembered. */
const MOST_SHOWN = 1_000;

export class StaleBooks {
  readonly #faults: Faults | undefined;
  readonly #shown = new Map<string, { readonly book: BookView; readonly at: number }>();

  constructor(faults: Faults | undefined) {
    this.#faults = faults;
  }

  /** The book that a client is shown: the fresh one, or for a while the one that was shown before. */
  show(conditionId: ConditionId, outcome: Outcome, fresh: BookView): BookView {
    const faults = this.#faults;
    const staleMs = faults?.isOn === true ? faults.plan.staleBooksMs : 0;
    if (faults === undefined || staleMs === 0) return fresh;
    const key = `${conditionId} ${outcome}`;
    const shown = this.#shown.get(key);
    if (shown !== undefined && faults.now() - shown.at < staleMs) return shown.book;
    this.#shown.delete(key);
    this.#shown.set(key, { book: fresh, at: faults.now() });
    const [oldest] = this.#shown.keys();
    if (this.#shown.size > MOST_SHOWN && oldest !== undefined) this.#shown.delete(oldest);
    return fresh;
  }
}
