/** Rows of the error registry: faults that a request to any route can have. */
import type { ErrorRow } from './error-row.ts';

export const REQUEST_ERRORS = {
  // The request itself
  invalid_request: {
    status: 400,
    title: 'Invalid request',
    fix: 'Correct every field listed in "errors" and send the request again.',
  },
  invalid_json: {
    status: 400,
    title: 'Invalid JSON',
    fix: 'Send one well-formed JSON value, encoded as UTF-8, in which each object has a key once.',
  },
  body_required: { status: 400, title: 'Body required', fix: 'Send a JSON object as the body.' },
  body_too_large: {
    status: 413,
    title: 'Body too large',
    fix: 'Send at most 64 KiB; 256 KiB to POST /markets/batch-trade.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    fix: 'Send the body with Content-Type: application/json.',
  },
  route_not_found: {
    status: 404,
    title: 'Route not found',
    fix: 'See /llms.txt for the routes that exist.',
  },
  invalid_target: {
    status: 400,
    title: 'Invalid request target',
    fix: 'Send a path that begins with one "/" as the target, and exactly one Host header.',
  },
  host_not_allowed: {
    status: 421,
    title: 'Host not allowed',
    fix: 'Use the public URL; the operator can name further hosts in ALLOWED_HOSTS.',
  },
  origin_not_allowed: {
    status: 403,
    title: 'Origin not allowed',
    fix: "Use the service's own pages, under its public URL; the operator can name further origins in ALLOWED_ORIGINS.",
  },
  headers_too_large: {
    status: 431,
    title: 'Headers too large',
    fix: 'Send at most 16 KiB of headers, the target included.',
  },
  request_timeout: {
    status: 408,
    title: 'Request timeout',
    fix: 'Send the whole request at once; RECEIVE_TIMEOUT_S is the time that it may take.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    fix: 'Use one of the methods in the Allow header.',
  },
  unauthorized: {
    status: 401,
    title: 'Unauthorized',
    fix: 'Send "Authorization: Bearer <API key>" with an active key from POST /agents/register.',
  },
  rate_limited: {
    status: 429,
    title: 'Rate limited',
    fix: 'Wait for Retry-After seconds, then try again with jitter.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    fix: 'Try again; quote the requestId when it persists.',
  },
  service_unavailable: {
    status: 503,
    title: 'Service unavailable',
    fix: 'Try again in a moment; GET /readyz says what is missing.',
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    fix: 'Nothing was done. Wait for Retry-After seconds, then try again with jitter; cancels and the pause are still taken.',
  },

  // Idempotency
  idempotency_key_invalid: {
    status: 400,
    title: 'Invalid Idempotency-Key',
    fix: 'Send 1 to 255 printable ASCII characters, or leave the header out.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'Idempotency-Key reused',
    fix: 'Use a new key for a new request; the same key belongs to the same body.',
  },
  idempotency_in_flight: {
    status: 409,
    title: 'Duplicate request in flight',
    fix: 'Wait for Retry-After seconds and send the same request again.',
  },
  secret_already_shown: {
    status: 409,
    title: 'Secret already shown',
    fix: 'The first answer carried the secret. If it was lost, make a new one with another Idempotency-Key.',
  },

  idempotency_limit_reached: {
    status: 429,
    title: 'Too many idempotency keys',
    fix: 'Keys are kept for 24 hours: wait until old ones lapse, or leave Idempotency-Key out where a repeat does no harm. A signed order needs no key.',
  },
} as const satisfies Record<string, ErrorRow>;
