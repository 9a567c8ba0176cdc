/** HTTP calls over the simulated network, in place of Node's own `fetch`, which keeps connections beyond the end of a world. */
import http from 'node:http';
import { Readable } from 'node:stream';
import type { SimulatedProcess } from './scheduler.ts';

const agents = new WeakMap<object, http.Agent>();
const NOBODY = {};

/** Connections are kept by process. */
function agentOf(owner: SimulatedProcess | undefined): http.Agent {
  const key = owner ?? NOBODY;
  let agent = agents.get(key);
  if (agent === undefined) {
    agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
    agents.set(key, agent);
  }
  return agent;
}

const refused = (cause: unknown): TypeError => new TypeError('fetch failed', { cause });

/** @param ownerOf the process that asks */
export const simulatedFetch =
  (ownerOf: () => SimulatedProcess | undefined) =>
  (input: string | URL | Request, init: RequestInit = {}): Promise<Response> =>
    new Promise((resolve, reject) => {
      const url = new URL(String(input));
      const body =
        init.body === undefined || init.body === null ? undefined : Buffer.from(init.body as string);
      const headers: Record<string, string> = {};
      new Headers(init.headers).forEach((value, name) => {
        headers[name] = value;
      });
      if (body !== undefined) headers['content-length'] = String(body.length);
      const request = http.request(url, { method: init.method ?? 'GET', headers, agent: agentOf(ownerOf()) });
      const { signal } = init;
      const abort = (): void => {
        reject(signal?.reason);
        request.destroy();
      };
      if (signal?.aborted === true) return abort();
      signal?.addEventListener('abort', abort);
      request.on('error', (error) => reject(refused(error)));
      request.on('response', (answer) => {
        const made = (content: unknown) =>
          new Response([101, 204, 205, 304].includes(answer.statusCode ?? 0) ? null : (content as never), {
            status: answer.statusCode ?? 0,
            headers: new Headers(
              Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
                value === undefined ? [] : [[name, String(value)]],
              ),
            ),
          });
        if (/event-stream/.test(answer.headers['content-type'] ?? ''))
          return resolve(made(Readable.toWeb(answer)));
        const chunks: Buffer[] = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('end', () => {
          signal?.removeEventListener('abort', abort);
          resolve(made(Buffer.concat(chunks)));
        });
        answer.on('error', (error) => reject(refused(error)));
        answer.on('aborted', () => reject(refused(new Error('aborted'))));
      });
      request.end(body);
    });
