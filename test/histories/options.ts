/** The arguments of npm run test:histories. All that is wrong with them is said at once. */
import { existsSync } from 'node:fs';
import { CommandOptions } from '../command-options.ts';
import type { SetUpName } from './history.ts';

export interface RunOptions {
  readonly minutes: number;
  readonly seed: number;
  readonly setUp: SetUpName;
  /** Factor for the usual number of faults. */
  readonly faults: number;
}

export type Options =
  | { readonly kind: 'help' }
  | { readonly kind: 'check'; readonly file: string }
  | ({ readonly kind: 'run' } & RunOptions)
  | { readonly kind: 'wrong'; readonly sentences: readonly string[] };

export const HELP = `npm run test:histories -- [--minutes M] [--seed N] [--set-up paper|live] [--faults F] [--check FILE]

Clients trade on two replicas while processes, backends and connections fail; afterwards a checker reads what they
asked and were answered. Ends with 1 when a promise was broken, and says where the history is.

  --minutes M    how long faults go on (default 5); starting and coming to rest take about a minute more
  --seed N       decides orders and faults (default 1); even: on paper, odd: live on the stand-alone exchange
  --set-up NAME  paper or live, instead of what the seed says
  --faults F     how many faults, beside the usual number: 0.2 is a fifth (default 1)
  --check FILE   only checks a history that an earlier run has kept
  --help         this text
`;

const LONGEST_MINUTES = 24 * 60;
const MOST_FAULTS = 10;
const KNOWN = ['minutes', 'seed', 'set-up', 'faults', 'check', 'help'] as const;

export const isSetUp = (text: string | undefined): text is SetUpName => text === 'paper' || text === 'live';

export function readOptions(args: readonly string[]): Options {
  const options = new CommandOptions(args, KNOWN);
  if (options.has('help')) return { kind: 'help' };
  const { sentences } = options;
  const minutes = options.number(
    'minutes',
    5,
    (value) => value > 0 && value <= LONGEST_MINUTES,
    `a number of minutes up to ${LONGEST_MINUTES}`,
  );
  const seed = options.whole('seed', 1, [0, Number.MAX_SAFE_INTEGER]);
  const faults = options.number(
    'faults',
    1,
    (value) => value > 0 && value <= MOST_FAULTS,
    `a number above 0, up to ${MOST_FAULTS}`,
  );
  const setUp = options.text('set-up');
  if (options.has('set-up') && !isSetUp(setUp))
    sentences.push(`--set-up is paper or live, not "${setUp ?? ''}".`);
  const file = options.text('check');
  if (options.has('check')) {
    if (file === undefined || !existsSync(file))
      sentences.push(`--check needs a file that is there, not "${file ?? ''}".`);
    if (options.given.size > 1)
      sentences.push('--check reads a history that is there already: leave the other options out.');
  }
  if (sentences.length > 0) return { kind: 'wrong', sentences };
  if (file !== undefined) return { kind: 'check', file };
  return {
    kind: 'run',
    minutes,
    seed,
    setUp: isSetUp(setUp) ? setUp : seed % 2 === 0 ? 'paper' : 'live',
    faults,
  };
}
