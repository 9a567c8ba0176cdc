/** Webhooks, outgoing and incoming. Times are epoch milliseconds. */
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

/** An endpoint that one process serves alone, until then. */
export interface LeasedEndpoint extends EndpointRow {
  readonly leaseUntil: number;
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
  /** `null`: no further attempt; at most `lastAttemptAt`: due at once. */
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

/** The consequence of a failed attempt. */
export interface Setback {
  readonly at: number;
  /** `null`: given up. */
  readonly nextAttemptAt: number | null;
  /** Holds back the endpoint's other events until then; `null`: they are sent. */
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
  /** Deletes its queue and log, too. @returns false when the agent has no such endpoint */
  remove(agentId: string, id: string): Promise<boolean>;
  /** Switches it on and makes its waiting events due at once. @returns false when the agent has no such endpoint */
  enable(agentId: string, id: string, at: number): Promise<boolean>;
  deliveries(
    agentId: string,
    endpointId: string,
    query: DeliveryQuery,
  ): Promise<{ readonly rows: readonly DeliveryRow[]; readonly total: number }>;
  /** Queues an event for one endpoint, regardless of its subscriptions. */
  tellEndpoint(endpointId: string, eventId: string, event: NewEvent): Promise<DeliveryRow>;

  /**
   * Endpoints with due events, least recently served first, leased to the caller until `at + leaseMs`; no other caller
   * gets them before that. At most `perAgent` endpoints of an agent are leased at any time.
   */
  claim(question: {
    readonly at: number;
    readonly leaseMs: number;
    readonly limit: number;
    readonly perAgent: number;
  }): Promise<readonly LeasedEndpoint[]>;
  /** An endpoint's due events, in the order of recording. */
  due(endpointId: string, at: number, limit: number): Promise<readonly DeliveryRow[]>;
  delivered(delivery: DeliveryRow, responseStatus: number, at: number): Promise<void>;
  /** An event that another process has delivered meanwhile stays so, and is no failure of its endpoint. */
  failed(delivery: DeliveryRow, setback: Setback): Promise<void>;
  /** Ends the lease; leaves the one that another process took after this one ran out. */
  release(endpoint: LeasedEndpoint): Promise<void>;

  /** Stores a callback; a duplicate is ignored. */
  receive(callback: {
    readonly source: string;
    readonly signature: Uint8Array;
    readonly body: Uint8Array;
    readonly at: number;
  }): Promise<void>;

  /** Gives up the oldest events of each endpoint that has more than `most` waiting. */
  trim(most: number, at: number): Promise<void>;
  /** Gives up events older than `giveUpBefore`; deletes events that ended, and callbacks received, before `keepAfter`. */
  sweep(at: number, giveUpBefore: number, keepAfter: number): Promise<void>;
}

export type SendResult =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs: number | null }
  /** Aborted by the caller; the outcome is unknown. */
  | { readonly kind: 'aborted' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface WebhookSender {
  /** Why a URL can never be sent to, or `null`. Does not resolve names: that check happens at each send. */
  refuse(url: string): string | null;
  /** One POST to a checked address. Never throws. */
  send(
    request: {
      readonly url: string;
      readonly body: Uint8Array;
      readonly headers: Readonly<Record<string, string>>;
    },
    signal: AbortSignal,
  ): Promise<SendResult>;
}

/** The sources that may call in, and their secrets. */
export interface InboundSources {
  secretOf(source: string): string | null;
}
