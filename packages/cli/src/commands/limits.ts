/** The agent's bounds: its safeguards at the desk with today's use, the spending limit of this machine, and the pause. */
import type { Briefing, ChangedSettings, Me, Settings, SettingsUpdate } from '@bellwether/sdk';
import { SpendingLimit, type SpendingStanding } from '@bellwether/sdk/keystore';
import { type Command, InvalidArgumentError } from 'commander';
import { CliError } from '../cli-error.ts';
import { action, examples, type Run, type Start } from '../run.ts';
import type { Column } from '../terminal.ts';

interface Limit {
  readonly name: string;
  readonly limit: number | boolean | null;
  readonly used: number | null;
  /** The ceiling that the owner has locked. */
  readonly locked: number | boolean | null;
}

const LIMITS: readonly Column<Limit>[] = [
  { title: 'SAFEGUARD', value: ({ name }) => name },
  { title: 'LIMIT', value: ({ limit }) => limit ?? 'none', align: 'right' },
  { title: 'USED TODAY', value: ({ used }) => used, align: 'right' },
  {
    title: 'LEFT',
    value: ({ limit, used }) =>
      typeof limit === 'number' && used !== null ? Math.max(0, limit - used) : null,
    align: 'right',
  },
  { title: "OWNER'S LOCK", value: ({ locked }) => locked, align: 'right' },
];

/** Settings that say something else than a limit. */
const NO_LIMITS = new Set(['updatedAt', 'lockedByOwner', 'pausedByOwner']);

/** Every setting of the desk, also those that a later desk has. */
function limitsOf(settings: Settings, me: Me, { agent }: Briefing): Limit[] {
  const used: Readonly<Record<string, number>> = {
    maxTradesPerDay: agent.tradesToday,
    dailyTradeAmountLimit: agent.amountToday,
    dailyLossLimit: Math.max(0, -agent.realizedToday),
    maxOpenOrders: me.openOrderCount,
  };
  const locks = settings.lockedByOwner as Readonly<Record<string, number | boolean | undefined>>;
  return Object.entries(settings)
    .filter(([name]) => !NO_LIMITS.has(name))
    .map(([name, limit]) => ({
      name,
      limit: limit as number | boolean | null,
      used: used[name] ?? null,
      locked: locks[name] ?? null,
    }));
}

const MICRO = 1e6;
const spendingFacts = ({ day, limit, spent, left }: SpendingStanding) => ({
  day,
  limit: Number(limit) / MICRO,
  spent: Number(spent) / MICRO,
  left: Number(left) / MICRO,
});

async function limits(run: Run): Promise<void> {
  const client = await run.client();
  const [settings, me, briefing] = await run.waiting(
    'Reading the safeguards',
    Promise.all([client.getSettings(), client.getMe(), client.getBriefing({ includeMarkets: false })]),
  );
  const safeguards = limitsOf(settings, me, briefing);
  const spending = spendingFacts(new SpendingLimit(run.place).standing());
  const { tradingPaused, pausedByOwner, lockedByOwner } = settings;
  run.output.answer({ safeguards, spending, tradingPaused, pausedByOwner, lockedByOwner }, () =>
    [
      run.output.table(LIMITS, safeguards, 'The desk names no safeguards.'),
      run.output.facts([
        ['spending limit of this machine', spending.limit],
        [`spent on ${spending.day} (UTC)`, spending.spent],
        ['left', spending.left],
      ]),
      ...(pausedByOwner ? ['The owner has paused trading: only the owner can resume it.'] : []),
    ].join('\n\n'),
  );
}

/** Collateral, exactly. */
function micro(text: string): bigint {
  const [, whole, decimals = ''] = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === undefined)
    throw new InvalidArgumentError('Give an amount of collateral with at most 6 decimals, such as 200.');
  return BigInt(whole + decimals.padEnd(6, '0'));
}

async function setSpending(run: Run, amount: bigint): Promise<void> {
  await run.requirePerson('The spending limit is set');
  const spending = spendingFacts(new SpendingLimit(run.place).setLimit(amount));
  run.output.answer({ spending }, () =>
    run.output.facts([
      ['spending limit of this machine, each UTC day', spending.limit],
      [`spent on ${spending.day} (UTC)`, spending.spent],
      ['left', spending.left],
    ]),
  );
}

/** Seconds, or `off`. */
function silence(text: string): number | null {
  if (text === 'off') return null;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give seconds, from 30 to 86400, or off.');
}

function onOrOff(text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on';
  throw new InvalidArgumentError('Give on or off.');
}

/** Settings of the agent itself; what the owner has locked, the desk refuses. */
async function setSettings(run: Run, change: SettingsUpdate): Promise<void> {
  const client = await run.client();
  const { silenceSeconds, autoRedeemEnabled } = await run.waiting('Setting', client.updateSettings(change));
  run.output.answer({ silenceSeconds, autoRedeemEnabled }, () =>
    run.output.facts([
      [
        'silence',
        silenceSeconds === null
          ? 'off: what rests stays, however long the agent makes no request'
          : `${silenceSeconds} s without a request, and its open orders are canceled; an exit of silence is sent then, or after the longer time under which it was left`,
      ],
      ['redeemed by the desk', autoRedeemEnabled ? 'on' : 'off'],
    ]),
  );
}

function suspendedText({ count, resumableBy }: NonNullable<ChangedSettings['suspendedExits']>): string {
  const which = count === 1 ? '1 exit is suspended and protects' : `${count} exits are suspended and protect`;
  const how =
    resumableBy === 'agent'
      ? 'bellwether exits lists them; each is armed again with: bellwether resume-exit <exit-id>'
      : 'the owner resumes each of them, on the console.';
  return `${which} nothing, also once trading goes on: ${how}`;
}

async function setPaused(run: Run, tradingPaused: boolean): Promise<void> {
  const client = await run.client();
  const settings = await run.waiting(
    tradingPaused ? 'Pausing' : 'Resuming',
    client.updateSettings({ tradingPaused }),
  );
  if (!tradingPaused && settings.pausedByOwner)
    throw new CliError(
      'refused',
      'paused_by_owner',
      "The owner has paused trading. The agent's own pause is lifted, and trading stays paused.",
      {
        fix: "Ask the owner to resume it on the owner's page.",
      },
    );
  const { pausedByOwner, suspendedExits } = settings;
  const suspended = suspendedExits === undefined ? {} : { suspendedExits };
  run.output.answer({ tradingPaused: settings.tradingPaused, pausedByOwner, ...suspended }, () =>
    [
      tradingPaused
        ? 'Trading is paused. Open orders stay open: bellwether cancel --all takes them off. Go on with: bellwether resume'
        : 'Trading is on.',
      ...(suspendedExits === undefined ? [] : [suspendedText(suspendedExits)]),
    ].join('\n'),
  );
}

export function addLimitCommands(program: Command, start: Start): void {
  const command = program
    .command('limits')
    .description('the safeguards with what is used today, and the spending limit of this machine')
    .action(action(start, { run: limits }));
  examples(command, 'bellwether limits', 'bellwether limits set-spending 200');
  command
    .command('set-spending')
    .description('set how much all programs of this machine may spend with these keys on a UTC day')
    .argument('<collateral>', 'such as 200', micro)
    .action(
      action(start, {
        run: (run: Run, _options: object, amount: bigint) => setSpending(run, amount),
      }),
    );
  examples(
    command
      .command('set-silence')
      .description(
        'after how many seconds without a request the desk cancels what rests, and sends exits of silence',
      )
      .argument('<seconds>', 'from 30 to 86400, or off', silence)
      .action(
        action(start, {
          run: (run: Run, _options: object, silenceSeconds: number | null) =>
            setSettings(run, { silenceSeconds }),
        }),
      ),
    'bellwether limits set-silence 600',
  );
  command
    .command('set-auto-redeem')
    .description('whether the desk redeems what this agent has won')
    .argument('<on|off>', 'on or off', onOrOff)
    .action(
      action(start, {
        run: (run: Run, _options: object, autoRedeemEnabled: boolean) =>
          setSettings(run, { autoRedeemEnabled }),
      }),
    );
  program
    .command('pause')
    .description('stop all trading of this agent; cancelling and redeeming go on')
    .action(action(start, { run: (run: Run) => setPaused(run, true) }));
  program
    .command('resume')
    .description('lift a pause of the agent itself; that of its owner stays')
    .action(action(start, { run: (run: Run) => setPaused(run, false) }));
}
