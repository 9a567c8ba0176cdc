/** docs/errors.md: every code of the registry, and which operations answer it. */
import { ERRORS, type ErrorCode, type Operation, VENUE_REFUSALS } from '@bellwether/contract';
import { errorCodes } from '../../packages/server/src/platform/http/routes.ts';
import { NOTE, table } from './markdown.ts';
import { OPERATIONS, routeOf } from './operations.ts';

const sameSet = (a: readonly Operation[], b: readonly Operation[]): boolean =>
  a.length === b.length && a.every((operation) => b.includes(operation));

/** Named sets of operations, widest first. */
const KINDS: readonly (readonly [string, (operation: Operation) => boolean])[] = [
  ['every operation', () => true],
  [
    'every operation that needs a key',
    ({ permission }) => permission === 'agent' || permission === 'operator',
  ],
  ['every operation of the operator', ({ permission }) => permission === 'operator'],
  ['every operation of a signed-in owner', ({ permission }) => permission === 'owner'],
  ['every operation that the pages alone may call', ({ sameOrigin }) => sameOrigin === true],
  ['every rate-limited operation', ({ rateClass }) => rateClass !== 'none'],
  [
    'every operation with parameters or a body',
    ({ params, query, body }) => (params ?? query ?? body) !== undefined,
  ],
  ['every operation that takes an `Idempotency-Key`', ({ idempotent }) => idempotent === true],
  ['every `POST` and `DELETE`', ({ method }) => method !== 'GET'],
  [
    'every operation of an agent that takes an `Idempotency-Key`',
    ({ idempotent, permission }) => idempotent === true && permission === 'agent',
  ],
  ['every operation with a body', ({ body }) => body !== undefined],
];

/** Codes answered before an operation is reached. */
const BEFORE_ANY: Partial<Record<ErrorCode, string>> = {
  route_not_found: 'any path that is no route',
  method_not_allowed: 'any path that is a route of another method',
};

function answeredBy(code: ErrorCode): string {
  const operations = OPERATIONS.filter((operation) => errorCodes(operation).includes(code));
  if (operations.length === 0) return BEFORE_ANY[code] ?? 'named by no operation';
  const kind = KINDS.find(([, belongs]) => sameSet(operations, OPERATIONS.filter(belongs)));
  return kind?.[0] ?? operations.map((operation) => `\`${routeOf(operation)}\``).join(', ');
}

export function errorsPage(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return `${NOTE}

# Errors

Everything that goes wrong is answered as an RFC 9457 problem (\`application/problem+json\`): \`type\`
(a URL of the service that answers, \`…/docs/errors/<code>\`), \`title\`, \`status\`, \`detail\`, \`instance\`, and beyond the RFC \`code\` (stable: never
renamed, never reused), \`message\` (the same text as \`detail\`), \`requestId\`, \`fix\` (what to do next), and where they
apply \`errors[]\` (\`path\`, \`code\`, \`message\`: every invalid field at once), \`diagnosis\` (refused signatures),
\`context\` (limit, used, asked) and \`orderId\`. Decide by \`code\`; show \`detail\` and \`fix\` to a person.

A \`fix\` below is the general one; an answer may carry one that fits its case better. Which of two faults is reported
first is described in [architecture.md](architecture.md#the-order-of-refusal).

${table(
  ['Code', 'Status', 'Title', 'Fix', 'Answered by'],
  codes.map((code) => [
    `\`${code}\``,
    String(ERRORS[code].status),
    ERRORS[code].title,
    ERRORS[code].fix,
    answeredBy(code),
  ]),
)}

Any operation that asks the database can answer \`service_unavailable\` while the database is gone, named above or not.

## When the venue refuses

\`POST /markets/trade\` answers 201 once the order was handed to the venue. When the venue then refuses it, the body says
\`success: false\`, \`status: "rejected"\`, why in \`errorCode\` and \`errorMessage\`, and what to do next in \`fix\`. The trade and its budget are given
back.

${table(
  ['errorCode', 'errorMessage', 'What to do'],
  Object.entries(VENUE_REFUSALS).map(([code, { message, fix }]) => [`\`${code}\``, message, fix]),
)}
`;
}
