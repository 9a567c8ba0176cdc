/** Webhooks, both ways. Times are epoch milliseconds. */
import type { Sealed } from './secrets.ts';

export interface NewEndpoint {
  readonly id: string;
  readonly agentId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string;
  readonly secret: Sealed;
  readonly createdAt: number;
}

export interface EndpointRow extends NewEndpoint {
  readonly enabled: boolean;
  readonly disabledAt: number | null;
  readonly failures: number;
  readonly failingSince: number | null;
  readonly lastSuccessAt: number | null;
  readonly pending: number;
}

export interface DeliveryRow {
  readonly id: bigint;
  readonly endpointId: string;
  readonly agentId: string;
  readonly eventId: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly lastAttemptAt: number | null;
  /** `null` when nothing is to follow; not later than `lastAttemptAt` when it is due. */
  readonly nextAttemptAt: number | null;
  readonly responseStatus: number | null;
  readonly error: string | null;
}

export interface NewEvent {
  readonly agentId: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly at: number;
}

export interface DeliveryQuery {
  readonly status?: DeliveryRow['status'];
  readonly before?: bigint;
  readonly limit: number;
}

/** What a failed attempt leads to. */
export interface Setback {
  readonly at: number;
  /** `null`: given up. */
  readonly nextAttemptAt: number | null;
  /** Nothing else is sent to the endpoint before; `null` when the others may pass. */
  readonly holdUntil: number | null;
  readonly switchOff: boolean;
  readonly responseStatus: number | null;
  readonly error: string;
}

export interface WebhookStore {
  /** @returns false when the agent has `limit` endpoints. */
  add(endpoint: NewEndpoint, limit: number): Promise<boolean>;
  list(agentId: string): Promise<readonly EndpointRow[]>;
  byId(agentId: string, id: string): Promise<EndpointRow | null>;
  /** With everything that waits for it or is in its log. @returns false when the agent has no such endpoint */
  remove(agentId: string, id: string): Promise<boolean>;
  /** Switches it on and lets what waits go out at once. @returns false when the agent has no such endpoint */
  enable(agentId: string, id: string, at: number): Promise<boolean>;
  deliveries(
    agentId: string,
    endpointId: string,
    query: DeliveryQuery,
  ): Promise<{ readonly rows: readonly DeliveryRow[]; readonly total: number }>;
  /** Puts an event into the outbox of one endpoint, whatever it subscribes to. */
  tellEndpoint(endpointId: string, eventId: string, event: NewEvent): Promise<DeliveryRow>;
  /** Agents with an endpoint that wants to hear of this type. */
  listeners(type: string): Promise<readonly { readonly agentId: string; readonly userId: bigint }[]>;
  /**
   * Compares an agent's alerts with those that stand: tells its endpoints of the new ones, forgets those that are gone.
   * @param alerts by a name that stays the same while the alert stands
   */
  raise(
    agentId: string,
    alerts: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
    at: number,
  ): Promise<void>;

  /**
   * Endpoints with something due, those that were served longest ago first, leased to the caller until `at + leaseMs`;
   * nobody else is given them meanwhile. At most `perAgent` endpoints of an agent are leased at any time.
   */
  claim(question: {
    readonly at: number;
    readonly leaseMs: number;
    readonly limit: number;
    readonly perAgent: number;
  }): Promise<readonly EndpointRow[]>;
  /** What is due for an endpoint, in the order in which it was recorded. */
  due(endpointId: string, at: number, limit: number): Promise<readonly DeliveryRow[]>;
  delivered(delivery: DeliveryRow, responseStatus: number, at: number): Promise<void>;
  failed(delivery: DeliveryRow, setback: Setback): Promise<void>;
  release(endpointId: string): Promise<void>;

  /** Keeps a callback; one that is known already is passed over. */
  receive(callback: {
    readonly source: string;
    readonly signature: Uint8Array;
    readonly body: Uint8Array;
    readonly at: number;
  }): Promise<void>;

  /** Of endpoints for which more than `most` events wait, gives up the oldest. */
  trim(most: number, at: number): Promise<void>;
  /** Gives up what is older than `giveUpBefore`, deletes what ended, or came in, before `keepAfter`. */
  sweep(at: number, giveUpBefore: number, keepAfter: number): Promise<void>;
}

export type SendResult =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs: number | null }
  /** `aborted`: by the caller; nothing is known. */
  | { readonly kind: 'aborted' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface WebhookSender {
  /** Why a URL can never be sent to, or `null`. Asks no name server: names are judged when something is sent. */
  refuse(url: string): string | null;
  /** One POST to an address that was checked. Never throws. */
  send(
    request: {
      readonly url: string;
      readonly body: Uint8Array;
      readonly headers: Readonly<Record<string, string>>;
    },
    signal: AbortSignal,
  ): Promise<SendResult>;
}

/** Who may call in, and with what secret. */
export interface InboundSources {
  secretOf(source: string): string | null;
}
