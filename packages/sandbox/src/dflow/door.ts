/** Shared by both doors of the venue: errors, outages, and pages of a list. */

import {
  type Guarded,
  guardDoor,
  NulInUrl,
  sayWhen,
  TooManyRequests,
} from '@bellwether/exchange/doors/limits';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { DoorError } from './door-error.ts';
import type { DflowSandbox } from './sandbox.ts';

export interface DflowDoorOptions {
  /** `null` while another process leads. */
  readonly sandbox: () => DflowSandbox | null;
  readonly guard: Guarded;
}

export type Query = Readonly<Record<string, unknown>>;

const BODY_LIMIT_BYTES = 64 * 1024;

/** @returns the sandbox, for handlers. @throws DoorError 503 */
export function prepareDoor(door: FastifyInstance, { sandbox, guard }: DflowDoorOptions): () => DflowSandbox {
  const open = (): DflowSandbox => {
    const found = sandbox();
    if (found === null || found.switches.outage === 'on')
      throw new DoorError(503, 'service_unavailable', 'The venue is not available');
    return found;
  };
  guardDoor(door, guard);
  // Runs after the embedder's own hooks: another process may lead and own the sandbox.
  door.addHook('preHandler', async () => {
    open();
  });
  door.removeAllContentTypeParsers();
  door.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_LIMIT_BYTES }, (_request, body, done) =>
    done(null, body),
  );
  door.setErrorHandler((error: FastifyError | DoorError | TooManyRequests | NulInUrl, request, reply) => {
    if (error instanceof DoorError) return reply.code(error.status).send(error.body);
    if (error instanceof TooManyRequests)
      return sayWhen(reply, error).send({ code: 'rate_limited', msg: error.message });
    if (error instanceof NulInUrl)
      return reply.code(400).send({ code: 'invalid_request', msg: error.message });
    const status = error.statusCode ?? 500;
    if (status < 500) return reply.code(status).send({ code: 'invalid_request', msg: 'Invalid request' });
    request.log.error({ err: error }, 'a door of the sandbox venue failed');
    return reply.code(500).send({ code: 'internal_server_error', msg: 'Internal server error' });
  });
  // Without a prefix the embedder's own not-found answer applies.
  if (door.prefix !== '')
    door.setNotFoundHandler((_request, reply) =>
      reply.code(404).send({ code: 'not_found', msg: 'Not found' }),
    );
  return open;
}

export const invalid = (msg: string): DoorError => new DoorError(400, 'invalid_request', msg);
export const notFound = (msg: string): DoorError => new DoorError(404, 'not_found', msg);

export const queryOf = (request: FastifyRequest): Query => request.query as Query;
export const parameterOf = (request: FastifyRequest, name: string): string =>
  (request.params as Record<string, string>)[name] ?? '';

export function textOf(query: Query, name: string): string | null {
  const value = query[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** @throws DoorError for anything but a whole number within the bounds */
export function numberOf(
  query: Query,
  name: string,
  bounds: { readonly fallback: number; readonly least: number; readonly most: number },
): number {
  const text = textOf(query, name);
  if (text === null) return bounds.fallback;
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= bounds.least && value <= bounds.most))
    throw invalid(`${name} must be a whole number from ${bounds.least} to ${bounds.most}`);
  return value;
}

export function flagOf(query: Query, name: string): boolean | null {
  const text = textOf(query, name);
  if (text === null) return null;
  if (text !== 'true' && text !== 'false') throw invalid(`${name} must be true or false`);
  return text === 'true';
}

/** @throws DoorError for a value that is not listed */
export function wordOf<Word extends string>(query: Query, name: string, words: readonly Word[]): Word | null {
  const text = textOf(query, name);
  if (text === null) return null;
  const word = words.find((one) => one === text);
  if (word === undefined) throw invalid(`${name} must be one of ${words.join(', ')}`);
  return word;
}

export interface Page {
  readonly limit: number;
  /** Rows to skip. */
  readonly offset: number;
}

const MOST_ROWS = 1_000_000;

export const pageOf = (query: Query, fallback: number, most: number): Page => ({
  limit: numberOf(query, 'limit', { fallback, least: 1, most }),
  offset: numberOf(query, 'cursor', { fallback: 0, least: 0, most: MOST_ROWS }),
});

/** The page and the cursor of the next one, `null` at the end. */
export function cut<T>(
  all: readonly T[],
  { limit, offset }: Page,
): { rows: readonly T[]; cursor: number | null } {
  const rows = all.slice(offset, offset + limit);
  const end = offset + rows.length;
  return { rows, cursor: end < all.length ? end : null };
}

/** @throws DoorError unless the body is a JSON object */
export function bodyOf(request: FastifyRequest): Query {
  try {
    const body: unknown = JSON.parse(request.body as string);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Query;
  } catch {
    // Reported below.
  }
  throw invalid('The body must be a JSON object');
}

/** @throws DoorError unless it is a list of texts without NUL, or absent */
export function textsOf(body: Query, name: string): readonly string[] {
  const value = body[name] ?? [];
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string' && !one.includes('\0')))
    throw invalid(`${name} must be a list of strings`);
  return value;
}
