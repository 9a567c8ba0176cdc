/**
 * Serves a client's socket through the replica that leads: frames go both ways unchanged. Both ends keep their own bounds; when
 * either is lost, the other is ended, and the client connects again.
 */
import type { SocketHandler, SocketPeer } from '@bellwether/exchange/doors/polymarket';
import { WebSocket } from 'ws';

export interface RelayTarget {
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
