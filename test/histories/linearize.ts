/**
 * Whether some order of operations, each between its call and its answer, explains every answer: the search of Wing and Gong, with the
 * states that were already tried remembered, as Lowe and Porcupine do. An operation without an answer may take effect at any later time, or never.
 */

export interface Step<Op> {
  readonly op: Op;
  readonly invokedAt: number;
  /** `Infinity`: no client has heard that it took effect. */
  readonly returnedAt: number;
  /** False: it took effect at some time, as is known from elsewhere. Without an answer it may be left out otherwise. */
  readonly mayBeLeftOut: boolean;
}

export interface Model<State, Op> {
  readonly first: State;
  /** The state after it; `null`: it cannot have happened in this state. */
  next(state: State, op: Op): State | null;
  /** It cannot happen in this state, nor in any that follows: then the search need not go on from here. */
  isLost?(state: State, op: Op): boolean;
  /** Two states of the same name are the same. */
  nameOf(state: State): string;
}

export type Linearized<Op> =
  | { readonly kind: 'yes' }
  /** No order explains them; `stuck` are those that could not come next where most of them were explained. */
  | { readonly kind: 'no'; readonly stuck: readonly Op[] }
  | { readonly kind: 'too many'; readonly stuck: readonly Op[] };

/** States that are tried. Histories of a run need some thousands. */
const MOST_STATES = 500_000;

interface Place<State> {
  readonly done: bigint;
  readonly count: number;
  readonly state: State;
}

export function linearize<State, Op>(model: Model<State, Op>, given: readonly Step<Op>[]): Linearized<Op> {
  const steps = [...given].sort((a, b) => a.invokedAt - b.invokedAt);
  const needed = steps.reduce((mask, step, at) => (step.mayBeLeftOut ? mask : mask | (1n << BigInt(at))), 0n);
  const tried = new Set<string>();
  const open: Place<State>[] = [{ done: 0n, count: 0, state: model.first }];
  let best: Place<State> = open[0] as Place<State>;
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if ((place.done & needed) === needed) return { kind: 'yes' };
    if (place.count > best.count) best = place;
    if (tried.size > MOST_STATES) return { kind: 'too many', stuck: stuckAt(steps, best) };
    for (const following of followers(model, steps, place)) {
      const name = `${following.done.toString(36)} ${model.nameOf(following.state)}`;
      if (tried.has(name)) continue;
      tried.add(name);
      open.push(following);
    }
  }
  return { kind: 'no', stuck: stuckAt(steps, best) };
}

const stuckAt = <State, Op>(steps: readonly Step<Op>[], { done }: Place<State>): Op[] =>
  possible(steps, done)
    .map((at) => steps[at] as Step<Op>)
    .sort((a, b) => a.returnedAt - b.returnedAt)
    .map(({ op }) => op);

/** Those that may take effect next: they were called before any other that is left over had its answer. */
function possible<Op>(steps: readonly Step<Op>[], done: bigint): number[] {
  const found: number[] = [];
  let firstAnswer = Number.POSITIVE_INFINITY;
  for (const [at, { invokedAt, returnedAt }] of steps.entries()) {
    if ((done >> BigInt(at)) & 1n) continue;
    if (invokedAt > firstAnswer) break;
    found.push(at);
    firstAnswer = Math.min(firstAnswer, returnedAt);
  }
  return found.filter((at) => (steps[at] as Step<Op>).invokedAt <= firstAnswer);
}

const isLost = <State, Op>(model: Model<State, Op>, state: State, { op, mayBeLeftOut }: Step<Op>): boolean =>
  !mayBeLeftOut && model.isLost?.(state, op) === true;

/** The most promising last: those with the earliest answers are tried first. */
function followers<State, Op>(
  model: Model<State, Op>,
  steps: readonly Step<Op>[],
  { done, count, state }: Place<State>,
): Place<State>[] {
  const name = model.nameOf(state);
  const found = possible(steps, done);
  if (found.some((at) => isLost(model, state, steps[at] as Step<Op>))) return [];
  return found
    .sort((a, b) => (steps[b] as Step<Op>).returnedAt - (steps[a] as Step<Op>).returnedAt)
    .flatMap((at) => {
      const step = steps[at] as Step<Op>;
      const next = model.next(state, step.op);
      // Without an effect here it may as well come later, or never.
      if (next === null || (step.mayBeLeftOut && model.nameOf(next) === name)) return [];
      return [{ done: done | (1n << BigInt(at)), count: count + 1, state: next }];
    });
}
