/** Everything that goes wrong, as RFC 9457. No stack, SQL or secret leaves through here. */
import { ERRORS, type ErrorCode, LIMITS, type Problem } from '@bellwether/contract';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Denial } from '../../domain/denial.ts';
import { Refusal } from '../refusal.ts';
import { type FieldError, fieldErrors, isCoded, sentNames } from './validation.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** How others reach the service; a port of the system's choice is known only once it listens. */
    publicUrl: () => string;
    /** A sentence when the error says that something the service needs did not answer, else null. */
    describeOutage: (error: unknown) => string | null;
    /** Resolves when no replica takes a key any more that was found revoked. */
    refusedEverywhere: (keyId: bigint) => Promise<void> | undefined;
  }
}

type ProblemBody = Static<typeof Problem>;

interface Details {
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
  readonly fix?: string;
  readonly diagnosis?: Denial['diagnosis'];
  readonly context?: Denial['context'];
  readonly orderId?: string;
  readonly approvalId?: string;
  readonly retryAfterS?: number | null;
}

/** RFC 9110 asks every 401 for a challenge. */
const CHALLENGE = 'Bearer realm="bellwether"';

/** The routes that were probably meant are the fix. */
const OF_ROUTES: ReadonlySet<ErrorCode> = new Set(['route_not_found', 'method_not_allowed']);

/** The longest that any route takes is shorter. */
const MOST_PATH_CHARS = 512;

/** The path as a URI, and no longer than one of ours could be: it is a stranger's text. */
const plainPath = (url: string): string =>
  (url.slice(0, MOST_PATH_CHARS).split('?')[0] ?? '/').replaceAll(
    /[^\w/.~%:@!$&'()*+,;=-]/g,
    encodeURIComponent,
  );

export function problemOf(request: FastifyRequest, code: ErrorCode, details: Details = {}): ProblemBody {
  const { title, fix } = ERRORS[code];
  const detail = details.detail ?? `${title}.`;
  return {
    type: `${request.server.publicUrl()}/docs/errors/${code}`,
    title,
    status: ERRORS[code].status,
    detail,
    instance: plainPath(request.url),
    code,
    message: detail,
    requestId: request.id,
    fix: details.fix ?? (OF_ROUTES.has(code) ? request.server.fixOfRoute(request) : fix),
    ...(details.errors === undefined ? {} : listed(details.errors)),
    ...(details.diagnosis === undefined ? {} : { diagnosis: details.diagnosis }),
    ...(details.context === undefined ? {} : { context: details.context }),
    ...(details.orderId === undefined ? {} : { orderId: details.orderId }),
    ...(details.approvalId === undefined ? {} : { approvalId: details.approvalId }),
  };
}

/** The first ones: a request can be wrong in more places than an answer should hold. */
const listed = (errors: readonly FieldError[]): Pick<ProblemBody, 'errors' | 'errorCount'> => ({
  errors: errors.slice(0, LIMITS.errorsListed),
  ...(errors.length > LIMITS.errorsListed ? { errorCount: errors.length } : {}),
});

export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  code: ErrorCode,
  details: Details = {},
): FastifyReply {
  const status = ERRORS[code].status;
  request.problemCode = code;
  if (status === 401) reply.header('www-authenticate', CHALLENGE);
  // RFC 9110, section 12.5.3: only where the type is not what is wrong.
  if (status === 415 && isCoded(request)) reply.header('accept-encoding', 'identity');
  if (typeof details.retryAfterS === 'number') reply.header('retry-after', details.retryAfterS);
  return reply
    .code(status)
    .type('application/problem+json')
    .serializer(JSON.stringify)
    .send(problemOf(request, code, details));
}

function refusalDetails(refused: Refusal): Details {
  const [first] = refused.denials;
  const fields = fieldsOf(refused.denials);
  return {
    detail: first.detail,
    retryAfterS: refused.retryAfterS,
    ...(fields.length === 0 ? {} : { errors: fields }),
    ...(first.fix === undefined ? {} : { fix: first.fix }),
    ...(first.diagnosis === undefined ? {} : { diagnosis: first.diagnosis }),
    ...(first.context === undefined ? {} : { context: first.context }),
    ...(refused.orderId === null ? {} : { orderId: refused.orderId }),
    ...(refused.approvalId === null ? {} : { approvalId: refused.approvalId }),
  };
}

/** The framework's refusals by its own codes. */
const FRAMEWORK: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'body_required',
  FST_ERR_CTP_INVALID_JSON_BODY: 'invalid_json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_json',
};

const CODED = {
  detail: 'The body has a Content-Encoding.',
  fix: 'Send the body as it is, not compressed, and without Content-Encoding.',
};

/** Where a key was revoked after it had let the call in: resolves when no replica takes it any more. */
export const refusedEverywhere = (
  fault: unknown,
  { caller, server }: FastifyRequest,
): Promise<void> | undefined =>
  caller !== null && fault instanceof Refusal && fault.denials[0].code === 'unauthorized'
    ? server.refusedEverywhere(caller.keyId)
    : undefined;

export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [code, details] = describeFault(error, request);
  return sendProblem(request, reply, code, details);
}

type FieldFault = FastifyError & { validationContext?: string; further?: readonly Denial[] };

/** Errors of the schema, and of fields that it has nothing against. */
function allErrors({ validation, validationContext, further }: FieldFault): FieldError[] {
  const errors = fieldErrors(validation ?? [], validationContext ?? 'body');
  const seen = new Set(errors.map(({ path }) => path));
  const more = fieldsOf(further ?? []).filter(({ path }) => !seen.has(path));
  return [...errors, ...more];
}

const fieldsOf = (denials: readonly Denial[]): FieldError[] =>
  denials
    .filter((denial) => denial.path !== undefined)
    .map(({ path, code, detail }) => ({ path: path as string, code, message: detail }));

/** Faults of one kind, for which the operation names a code, have that code. */
function codeOf(errors: readonly FieldError[], request: FastifyRequest): ErrorCode {
  const named: readonly string[] = request.routeOptions.config.operation?.errors ?? [];
  const [first] = errors;
  if (first === undefined || !named.includes(first.code)) return 'invalid_request';
  return errors.every(({ code }) => code === first.code) ? (first.code as ErrorCode) : 'invalid_request';
}

/** With the names that were sent, where a field has several. */
function asSent(fields: readonly FieldError[], parts: readonly unknown[]): readonly FieldError[] {
  const names = new Map(parts.flatMap((part) => Object.entries(sentNames(part))));
  return fields.map((field) => {
    const sent = names.get(field.path);
    if (sent === undefined) return field;
    const { path, message } = field;
    const said = message.startsWith(`${path} `) ? sent + message.slice(path.length) : message;
    return { ...field, path: sent, message: said };
  });
}

/**
 * Answer to the caller about a fault; faults of the service itself are logged.
 * @param parts of the request that the fault is about
 */
export function describeFault(
  error: unknown,
  request: FastifyRequest,
  parts: readonly unknown[] = [request.query, request.body],
): readonly [code: ErrorCode, details: Details] {
  if (error instanceof Refusal) {
    const { errors, ...details } = refusalDetails(error);
    return [
      error.denials[0].code,
      errors === undefined ? details : { ...details, errors: asSent(errors, parts) },
    ];
  }
  const fault = error as FieldFault;
  if (fault.validation !== undefined) {
    const errors = asSent(allErrors(fault), parts);
    const count = errors.length === 1 ? 'One field is' : `${errors.length} fields are`;
    const named = errors.slice(0, LIMITS.errorsListed).map(({ message }) => message);
    const more = errors.length > named.length ? `; and ${errors.length - named.length} more` : '';
    const detail = `${count} invalid: ${named.join('; ')}${more}.`;
    return [codeOf(errors, request), { detail, errors }];
  }
  const known = FRAMEWORK[fault.code];
  if (known === 'unsupported_media_type' && isCoded(request)) return [known, CODED];
  if (known !== undefined) return [known, {}];
  if (fault instanceof SyntaxError) return ['invalid_json', {}];
  if (typeof fault.statusCode === 'number' && fault.statusCode < 500) return ['invalid_request', {}];
  request.log.error({ err: error }, 'a request failed');
  const detail = request.server.describeOutage(error);
  if (detail !== null) return ['service_unavailable', { detail, retryAfterS: 1 }];
  return ['internal_error', {}];
}
