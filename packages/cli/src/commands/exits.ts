/** Exits that are signed ahead and left with the desk: their triggers, the list, and taking one back. */
import type { ExitRequest, GuardedExit } from '@bellwether/sdk';
import type { Command } from 'commander';
import { usage } from '../cli-error.ts';
import { action, examples, type Start } from '../command.ts';
import { count, price, time } from '../options.ts';
import type { Run } from '../run.ts';
import type { Column } from '../table.ts';
import { outcomeText } from '../terminal-text.ts';

export interface TriggerOptions {
  readonly below?: number;
  readonly above?: number;
  readonly at?: number;
  readonly beforeEnd?: number;
  readonly onSilence?: boolean;
  readonly group?: string;
  readonly until?: number;
  readonly replaces?: string;
}

export type ExitTerms = Pick<ExitRequest, 'trigger' | 'group' | 'expiresAt' | 'replaces'>;

export const addTriggerOptions = (command: Command): Command =>
  command
    .option(
      '--below <price>',
      'leave it with the desk: sold when the book pays so little for its size',
      price,
    )
    .option('--above <price>', 'leave it with the desk: sold when the book pays so much for its size', price)
    .option('--at <time>', 'leave it with the desk: sold then; ISO time with zone, or epoch seconds', time)
    .option('--before-end <minutes>', 'leave it with the desk: sold so long before the market ends', count)
    .option(
      '--on-silence',
      'leave it with the desk: sold when the agent makes no request for its silenceSeconds',
    )
    .option('--group <name>', 'of the exits of one group, the first that is sent cancels the rest')
    .option('--until <time>', 'the desk forgets the exit then; ISO time with zone, or epoch seconds', time)
    .option('--replaces <exit-id>', 'takes that exit back in the same moment');

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();

/** Terms beside the signed order; `null`: it is placed at once. @throws CliError for several triggers */
export function exitTermsOf(options: TriggerOptions): ExitTerms | null {
  const { below, above, at, beforeEnd, onSilence, group, until, replaces } = options;
  const triggers: ExitRequest['trigger'][] = [
    ...(below === undefined ? [] : [{ kind: 'price_at_or_below', price: below }]),
    ...(above === undefined ? [] : [{ kind: 'price_at_or_above', price: above }]),
    ...(at === undefined ? [] : [{ kind: 'time', at: iso(at) }]),
    ...(beforeEnd === undefined ? [] : [{ kind: 'before_end', minutes: beforeEnd }]),
    ...(onSilence === true ? [{ kind: 'silence' }] : []),
  ];
  const [trigger, ...others] = triggers;
  const rest = {
    ...(group === undefined ? {} : { group }),
    ...(until === undefined ? {} : { expiresAt: iso(until) }),
    ...(replaces === undefined ? {} : { replaces }),
  };
  if (others.length > 0)
    throw usage(
      'Give one of --below, --above, --at, --before-end and --on-silence.',
      'Leave several exits with one --group: the first that is sent cancels the rest.',
    );
  if (trigger !== undefined) return { trigger, ...rest };
  if (Object.keys(rest).length > 0)
    throw usage('--group, --until and --replaces are for exits.', 'Add a trigger, such as --below 0.4.');
  return null;
}

/** The same terms as options of a command. */
export const triggerFlags = ({
  below,
  above,
  at,
  beforeEnd,
  onSilence,
  group,
  until,
  replaces,
}: TriggerOptions): string =>
  [
    ...[
      ['below', below],
      ['above', above],
      ['at', at],
      ['before-end', beforeEnd],
      ['group', group?.replaceAll("'", '')],
      ['until', until],
      ['replaces', replaces?.replaceAll("'", '')],
    ].flatMap(([name, value]) => (value === undefined ? [] : [`--${name} '${value}'`])),
    ...(onSilence === true ? ['--on-silence'] : []),
  ].join(' ');

export function triggerText({ trigger, size }: Pick<GuardedExit, 'trigger' | 'size'>): string {
  switch (trigger.kind) {
    case 'price_at_or_below':
      return `the book pays ${trigger.price} or less for ${size} shares`;
    case 'price_at_or_above':
      return `the book pays ${trigger.price} or more for ${size} shares`;
    case 'time':
      return `it is ${trigger.at}`;
    case 'before_end':
      return `the market ends in ${trigger.minutes} minutes`;
    default:
      return 'the agent is silent';
  }
}

const statusText = ({ status, because }: GuardedExit): string =>
  because === null ? status : `${status} (${because})`;

export const exitFacts = (exit: GuardedExit) =>
  [
    ['exit id', exit.exitId],
    ['status', statusText(exit)],
    ['market', exit.marketId],
    [
      'sells',
      `${exit.size} ${outcomeText(exit.outcome, exit.outcomeName)}, at ${exit.worstPrice} or more a share`,
    ],
    ['when', triggerText(exit)],
    ['the book pays now', exit.watch?.price ?? '–'],
    ['distance', exit.watch?.distance ?? '–'],
    ...(exit.needsApproval === true
      ? [['approval', 'your owner is asked when its trigger holds'] as const]
      : []),
    ...(exit.trouble === null ? [] : [['trouble', exit.trouble.message] as const]),
    ['ends', exit.endsAt ?? 'with its market'],
    ['order id', exit.orderId],
  ] as const;

const EXITS: readonly Column<GuardedExit>[] = [
  { title: 'EXIT ID', value: ({ exitId }) => exitId, shrinks: true },
  { title: 'STATUS', value: statusText },
  { title: 'MARKET', value: ({ marketId }) => marketId },
  { title: 'OUTCOME', value: ({ outcome, outcomeName }) => outcomeText(outcome, outcomeName), shrinks: true },
  { title: 'SIZE', value: ({ size }) => size, align: 'right' },
  { title: 'WORST', value: ({ worstPrice }) => worstPrice, align: 'right' },
  { title: 'WHEN', value: triggerText, shrinks: true },
  { title: 'DISTANCE', value: ({ watch }) => watch?.distance ?? '–', align: 'right' },
  { title: 'TROUBLE', value: ({ trouble }) => trouble?.code ?? '' },
];

interface ListOptions {
  readonly all?: boolean;
  readonly limit: number;
}

async function list(run: Run, { all, limit }: ListOptions): Promise<void> {
  const client = await run.client();
  const query = all === true ? { limit } : { limit, status: 'open' };
  const found = await run.waiting('Reading exits', client.listExits(query));
  run.output.answer(found, () =>
    run.output.table(EXITS, found, all === true ? 'No exits yet.' : 'No exit is left. --all shows the past.'),
  );
}

async function cancel(run: Run, exitId: string): Promise<void> {
  const client = await run.client();
  const exit = await run.waiting('Cancelling', client.cancelExit({ exitId }));
  run.output.answer(exit, () => `The exit is canceled, and its signed order deleted: ${exit.exitId}`);
}

export function addExitCommands(program: Command, start: Start): void {
  examples(
    program
      .command('exits')
      .description('sell orders that wait with the desk, with the distance to their triggers')
      .option('--all', 'also exits that have ended')
      .option('--limit <n>', 'how many', count, 50)
      .action(action(start, { run: (run: Run, options: ListOptions) => list(run, options) })),
    'bellwether sell 101 YES --price 0.38 --size 40 --below 0.4',
    'bellwether exits --json',
  );
  examples(
    program
      .command('cancel-exit')
      .description('take an exit back; its signed order is deleted')
      .argument('<exit-id>', 'of bellwether exits')
      .action(action(start, { run: (run: Run, _options: object, exitId: string) => cancel(run, exitId) })),
    'bellwether cancel-exit 0199a3c2-7f10-7c55-b0a1-3f2b6b0c1d2e',
  );
}
