/** HTTP servers of this process, on free ports of the loopback: a desk or a venue that answers what a test decides. */
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterUse } from './setup/clean-up.ts';

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** @returns the URL of a server that stands until its test or, outside of one, its file ends; without a slash at its end */
export async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterUse(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** @returns the URL of a server that gives these answers */
export async function standIn(
  answer: (asked: Asked, response: ServerResponse) => unknown,
  create: (listener: RequestListener) => Server = createServer,
): Promise<string> {
  const server = create((request, response) => {
    const { method = '', url = '', headers } = request.setEncoding('utf8');
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => answer({ method, url, headers, body }, response));
  });
  return listening(server);
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
