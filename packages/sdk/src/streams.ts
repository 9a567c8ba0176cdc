/**
 * Streams that stay open for as long as they are read: a connection that breaks, stays silent or is closed by the service is
 * opened again with growing pauses. The API key travels in the header alone.
 */
import {
  type ApprovalEventData,
  type BalanceEventData,
  type BookEventData,
  type DeltaEventData,
  type EXIT_EVENTS,
  type ExitEventData,
  events,
  type FeeEventData,
  type FillEventData,
  type FillReversedEventData,
  type FreshEventData,
  type GapEventData,
  type MarketResolvedEventData,
  type OrderEventData,
  type PositionEventData,
  type ReadyEventData,
  type ReceiptsHeadEventData,
  type RedemptionEventData,
  type RiskEventData,
  type SafeguardsEventData,
  STREAM_LIMITS,
  type VenueEventData,
  type WalletLeftEventData,
  type WEBHOOK_ORDER_STATUSES,
  watchMarket,
} from '@bellwether/contract';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Static, TSchema } from 'typebox';
import { BellwetherApiError, BellwetherConnectionError, isProblem } from './api-error.ts';
import type { Transport } from './transport.ts';

type OrderEvents = {
  readonly [S in (typeof WEBHOOK_ORDER_STATUSES)[number] as `order.${S}`]: typeof OrderEventData;
};

type ExitEvents = { readonly [W in keyof typeof EXIT_EVENTS as `exit.${W}`]: typeof ExitEventData };

interface OtherEvents {
  readonly fill: typeof FillEventData;
  readonly 'fill.reversed': typeof FillReversedEventData;
  readonly fee: typeof FeeEventData;
  readonly 'market.resolved': typeof MarketResolvedEventData;
  readonly risk: typeof RiskEventData;
  readonly 'wallet.left': typeof WalletLeftEventData;
  readonly 'approval.asked': typeof ApprovalEventData;
  readonly 'approval.decided': typeof ApprovalEventData;
  readonly 'receipts.head': typeof ReceiptsHeadEventData;
  readonly position: typeof PositionEventData;
  readonly balance: typeof BalanceEventData;
  readonly redemption: typeof RedemptionEventData;
  readonly safeguards: typeof SafeguardsEventData;
}

type RecordedEvents = OrderEvents & ExitEvents & OtherEvents;
type DataOf<S> = S extends TSchema ? Static<S> : never;

/** Something that happened to the agent. Never repeated and never left out, as long as the cursor is kept. */
export type RecordedAgentEvent = {
  [K in keyof RecordedEvents]: {
    readonly type: K;
    /** Resumes right after this event: `client.events({ after: cursor })`. */
    readonly cursor: string;
    /** The same in webhooks. */
    readonly id: string;
    readonly createdAt: string;
    readonly agentId: string;
    readonly data: DataOf<RecordedEvents[K]>;
  };
}[keyof RecordedEvents];

/** About the stream and the moment. `ready` comes with every connection, followed by the status of every venue. */
export type CurrentAgentEvent =
  | { readonly type: 'ready'; readonly cursor: string; readonly data: Static<typeof ReadyEventData> }
  | { readonly type: 'venue'; readonly cursor: string; readonly data: Static<typeof VenueEventData> };

export type AgentEvent = RecordedAgentEvent | CurrentAgentEvent;

/** `gap` with the reason `reconnecting` comes from this client: the whole books follow. */
export type MarketEvent =
  | { readonly type: 'book'; readonly data: BookEventData }
  | { readonly type: 'delta'; readonly data: DeltaEventData }
  | {
      readonly type: 'gap';
      readonly data: Omit<GapEventData, 'reason'> & {
        readonly reason: GapEventData['reason'] | 'reconnecting';
      };
    }
  | { readonly type: 'fresh'; readonly data: FreshEventData };

export interface StreamOptions {
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

export interface EventsOptions extends StreamOptions {
  /** The cursor of the last event that was handled; without it the stream begins now. */
  readonly after?: string;
}

interface Connection {
  readonly transport: Transport;
  readonly headers: Readonly<Record<string, string>>;
}

/** Three heartbeats: then nothing is there any more, although the connection stands. */
const SILENT_MS = 3 * STREAM_LIMITS.heartbeatSeconds * 1_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

/**
 * @throws BellwetherApiError when the service refuses in a way that waiting does not mend: 401 also when the key is revoked
 *   meanwhile, 410 `event_cursor_gone`
 */
export async function* agentEvents(
  connection: Connection,
  { after, signal }: EventsOptions,
): AsyncGenerator<AgentEvent, void, undefined> {
  let cursor = after;
  const messages = reconnecting({
    ...connection,
    signal,
    path: () => events.path,
    headersNow: () => (cursor === undefined ? {} : { 'last-event-id': cursor }),
  });
  for await (const message of messages) {
    if (message === 'reconnecting') continue;
    if (message.id !== undefined && message.id !== '') cursor = message.id;
    const event = agentEventOf(message, cursor ?? '');
    if (event !== null) yield event;
  }
}

export async function* marketEvents(
  connection: Connection,
  tokens: readonly string[],
  { signal }: StreamOptions,
): AsyncGenerator<MarketEvent, void, undefined> {
  const query = new URLSearchParams({ tokens: tokens.join(',') });
  const messages = reconnecting({
    ...connection,
    signal,
    path: () => `${watchMarket.path}?${query}`,
    headersNow: () => ({}),
  });
  for await (const message of messages) {
    if (message === 'reconnecting') {
      for (const tokenId of tokens)
        yield {
          type: 'gap',
          data: { tokenId, reason: 'reconnecting', message: 'The connection was lost; whole books follow.' },
        };
    } else if (MARKET_TYPES.has(message.event ?? '')) {
      yield { type: message.event, data: JSON.parse(message.data) } as MarketEvent;
    }
  }
}

const MARKET_TYPES: ReadonlySet<string> = new Set(['book', 'delta', 'gap', 'fresh']);

function agentEventOf({ event: type, data }: EventSourceMessage, cursor: string): AgentEvent | null {
  if (type === 'cursor' || type === 'closing' || type === 'dropped' || type === undefined) return null;
  const value: unknown = JSON.parse(data);
  if (type === 'ready' || type === 'venue') return { type, cursor, data: value } as AgentEvent;
  return { ...(value as RecordedAgentEvent), cursor };
}

interface Reconnecting extends Connection {
  readonly signal: AbortSignal | undefined;
  readonly path: () => string;
  readonly headersNow: () => Readonly<Record<string, string>>;
}

async function* reconnecting(options: Reconnecting): AsyncGenerator<EventSourceMessage | 'reconnecting'> {
  const { transport, signal } = options;
  let attempt = 0;
  let isFirst = true;
  const isAborted = () => signal?.aborted === true;
  while (!isAborted()) {
    let wait: number | null = null;
    const ending = new AbortController();
    const signals = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]);
    try {
      const response = await transport.open({
        path: options.path(),
        headers: { ...options.headers, ...options.headersNow(), accept: 'text/event-stream' },
        signal: signals,
      });
      if (!isFirst) yield 'reconnecting';
      isFirst = false;
      for await (const message of messagesOf(response, ending)) {
        if (typeof message === 'number') {
          wait = message;
          continue;
        }
        attempt = 0;
        if (isRevoked(message))
          throw new BellwetherApiError(401, { code: 'unauthorized', detail: 'The API key was revoked.' });
        yield message;
      }
    } catch (error) {
      if (isAborted()) return;
      if (!isWorthAnother(error, !isFirst)) throw error;
      wait =
        error instanceof BellwetherApiError && error.retryAfterS !== undefined
          ? error.retryAfterS * 1_000
          : null;
    } finally {
      ending.abort();
    }
    if (isAborted()) return;
    const pause = wait ?? Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
    attempt += 1;
    await transport.wait(pause + Math.random() * FIRST_PAUSE_MS, signal);
  }
}

const isRevoked = ({ event, data }: EventSourceMessage): boolean =>
  event === 'closing' && (JSON.parse(data) as { reason?: unknown }).reason === 'key_revoked';

/**
 * Anything but a refusal by the service itself may pass: no connection, a proxy's answer, overload. So does the bound of open
 * streams where this one was open: the service counts a connection that broke until it notices.
 */
const isWorthAnother = (error: unknown, wasOpen: boolean): boolean =>
  (wasOpen && isProblem(error, 'stream_limit_reached')) ||
  (error instanceof BellwetherConnectionError && !error.isRedirection) ||
  (error instanceof BellwetherApiError && (error.status === 429 || error.status >= 500));

/** A number: how many milliseconds the service asks to wait before the next connection. */
async function* messagesOf(
  response: Response,
  ending: AbortController,
): AsyncGenerator<EventSourceMessage | number> {
  const { body } = response;
  if (body === null) return;
  let ready: (EventSourceMessage | number)[] = [];
  const parser = createParser({
    onEvent: (message) => ready.push(message),
    onRetry: (ms) => ready.push(ms),
  });
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const silence = setTimeout(() => ending.abort(), SILENT_MS);
    let chunk: Awaited<ReturnType<typeof reader.read>>;
    try {
      chunk = await reader.read();
    } catch {
      return;
    } finally {
      clearTimeout(silence);
    }
    if (chunk.done) return;
    parser.feed(decoder.decode(chunk.value, { stream: true }));
    const messages = ready;
    ready = [];
    yield* messages;
  }
}
