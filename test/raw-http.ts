/** HTTP as bytes on a socket, for what a well-behaved client would never send. */
import { connect, type Socket } from 'node:net';

export interface RawReply {
  /** 0: the connection was closed without an answer. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

const WAIT_MS = 60_000;

export function openSocket(url: string, localAddress?: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: hostname,
      port: Number(port),
      ...(localAddress === undefined ? {} : { localAddress }),
    });
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Sends the bytes unchanged and reads until the peer closes. */
export async function sendRaw(url: string, request: string, localAddress?: string): Promise<RawReply> {
  const socket = await openSocket(url, localAddress);
  const received = await new Promise<string>((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no end of the answer within ${WAIT_MS} ms: ${text.slice(0, 200)}`));
    }, WAIT_MS);
    const end = () => {
      clearTimeout(timer);
      resolve(text);
    };
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => (text += chunk));
    socket.once('close', end);
    // A server that has answered may cut the request that is still being sent.
    socket.once('error', end);
    socket.write(request);
  });
  return parse(received);
}

/** One request with `Connection: close`. Lines of `headers` are sent unchanged; without a Host line one is added. */
export function rawRequest(
  url: string,
  line: string,
  headers: readonly string[] = [],
  body = '',
  localAddress?: string,
): Promise<RawReply> {
  const host = headers.some((header) => /^host:/i.test(header)) ? [] : [`Host: ${new URL(url).host}`];
  return sendRaw(
    url,
    `${[line, ...host, ...headers, 'Connection: close', '', ''].join('\r\n')}${body}`,
    localAddress,
  );
}

function parse(received: string): RawReply {
  const split = received.indexOf('\r\n\r\n');
  const [status = '', ...lines] = received.slice(0, Math.max(0, split)).split('\r\n');
  const headers = new Map(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const rest = split < 0 ? '' : received.slice(split + 4);
  const text = headers.get('transfer-encoding') === 'chunked' ? unchunked(rest) : rest;
  const isJson = /json/.test(headers.get('content-type') ?? '');
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(status)?.[1] ?? 0),
    headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  };
}

function unchunked(text: string): string {
  let rest = text;
  let whole = '';
  for (;;) {
    const end = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.slice(0, end), 16);
    if (end < 0 || !(size > 0)) return whole;
    whole += rest.slice(end + 2, end + 2 + size);
    rest = rest.slice(end + 4 + size);
  }
}
