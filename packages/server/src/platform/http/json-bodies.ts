/**
 * Reads a request's body as JSON, for every operation. What two readers could understand differently is refused: a key
 * that changes what an object is, and a key that an object has twice: `JSON.parse` keeps its last value, a proxy that looked at
 * the request before may have read the first. Never quotes a value.
 */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refusal } from '../refusal.ts';

class UnsupportedMediaType extends Error {
  readonly code = 'FST_ERR_CTP_INVALID_MEDIA_TYPE';
  readonly statusCode = 415;
}

export function parseBodies(scope: FastifyInstance): void {
  const parse = scope.getDefaultJsonParser('error', 'error');
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (isCoded(request)) return done(new UnsupportedMediaType());
    // Decoded all the same, a wrong byte would be stored as the sign that stands for it.
    if (!isUtf8(body as Buffer)) return done(refusal('invalid_json', 'The body is not encoded as UTF-8.'));
    const text = body.toString('utf8');
    const finish = (value: unknown): void => {
      const path = repeatedKey(text, value);
      if (path === null) done(null, value);
      else done(refusal('invalid_json', `An object has the key ${JSON.stringify(path)} twice.`, { path }));
    };
    // Many clients send the header with an empty body; the route says whether it needs one.
    if (text.charCodeAt(0) !== BRACE && text.trim() === '') return done(null, undefined);
    const value = mayNeedCare(text) ? undefined : parsePlain(text);
    if (value !== undefined) return finish(value);
    return parse(request, text, (error, careful) => (error === null ? finish(careful) : done(error)));
  });
  // Other types are read all the same: too large comes before the wrong type, and an empty body has none.
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    if (body === '') done(null, undefined);
    else done(new UnsupportedMediaType(), undefined);
  });
}

/** Whether the body is compressed, or encoded in another way. */
export function isCoded({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const coding = headers['content-encoding'] ?? 'identity';
  return coding !== '' && coding.toLowerCase() !== 'identity';
}

const BRACE = '{'.charCodeAt(0);
const QUOTE = '"'.charCodeAt(0);
const SPACE = ' '.charCodeAt(0);
const BYTE_ORDER_MARK = 0xfeff;

/** Whether a key that would change what an object is could stand in it, spelt out or by escapes. */
const mayNeedCare = (text: string): boolean =>
  text.includes('\\') ||
  text.includes('__proto__') ||
  text.includes('constructor') ||
  text.charCodeAt(0) === BYTE_ORDER_MARK;

/** `undefined` for what is not JSON. */
function parsePlain(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Path of the first key that its object had before; `null` without one. Most bodies are cleared by two counts: the text has at
 * least as many ends of keys as it has keys, and the value has each key once.
 */
const repeatedKey = (text: string, value: unknown): string | null =>
  typeof value !== 'object' || value === null || keysOf(value as JsonNode) === endsOfKeys(text)
    ? null
    : search(text);

type JsonNode = Readonly<Record<string, unknown>>;

/** Without recursion, as all here: a body can be nested deeper than the stack is. */
function keysOf(value: JsonNode): number {
  const open: JsonNode[] = [value];
  let count = 0;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (Array.isArray(node)) {
      for (const item of node) if (typeof item === 'object' && item !== null) open.push(item);
      continue;
    }
    // Twice as fast as a list of its members, which every request would pay for.
    for (const key in node) {
      const member = node[key];
      count += 1;
      if (typeof member === 'object' && member !== null) open.push(member as JsonNode);
    }
  }
  return count;
}

/** Colons after a quote: each key has one, and texts may hold more. */
function endsOfKeys(text: string): number {
  let count = 0;
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1)) {
    let at = colon - 1;
    while (text.charCodeAt(at) <= SPACE) at -= 1;
    if (text.charCodeAt(at) === QUOTE) count += 1;
  }
  return count;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g;
/** Longest path that is repeated in an answer. */
const MOST_PATH_CHARS = 100;

/** @param text known to be JSON */
function search(text: string): string | null {
  /** `keys` of an object; an array counts its items. */
  const open: { readonly keys: Set<string> | null; at: string | number }[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const inner = open.at(-1);
    if (token === '{') open.push({ keys: new Set(), at: '' });
    else if (token === '[') open.push({ keys: null, at: 0 });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && typeof inner?.at === 'number') inner.at += 1;
    else if (token === ':' && inner?.keys) {
      const key = JSON.parse(last) as string;
      inner.at = key;
      if (inner.keys.has(key)) return shortened(open.map(({ at }) => at).join('.'));
      inner.keys.add(key);
    } else last = token;
  }
  return null;
}

const shortened = (path: string): string =>
  path.length > MOST_PATH_CHARS ? `${path.slice(0, MOST_PATH_CHARS)}…` : path;
