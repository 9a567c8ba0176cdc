/** Exits that are signed ahead and left with the desk: their triggers, the list, and taking one back. */
import {
  BellwetherUsageError,
  type ClosedPosition,
  closePosition,
  type ExitRequest,
  type ExitTrigger,
  type GuardedExit,
  type LeftExit,
  type PlannedSale,
} from '@bellwether/sdk';
import { KnownMints } from '@bellwether/sdk/keystore';
import type { Command } from 'commander';
import { adviceFor, CliError, usage } from '../cli-error.ts';
import { count, price, time, WALLET_NAMES, walletType } from '../options.ts';
import { action, examples, type Run, type Start } from '../run.ts';
import { requireSameMarket, requireUse, sideIn } from '../signing.ts';
import { type Column, outcomeText } from '../terminal.ts';
import { type OrderOptions, walletOf } from './order-intent.ts';

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
      'price_at_or_below: leave it with the desk, as a stop: sold when the book pays so little for its size, without --price at least exitDistancePercent below',
      price,
    )
    .option(
      '--above <price>',
      'price_at_or_above: leave it with the desk: sold when the book pays so much for its size; needs --price',
      price,
    )
    .option(
      '--at <time>',
      'time: leave it with the desk: sold then; ISO time with zone, or epoch seconds; needs --price',
      time,
    )
    .option(
      '--before-end <minutes>',
      'before_end: leave it with the desk: sold so long before the market ends; needs --price',
      count,
    )
    .option(
      '--on-silence',
      'silence: leave it with the desk: sold when the agent makes no request for its silenceSeconds; needs --price',
    )
    .option(
      '--group <name>',
      'your own name, of one market and outcome: of its exits, the first that is sent cancels the rest',
    )
    .option('--until <time>', 'the desk forgets the exit then; ISO time with zone, or epoch seconds', time)
    .option('--replaces <exit-id>', 'takes that exit back in the same moment');

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();

/** Terms beside the signed order; `null`: it is placed at once. @throws CliError for several triggers */
export function exitTermsOf(options: TriggerOptions): ExitTerms | null {
  const { below, above, at, beforeEnd, onSilence, group, until, replaces } = options;
  const named: readonly (ExitTrigger | null)[] = [
    below === undefined ? null : { kind: 'price_at_or_below', price: below },
    above === undefined ? null : { kind: 'price_at_or_above', price: above },
    at === undefined ? null : { kind: 'time', at: iso(at) },
    beforeEnd === undefined ? null : { kind: 'before_end', minutes: beforeEnd },
    onSilence === true ? { kind: 'silence' } : null,
  ];
  const triggers = named.filter((one) => one !== null);
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

/** The option of a trigger that has no price of its own, or whose price says nothing of the least to take. */
const PRICELESS: Readonly<Partial<Record<ExitTrigger['kind'], string>>> = {
  price_at_or_above: '--above',
  time: '--at',
  before_end: '--before-end',
  silence: '--on-silence',
};

/**
 * The worst price of an exit that names none: of a stop the least that keeps the owner's distance to its trigger, never a price of the
 * book of now.
 * @returns `null`: it names one @throws CliError for another trigger without a price
 */
export function defaultWorst(
  { trigger }: ExitTerms,
  { price: limit, worstPrice, slippage }: Pick<OrderOptions, 'price' | 'worstPrice' | 'slippage'>,
): { readonly price: number } | null {
  if (slippage !== undefined)
    throw usage(
      '--slippage goes beyond the book of now, and an exit is sold later.',
      'Name the least price to take with --price or --worst-price.',
    );
  if (limit !== undefined || worstPrice !== undefined) return null;
  if (trigger.kind === 'price_at_or_below' && trigger.price !== undefined) return { price: trigger.price };
  throw usage(
    `${PRICELESS[trigger.kind] ?? 'This trigger'} needs --price, the least to take for a share: the trigger does not say it.`,
    '--price rests on the book; --worst-price, in its place, sells at once what the book takes then.',
  );
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

/** What the desk says of an exit that it has checked, or has; what is signed was computed here. */
export const watchFacts = ({ watch, endsAt, needsApproval, warnings }: LeftExit) =>
  [
    [
      'the book pays now',
      watch?.price == null
        ? (watch?.note ?? 'not known')
        : `${watch.price}, ${watch.distance ?? '–'} from the trigger (says the desk)`,
    ],
    ...(needsApproval === true
      ? [['approval', 'your owner is asked when its trigger holds (says the desk)'] as const]
      : []),
    ['ends', endsAt ?? 'with its market'],
    ...warnings.map(({ message }) => ['warning', `${message} (says the desk)`] as const),
  ] as const;

const statusText = ({ status, because }: Pick<GuardedExit, 'status' | 'because'>): string =>
  because === null ? status : `${status} (${because})`;

/** How a suspended exit is armed again. */
const resumeText = ({ exitId, resumableBy }: Pick<GuardedExit, 'exitId' | 'resumableBy'>): string =>
  resumableBy === 'agent' ? `with: bellwether resume-exit ${exitId}` : 'by the owner, on the console';

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
    ...(exit.group === null ? [] : [['group', exit.group] as const]),
    ...(exit.status === 'suspended' ? [['resumed', resumeText(exit)] as const] : []),
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
  { title: 'GROUP', value: ({ group }) => group ?? '', shrinks: true },
  { title: 'ENDS', value: ({ endsAt }) => endsAt ?? 'with its market' },
  { title: 'TROUBLE', value: ({ trouble }) => trouble?.code ?? '' },
];

interface ListOptions {
  readonly all?: boolean;
  readonly limit: number;
}

async function listExits(run: Run, { all, limit }: ListOptions): Promise<void> {
  const client = await run.client();
  const query = all === true ? { limit } : { limit, status: 'open' };
  const found = await run.waiting('Reading exits', client.listExits(query));
  const suspended = found.find(({ status }) => status === 'suspended');
  run.output.answer(found, () =>
    [
      run.output.table(
        EXITS,
        found,
        all === true ? 'No exits yet.' : 'No exit is left. --all shows the past.',
      ),
      ...(suspended === undefined
        ? []
        : [
            `A suspended exit protects nothing until it is resumed ${
              suspended.resumableBy === 'agent'
                ? 'with: bellwether resume-exit <exit-id>'
                : 'by the owner, on the console.'
            }`,
          ]),
    ].join('\n\n'),
  );
}

async function resumeExit(run: Run, exitId: string): Promise<void> {
  const client = await run.client();
  const exit = await run.waiting('Resuming', client.resumeOwnExit(exitId));
  run.output.answer(exit, () => run.output.facts(exitFacts(exit)));
}

async function cancelExit(run: Run, exitId: string): Promise<void> {
  const client = await run.client();
  const exit = await run.waiting('Cancelling', client.cancelExit({ exitId }));
  run.output.answer(exit, () => `The exit is canceled, and its signed order deleted: ${exit.exitId}`);
}

async function seeExits(run: Run, exitIds: readonly string[]): Promise<void> {
  const client = await run.client();
  const seen = await run.waiting('Writing', client.seeExits({ exitIds: [...exitIds] }));
  run.output.answer(seen, () =>
    seen.exitIds.length === 0
      ? 'None of them has ended.'
      : `Seen: ${seen.exitIds.join(', ')}. What they guarded has no exit by that: sign a new one.`,
  );
}

export function addExitCommands(program: Command, start: Start): void {
  examples(
    program
      .command('exits')
      .description('sell orders that wait with the desk, with the distance to their triggers')
      .option('--all', 'also exits that have ended')
      .option('--limit <n>', 'how many', count, 50)
      .action(action(start, { run: (run: Run, options: ListOptions) => listExits(run, options) })),
    'bellwether sell 101 YES --size 40 --below 0.4',
    'bellwether exits --json',
  );
  examples(
    program
      .command('cancel-exit')
      .description('take an exit back; its signed order is deleted')
      .argument('<exit-id>', 'of bellwether exits')
      .action(
        action(start, { run: (run: Run, _options: object, exitId: string) => cancelExit(run, exitId) }),
      ),
    'bellwether cancel-exit 0199a3c2-7f10-7c55-b0a1-3f2b6b0c1d2e',
  );
  examples(
    program
      .command('see-exits')
      .description('say that it was seen how exits ended: their alert goes, and nothing else')
      .argument('<exit-id...>', 'of the alert exit_unguarded')
      .action(
        action(start, { run: (run: Run, _options: object, exitIds: string[]) => seeExits(run, exitIds) }),
      ),
    'bellwether see-exits 0199a3c2-7f10-7c55-b0a1-3f2b6b0c1d2e',
  );
  examples(
    program
      .command('resume-exit')
      .description(
        'arm a suspended exit again, of an agent without an owner; a trigger that held meanwhile must hold anew',
      )
      .argument('<exit-id>', 'of bellwether exits')
      .action(
        action(start, { run: (run: Run, _options: object, exitId: string) => resumeExit(run, exitId) }),
      ),
    'bellwether resume-exit 0199a3c2-7f10-7c55-b0a1-3f2b6b0c1d2e',
  );
}

// `close`: cancels what rests in a market, sells what is held within a named worst price, and says what remains and what guards it.

interface CloseOptions
  extends Pick<OrderOptions, 'worstPrice' | 'walletType' | 'venue' | 'reasoning' | 'live' | 'yes'> {
  readonly outcome?: string;
}

async function close(run: Run, options: CloseOptions, name: string): Promise<void> {
  const { worstPrice, venue, reasoning, live, yes } = options;
  if (worstPrice === undefined)
    throw usage('close needs --worst-price: the least to take for a share.', 'See: bellwether close --help');
  const wallet = await walletOf(run, options.walletType);
  const client = await run.client();
  const [me, market] = await run.waiting(
    'Reading the market',
    Promise.all([client.getMe(), client.getMarket(name, venue === undefined ? {} : { venue })]),
  );
  requireUse(me.venues, market.venue, wallet.signer.use);
  requireSameMarket(name, market);
  const agree = async ({ outcome, size, verified }: PlannedSale): Promise<boolean> => {
    const what =
      outcome === null || verified === null
        ? 'nothing is held'
        : `sell ${verified.body.orderSize} of ${size} ${outcomeText(outcome, market.outcomes[outcome === 'YES' ? 0 : 1], ' = ')}, at ${verified.body.price} or more a share`;
    const facts = [
      ['market', market.question],
      ['first', 'every open order of this agent in it is canceled'],
      ['then', what],
      ['wallet', wallet.signer.wallet(wallet.type)],
    ] as const;
    run.output.say(run.output.facts(facts, 'stderr'));
    if (yes !== true) await run.confirm('Close this position?');
    return true;
  };
  const closed = await closing({
    ...{ client, market, worstPrice, agree, agentId: me.agentId, source: 'cli' },
    ...{ signer: wallet.signer, signatureType: wallet.type },
    ...(options.outcome === undefined ? {} : { outcome: sideIn(options.outcome, market) }),
    ...(reasoning === undefined ? {} : { reasoning }),
    tokenIds: new KnownMints(run.place).tokensOf(market),
    profile: live === true || run.env.BELLWETHER_ORDER_PROFILE === 'polymarket' ? 'polymarket' : 'interface',
  });
  run.output.answer(closed, () => run.output.facts(closedFacts(closed)));
  requireSold(closed);
}

/** @throws CliError where both outcomes are held and none is named */
async function closing(options: Parameters<typeof closePosition>[0]): Promise<ClosedPosition> {
  try {
    return await closePosition(options);
  } catch (error) {
    if (!(error instanceof BellwetherUsageError)) throw error;
    throw usage(
      'Both outcomes are held: say which with --outcome YES or --outcome NO.',
      'Merging both pays collateral without a sale: bellwether merge',
    );
  }
}

const closedFacts = ({ canceled, sale, remains, guards }: ClosedPosition) =>
  [
    ['canceled', `${canceled?.canceled.length ?? 0} orders`],
    ...Object.entries(canceled?.notCanceled ?? {}).map(
      ([id, reason]) => ['not canceled', `${id}: ${reason}`] as const,
    ),
    ['sold', soldText(sale)],
    ...remains.map(
      ({ size, outcome, outcomeName }) =>
        ['still held', `${size} ${outcomeText(outcome, outcomeName)}`] as const,
    ),
    ...guards.map(
      (exit) => ['guarded by', `exit ${exit.exitId} (${exit.status}), when ${triggerText(exit)}`] as const,
    ),
    ...(remains.length > 0 && guards.length === 0 ? [['guarded by', 'nothing'] as const] : []),
  ] as const;

function soldText(sale: ClosedPosition['sale']): string {
  if (sale === null) return 'nothing was held';
  if (sale.status !== 'placed') return `nothing, as far as is known: ${sale.orderId}`;
  const { filledSize, avgPrice } = sale.trade;
  return `${filledSize} shares at ${avgPrice ?? '–'} on average`;
}

/** What was canceled stays canceled. @throws CliError where the sale was refused, or is not known */
function requireSold({ sale }: ClosedPosition): void {
  if (sale === null || sale.status === 'placed') return;
  const { orderId } = sale;
  if (sale.status === 'unknown')
    throw new CliError(
      'unknown',
      'order_outcome_unknown',
      'The sale was sent, and what became of it is not known here.',
      { orderId, fix: `Look: bellwether orders ${orderId}` },
    );
  const { code, message, fix } = sale.refusal;
  throw new CliError('refused', code, message, { orderId, fix: adviceFor(code) ?? fix });
}

export function addCloseCommand(program: Command, start: Start): void {
  const command = program
    .command('close')
    .description('cancel what rests in a market, and sell what is held of it within a worst price')
    .argument('<market>', 'market id, condition id, slug or token id')
    .option('--worst-price <price>', 'the least to take for a share', price)
    .option('--outcome <outcome>', 'YES, NO or its name: where both are held')
    .option('--wallet-type <type>', `which wallet of your key: ${WALLET_NAMES.join(', ')}`, walletType)
    .option('--venue <name>', 'where the market is, when its id alone does not say')
    .option('--reasoning <text>', "kept in the agent's journal")
    .option('--live', 'sign what the live venue takes; also by BELLWETHER_ORDER_PROFILE=polymarket')
    .option('--yes', 'do not ask; for programs')
    .action(
      action(start, {
        run: (run: Run, options: CloseOptions, market: string) => close(run, options, market),
      }),
    );
  examples(
    command,
    'bellwether close 101 --worst-price 0.38',
    'bellwether close 101 --outcome NO --worst-price 0.6 --yes',
  );
}
