/**
 * The service's operations, one method each (`client-methods.ts`), and what they share: address, key and retries. The
 * server validates, this client does not repeat it. The API key is kept private: it is in no error, inspection or JSON
 * of this object.
 */
import type { Operation } from '@bellwether/contract';
import { type CallOptions, type CallParts, OperationMethods, type Values } from './client-methods.ts';
import {
  BellwetherConnectionError,
  BellwetherUsageError,
  INSPECT,
  NEED,
  needOptions,
  needValue,
} from './errors.ts';
import { QuoteTrading } from './quotes.ts';
import {
  type AgentEvent,
  agentEvents,
  type EventsOptions,
  type MarketEvent,
  marketEvents,
  type StreamOptions,
  Transport,
  type TransportOptions,
} from './transport.ts';

export interface ClientOptions extends TransportOptions {
  /** `apiKeyCode` of the registration. Leave it out for the public operations. */
  readonly apiKey?: string;
}

export class BellwetherClient extends OperationMethods {
  readonly baseUrl: string;
  readonly #transport: Transport;
  readonly #apiKey: string | undefined;

  constructor(options: ClientOptions) {
    checkOptions(options);
    const { apiKey, ...rest } = options;
    const transport = new Transport(rest);
    super((operation, parts) => send(transport, apiKey, operation, parts));
    this.baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.#transport = transport;
    this.#apiKey = apiKey;
  }

  /** The same client with an agent's key. */
  withApiKey(apiKey: string): BellwetherClient {
    needValue('withApiKey', 'apiKey', apiKey, API_KEY);
    return new BellwetherClient({ ...this.#transport.options, apiKey });
  }

  /** Quote → verify → sign → submit → wait, and the delegation of fees, with what is signed checked here. */
  get venueB(): QuoteTrading {
    return new QuoteTrading(this, this.#transport.options);
  }

  /**
   * Yields the events of this agent, from now on or after a cursor: without a gap and without repeating anything, over any number of
   * lost connections. Keep the `cursor` of each event that was handled, and continue a later run with it.
   * @throws BellwetherApiError 410 `event_cursor_gone` for a cursor older than the log: read the state and begin anew
   */
  events(options: EventsOptions = {}): AsyncGenerator<AgentEvent, void, undefined> {
    return agentEvents({ transport: this.#transport, headers: this.#authorization }, options ?? {});
  }

  /** The books of these tokens: whole ones first and after each gap, then what changes. */
  watchMarket(
    tokens: string | readonly string[],
    options: StreamOptions = {},
  ): AsyncGenerator<MarketEvent, void, undefined> {
    needValue('watchMarket', 'tokens', tokens, TOKENS);
    const list = typeof tokens === 'string' ? [tokens] : tokens;
    return marketEvents({ transport: this.#transport, headers: this.#authorization }, list, options ?? {});
  }

  /**
   * The statement as CSV, every event of the span (`getStatement` has it page by page). What is cut off on its way is asked for again.
   * @throws BellwetherConnectionError for a file that came without its last line
   */
  async statementCsv(
    query: Omit<
      NonNullable<Parameters<BellwetherClient['getStatement']>[0]>,
      'format' | 'limit' | 'cursor'
    > = {},
    options: CallOptions = {},
  ): Promise<string> {
    const text: unknown = await this.getStatement({ ...query, format: 'csv' }, options);
    if (typeof text === 'string' && /\r\n[^\r\n,]*,closing,[^\r\n]*\r\n$/.test(text)) return text;
    throw new BellwetherConnectionError('broken', 'GET', '/agents/statement');
  }

  get #authorization(): Readonly<Record<string, string>> {
    return this.#apiKey === undefined ? {} : { authorization: `Bearer ${this.#apiKey}` };
  }

  toJSON(): { readonly baseUrl: string } {
    return { baseUrl: this.baseUrl };
  }

  [INSPECT](): string {
    return `BellwetherClient(${this.baseUrl}${this.#apiKey === undefined ? '' : ', with a key'})`;
  }
}

const TOKENS = {
  what: 'the id of an outcome token, or a list of them',
  fits: (value: unknown) =>
    (typeof value === 'string' && value !== '') || (Array.isArray(value) && value.length > 0),
};
const HEADER_TEXT = /^[\x20-\x7e]+$/;
const API_KEY = {
  what: 'the apiKeyCode of a registration, and nothing around it',
  fits: (value: unknown) => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value),
};

/** @throws BellwetherUsageError */
function checkOptions(options: ClientOptions): void {
  needOptions('BellwetherClient', options, { baseUrl: NEED.url });
  const { baseUrl, apiKey } = options;
  if (!/^https?:\/\//i.test(baseUrl) || !URL.canParse(baseUrl))
    throw new BellwetherUsageError(`BellwetherClient needs baseUrl: ${NEED.url.what}.`);
  const { username, password } = new URL(baseUrl);
  if (username !== '' || password !== '')
    throw new BellwetherUsageError(
      'BellwetherClient needs baseUrl: an address without a user name and a password.',
    );
  if (apiKey !== undefined) needValue('BellwetherClient', 'apiKey', apiKey, API_KEY);
}

/** Refuses values that no header can carry: they would look like a broken connection. @throws BellwetherUsageError */
function headerText(name: string, value: string): string {
  if (typeof value === 'string' && HEADER_TEXT.test(value)) return value;
  throw new BellwetherUsageError(`${name} must be a text of printable ASCII characters.`);
}

async function send(
  transport: Transport,
  apiKey: string | undefined,
  { method, path, repeatable, validatesOnly }: Operation,
  { params, query = {}, body: given, options }: CallParts,
): Promise<unknown> {
  const body = validatesOnly?.isUnsigned === true ? unsignedCheck(given, validatesOnly.when) : given;
  const headers: Record<string, string> = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (apiKey !== undefined) headers.authorization = `Bearer ${apiKey}`;
  const { idempotencyKey, requestId } = options;
  if (idempotencyKey !== undefined) headers['idempotency-key'] = headerText('idempotencyKey', idempotencyKey);
  if (requestId !== undefined) headers['x-request-id'] = headerText('requestId', requestId);
  return transport.send({
    method,
    path: fillPath(path, params) + queryText(query),
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    repeatable: method === 'GET' || repeatable === true || options.idempotencyKey !== undefined,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
}

/** A check is sent without the signature of its order: in the hands of the desk it would be a valid order. */
function unsignedCheck(body: unknown, when: string): unknown {
  const { order, ...rest } = (body ?? {}) as Values & { readonly order?: Values };
  if (rest[when] !== true || typeof order !== 'object' || order === null) return body;
  const { signature: _, ...unsigned } = order;
  return { ...rest, order: unsigned };
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
