/** Headers of answers: what each says, and which answers have them. The document, and what pages may read, follow from here. */
import { ERRORS, type ErrorCode, type Operation } from '@bellwether/contract';

const text = { type: 'string' };
const integer = { type: 'integer', minimum: 0 };

export const ANSWER_HEADERS = {
  'X-Request-Id': {
    description: 'The id of this request: the one that was sent, else one that was made.',
    schema: text,
  },
  RateLimit: {
    description:
      'Where rate limits are on: the class of the call, the tokens that are left (`r`), and in how many seconds all are back (`t`).',
    schema: text,
    example: '"trade";r=39;t=1',
  },
  'RateLimit-Policy': {
    description:
      'Where rate limits are on: the class of the call, its tokens (`q`), and in how many seconds all of them come back (`w`).',
    schema: text,
    example: '"trade";q=40;w=2',
  },
  'Retry-After': {
    description:
      'Seconds to wait before the next try. Beside a safeguard’s refusal: the same one came again and again.',
    schema: integer,
  },
  'Idempotency-Replayed': {
    description:
      '`true`: the answer repeats the first one that this Idempotency-Key got. Absent from the first.',
    schema: { type: 'string', enum: ['true'] },
  },
  'X-Total-Count': { description: 'How many items there are in all, on every page.', schema: integer },
  Link: {
    description: 'Where there are further pages: their addresses, `rel="next"` and `rel="prev"` (RFC 8288).',
    schema: text,
  },
  'WWW-Authenticate': { description: 'The scheme that a key is sent by.', schema: text },
  'X-Venues-Silent': {
    description: 'Where venues did not answer: their names. Their items are missing.',
    schema: text,
  },
  'Content-Disposition': { description: 'Of a file: its name.', schema: text },
  'Set-Cookie': { description: 'The session of this browser, begun or ended.', schema: text },
} as const;

type AnswerHeader = keyof typeof ANSWER_HEADERS;

/** Refused before a token is drawn, whatever the route. */
const BEFORE_THE_LIMIT: ReadonlySet<ErrorCode> = new Set([
  'request_timeout',
  'headers_too_large',
  'host_not_allowed',
]);
const SAY_WHEN: ReadonlySet<ErrorCode> = new Set([
  'rate_limited',
  'idempotency_limit_reached',
  'idempotency_in_flight',
  'overloaded',
  'service_unavailable',
  'order_outcome_unknown',
  'fee_outcome_unknown',
  'receipt_not_found',
]);
/** With these an order, a set or a submitted quote can be refused again and again. */
const OF_ATTEMPTS: ReadonlySet<number> = new Set([400, 403, 404, 409]);

/** They begin or end the session of a browser. */
const SESSIONS: ReadonlySet<string> = new Set([
  'registerPasskey',
  'signInWithPasskey',
  'recoverOwner',
  'signOutOwner',
]);

const PAGE_PARAMETERS = ['offset', 'page', 'cursor', 'after'] as const;
type Fields = { readonly type?: string; readonly properties?: Readonly<Record<string, unknown>> };

function ofSuccess(operation: Operation, status: number): AnswerHeader[] {
  const { properties: parameters = {} } = (operation.query ?? {}) as Fields;
  const { type } = operation.response as Fields;
  const hasPages =
    operation.produces === undefined && PAGE_PARAMETERS.some((name) => Object.hasOwn(parameters, name));
  return [
    ...(operation.idempotent === true && status === operation.status
      ? ['Idempotency-Replayed' as const]
      : []),
    ...(type === 'array' || hasPages ? ['X-Total-Count' as const] : []),
    ...(hasPages ? ['Link' as const] : []),
    ...(operation.id === 'listMarkets' ? ['X-Venues-Silent' as const] : []),
    ...(operation.alsoProduces === undefined ? [] : ['Content-Disposition' as const]),
    ...(SESSIONS.has(operation.id) ? ['Set-Cookie' as const] : []),
  ];
}

function ofRefusal(operation: Operation, status: number, codes: readonly ErrorCode[]): AnswerHeader[] {
  const isOfAttempt = operation.rateClass === 'trade' && OF_ATTEMPTS.has(status);
  return [
    ...(isOfAttempt || codes.some((code) => SAY_WHEN.has(code)) ? ['Retry-After' as const] : []),
    ...(status === 401 ? ['WWW-Authenticate' as const] : []),
  ];
}

/** Names of the headers that an answer of the operation can have, beside those of HTTP itself. */
export function headersOf(
  operation: Operation,
  status: number,
  all: readonly ErrorCode[],
): readonly AnswerHeader[] {
  const codes = all.filter((code) => ERRORS[code].status === status);
  const isLimited =
    operation.rateClass !== 'none' &&
    (codes.length === 0 || codes.some((code) => !BEFORE_THE_LIMIT.has(code)));
  return [
    'X-Request-Id',
    ...(isLimited ? (['RateLimit', 'RateLimit-Policy'] as const) : []),
    ...(codes.length === 0 ? ofSuccess(operation, status) : ofRefusal(operation, status, codes)),
  ];
}
