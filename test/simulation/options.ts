/** The arguments of npm run simulate. */
import { readFileSync } from 'node:fs';
import { CommandOptions } from '../command-options.ts';
import type { SetUpName } from '../histories/history.ts';
import { isSetUp } from '../histories/options.ts';
import { isPlan, type Plan, STEP_KINDS, type StepKind } from './plan.ts';

export interface RunOptions {
  readonly seed: number;
  /** How many worlds are made, one after the other: for so long, or so many. */
  readonly until: { readonly seconds: number } | { readonly worlds: number };
  readonly steps: number;
  /** Kinds of acts that are drawn. */
  readonly acts: readonly StepKind[];
  /** `null`: as each seed says. */
  readonly setUp: SetUpName | null;
  readonly shrinkSeconds: number;
}

export type Options =
  | { readonly kind: 'help' }
  | { readonly kind: 'plan'; readonly plan: Plan; readonly isTraced: boolean }
  | ({ readonly kind: 'run' } & RunOptions)
  | { readonly kind: 'wrong'; readonly sentences: readonly string[] };

export const HELP = `npm run simulate -- [--seconds S | --worlds W] [--seed N] [--steps K] [--acts A,B,…]
                     [--set-up paper|live] [--shrink-seconds T] [--plan FILE [--trace]]

Two replicas of the desk in one process, on virtual time and a real PostgreSQL: a seed decides everything that happens.
Makes a world for each seed from N on. The first that breaks a promise is the last: what happened in it is shortened to
a list of steps, which is printed and kept in a file, and the status is 1.

  --seconds S         how long worlds are made (default 60)
  --worlds W          how many worlds are made, instead of --seconds
  --seed N            of the first world (default 1); 1, 5, 9 and so on are live on the venue in a box, the others on paper
  --steps K           acts of agents in each world (default 500)
  --acts A,B,…        draws these kinds of acts alone: ${STEP_KINDS.join(', ')}
  --set-up NAME       paper or live, instead of what the seed says
  --shrink-seconds T  how long a run that failed is shortened (default 300; 0: not at all)
  --plan FILE         repeats what an earlier run has kept
  --trace             with --plan: prints each event
  --help              this text
`;

const KNOWN = [
  ...([
    'seconds',
    'worlds',
    'seed',
    'steps',
    'acts',
    'set-up',
    'shrink-seconds',
    'plan',
    'trace',
    'help',
  ] as const),
];
const MOST = Number.MAX_SAFE_INTEGER;

function readPlan(file: string | undefined): Plan | null {
  try {
    const plan: unknown = JSON.parse(readFileSync(file ?? '', 'utf8'));
    return isPlan(plan) ? plan : null;
  } catch {
    return null;
  }
}

export function readOptions(args: readonly string[]): Options {
  const options = new CommandOptions(args, KNOWN, ['trace']);
  if (options.has('help')) return { kind: 'help' };
  const { sentences } = options;
  const seconds = options.whole('seconds', 60, [1, 86_400]);
  const worlds = options.whole('worlds', 1, [1, 1_000_000]);
  const run: RunOptions = {
    seed: options.whole('seed', 1, [0, MOST]),
    until: options.has('worlds') ? { worlds } : { seconds },
    steps: options.whole('steps', 500, [1, 5_000]),
    acts: (options.text('acts')?.split(',') as StepKind[] | undefined) ?? STEP_KINDS,
    setUp: isSetUp(options.text('set-up')) ? (options.text('set-up') as SetUpName) : null,
    shrinkSeconds: options.whole('shrink-seconds', 300, [0, 86_400]),
  };
  if (options.has('worlds') && options.has('seconds'))
    sentences.push('--seconds and --worlds both say when to end: give one of them.');
  if (options.has('set-up') && run.setUp === null)
    sentences.push(`--set-up is paper or live, not "${options.text('set-up') ?? ''}".`);
  const strange = run.acts.filter((kind) => !STEP_KINDS.includes(kind));
  if (strange.length > 0)
    sentences.push(`--acts are of ${STEP_KINDS.join(', ')}, not ${strange.join(', ')}.`);
  const plan = options.has('plan') ? readPlan(options.text('plan')) : null;
  if (options.has('plan')) {
    if (plan === null)
      sentences.push(
        `--plan needs a file that npm run simulate has kept, not "${options.text('plan') ?? ''}".`,
      );
    if (options.given.size > (options.has('trace') ? 2 : 1))
      sentences.push('--plan says everything about a run: leave the other options out.');
  } else if (options.has('trace')) sentences.push('--trace goes with --plan.');
  if (sentences.length > 0) return { kind: 'wrong', sentences };
  return plan === null ? { kind: 'run', ...run } : { kind: 'plan', plan, isTraced: options.has('trace') };
}
