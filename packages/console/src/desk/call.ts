/** Requests to the desk, from its own pages: the session's cookie goes along, and every refusal has words for a person. */

/** Path prefix of the service, without a slash at its end. */
export const BASE = document.body.dataset.base ?? '';

/** A read that takes longer is given up: the page must not wait for ever. */
const ANSWER_WITHIN_MS = 20_000;

/** Something that a person can read, with what to do next. */
export class Trouble extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterMs: number | null;

  constructor(message: string, { status = 0, code = '', retryAfterMs = null as number | null } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

export const wordsOf = (error: unknown): string =>
  error instanceof Trouble ? error.message : 'Something went wrong on this page. Load it again.';

/** Called when a request finds that the session has ended. */
type OnSessionEnd = () => void;
let sessionEnded: OnSessionEnd = () => {};
export const onSessionEnd = (listener: OnSessionEnd): void => {
  sessionEnded = listener;
};

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

interface ProblemRecord {
  readonly code?: string;
  readonly detail?: string;
  readonly fix?: string;
  readonly errors?: readonly {
    readonly field?: string;
    readonly detail?: string;
    readonly message?: string;
  }[];
}

/** @throws {Trouble} the refusal of an answer that is none */
export async function refusalOf(response: Response): Promise<Trouble> {
  const problem = ((await response.json().catch(() => ({}))) ?? {}) as ProblemRecord;
  const code = problem.code ?? '';
  if (code === 'owner_session_required') sessionEnded();
  const words = [problem.detail, problem.fix].filter(Boolean).join(' ');
  const wait = Number(response.headers.get('retry-after'));
  return new Trouble(words || `The service answered with status ${response.status}. Try again in a minute.`, {
    status: response.status,
    code,
    retryAfterMs: Number.isFinite(wait) && wait > 0 ? wait * 1000 : null,
  });
}

/** @throws {Trouble} */
async function call<T>(method: 'GET' | 'POST', path: string, options: CallOptions = {}): Promise<T> {
  const deadline = AbortSignal.timeout(ANSWER_WITHIN_MS);
  let response: Response;
  try {
    response = await fetch(`${BASE}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
        ...options.headers,
      },
      ...(method === 'POST' ? { body: JSON.stringify(options.body ?? {}) } : {}),
      credentials: 'same-origin',
      cache: 'no-store',
      signal: options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]),
    });
    if (response.ok) return (await response.json()) as T;
  } catch {
    throw new Trouble(
      method === 'GET'
        ? 'The service did not answer. Check your connection; this page tries again.'
        : 'The service did not answer, so this may not have been done. Check your connection, then try again.',
    );
  }
  throw await refusalOf(response);
}

export const read = <T>(path: string, options?: CallOptions): Promise<T> => call<T>('GET', path, options);
export const send = <T>(path: string, body?: unknown): Promise<T> => call<T>('POST', path, { body });
