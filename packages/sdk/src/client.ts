/**
 * The service's operations, one method each (`client-methods.ts`), and what they share: address, key and retries. The
 * server validates, this client does not repeat it. The API key is kept private: it is in no error, inspection or JSON
 * of this object.
 */
import type { Operation } from '@bellwether/contract';
import { type CallParts, OperationMethods, type Values } from './client-methods.ts';
import { INSPECT } from './inspect.ts';
import { QuoteTrading } from './quotes.ts';
import { Transport, type TransportOptions } from './transport.ts';

export interface ClientOptions extends TransportOptions {
  /** `apiKeyCode` of the registration. Leave it out for the public operations. */
  readonly apiKey?: string;
}

export class BellwetherClient extends OperationMethods {
  readonly baseUrl: string;
  readonly #transport: Transport;
  readonly #apiKey: string | undefined;

  constructor(options: ClientOptions) {
    const { apiKey, ...rest } = options;
    const transport = new Transport(rest);
    super((operation, parts) => send(transport, apiKey, operation, parts));
    this.baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.#transport = transport;
    this.#apiKey = apiKey;
  }

  /** The same client with an agent's key. */
  withApiKey(apiKey: string): BellwetherClient {
    return new BellwetherClient({ ...this.#transport.options, apiKey });
  }

  /** Quote → verify → sign → submit → wait, and the delegation of fees, with what is signed checked here. */
  get venueB(): QuoteTrading {
    return new QuoteTrading(this, this.#transport.options);
  }

  toJSON(): { readonly baseUrl: string } {
    return { baseUrl: this.baseUrl };
  }

  [INSPECT](): string {
    return `BellwetherClient(${this.baseUrl}${this.#apiKey === undefined ? '' : ', with a key'})`;
  }
}

async function send(
  transport: Transport,
  apiKey: string | undefined,
  { method, path, repeatable }: Operation,
  { params, query = {}, body, options = {} }: CallParts,
): Promise<unknown> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (apiKey !== undefined) headers.authorization = `Bearer ${apiKey}`;
  if (options.idempotencyKey !== undefined) headers['idempotency-key'] = options.idempotencyKey;
  if (options.requestId !== undefined) headers['x-request-id'] = options.requestId;
  return transport.send({
    method,
    path: fillPath(path, params) + queryText(query),
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    repeatable: method === 'GET' || repeatable === true || options.idempotencyKey !== undefined,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
}

/** @throws RangeError for what would make another path of it: no encoding protects these */
const fillPath = (path: string, params: Values): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(params[name]);
    if (/^\.{0,2}$/.test(value)) throw new RangeError(`${name} cannot be "${value}".`);
    return encodeURIComponent(value);
  });

function queryText(query: Values): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
