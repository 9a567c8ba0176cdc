/**
 * An answer of server-sent events that stays open. It leaves the counts and deadlines of requests, and has bounds of its own:
 * a client that takes nothing for a while gets the reason and is closed, and nothing more is kept for it.
 */
import { STREAM_LIMITS } from '@bellwether/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EndReason, OpenStream, Reader } from './open-streams.ts';

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

export interface Frame {
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
  #sentAt = performance.now();
  #isEnding = false;
  #leave: (() => void)[] = [];

  constructor(reader: Reader, reply: FastifyReply) {
    this.reader = reader;
    this.#raw = reply.raw;
  }

  get isClosed(): boolean {
    return this.#isEnding || this.#raw.destroyed;
  }

  get waitingBytes(): number {
    return this.#raw.writableLength;
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
    });
    this.#raw.on('close', () => {
      this.#isEnding = true;
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
        this.#raw.off('drain', onDrain).off('close', onClose);
        resolve(isDrained);
      };
      const onDrain = settle(true);
      const onClose = settle(false);
      const timer = setTimeout(onClose, DRAIN_WITHIN_MS);
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
    this.#raw.end();
    const timer = setTimeout(() => this.#raw.destroy(), FLUSH_WITHIN_MS);
    timer.unref();
    this.#raw.once('close', () => clearTimeout(timer));
  }

  #write(text: string): void {
    if (this.isClosed) return;
    this.#sentAt = performance.now();
    this.#raw.write(text);
  }
}
