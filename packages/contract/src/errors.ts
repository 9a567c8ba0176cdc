/**
 * The error registry: the one description of every code that a problem carries.
 *
 * A code is never renamed or reused. A new one is snake_case, says what is wrong, subject first, and has one of the endings
 * of `ENDINGS` (packages/contract/test/errors.test.ts), which also gives its status; codes that are older than this
 * convention are the exceptions listed there. To add a code: its row in one of the groups, the operations that answer it
 * (`errors`), and the place that refuses.
 */

import { ACCOUNT_ERRORS } from './errors/accounts.ts';
import type { ErrorRow } from './errors/error-row.ts';
import { ORDER_ERRORS } from './errors/orders.ts';
import { QUOTED_ORDER_ERRORS } from './errors/quoted-orders.ts';
import { REQUEST_ERRORS } from './errors/request.ts';
import { STREAM_ERRORS } from './errors/streams.ts';

export const ERRORS = {
  ...REQUEST_ERRORS,
  ...ACCOUNT_ERRORS,
  ...ORDER_ERRORS,
  ...QUOTED_ORDER_ERRORS,
  ...STREAM_ERRORS,

  // Webhooks
  webhook_not_found: {
    status: 404,
    title: 'Webhook not found',
    fix: "List this agent's webhooks with GET /webhooks.",
  },
  webhook_url_refused: {
    status: 400,
    title: 'Webhook URL refused',
    fix: 'Use an https URL without user name, on port 443 of a public host.',
  },
  webhook_limit_reached: {
    status: 409,
    title: 'Too many webhooks',
    fix: 'Delete one that is no longer needed with DELETE /webhooks/{id}.',
  },
  webhook_disabled: {
    status: 409,
    title: 'Webhook switched off',
    fix: 'Switch it on again with POST /webhooks/{id}/enable.',
  },
  webhook_signature_invalid: {
    status: 401,
    title: 'Callback not accepted',
    fix: 'Send x-signature: the hex HMAC-SHA256 of the raw body with the secret agreed for this source.',
  },

  // Paper
  faucet_allowance_exceeded: {
    status: 400,
    title: 'Faucet allowance used up',
    fix: 'Ask for no more than the detail says is left.',
  },
  paper_only: { status: 400, title: 'Paper venue only', fix: 'This route exists while the venue is paper.' },
} as const satisfies Record<string, ErrorRow>;

/** Codes that a request to any operation can have. */
export type RequestErrorCode = keyof typeof REQUEST_ERRORS;
export { REQUEST_ERRORS };

export type ErrorCode = keyof typeof ERRORS;
