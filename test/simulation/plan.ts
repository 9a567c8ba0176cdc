/** What happens in a run, as data: a run follows from its plan alone, and a plan can be made shorter. */
import { Random } from './random.ts';

export const STEP_KINDS = [
  'limit',
  'market',
  'again',
  'cancel',
  'cancel_all',
  'settings',
  'pause',
  'read',
] as const;
export type StepKind = (typeof STEP_KINDS)[number];

/** One act of an agent. */
export interface Step {
  readonly kind: StepKind;
  /** Virtual milliseconds since the agents began. */
  readonly at: number;
  readonly agent: number;
  /** Which replica is asked. */
  readonly replica: number;
  /** Decide the rest: market, side, price, size. From 0 to below 1. */
  readonly draws: readonly number[];
}

export const FAULT_KINDS = [
  'kill',
  'freeze',
  'cut_replicas',
  'cut_agents',
  'silence',
  'delay',
  'end_session',
  'slow_database',
  'skew',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface PlannedFault {
  readonly kind: FaultKind;
  readonly at: number;
  readonly forMs: number;
  readonly replica: number;
  readonly draw: number;
}

export interface Plan {
  readonly seed: number;
  readonly agents: number;
  readonly steps: readonly Step[];
  readonly faults: readonly PlannedFault[];
}

const AGENTS = 4;
/** Between two acts of all agents, on average. */
const PACE_MS = 25;
const STEPS_PER_FAULT = 50;
/** So often each kind is drawn. */
const WEIGHTS: Readonly<Record<StepKind, number>> = {
  limit: 10,
  market: 4,
  again: 3,
  cancel: 4,
  cancel_all: 0.5,
  settings: 0.5,
  pause: 0.3,
  read: 2,
};

function weighted(random: Random): StepKind {
  const total = Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0);
  let left = random.share() * total;
  for (const kind of STEP_KINDS) {
    left -= WEIGHTS[kind];
    if (left < 0) return kind;
  }
  return 'limit';
}

/** @param count of steps; about two of three are orders */
export function planOf(seed: number, count: number): Plan {
  const random = new Random(seed, 10);
  const steps: Step[] = [];
  let at = 0;
  for (let nth = 0; nth < count; nth += 1) {
    // Some acts meet each other, and there are pauses.
    at += random.share() < 0.2 ? 0 : random.share() * 2 * PACE_MS;
    steps.push({
      kind: weighted(random),
      at,
      agent: random.below(AGENTS),
      replica: random.below(2),
      draws: Array.from({ length: 6 }, () => random.share()),
    });
  }
  const faults: PlannedFault[] = [];
  for (let nth = 0; nth < Math.round(count / STEPS_PER_FAULT); nth += 1)
    faults.push({
      kind: random.pick(FAULT_KINDS),
      at: random.share() * at,
      forMs: 50 + random.share() ** 2 * 4_000,
      replica: random.below(2),
      draw: random.share(),
    });
  faults.sort((a, b) => a.at - b.at);
  return { seed, agents: AGENTS, steps, faults };
}
