/** Reads what the market socket says of one token to a new client. */
import WebSocket from 'ws';
import { USER_AGENT } from '../../packages/server/src/venues/polymarket/http.ts';

const SOCKET_MS = 10_000;

/** The frames until there are a dump and a PONG, or for ten seconds; `null` without a connection. */
export async function listenTo(url: string, tokenId: string): Promise<readonly string[] | null> {
  const socket = new WebSocket(url, {
    handshakeTimeout: SOCKET_MS,
    maxPayload: 16 * 1024 * 1024,
    followRedirects: false,
    headers: { 'user-agent': USER_AGENT },
  });
  const heard: string[] = [];
  const { promise, resolve } = Promise.withResolvers<readonly string[] | null>();
  const timer = setTimeout(() => resolve(heard), SOCKET_MS);
  socket.on('open', () => {
    socket.send(JSON.stringify({ type: 'market', assets_ids: [tokenId], initial_dump: true }));
    socket.send('PING');
  });
  socket.on('message', (data) => {
    heard.push(data.toString());
    if (heard.includes('PONG') && heard.some((text) => text !== 'PONG')) resolve(heard);
  });
  socket.on('error', () => resolve(heard.length === 0 ? null : heard));
  socket.on('close', () => resolve(heard));
  const found = await promise;
  clearTimeout(timer);
  socket.terminate();
  return found;
}
