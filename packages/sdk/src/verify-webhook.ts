/** For the receiving end of a webhook: is it the service's, and what does it say? */
import type { WebhookEvent } from '@bellwether/contract';
import { utf8, verifyWebhookSignature } from '@bellwether/protocol';

/** The signature is not the service's over this body. */
export class WebhookSignatureError extends Error {
  override readonly name = 'WebhookSignatureError';
  constructor() {
    super('x-signature is not the HMAC-SHA256 of the raw body with this secret; answer 401.');
  }
}

export interface ReceivedWebhook {
  /** Shown once, when the webhook was created. */
  readonly secret: string;
  /** The body as it came, before anything parsed it. */
  readonly body: string | Uint8Array;
  /** Header `x-signature`. */
  readonly signature: string | undefined;
}

/**
 * The event. Delivery is at least once: ignore an `id` that was seen before.
 * @throws WebhookSignatureError
 */
export function verifyWebhook({ secret, body, signature }: ReceivedWebhook): WebhookEvent {
  const bytes = typeof body === 'string' ? utf8(body) : body;
  if (!verifyWebhookSignature(secret, bytes, signature)) throw new WebhookSignatureError();
  return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)) as WebhookEvent;
}
