/**
 * Rules for calls with one Idempotency-Key: the first answer that was given after an effect, again and again, and a refusal
 * for another body. And API keys: a revoked one is refused from the next call on.
 */
import type { Call, History } from './history.ts';
import { linearize, type Model, type Step } from './linearize.ts';
import { list, named, TOO_MANY } from './sentences.ts';

/** The key's first answer; `null` while there is none, `?` when no client has heard it. */
interface State {
  readonly body: string | null;
  readonly answer: string | null;
}
const UNHEARD = '?';

const keyModel: Model<State, Call> = {
  first: { body: null, answer: null },
  nameOf: ({ body, answer }) => `${body} ${answer}`,
  next(state, { key, outcome, operation }) {
    const body = key?.body ?? '';
    const isOther = state.body !== null && state.body !== body;
    if (outcome.kind === 'unknown') return state.body === null ? { body, answer: UNHEARD } : state;
    if (outcome.kind === 'refused') {
      if (outcome.code === 'idempotency_key_reused') return isOther ? state : null;
      if (outcome.code === 'secret_already_shown') return state.body === body ? state : null;
      return state;
    }
    const { whole } = outcome.answer;
    if (state.body === null) return { body, answer: whole };
    if (isOther) return null;
    // An answer that carries a secret is given once.
    if (operation.kind === 'create api key') return null;
    return state.answer === UNHEARD || state.answer === whole ? { body, answer: whole } : null;
  },
};

function stepOf(call: Call): Step<Call> {
  const isUnknown = call.outcome.kind === 'unknown';
  return {
    op: call,
    invokedAt: call.invokedAt,
    returnedAt: isUnknown ? Number.POSITIVE_INFINITY : call.returnedAt,
    mayBeLeftOut: isUnknown,
  };
}

function explain<State>(what: string, model: Model<State, Call>, calls: readonly Call[]): string[] {
  const found = linearize(model, calls.map(stepOf));
  if (found.kind === 'yes') return [];
  if (found.kind === 'too many')
    return [`${what} ${TOO_MANY} to be checked: ${list(found.stuck.map(named))}.`];
  return [`No order of its calls explains what was answered about ${what}: ${list(found.stuck.map(named))}.`];
}

/** The same body reached its effect twice, or a call got an effect that was another's. */
export function checkKeys({ calls }: History): string[] {
  const byKey = Map.groupBy(
    calls.filter(({ key }) => key !== undefined),
    ({ operation, key }) => `${operation.agent} ${key?.route} ${key?.key}`,
  );
  return [...byKey.values()].flatMap((own) =>
    explain(`Idempotency-Key "${own[0]?.key?.key}"`, keyModel, own),
  );
}

const apiKeyModel: Model<'active' | 'revoked', Call> = {
  first: 'active',
  nameOf: (state) => state,
  next(state, { operation, outcome }) {
    if (operation.kind === 'revoke api key') return outcome.kind === 'refused' ? state : 'revoked';
    if (outcome.kind === 'unknown') return state;
    const isRefused = outcome.kind === 'refused' && outcome.code === 'unauthorized';
    return isRefused === (state === 'revoked') ? state : null;
  },
};

export function checkApiKeys({ calls }: History): string[] {
  const own = calls.filter(
    ({ operation, outcome }) =>
      'apiKey' in operation && !(outcome.kind === 'refused' && outcome.code !== 'unauthorized'),
  );
  const byKey = Map.groupBy(own, ({ operation }) => (operation as { readonly apiKey: string }).apiKey);
  return [...byKey].flatMap(([apiKey, some]) => explain(`API key ${apiKey}`, apiKeyModel, some));
}

/** An effect under a key with one body exists at most once, and once it was answered exactly once. */
export function checkEffects({ calls, facts }: History): string[] {
  const creating = calls.filter(({ operation }) => operation.kind === 'create api key');
  const byName = Map.groupBy(
    creating,
    ({ operation }) => `${operation.agent} ${(operation as { readonly name: string }).name}`,
  );
  return [...byName].flatMap(([subject, some]) => {
    const [agent, name] = subject.split(' ') as [string, string];
    const count = facts.apiKeys.find((one) => one.agent === agent && one.name === name)?.count ?? 0;
    const isAnswered = some.some(
      ({ outcome }) =>
        outcome.kind === 'ok' || (outcome.kind === 'refused' && outcome.code === 'secret_already_shown'),
    );
    if (count > 1)
      return [
        `One Idempotency-Key had its effect ${count} times: API key "${name}" of ${agent}, by ${list(some.map(named))}.`,
      ];
    return isAnswered && count === 0
      ? [`API key "${name}" of ${agent} was answered and is not there: ${list(some.map(named))}.`]
      : [];
  });
}
