/**
 * The streams that are open here: how many an agent or an owner may have, which of their keys and sessions still hold, and their
 * heartbeats. A stream outlives the request that opened it, so what it was opened by is looked at again every second; nothing
 * is sent on a stream whose key or session was last found to hold longer ago than the lease of a key, however long the
 * process was held up.
 */
import { STREAM_LIMITS } from '@bellwether/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OwnerStore } from '../owners/index.ts';
import type { Clock } from '../platform/clock.ts';
import { eventGzip } from '../platform/http/routes.ts';
import { refusal } from '../platform/refusal.ts';
import type { EventLog } from './log.ts';

const CHECK_EVERY_MS = 1_000;
/** As long as an authenticated key is remembered. */
const LEASE_MS = 2_000;
const RETRY_S = 5;

export type EndReason =
  | 'key_revoked'
  | 'reauthorised'
  | 'session_ended'
  | 'agents_changed'
  | 'service_stopping'
  | 'slow_consumer'
  | 'cursor_gone';

/** Who reads a stream, and by what. */
export type Reader =
  | { readonly kind: 'agent'; readonly agentId: string; readonly keyId: bigint }
  | {
      readonly kind: 'owner';
      readonly userId: bigint;
      readonly tokenHash: Uint8Array;
      /** The owner's agents, as {@link OwnerStore.sessionsAgents} tells them; `null`: the stream is about none. */
      readonly agents: string | null;
    };

/** Whose streams are counted together. */
type Whose =
  | { readonly kind: 'agent'; readonly agentId: string }
  | { readonly kind: 'owner'; readonly userId: bigint };

interface OpenStream {
  readonly reader: Reader;
  /** Says why, and closes. */
  end(reason: EndReason): void;
  /** Sends a comment when nothing was sent for a while. */
  beat(now: number): void;
}

interface Options {
  readonly log: Pick<EventLog, 'activeKeys'>;
  readonly owners: Pick<OwnerStore, 'sessionsAgents'>;
  readonly clock: Clock;
  readonly maxStreams: number;
  /** Milliseconds that only grow. */
  readonly now: () => number;
}

export class OpenStreams {
  readonly #options: Options;
  readonly #streams = new Set<OpenStream>();
  readonly #ofReader = new Map<string, number>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #verifiedAt = 0;
  /** Keys whose streams end with the next look. */
  #forgotten = new Set<bigint>();
  #checking: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: Options) {
    this.#options = options;
  }

  get count(): number {
    return this.#streams.size;
  }

  /**
   * Takes a place for a stream whose key or session was just found to hold. @returns what gives it back
   * @throws Refusal stream_limit_reached, overloaded
   */
  add(stream: OpenStream): () => void {
    const { maxStreams, now } = this.#options;
    this.check(stream.reader);
    if (this.#isStopped || this.#streams.size >= maxStreams) {
      throw refusal('overloaded', 'This replica has as many streams as it can serve.', {
        retryAfterS: RETRY_S,
      });
    }
    if (this.#streams.size === 0) {
      this.#verifiedAt = now();
      this.#timer = setInterval(() => this.#look(), CHECK_EVERY_MS);
    }
    this.#streams.add(stream);
    const name = nameOf(stream.reader);
    this.#ofReader.set(name, (this.#ofReader.get(name) ?? 0) + 1);
    return () => this.#remove(stream);
  }

  /** @throws Refusal stream_limit_reached */
  check(reader: Whose): void {
    const { streamsPerAgent, streamsPerOwner } = STREAM_LIMITS;
    const most = reader.kind === 'agent' ? streamsPerAgent : streamsPerOwner;
    if ((this.#ofReader.get(nameOf(reader)) ?? 0) < most) return;
    throw refusal(
      'stream_limit_reached',
      `This ${reader.kind} has ${most} open streams here, which is the most.`,
    );
  }

  /**
   * Ends streams whose key stands for something else now, here or at another replica: it was revoked, or its agent has another owner. Nothing is
   * sent on its streams until they have ended with the reason.
   */
  forget(keyId: bigint): void {
    if (![...this.#streams].some(({ reader }) => reader.kind === 'agent' && reader.keyId === keyId)) return;
    this.#forgotten.add(keyId);
    this.#verifiedAt = Number.NEGATIVE_INFINITY;
    // Where the database does not answer, the next look asks again.
    this.verified().catch(() => {});
  }

  /** Resolves once every stream that is left has a key or session that held within the lease. */
  async verified(): Promise<void> {
    while (this.#options.now() - this.#verifiedAt > LEASE_MS) await this.#verify();
  }

  /** Whether something may be sent now; where not, the next look says more. */
  get isVerified(): boolean {
    return this.#options.now() - this.#verifiedAt <= LEASE_MS;
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
    for (const stream of [...this.#streams]) stream.end('service_stopping');
  }

  #remove(stream: OpenStream): void {
    if (!this.#streams.delete(stream)) return;
    const name = nameOf(stream.reader);
    const left = (this.#ofReader.get(name) ?? 1) - 1;
    if (left > 0) this.#ofReader.set(name, left);
    else this.#ofReader.delete(name);
    if (this.#streams.size === 0) clearInterval(this.#timer);
  }

  #look(): void {
    // While the database is away nothing is sent, and the next turn asks again.
    this.#verify().catch(() => {});
    const now = this.#options.now();
    for (const stream of this.#streams) stream.beat(now);
  }

  #verify(): Promise<void> {
    this.#checking ??= this.#ask().finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  async #ask(): Promise<void> {
    const askedAt = this.#options.now();
    const forgotten = this.#forgotten;
    this.#forgotten = new Set();
    try {
      await this.#endWhatFell(forgotten);
    } catch (error) {
      for (const keyId of forgotten) this.#forgotten.add(keyId);
      throw error;
    }
    // A key that was forgotten meanwhile needs an answer that was asked for later.
    this.#verifiedAt = this.#forgotten.size > 0 ? Number.NEGATIVE_INFINITY : askedAt;
  }

  async #endWhatFell(forgotten: ReadonlySet<bigint>): Promise<void> {
    const asked = [...this.#streams];
    const readers = asked.map(({ reader }) => reader);
    const keyIds = new Set(readers.flatMap((reader) => (reader.kind === 'agent' ? [reader.keyId] : [])));
    const hashes = new Map(
      readers.flatMap((reader) => (reader.kind === 'owner' ? [[hexOf(reader), reader.tokenHash]] : [])),
    );
    const { log, owners, clock } = this.#options;
    const [keys, sessions] = await Promise.all([
      keyIds.size === 0 ? NO_KEYS : log.activeKeys([...keyIds]),
      hashes.size === 0 ? NO_SESSIONS : owners.sessionsAgents([...hashes.values()], clock.now()),
    ]);
    for (const stream of asked) {
      const reason = reasonToEnd(stream.reader, { keys, sessions, forgotten });
      if (reason !== null) stream.end(reason);
    }
  }
}

const NO_KEYS: ReadonlySet<bigint> = new Set();
const NO_SESSIONS: ReadonlyMap<string, string> = new Map();

/** Name by which a reader's streams are counted, and its cursors bound. */
export const nameOf = (reader: Whose): string =>
  reader.kind === 'agent' ? reader.agentId : `owner ${reader.userId}`;

const hexOf = ({ tokenHash }: Reader & { readonly kind: 'owner' }): string =>
  Buffer.from(tokenHash).toString('hex');

interface FoundStreams {
  readonly keys: ReadonlySet<bigint>;
  readonly sessions: ReadonlyMap<string, string>;
  readonly forgotten: ReadonlySet<bigint>;
}

function reasonToEnd(reader: Reader, { keys, sessions, forgotten }: FoundStreams): EndReason | null {
  if (reader.kind === 'agent') {
    if (!keys.has(reader.keyId)) return 'key_revoked';
    return forgotten.has(reader.keyId) ? 'reauthorised' : null;
  }
  const agents = sessions.get(hexOf(reader));
  if (agents === undefined) return 'session_ended';
  return reader.agents === null || reader.agents === agents ? null : 'agents_changed';
}

// An answer of server-sent events that stays open. It leaves the counts and deadlines of requests, and has bounds of its own:
// a client that takes nothing for a while gets the reason and is closed, and nothing more is kept for it.

/** Waits to be sent, beyond what the system's own buffers hold. */
const CONGESTED_BYTES = 64 * 1024;
/** Within which a congested client must have taken all of it. */
const DRAIN_WITHIN_MS = 20_000;
/** Within which a client that is sent the end must have read it. */
const FLUSH_WITHIN_MS = 5_000;
/** Streams that end together must not come back together. */
const RETRY_MS = 500;
const RETRY_SPREAD_MS = 2_500;

const ENDINGS: Readonly<Record<EndReason, string>> = {
  key_revoked: 'The API key was revoked.',
  reauthorised:
    'The key is valid, and its agent has another owner now; open the stream again with the last id.',
  session_ended: 'The session has ended: sign in again.',
  agents_changed:
    'You have claimed another agent, or your account was recovered or that was undone; open the stream again with the last id.',
  service_stopping: 'This replica stops; open the stream again with the last id.',
  slow_consumer: 'More happened than the client read; open the stream again with the last id.',
  cursor_gone: 'The log no longer holds what follows; read the state again.',
};
/** Reasons that make the client fall out, as against ends that the service decides. */
const DROPS: ReadonlySet<EndReason> = new Set(['slow_consumer', 'cursor_gone']);

interface Frame {
  readonly event: string;
  /** JSON text in one line. */
  readonly data: string;
  readonly id?: string;
}

const frameText = ({ event, data, id }: Frame): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;

export class EventStream implements OpenStream {
  readonly reader: Reader;
  readonly #raw: FastifyReply['raw'];
  /** Agents' events go as they are: they must take no longer than they do. */
  readonly #gzip: ReturnType<typeof eventGzip>;
  #sentAt = performance.now();
  #isEnding = false;
  #leave: (() => void)[] = [];

  constructor(reader: Reader, request: FastifyRequest, reply: FastifyReply) {
    this.reader = reader;
    this.#raw = reply.raw;
    this.#gzip = reader.kind === 'owner' ? eventGzip(request) : null;
  }

  /** Where events go in. */
  get #out() {
    return this.#gzip ?? this.#raw;
  }

  get isClosed(): boolean {
    return this.#isEnding || this.#raw.destroyed;
  }

  get waitingBytes(): number {
    const { writableLength = 0, readableLength = 0 } = this.#gzip ?? {};
    return writableLength + readableLength + this.#raw.writableLength;
  }

  get isCongested(): boolean {
    return this.waitingBytes > CONGESTED_BYTES;
  }

  /** Called when the connection is closed, however it comes to that. */
  onClose(leave: () => void): void {
    if (this.isClosed) leave();
    else this.#leave.push(leave);
  }

  /** Sends the headers. From here on the request counts as a stream only. */
  begin(request: FastifyRequest, reply: FastifyReply): void {
    reply.hijack();
    request.deadline?.end();
    request.leave?.();
    request.leave = null;
    const headers = Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined);
    this.#raw.writeHead(200, {
      ...(Object.fromEntries(headers) as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      // Proxies that gather an answer before they pass it on would hold events back.
      'x-accel-buffering': 'no',
      ...(this.#gzip === null ? {} : { 'content-encoding': 'gzip' }),
    });
    this.#gzip?.on('error', () => this.#raw.destroy()).pipe(this.#raw);
    this.#raw.on('close', () => {
      this.#isEnding = true;
      this.#gzip?.destroy();
      for (const leave of this.#leave.splice(0)) leave();
    });
    this.#raw.on('error', () => this.#raw.destroy());
  }

  send(frames: readonly Frame[]): void {
    this.#write(frames.map(frameText).join(''));
  }

  beat(now: number): void {
    if (now - this.#sentAt >= STREAM_LIMITS.heartbeatSeconds * 1_000 - 1_000) this.#write(':\n\n');
  }

  /** Resolves with `true` once everything is sent. */
  drained(): Promise<boolean> {
    if (this.isClosed || !this.isCongested) return Promise.resolve(!this.isClosed);
    return new Promise((resolve) => {
      const settle = (isDrained: boolean) => () => {
        clearTimeout(timer);
        this.#gzip?.off('drain', onDrain);
        this.#raw.off('drain', onDrain).off('close', onClose);
        resolve(isDrained);
      };
      const onDrained = settle(true);
      const onDrain = () => {
        // Of two buffers, the first one that is empty says nothing of the other one.
        if (!this.isCongested) onDrained();
      };
      const onClose = settle(false);
      const timer = setTimeout(onClose, DRAIN_WITHIN_MS);
      this.#gzip?.on('drain', onDrain);
      this.#raw.on('drain', onDrain).on('close', onClose);
    });
  }

  end(reason: EndReason): void {
    if (this.isClosed) return;
    const retry = Math.round(RETRY_MS + Math.random() * RETRY_SPREAD_MS);
    const event = DROPS.has(reason) ? 'dropped' : 'closing';
    const data = JSON.stringify({ reason, message: ENDINGS[reason] });
    this.#write(`retry: ${retry}\n${frameText({ event, data })}`);
    this.#isEnding = true;
    // Its place is free at once, whether or not the client ever reads the end.
    for (const leave of this.#leave.splice(0)) leave();
    this.#out.end();
    const timer = setTimeout(() => this.#raw.destroy(), FLUSH_WITHIN_MS);
    timer.unref();
    this.#raw.once('close', () => clearTimeout(timer));
  }

  #write(text: string): void {
    if (this.isClosed) return;
    this.#sentAt = performance.now();
    this.#out.write(text);
  }
}
