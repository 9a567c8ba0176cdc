/** Describes a run as data: a run follows from its plan alone, and a plan can be made shorter. */
import type { SetUpName } from '../histories/history.ts';
import { Random } from './random.ts';

/** How often each act of an agent is drawn. */
const STEP_WEIGHTS = {
  trade: 12,
  rest: 3,
  twice: 2,
  batch: 1.5,
  again: 3,
  prepare: 1,
  cancel: 4,
  read: 3,
  list: 1,
  usage: 1,
  settings: 0.5,
  pause: 0.7,
  key: 0.4,
  revoke: 0.4,
  stop: 5,
  group: 2,
  take_back: 0.8,
  resume: 1,
  exits: 0.8,
  close: 1.5,
  split: 3,
  merge: 2,
  convert: 1.5,
  redeem: 1.5,
  world: 2,
  timed: 3,
  approval: 2.5,
  owner_pause: 0.4,
  hush: 0.2,
} as const;
export type StepKind = keyof typeof STEP_WEIGHTS;
export const STEP_KINDS = Object.keys(STEP_WEIGHTS) as readonly StepKind[];

/** One act of an agent. */
export interface Step {
  readonly what: 'step';
  readonly kind: StepKind;
  /** Virtual milliseconds since the agents began. */
  readonly at: number;
  readonly agent: number;
  /** Which replica is asked first. */
  readonly replica: number;
  /** Decides the rest: market, side, price, size. */
  readonly seed: number;
}

const FAULT_WEIGHTS = {
  kill: 2,
  freeze: 2,
  cut_replicas: 1,
  cut_agents: 2,
  cut_venue: 1,
  silence: 1,
  delay: 1,
  end_session: 3,
  hold_session: 2,
  hold_notices: 2,
  slow_database: 1,
  skew: 1,
} as const;
export type FaultKind = keyof typeof FAULT_WEIGHTS;

export interface PlannedFault {
  readonly what: 'fault';
  readonly kind: FaultKind;
  readonly at: number;
  readonly forMs: number;
  readonly replica: number;
  /** From 0 to below 1: how much, or which. */
  readonly draw: number;
}

export interface Plan {
  readonly seed: number;
  readonly setUp: SetUpName;
  /** Streams, webhooks and briefings of all agents: half of a run's statements. */
  readonly listens: boolean;
  /** In the order of their time. */
  readonly acts: readonly (Step | PlannedFault)[];
}

export const AGENTS = 4;
/** Between two acts of all agents, on average. */
const PACE_MS = 22;
const LISTENS_EVERY = 3;
const STEPS_PER_FAULT = 40;
const LONGEST_FAULT_MS = 5_000;

function weighted<Kind extends string>(weights: Readonly<Record<Kind, number>>, random: Random): Kind {
  const kinds = Object.entries(weights) as [Kind, number][];
  let left = random.share() * kinds.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [kind, weight] of kinds) {
    left -= weight;
    if (left < 0) return kind;
  }
  return (kinds[0] as [Kind, number])[0];
}

/** A live run needs three times as long: the desk must have asked for everything that it may have missed. */
export const setUpOf = (seed: number): SetUpName => (seed % 4 === 1 ? 'live' : 'paper');

interface Drawn {
  readonly seed: number;
  readonly setUp: SetUpName;
  /** How many steps; with every kind of act two of five are orders. */
  readonly count: number;
  readonly kinds: readonly StepKind[];
}

export function planOf({ seed, setUp, count, kinds }: Drawn): Plan {
  const weights = Object.fromEntries(kinds.map((kind) => [kind, STEP_WEIGHTS[kind]])) as typeof STEP_WEIGHTS;
  const random = new Random(seed, 10);
  const acts: (Step | PlannedFault)[] = [];
  let at = 0;
  for (let nth = 0; nth < count; nth += 1) {
    // Some acts meet each other, and there are pauses.
    at += random.share() < 0.25 ? 0 : random.share() * 2.6 * PACE_MS;
    acts.push({
      ...{ what: 'step', kind: weighted(weights, random), at: Math.round(at) },
      ...{ agent: random.below(AGENTS), replica: random.below(2), seed: random.word() },
    });
  }
  for (let nth = 0; nth < Math.ceil(count / STEPS_PER_FAULT); nth += 1)
    acts.push({
      ...{ what: 'fault', kind: weighted(FAULT_WEIGHTS, random), at: Math.round(random.share() * at) },
      forMs: Math.round(50 + random.share() ** 2 * LONGEST_FAULT_MS),
      ...{ replica: random.below(2), draw: random.share() },
    });
  acts.sort((a, b) => a.at - b.at);
  return { seed, setUp, listens: seed % LISTENS_EVERY === 0, acts };
}

/** For a person. */
export function sentenceOf(act: Step | PlannedFault): string {
  const at = `${String(act.at).padStart(6)} ms`;
  return act.what === 'step'
    ? `${at}  agent ${act.agent + 1} at replica ${act.replica + 1}: ${act.kind} (${act.seed})`
    : `${at}  fault at replica ${act.replica + 1}: ${act.kind} for ${act.forMs} ms (${act.draw.toFixed(3)})`;
}

/** Whether this is a plan that an earlier run has kept. */
export function isPlan(value: unknown): value is Plan {
  const { seed, setUp, listens, acts } = (value ?? {}) as Partial<Plan>;
  return (
    Number.isSafeInteger(seed) &&
    (setUp === 'paper' || setUp === 'live') &&
    typeof listens === 'boolean' &&
    Array.isArray(acts) &&
    (acts as readonly Partial<Step | PlannedFault>[]).every(
      ({ what, kind, at }) =>
        Number.isFinite(at) && Object.hasOwn(what === 'fault' ? FAULT_WEIGHTS : STEP_WEIGHTS, kind ?? ''),
    )
  );
}
