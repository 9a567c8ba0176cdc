/**
 * The desk as its own pages reach it. Requests: the session's cookie goes along, and every refusal has words for a
 * person; who is signed in; and the owner's passkeys.
 */
import type { OwnerSession } from '@bellwether/contract';
import { readRecoveryCode } from '@bellwether/contract/recovery-code';
import { browserSupportsWebAuthn, startAuthentication, startRegistration } from '@simplewebauthn/browser';
import { useEffect, useState } from 'preact/hooks';

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
const onSessionEnd = (listener: OnSessionEnd): void => {
  sessionEnded = listener;
};

interface CallOptions {
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

// Who is signed in. A session that ends while a page is open leaves the page as it is, with what was typed, and asks for
// the passkey again; when another owner signs in then, the page starts anew, so nothing of the first one stays.

export type Session =
  | { readonly state: 'unknown' | 'out' }
  | {
      readonly state: 'in' | 'ended';
      readonly userId: string;
      readonly name: string;
      readonly canRecover: boolean;
      readonly recovery: OwnerSession['recovery'];
    };

export const session = createStore<Session>({ state: 'unknown' });
/** Grows when everything that is shown must be read again. */
export const resync = createStore(0);
export const readAgain = (): void => resync.set(resync.get() + 1);

onSessionEnd(() => {
  const present = session.get();
  if (present.state === 'in') session.set({ ...present, state: 'ended' });
  if (present.state === 'unknown') session.set({ state: 'out' });
});

/** @throws {import('./call.ts').Trouble} */
export async function findSession(): Promise<void> {
  const { signedIn, userId, name, canRecover, recovery } = await read<OwnerSession>('/owner/session');
  const before = session.get();
  if (!signedIn || userId === null) {
    session.set(
      before.state === 'in'
        ? { ...before, state: 'ended' }
        : before.state === 'ended'
          ? before
          : { state: 'out' },
    );
    return;
  }
  if ('userId' in before && before.userId !== userId) return location.reload();
  session.set({ state: 'in', userId, name: name ?? '', canRecover, recovery });
  const isOther =
    before.state === 'ended' || (before.state === 'in' && before.recovery?.beganAt !== recovery?.beganAt);
  if (isOther) readAgain();
}

export async function signOut(): Promise<void> {
  await send('/owner/sign-out');
  session.set({ state: 'out' });
}

// A value that views watch.

interface Store<T> {
  get(): T;
  set(value: T): void;
  /** @returns what ends it */
  watch(listener: () => void): () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (next === value) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(() => store.get());
  useEffect(() => {
    const follow = () => setValue(() => store.get());
    // It may have changed between the drawing and this effect.
    follow();
    return store.watch(follow);
  }, [store]);
  return value;
}

/** Whether this is the day after a recovery: the owner can look, pause, cancel and decline then. */
export function useRecoveryDay(): boolean {
  const present = useStore(session);
  return 'userId' in present && present.recovery !== null;
}

// The owner's passkeys: a new account, a sign-in, a recovery, and the word for one act.

type SignInOptions = Parameters<typeof startAuthentication>[0]['optionsJSON'];
type RegistrationOptions = Parameters<typeof startRegistration>[0]['optionsJSON'];

/** Explains in words why a passkey did not come about, from the browser's error. */
function passkeyTrouble(error: unknown): Trouble {
  switch ((error as Error | undefined)?.name) {
    case 'NotAllowedError':
    case 'AbortError':
      return new Trouble('The passkey prompt was closed, or took too long. Nothing has changed; try again.');
    case 'InvalidStateError':
      return new Trouble(
        'This device already has a passkey of this account. Sign in with it, or choose another device or a security key.',
      );
    case 'SecurityError':
      return new Trouble('This address cannot use passkeys: they need https, or localhost.');
    default:
      return new Trouble('The passkey did not work on this device. Try another device or browser.');
  }
}

const asTrouble = (error: unknown): never => {
  throw passkeyTrouble(error);
};

function requirePasskeys(): void {
  if (!browserSupportsWebAuthn())
    throw new Trouble('This browser, or this address, cannot use passkeys: they need https, or localhost.');
}

/** The device's answer to a challenge of the desk. @throws {Trouble} */
export async function answerChallenge(optionsJSON: unknown) {
  requirePasskeys();
  return startAuthentication({ optionsJSON: optionsJSON as SignInOptions }).catch(asTrouble);
}

/** The device's new passkey for a challenge of the desk. @throws {Trouble} */
export async function makePasskey(optionsJSON: unknown) {
  requirePasskeys();
  return startRegistration({ optionsJSON: optionsJSON as RegistrationOptions }).catch(asTrouble);
}

/** Sends what takes the word of a passkey. @param asking the path that gives the challenge for it @throws {Trouble} */
export async function sendWithPasskey<T>(
  path: string,
  body: object = {},
  asking = `${path}/passkey-options`,
): Promise<T> {
  const options = await send(asking, body);
  return send<T>(path, { ...body, response: await answerChallenge(options) });
}

/** @throws {Trouble} */
export async function register(name: string): Promise<void> {
  requirePasskeys();
  const options = await send('/owner/passkey/register-options', { name });
  await send('/owner/passkey/register', { response: await makePasskey(options) });
}

/** Uses a printed code. @param typed as people type it @throws {Trouble} */
export async function recover(typed: string): Promise<void> {
  requirePasskeys();
  const code = readRecoveryCode(typed);
  if (code === null)
    throw new Trouble(
      'This is no recovery code. Compare every character with the printed one: six groups of five. Nothing was sent.',
    );
  const options = await send('/owner/recovery/register-options', { code });
  await send('/owner/recovery', { code, response: await makePasskey(options) });
}

/** @throws {Trouble} */
export async function signIn(): Promise<void> {
  requirePasskeys();
  const options = await send<SignInOptions>('/owner/passkey/sign-in-options');
  await send('/owner/passkey/sign-in', { response: await answerChallenge(options) });
}
