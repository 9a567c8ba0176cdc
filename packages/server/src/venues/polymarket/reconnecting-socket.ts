/**
 * A connection to one of the venue's sockets that comes back. The venue replays nothing: what was said while the connection
 * was down is lost, so `onOpen` subscribes and asks again, and `onDown` makes everything learnt from the old one stale.
 * The venue's sockets also freeze without closing; one without any frame for a while is replaced, the answers to our PINGs
 * included. Frames may carry credentials, so neither frames nor URLs are logged.
 */
import WebSocket from 'ws';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import { USER_AGENT } from './http.ts';

const PING = 'PING';
const PONG = 'PONG';
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** A venue that stops reading must not fill our memory. */
const MAX_UNSENT_BYTES = 1024 * 1024;
const CLOSE_WAIT_MS = 1_000;

export interface SocketTimes {
  readonly connectMs: number;
  readonly pingEveryMs: number;
  /** Without any frame for so long, the connection is replaced. */
  readonly staleMs: number;
  readonly firstBackoffMs: number;
  readonly maxBackoffMs: number;
}

const SOCKET_TIMES: SocketTimes = {
  connectMs: 10_000,
  pingEveryMs: 10_000,
  staleMs: 30_000,
  firstBackoffMs: 250,
  maxBackoffMs: 30_000,
};

interface SocketOptions {
  readonly url: string;
  /** In logs and `status`. */
  readonly name: string;
  readonly log: OutboundLog;
  /** Subscribes. Called at each connection, before its first frame. */
  readonly onOpen: () => void;
  /** One JSON message or a list of them, not yet decoded. */
  readonly onFrame: (text: string) => void;
  /** Called once for each connection that stood and is lost. */
  readonly onDown: () => void;
  readonly times?: SocketTimes;
  /** Between 0 and 1; spreads reconnections. */
  readonly random?: () => number;
}

export interface ReconnectingSocket {
  readonly isOpen: () => boolean;
  /** Monotonic milliseconds of the last frame of any kind; `null` while there is no connection. */
  readonly lastFrameAt: () => number | null;
  /** Nothing is kept for later: `false` when the connection does not stand; `onOpen` then sends what is needed. */
  readonly send: (text: string) => boolean;
  /** Replaces the connection, for example after an event that does not follow from the one before. */
  readonly reconnect: (reason: string) => void;
  /** `ready`, or a sentence that says what is wrong. */
  readonly status: () => string;
  readonly close: () => Promise<void>;
}

export function openReconnectingSocket(options: SocketOptions): ReconnectingSocket {
  const { url, name, log, times = SOCKET_TIMES, random = Math.random } = options;
  let socket: WebSocket | null = null;
  let isOpen = false;
  let isClosed = false;
  let lastFrameAt: number | null = null;
  let failures = 0;
  let saidDown = false;
  let retry: NodeJS.Timeout | undefined;

  const guarded = (step: () => void, what: string): void => {
    try {
      step();
    } catch (error) {
      log.warn({ socket: name, error: (error as Error).name }, `${what} failed`);
    }
  };

  /** Ends a connection for good: nothing that it still says is heard. */
  const drop = (dead: WebSocket): void => {
    if (socket !== dead) return;
    const stood = isOpen;
    socket = null;
    isOpen = false;
    lastFrameAt = null;
    dead.removeAllListeners();
    // A connection that is being made reports its end as an error.
    dead.on('error', () => {});
    dead.terminate();
    if (stood) guarded(options.onDown, 'noting that a socket is down');
    if (isClosed) return;
    const full = Math.min(times.maxBackoffMs, times.firstBackoffMs * 2 ** Math.min(failures, 16));
    failures += 1;
    if (!saidDown) log.warn({ socket: name }, 'the socket is down; it is opened again');
    saidDown = true;
    retry = setTimeout(connect, full * (0.5 + random() / 2));
  };

  const connect = (): void => {
    const fresh = new WebSocket(url, {
      handshakeTimeout: times.connectMs,
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
      headers: { 'user-agent': USER_AGENT },
    });
    socket = fresh;
    fresh.on('open', () => {
      isOpen = true;
      lastFrameAt = performance.now();
      guarded(options.onOpen, 'subscribing');
    });
    fresh.on('message', (data) => {
      lastFrameAt = performance.now();
      // Only a connection that says something counts as one that works.
      failures = 0;
      if (saidDown) log.info({ socket: name }, 'the socket is open again');
      saidDown = false;
      const text = data.toString();
      if (text !== PONG) guarded(() => options.onFrame(text), 'reading a frame');
    });
    fresh.on('error', () => drop(fresh));
    fresh.on('close', () => drop(fresh));
  };

  const send = (text: string): boolean => {
    if (socket === null || !isOpen) return false;
    if (socket.bufferedAmount > MAX_UNSENT_BYTES) {
      drop(socket);
      return false;
    }
    socket.send(text);
    return true;
  };

  const pings = setInterval(() => send(PING), times.pingEveryMs);
  const watch = setInterval(
    () => {
      if (socket !== null && lastFrameAt !== null && performance.now() - lastFrameAt > times.staleMs)
        drop(socket);
    },
    Math.max(10, times.staleMs / 10),
  );
  connect();

  return {
    isOpen: () => isOpen,
    lastFrameAt: () => lastFrameAt,
    send,
    reconnect(reason) {
      if (socket === null) return;
      log.info({ socket: name, reason }, 'the socket is replaced');
      drop(socket);
    },
    status: () => (isOpen ? 'ready' : `${name} is not connected`),
    async close() {
      isClosed = true;
      clearInterval(pings);
      clearInterval(watch);
      clearTimeout(retry);
      const last = socket;
      if (last === null) return;
      if (last.readyState === WebSocket.OPEN) await farewell(last);
      drop(last);
    },
  };
}

/** Lets a willing venue finish; one that does not answer is not waited for. */
async function farewell(socket: WebSocket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, CLOSE_WAIT_MS);
  socket.once('close', () => resolve());
  socket.close();
  await promise;
  clearTimeout(timer);
}
