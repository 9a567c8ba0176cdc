/**
 * The streams that are open here: how many an agent may have, which of their keys still hold, and their heartbeats. A stream
 * outlives the request that opened it, so its key is looked at again every second; nothing is sent on a stream whose key
 * was last found active longer ago than the lease of a key, however long the process was held up.
 */
import { STREAM_LIMITS } from '@bellwether/contract';
import type { EventLog } from '../../ports/event-log.ts';
import { refusal } from '../refusal.ts';

const CHECK_EVERY_MS = 1_000;
/** As long as an authenticated key is remembered. */
const LEASE_MS = 2_000;
const RETRY_S = 5;

export type EndReason = 'key_revoked' | 'service_stopping' | 'slow_consumer' | 'cursor_gone';

export interface OpenStream {
  readonly agentId: string;
  readonly keyId: bigint;
  /** Says why, and closes. */
  end(reason: EndReason): void;
  /** Sends a comment when nothing was sent for a while. */
  beat(now: number): void;
}

interface Options {
  readonly log: Pick<EventLog, 'activeKeys'>;
  readonly maxStreams: number;
  /** Milliseconds that only grow. */
  readonly now: () => number;
}

export class OpenStreams {
  readonly #options: Options;
  readonly #streams = new Set<OpenStream>();
  readonly #ofAgent = new Map<string, number>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #verifiedAt = 0;
  #checking: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: Options) {
    this.#options = options;
  }

  get count(): number {
    return this.#streams.size;
  }

  /**
   * Takes a place for a stream whose key was just found active. @returns what gives it back
   * @throws Refusal stream_limit_reached, overloaded
   */
  add(stream: OpenStream): () => void {
    const { maxStreams, now } = this.#options;
    this.check(stream.agentId);
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
    this.#ofAgent.set(stream.agentId, (this.#ofAgent.get(stream.agentId) ?? 0) + 1);
    return () => this.#remove(stream);
  }

  /** @throws Refusal stream_limit_reached */
  check(agentId: string): void {
    const { streamsPerAgent } = STREAM_LIMITS;
    if ((this.#ofAgent.get(agentId) ?? 0) < streamsPerAgent) return;
    throw refusal(
      'stream_limit_reached',
      `This agent has ${streamsPerAgent} open streams here, which is the most.`,
    );
  }

  /** A key was revoked, here or at another replica. */
  forget(keyId: bigint): void {
    for (const stream of this.#streams) if (stream.keyId === keyId) stream.end('key_revoked');
  }

  /** Resolves once every stream that is left has a key that was active within the lease. */
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
    const left = (this.#ofAgent.get(stream.agentId) ?? 1) - 1;
    if (left > 0) this.#ofAgent.set(stream.agentId, left);
    else this.#ofAgent.delete(stream.agentId);
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
    const asked = [...this.#streams];
    const active = await this.#options.log.activeKeys([...new Set(asked.map(({ keyId }) => keyId))]);
    for (const stream of asked) if (!active.has(stream.keyId)) stream.end('key_revoked');
    this.#verifiedAt = askedAt;
  }
}
