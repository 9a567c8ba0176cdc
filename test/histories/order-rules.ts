/**
 * Rules for calls about one order. An order is absent until it is placed; then it only goes forward: open, matched, at its
 * end. The same signed order has one first answer, and from it on every read, at every replica, knows the order.
 */
import type { Call, History, SetUpName } from './history.ts';
import { linearize, type Model, type Step } from './linearize.ts';
import { list, named, short, TOO_MANY } from './sentences.ts';

/** Refusals that say nothing of the order: they are given before it is looked for. */
const SAYS_NOTHING: ReadonlySet<string> = new Set([
  'idempotency_in_flight',
  'idempotency_key_reused',
  'idempotency_limit_reached',
  'overloaded',
  'rate_limited',
  'request_timeout',
  'service_unavailable',
  'unauthorized',
]);

const OPEN = new Set(['submitting', 'unknown', 'live', 'delayed', 'unmatched', 'partially_filled']);

/** How far an order is. Its end has a word, which stays. */
interface State {
  readonly phase: 'absent' | 'placed' | 'matched' | 'ended';
  readonly end: string;
  readonly filled: bigint;
}

/** The order of an exit is sent again after a refusal, under the same record. */
const sentAgain = (state: State): State =>
  state.phase === 'ended' && state.end === 'rejected' ? { ...state, phase: 'placed', end: '' } : state;

const RANKS = ['absent', 'placed', 'matched', 'ended'] as const;
const rank = (phase: State['phase']): number => RANKS.indexOf(phase);

const phaseOf = (status: string): State['phase'] =>
  OPEN.has(status) ? 'placed' : status === 'matched' ? 'matched' : 'ended';

/** After a read of this status; `null`: the order had been further. */
function seen(state: State, status: string, filled: bigint, setUp: SetUpName): State | null {
  const phase = phaseOf(status);
  if (state.phase === 'absent' || rank(phase) < rank(state.phase)) return null;
  if (state.phase === 'ended' && state.end !== '' && state.end !== status) return null;
  // A settlement that fails takes fills back.
  if (setUp === 'paper' && filled < state.filled) return null;
  return { phase, end: phase === 'ended' ? status : '', filled };
}

function afterPlace(state: State, { outcome }: Call): State | null {
  if (outcome.kind === 'unknown') return state.phase === 'absent' ? { ...state, phase: 'placed' } : state;
  if (outcome.kind === 'refused') {
    if (SAYS_NOTHING.has(outcome.code)) return state;
    // The same signed order was sent with other terms.
    if (outcome.code === 'order_already_placed') return state.phase === 'absent' ? null : state;
    // An order that is there has its first answer again, although it could be refused by now.
    return state.phase === 'absent' ? state : null;
  }
  if (outcome.answer.success !== false)
    return state.phase === 'absent' ? { ...state, phase: 'placed' } : state;
  if (state.phase === 'ended') return state.end === 'rejected' ? state : null;
  return { ...state, phase: 'ended', end: 'rejected' };
}

function afterCancel(state: State, { outcome }: Call, setUp: SetUpName): State | null {
  const canceled: State = { ...state, phase: 'ended', end: 'canceled' };
  if (outcome.kind === 'unknown') return state.phase === 'placed' ? canceled : state;
  if (outcome.kind === 'refused') {
    if (outcome.code === 'order_not_found') return state.phase === 'absent' ? state : null;
    return state;
  }
  if (outcome.answer.isReplay) return state.phase === 'absent' ? null : state;
  if (outcome.answer.success === true) {
    if (outcome.answer.isRecorded === false) return state.phase === 'absent' ? null : state;
    if (state.phase === 'placed') return setUp === 'paper' ? canceled : { ...state, phase: 'matched' };
    // A live venue takes back what it has not matched; trades of before are still being settled.
    return setUp === 'live' && state.phase === 'matched' ? state : null;
  }
  if (!outcome.answer.reason?.startsWith('already ')) return state.phase === 'absent' ? null : state;
  return seen(
    state,
    outcome.answer.reason.slice('already '.length).replaceAll(' ', '_'),
    state.filled,
    setUp,
  );
}

/** The next state of the order after a call; the list of open orders names it, or does not. */
const orderModel = (orderId: string, setUp: SetUpName, isOfExit: boolean): Model<State, Call> => ({
  first: { phase: 'absent', end: '', filled: 0n },
  nameOf: ({ phase, end, filled }) => `${phase} ${end} ${filled}`,
  next(before, call) {
    const { operation, outcome } = call;
    const state = isOfExit ? sentAgain(before) : before;
    if (operation.kind === 'leave exit')
      return state.phase === 'absent' ? { ...state, phase: 'placed' } : before;
    if (operation.kind === 'place') {
      // What refuses it to its agent is no answer of the exit's order.
      if (isOfExit && outcome.kind === 'refused') return before;
      return afterPlace(state, call);
    }
    if (operation.kind === 'cancel') return afterCancel(state, call, setUp);
    if (outcome.kind === 'refused')
      return outcome.code === 'order_not_found' && state.phase !== 'absent' ? null : state;
    if (outcome.kind === 'unknown') return state;
    const { answer } = outcome;
    if (operation.kind === 'read order') return seen(state, answer.status ?? '', answer.filled ?? 0n, setUp);
    const isListed = answer.orderIds?.includes(orderId) === true;
    if (isListed) return state.phase === 'placed' ? state : null;
    if (isOfExit) return before;
    return state.phase === 'placed' ? { ...state, phase: 'matched' } : state;
  },
});

function stepOf(call: Call): Step<Call> {
  const isUnknown = call.outcome.kind === 'unknown';
  const returnedAt = isUnknown ? Number.POSITIVE_INFINITY : call.returnedAt;
  return { op: call, invokedAt: call.invokedAt, returnedAt, mayBeLeftOut: isUnknown };
}

/** The desk sends what was left at some moment that no call sees, or never. */
const leftStep = (call: Call): Step<Call> => ({
  ...stepOf(call),
  returnedAt: Number.POSITIVE_INFINITY,
  mayBeLeftOut: true,
});

/** The desk records an order before its venue refuses it: what looks meanwhile finds it open. */
const recordOf = (call: Call): Step<Call>[] =>
  call.operation.kind === 'place' && call.outcome.kind === 'ok' && call.outcome.answer.success === false
    ? [stepOf({ ...call, outcome: { kind: 'unknown', why: 'recorded' } })]
    : [];

/** A read without an answer changes nothing, and says nothing. */
const saysSomething = ({ operation, outcome }: Call): boolean =>
  !(operation.kind === 'read order' && outcome.kind === 'unknown') &&
  !(operation.kind === 'leave exit' && outcome.kind === 'refused');

export function checkOrders({ calls, run }: History): string[] {
  const byOrder = Map.groupBy(
    calls.filter(({ operation }) => 'orderId' in operation),
    ({ operation }) => (operation as { readonly orderId: string }).orderId,
  );
  const lists = calls.filter(
    ({ operation, outcome }) =>
      operation.kind === 'list open orders' && outcome.kind === 'ok' && outcome.answer.isWhole === true,
  );
  return [...byOrder].flatMap(([orderId, own]) => {
    const { agent } = (own[0] as Call).operation;
    const all = [...own.filter(saysSomething), ...lists.filter(({ operation }) => operation.agent === agent)];
    const isLeft = ({ operation }: Call): boolean => operation.kind === 'leave exit';
    const steps = all.flatMap((call) =>
      isLeft(call) ? [leftStep(call)] : [...recordOf(call), stepOf(call)],
    );
    const found = linearize(orderModel(orderId, run.setUp, own.some(isLeft)), steps);
    const disorder =
      found.kind === 'no'
        ? [
            `No order of its calls explains what was answered about order ${short(orderId)}: ${list(found.stuck.map(named))}.`,
          ]
        : found.kind === 'too many'
          ? [`Order ${short(orderId)} ${TOO_MANY} to be checked: ${list(found.stuck.map(named))}.`]
          : [];
    return [...disorder, ...differentAnswers(orderId, own)];
  });
}

/** The same signed order gives the first answer, at every replica. */
function differentAnswers(orderId: string, calls: readonly Call[]): string[] {
  const answers = calls.flatMap((call) =>
    call.operation.kind === 'place' && call.outcome.kind === 'ok'
      ? [{ call, whole: call.outcome.answer.whole }]
      : [],
  );
  const other = answers.find(({ whole }) => whole !== answers[0]?.whole);
  if (other === undefined || answers[0] === undefined) return [];
  return [
    `The same signed order ${short(orderId)} had two first answers: ${named(answers[0].call)} and ${named(other.call)}.`,
  ];
}

/** Replicas make one order of one intent under the agent's own name for it. */
export function checkPrepared({ calls }: History): string[] {
  const prepared = calls.flatMap((call) =>
    call.operation.kind === 'prepare' && call.outcome.kind === 'ok'
      ? [{ call, name: `${call.operation.agent} ${call.operation.name}`, orderId: call.outcome.answer.whole }]
      : [],
  );
  return [...Map.groupBy(prepared, ({ name }) => name).values()].flatMap(([first, ...others]) => {
    const other = others.find(({ orderId }) => orderId !== first?.orderId);
    return first === undefined || other === undefined
      ? []
      : [`One intent was made two orders: ${named(first.call)} and ${named(other.call)}.`];
  });
}
