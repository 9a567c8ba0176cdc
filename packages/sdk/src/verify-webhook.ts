/** For the receiver of a webhook: checks that the service sent it, that it is recent, and returns its event. */
import { WEBHOOK_FRESH_MS, type WebhookEvent } from '@bellwether/contract';
import { utf8, verifyWebhookSignature } from '@bellwether/protocol';
import { NEED, needOptions } from './errors.ts';

/** The signature is not the service's over this body. */
export class WebhookSignatureError extends Error {
  override readonly name = 'WebhookSignatureError';
  constructor() {
    super('x-signature is not the HMAC-SHA256 of the raw body with this secret; answer 401.');
  }
}

/** The signature is valid but old: an attacker may replay a recorded request. */
export class WebhookTooOldError extends Error {
  override readonly name = 'WebhookTooOldError';
  readonly sentAt: string | null;
  constructor(sentAt: string | null) {
    super(
      sentAt === null
        ? 'The body says not when it was sent; answer 401.'
        : `The body was sent at ${sentAt}, which is not within five minutes of now; answer 401 and check this clock.`,
    );
    this.sentAt = sentAt;
  }
}

export interface ReceivedWebhook {
  /** Shown once, when the webhook was created. */
  readonly secret: string;
  /** The body as it came, before anything parsed it. */
  readonly body: string | Uint8Array;
  /** Header `x-signature`. */
  readonly signature: string | undefined;
  /** Epoch milliseconds by the receiver's clock; the time of the call when left out. */
  readonly now?: number;
}

/**
 * The event. Delivery is at least once: ignore an `id` that was seen before.
 * @throws WebhookSignatureError, WebhookTooOldError
 * @example
 * const event = verifyWebhook({ secret, body, signature: headers['x-signature'] });
 */
export function verifyWebhook(received: ReceivedWebhook): WebhookEvent {
  needOptions('verifyWebhook', received, {
    secret: NEED.text('the secret that was shown when the webhook was created'),
    body: {
      what: 'the raw body, before anything parsed it',
      fits: (value) => typeof value === 'string' || value instanceof Uint8Array,
    },
  });
  const { secret, body, signature, now = Date.now() } = received;
  const bytes = typeof body === 'string' ? utf8(body) : body;
  if (!verifyWebhookSignature(secret, bytes, signature)) throw new WebhookSignatureError();
  const event = JSON.parse(
    typeof body === 'string' ? body : new TextDecoder().decode(body),
  ) as Partial<WebhookEvent>;
  const sentAt = typeof event.sentAt === 'string' ? event.sentAt : null;
  const age = sentAt === null ? Number.NaN : now - Date.parse(sentAt);
  if (!(Math.abs(age) <= WEBHOOK_FRESH_MS)) throw new WebhookTooOldError(sentAt);
  return event as WebhookEvent;
}
