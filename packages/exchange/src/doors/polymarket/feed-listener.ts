/** A client of a channel, market or user: how its texts become work. */
import { CLOSE, type SocketHandler, type SocketPeer } from '../web-sockets.ts';
import { type ClientFrame, readFrame } from './frames.ts';
import type { Line } from './socket-faults.ts';

export interface FeedListener {
  readonly peer: SocketPeer;
  readonly line: Line;
  readonly mustAsk: NodeJS.Timeout;
  isClosed: boolean;
  /** Frames are obeyed one after another. */
  work: Promise<void>;
}

/** Closes a client that does not subscribe in time. */
export const mustSubscribe = (peer: SocketPeer, withinMs: number): NodeJS.Timeout =>
  setTimeout(() => peer.close(CLOSE.policy, 'subscribe first'), withinMs).unref();

export const handlerOf = (
  listener: FeedListener,
  { obey, leave }: { readonly obey: (frame: ClientFrame) => Promise<void>; readonly leave: () => void },
): SocketHandler => ({
  text: (text) => {
    const frame = readFrame(text);
    if (frame === null) return;
    if (frame.kind === 'ping') return listener.line.pong();
    listener.work = listener.work
      .then(() => obey(frame))
      .catch(() => listener.peer.close(CLOSE.failed, 'internal error'));
  },
  closed: () => {
    listener.isClosed = true;
    clearTimeout(listener.mustAsk);
    leave();
  },
});
