/**
 * The calls of a follower to the replica that leads the paper exchange: one row for each member of each port. A
 * new method of a port needs its row here before it compiles.
 */

import type { SocketHandler, SocketPeer } from '@bellwether/exchange/doors/polymarket';
import { WebSocket } from 'ws';
import { VenueMoves, VenueUnavailable } from '../../domain/unavailable.ts';
import type { MarketData } from '../venue.ts';
import { balanceOf, type ExchangeCalls, type PlainBalance, type SentOrder } from './paper-venue.ts';
import type { SandboxCalls } from './sandbox-holder.ts';

/** The ports whose real objects exist only on the leader. */
export interface LeaderPorts {
  readonly venue: ExchangeCalls;
  readonly markets: MarketData;
  readonly sandbox: SandboxCalls;
}

const unchanged = (args: readonly unknown[]): readonly unknown[] => args;
const sentAgain = ([order]: readonly unknown[]): readonly unknown[] => [
  { ...(order as SentOrder), isSentAgain: true },
];

const READ = { unanswered: 'retry', asksNext: unchanged } as const;

export const LEADER_CALLS = {
  venue: {
    status: 'local',
    keptSince: 'local',
    verifyCredentials: 'local',
    submit: { unanswered: 'unknown', asksNext: sentAgain },
    submitSet: { unanswered: 'unknown', asksNext: sentAgain },
    cancel: { unanswered: 'unknown' },
    resolve: { unanswered: 'unknown', asksNext: unchanged },
    redeem: { unanswered: 'error' },
    deposit: { unanswered: 'error' },
    balance: {
      ...READ,
      codec: {
        encode: ({ available, held, tokens }): PlainBalance => ({ available, held, tokens }),
        decode: (plain) => balanceOf(plain as PlainBalance),
      },
    },
  },
  markets: {
    announcesResolutions: 'local',
    canBeId: 'local',
    find: READ,
    findAll: READ,
    listedAfter: READ,
    byToken: READ,
    search: READ,
    book: READ,
  },
  sandbox: {
    // A request may be a trade with an unknown effect: the venue's adapter decides what may be repeated.
    request: { unanswered: 'error' },
    ask: { unanswered: 'error' },
    credit: { unanswered: 'error' },
    isOpen: { unanswered: 'error' },
  },
} as const satisfies { readonly [Name in keyof LeaderPorts]: CallTable<LeaderPorts[Name]> };

const ROWS: Readonly<Record<string, AnyTable>> = LEADER_CALLS;

/** A request to the sandbox can take as long as its chain. */
export function laneOf({ port, method }: Call): Lane {
  if (port === 'sandbox') return null;
  const row = ROWS[port]?.[method];
  return typeof row === 'object' && row.unanswered === 'retry' ? 'reads' : 'orders';
}

/** The call for the next leader, when this one has given no answer and leads no more; `null`: it is asked nothing. */
export function forNextLeader(call: Call): Call | null {
  const row = ROWS[call.port]?.[call.method];
  if (typeof row !== 'object' || row.asksNext === undefined) return null;
  return { ...call, args: row.asksNext(call.args) };
}

// A port whose real object exists only on the leading replica. Every other replica has the same methods and forwards the
// calls. Which methods are forwarded, and what a call without an answer means, is a table that the
// compiler compares with the port: a method without a row is a type error, and so is a row whose arguments or answer
// JSON text (`wire.ts`) would not carry.

type AsyncMethod = (...args: never[]) => Promise<unknown>;

/** Types that `wire.ts` carries unchanged; anything else becomes `never`. */
type Plain<T> = T extends string | number | bigint | boolean | null | undefined
  ? T
  : undefined extends T // void
    ? T
    : T extends (...args: never[]) => unknown
      ? never
      : T extends ReadonlyMap<infer K, infer V>
        ? ReadonlyMap<Plain<K>, Plain<V>>
        : { readonly [Key in keyof T]: Plain<T[Key]> };
type IsPlain<T> = [T] extends [Plain<T>] ? true : false;

type MaybeUnknown<Answer> = [Extract<Answer, { readonly kind: 'unknown' }>] extends [never]
  ? never
  : 'unknown';

/**
 * Meaning of a call without an answer.
 * `retry`: the method changes nothing, so it runs here if this replica has taken over the lead, else it throws.
 * `error`: it throws VenueUnavailable; the caller may repeat the call, because a second effect is impossible.
 * `unknown`: it may have taken effect, and `{ kind: 'unknown' }` is the answer; nothing is sent again.
 */
type Unanswered<Answer> = 'retry' | 'error' | MaybeUnknown<Answer>;

/** This replica has taken the lead. */
export class LeadIsHere extends Error {
  override readonly name = 'LeadIsHere';
  /** With which the call is made here. */
  readonly args: readonly unknown[];

  constructor({ args }: Call) {
    super('this replica leads');
    this.args = args;
  }
}

type AsksNext = (args: readonly unknown[]) => readonly unknown[];

/** For an answer that is not plain data: converts it to its wire form and back. */
interface Codec<Answer> {
  encode(answer: Answer): unknown;
  decode(plain: unknown): Answer;
}

type ForwardedRow<Answer> = {
  readonly unanswered: Unanswered<Answer>;
  /** With which arguments the next leader is asked, when the term of one without an answer is over: it knows what that one did. */
  readonly asksNext?: AsksNext;
} & (IsPlain<Answer> extends true ? { readonly codec?: undefined } : { readonly codec: Codec<Answer> });

type RowOf<Member> = Member extends AsyncMethod
  ? 'local' | (IsPlain<Parameters<Member>> extends true ? ForwardedRow<Awaited<ReturnType<Member>>> : never)
  : 'local';

/** One row for each member of the port: `local`, which every replica answers itself, or forwarded. */
type CallTable<Port> = { readonly [Name in keyof Port]-?: RowOf<Port[Name]> };

/** The members that every replica implements locally. */
type LocalPart<Port, Table> = Pick<
  Port,
  { [Name in keyof Port & keyof Table]: Table[Name] extends 'local' ? Name : never }[keyof Port & keyof Table]
>;

/** The methods that are forwarded. */
export type ForwardedName<Table> = {
  [Name in keyof Table]: Table[Name] extends 'local' ? never : Name;
}[keyof Table];

export interface Call {
  readonly port: string;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** A table without its port's types, for the code that serves every port alike. */
type AnyRow =
  | 'local'
  | {
      readonly unanswered: 'retry' | 'error' | 'unknown';
      readonly asksNext?: AsksNext;
      readonly codec?: Codec<unknown> | undefined;
    };
type AnyTable = Readonly<Record<string, AnyRow>>;
type AnyPort = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

interface ForwardOptions<Port, Table> {
  /** The port's name in calls. */
  readonly port: string;
  readonly table: Table;
  readonly local: LocalPart<Port, Table>;
  /** The real object while this replica leads, else null. */
  readonly here: () => Port | null;
  /** @throws the error that prevented the answer, or LeadIsHere */
  readonly forward: (call: Call) => Promise<unknown>;
  /** Runs a call here; the real object stays open until it has ended. */
  readonly during: <T>(work: () => Promise<T>) => Promise<T>;
  readonly onUnanswered: (error: unknown, method: string) => void;
  /** Resolves when it is known again whether this replica leads. */
  readonly findLeader: () => Promise<void>;
}

/** The port at a replica that may lead or follow: each call runs here or at the leader. */
export function createForwardedPort<Port extends object, const Table extends CallTable<Port>>(
  options: ForwardOptions<Port, Table>,
): Port {
  const { port, table, local, forward, during, onUnanswered, findLeader } = options;
  // The only untyped place: the table's type guarantees that it has exactly the port's methods.
  const here = options.here as () => AnyPort | null;
  const methods = Object.entries(table as AnyTable).flatMap(([method, row]) => {
    if (row === 'local') return [];
    const run = async (...args: readonly unknown[]): Promise<unknown> => {
      const own = here();
      if (own !== null) return during(async () => own[method]?.(...args));
      try {
        const answer = await forward({ port, method, args });
        return row.codec === undefined ? answer : row.codec.decode(answer);
      } catch (error) {
        if (error instanceof LeadIsHere) return run(...error.args);
        if (error instanceof VenueMoves) throw error;
        onUnanswered(error, method);
        if (row.unanswered === 'unknown') return { kind: 'unknown' };
        await findLeader().catch(() => {});
        const taken = row.unanswered === 'retry' ? here() : null;
        if (taken !== null) return during(async () => taken[method]?.(...args));
        throw error instanceof VenueUnavailable
          ? error
          : new VenueUnavailable('The leading replica did not answer.');
      }
    };
    return [[method, run] as const];
  });
  return { ...local, ...Object.fromEntries(methods) } as unknown as Port;
}

/**
 * Runs another replica's call on the real objects.
 * @returns the answer as it travels
 * @throws VenueUnavailable for a call that no table lists as forwarded
 */
export async function runForwardedCall(
  tables: Readonly<Record<string, AnyTable>>,
  ports: object,
  { port, method, args }: Call,
): Promise<unknown> {
  const table = Object.hasOwn(tables, port) ? tables[port] : undefined;
  const row = table !== undefined && Object.hasOwn(table, method) ? table[method] : undefined;
  if (row === undefined || row === 'local') throw new VenueUnavailable('There is no such call.');
  const answer = await (ports as Readonly<Record<string, AnyPort>>)[port]?.[method]?.(...args);
  return row.codec === undefined ? answer : row.codec.encode(answer);
}

// The follower's line to the replica that leads. A request costs both replicas several times what most calls cost, so
// the calls of one turn of the event loop travel together. Reads do not wait for orders, and a call that can take long
// travels alone.

/** Outcome of a call that the leader received. */
export type CallOutcome = { readonly answer: unknown } | { readonly failed: true };

/** The answer of a replica that has given the lead away: it has not looked at the calls. */
export const NOT_LED = Symbol('not led there');

/** `null`: the call travels alone. */
type Lane = 'reads' | 'orders' | null;

/** Sends calls in one request. @throws when it is not known what became of them */
type SendCalls = (url: string, calls: readonly Call[]) => Promise<readonly CallOutcome[] | typeof NOT_LED>;

/** More of them than a turn brings under load; their text stays far below what the leader reads. */
const CALLS_AT_ONCE = 64;

interface ForwardedCall {
  readonly call: Call;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** @returns asks for one call: its answer, or NOT_LED. @throws when no answer came, or the leader failed on the call */
export function createLeaderLine(send: SendCalls): (url: string, call: Call, lane: Lane) => Promise<unknown> {
  const waiting = new Map<string, ForwardedCall[]>();

  const sendAll = async (url: string, batch: readonly ForwardedCall[]): Promise<void> => {
    try {
      const outcomes = await send(
        url,
        batch.map(({ call }) => call),
      );
      for (const [place, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes === NOT_LED ? { answer: NOT_LED } : outcomes[place];
        if (outcome !== undefined && 'answer' in outcome) resolve(outcome.answer);
        else reject(new VenueUnavailable('The leading replica could not answer the call.'));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  return (url, call, lane) =>
    new Promise((resolve, reject) => {
      const one: ForwardedCall = { call, resolve, reject };
      if (lane === null) return void sendAll(url, [one]);
      const key = `${lane} ${url}`;
      const batch = waiting.get(key);
      if (batch !== undefined && batch.length < CALLS_AT_ONCE) return void batch.push(one);
      const begun = [one];
      waiting.set(key, begun);
      setImmediate(() => {
        if (waiting.get(key) === begun) waiting.delete(key);
        void sendAll(url, begun);
      });
    });
}

// Sends calls to the replica that leads, and knows which leader gave no answer to the last one. When another replica leads,
// the calls that still wait for the former leader end: its term is over, so it cannot carry them out any more.

const CALL_PATH = '/internal/exchange';
/** The answer of a replica that has given the lead away: it has not looked at the call. */
const NOT_LED_HERE = 410;

export interface CallSender {
  /** @throws when it is not known what became of them */
  send(url: string, calls: readonly Call[], timeoutMs: number): ReturnType<SendCalls>;
  /** Whether the last call to this address got no answer. */
  isSilent(url: string | null): boolean;
  /** Ends all calls, because another replica leads. */
  endAll(): void;
}

interface CallSenderOptions {
  /** Proves to the leader that the call is a replica's. */
  readonly sign: (call: { method: string; path: string; body: string }) => string;
  /** A leader that answered before does not answer. */
  readonly onSilent: () => void;
}

export function createCallSender({ sign, onSilent }: CallSenderOptions): CallSender {
  const underWay = new Set<AbortController>();
  /** The leader whose last call got no answer. */
  let silent: string | null = null;

  const post = async (url: string, calls: readonly Call[], signal: AbortSignal): ReturnType<SendCalls> => {
    const body = encode(calls);
    const response = await fetch(url + CALL_PATH, {
      method: 'POST',
      headers: {
        'x-bellwether-replica': sign({ method: 'POST', path: CALL_PATH, body }),
        'content-type': 'text/plain',
      },
      body,
      redirect: 'error',
      signal,
    });
    const text = await response.text();
    if (response.status === NOT_LED_HERE) return NOT_LED;
    if (!response.ok) throw new VenueUnavailable(`The leading replica answered ${response.status}.`);
    return decode(text) as readonly CallOutcome[];
  };

  return {
    async send(url, calls, timeoutMs) {
      const ends = new AbortController();
      const timer = setTimeout(() => ends.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      underWay.add(ends);
      try {
        const answer = await post(url, calls, ends.signal);
        if (silent === url) silent = null;
        return answer;
      } catch (error) {
        const wasEnded = !underWay.has(ends);
        if (!wasEnded && silent !== url) {
          silent = url;
          onSilent();
        }
        throw error;
      } finally {
        clearTimeout(timer);
        underWay.delete(ends);
      }
    },
    isSilent: (url) => url !== null && url === silent,
    endAll() {
      const all = [...underWay];
      underWay.clear();
      for (const ends of all) ends.abort(new Error('another replica leads now'));
    },
  };
}

/**
 * Calls between replicas as JSON text. Bigints and maps, which JSON lacks, are wrapped; all other values are plain JSON.
 */
const INTEGER = '$integer';
const MAP = '$map';

/** `undefined` is sent as null. */
export const encode = (value: unknown): string => JSON.stringify(wrapped(value ?? null));

/** @throws SyntaxError when the text is not JSON */
export const decode = (text: string): unknown => unwrapped(JSON.parse(text));

// A replacer and a reviver do the same in three times the time.
function wrapped(value: unknown): unknown {
  if (typeof value === 'bigint') return { [INTEGER]: value.toString() };
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(wrapped);
  if (value instanceof Map) return { [MAP]: wrapped([...value]) };
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, wrapped(part)]));
}

/** Changes the value in place. */
function unwrapped(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let place = 0; place < value.length; place += 1) value[place] = unwrapped(value[place]);
    return value;
  }
  const parts = value as Record<string, unknown>;
  if (typeof parts[INTEGER] === 'string') return BigInt(parts[INTEGER]);
  for (const key of Object.keys(parts)) parts[key] = unwrapped(parts[key]);
  return Array.isArray(parts[MAP]) ? new Map(parts[MAP] as [unknown, unknown][]) : parts;
}

// Serves a client's socket through the replica that leads: frames go both ways unchanged. Both ends keep their own bounds; when
// either is lost, the other is ended, and the client connects again.

interface RelayTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const CONNECT_MS = 5_000;
/** Frames of the client that wait for the connection, and bytes that wait to be sent on. */
const MOST_WAITING_FRAMES = 60;
const MOST_UNSENT_BYTES = 1_048_576;
const MOST_FRAME_BYTES = 8 * 1_048_576;
const RESTART = 1012;
const POLICY = 1008;

export function relaySocket({ url, headers }: RelayTarget, peer: SocketPeer): SocketHandler {
  const leader = new WebSocket(url, {
    headers,
    perMessageDeflate: false,
    maxPayload: MOST_FRAME_BYTES,
    handshakeTimeout: CONNECT_MS,
    followRedirects: false,
  });
  let waiting: string[] | null = [];
  leader.on('open', () => {
    for (const frame of waiting ?? []) leader.send(frame);
    waiting = null;
  });
  leader.on('message', (data) => peer.send(String(data)));
  // Its close event follows.
  leader.on('error', () => {});
  leader.on('close', (code, reason) => {
    const isSaid = code === 1001 || code === POLICY || code >= 4000;
    peer.close(isSaid ? code : RESTART, isSaid ? String(reason) : 'connect again');
  });
  return {
    text: (frame) => {
      const isTooMuch =
        waiting === null ? leader.bufferedAmount > MOST_UNSENT_BYTES : waiting.length >= MOST_WAITING_FRAMES;
      if (isTooMuch) peer.close(POLICY, 'too many frames');
      else if (waiting !== null) waiting.push(frame);
      else if (leader.readyState === leader.OPEN) leader.send(frame);
    },
    closed: () => leader.terminate(),
  };
}
