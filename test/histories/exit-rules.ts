/**
 * Rules for guarded exits as their agents are answered and told: never against a pause or a word, and never silent. What the desk does with
 * an exit by itself comes at moments that no call sees: each call is judged by all states in which the exit may have been.
 */
import type { DeskExit } from './final-facts.ts';
import type { Call, History, LeftTrigger } from './history.ts';
import { linearize, type Model, type Step } from './linearize.ts';
import { list, named, short, TOO_MANY } from './sentences.ts';

/** `marked`: it is being sent, and a pause came meanwhile. */
type Phase =
  | 'absent'
  | 'armed'
  | 'firing'
  | 'marked'
  | 'suspended'
  | 'fired'
  | 'failed'
  | 'canceled'
  | 'expired';

interface State {
  /** It is in one of them. */
  readonly phases: ReadonlySet<Phase>;
  readonly isPaused: boolean;
}

/** What the desk does by itself. */
const MOVES: Readonly<Record<Phase, readonly Phase[]>> = {
  absent: [],
  armed: ['firing', 'canceled', 'expired'],
  firing: ['armed', 'fired', 'failed', 'canceled', 'expired'],
  marked: ['suspended', 'fired', 'failed', 'canceled', 'expired'],
  suspended: ['canceled', 'expired'],
  fired: ['failed'],
  failed: [],
  canceled: [],
  expired: [],
};

function reachable(phases: Iterable<Phase>, isNever: boolean): Set<Phase> {
  const found = new Set(phases);
  for (const phase of found)
    for (const next of MOVES[phase]) if (!(isNever && next === 'firing')) found.add(next);
  return found;
}

/** What an answer shows of them. */
const wordOf = (phase: Phase): string => (phase === 'marked' ? 'firing' : phase);

const OPEN: ReadonlySet<string> = new Set(['armed', 'firing', 'suspended']);
export const isOpenWord = (status: string | undefined): boolean => OPEN.has(status ?? '');

export const isLeaving = ({ operation }: Call): boolean => operation.kind === 'leave exit';
export const shownIn = (exitId: string, { outcome }: Call): string | undefined => {
  if (outcome.kind !== 'ok') return undefined;
  const { exits, status } = outcome.answer;
  return exits === undefined ? status : exits.find(([id]) => id === exitId)?.[1];
};

/** The word of the end is a read of its own. */
const endOf = ({ exitId, agent, status }: DeskExit): Call => ({
  ...{ line: 'call', id: 0, client: 'the end' },
  operation: { kind: 'read exit', agent, exitId },
  ...{ invokedAt: Number.MAX_SAFE_INTEGER, returnedAt: Number.MAX_SAFE_INTEGER },
  outcome: { kind: 'ok', answer: { whole: '', isReplay: false, status } },
});

const exitModel = (exitId: string, isNever: boolean): Model<State, Call> => ({
  first: { phases: new Set<Phase>(['absent']), isPaused: false },
  nameOf: ({ phases, isPaused }) => `${[...phases].sort().join(' ')} ${isPaused}`,
  next(before, call) {
    const { operation, outcome } = call;
    const { isPaused } = before;
    const phases = reachable(before.phases, isNever);
    const among = (some: Iterable<Phase>): State | null => {
      const left = new Set(some);
      return left.size === 0 ? null : { phases: left, isPaused };
    };
    const shown = shownIn(exitId, call);
    const seen = (some: Iterable<Phase>): State | null =>
      among([...reachable(some, isNever)].filter((phase) => shown === undefined || wordOf(phase) === shown));
    switch (operation.kind) {
      case 'change settings': {
        if (outcome.kind === 'refused') return before;
        if (operation.changes.tradingPaused !== true) return { phases, isPaused: false };
        const paused = [...phases].map(
          (phase): Phase => (phase === 'armed' ? 'suspended' : phase === 'firing' ? 'marked' : phase),
        );
        return { phases: new Set(paused), isPaused: true };
      }
      case 'leave exit': {
        const left: Phase = isPaused ? 'suspended' : 'armed';
        return seen([...phases].map((phase) => (phase === 'absent' ? left : phase)));
      }
      case 'cancel exit':
        if (outcome.kind === 'refused')
          return outcome.code === 'exit_gone'
            ? among([...phases].filter((one) => one !== 'canceled'))
            : before;
        return seen(
          [...phases].flatMap((phase): Phase[] =>
            phase === 'armed' || phase === 'suspended'
              ? ['canceled']
              : phase === 'canceled' || outcome.kind === 'unknown'
                ? [phase]
                : [],
          ),
        );
      case 'resume exit':
        if (outcome.kind === 'refused') return before;
        return seen(
          [...phases].flatMap((phase): Phase[] =>
            phase === 'suspended' && !isPaused ? ['armed'] : phase === 'absent' ? [] : [phase],
          ),
        );
      default:
        return outcome.kind === 'ok' && shown !== undefined ? seen(phases) : before;
    }
  },
});

const isRefusedPause = ({ operation, outcome }: Call): boolean =>
  operation.kind === 'change settings' &&
  (operation.changes.tradingPaused === undefined || outcome.kind === 'refused');

/** Calls that say something about an exit, or change it. */
export function callsAbout({ exitId, agent, orderId }: DeskExit, calls: readonly Call[]): Call[] {
  return calls.filter((call) => {
    const { operation, outcome } = call;
    if (operation.agent !== agent || isRefusedPause(call)) return false;
    if (operation.kind === 'change settings') return true;
    if (operation.kind === 'list exits') return shownIn(exitId, call) !== undefined;
    if (operation.kind === 'leave exit') {
      if (operation.orderId !== orderId || outcome.kind === 'refused') return false;
      return outcome.kind === 'unknown' || outcome.answer.exitId === exitId;
    }
    const isRead = operation.kind === 'read exit' && outcome.kind === 'unknown';
    return 'exitId' in operation && operation.exitId === exitId && !isRead;
  });
}

function stepOf(call: Call): Step<Call> {
  const isUnknown = call.outcome.kind === 'unknown';
  const returnedAt = isUnknown ? Number.POSITIVE_INFINITY : call.returnedAt;
  return { op: call, invokedAt: call.invokedAt, returnedAt, mayBeLeftOut: isUnknown };
}

const triggersOf = (about: readonly Call[]): readonly LeftTrigger[] =>
  about.flatMap(({ operation }) => (operation.kind === 'leave exit' ? [operation.trigger] : []));

/** An exit only goes where a call or the desk may send it: nothing arms again what is suspended but a word. */
export function checkExitCalls({ calls, facts }: History): string[] {
  return facts.exits.flatMap((exit) => {
    const about = callsAbout(exit, calls);
    if (exit.because === 'restored')
      return [`Exit ${short(exit.exitId)} is suspended as restored, and no database was.`];
    if (!about.some(isLeaving)) return [`Exit ${short(exit.exitId)} was left by no call.`];
    const isNever = triggersOf(about).every(({ kind }) => kind === 'never');
    const found = linearize(exitModel(exit.exitId, isNever), [...about, endOf(exit)].map(stepOf));
    if (found.kind === 'yes') return [];
    const stuck = list(
      found.stuck.map((call) => (call.id === 0 ? `it is ${exit.status} in the end` : named(call))),
    );
    return [
      found.kind === 'too many'
        ? `Exit ${short(exit.exitId)} ${TOO_MANY} to be checked: ${stuck}.`
        : `No order of its calls explains what was answered about exit ${short(exit.exitId)}: ${stuck}.`,
    ];
  });
}

const TOLD =
  /^(suspended,resumed,)*(suspended,)?((sent,)?(filled|filled_in_part|failed)|sent|expired|canceled)?,?$/;
const END_OF: Readonly<Record<string, readonly string[]>> = {
  armed: ['', 'resumed'],
  firing: ['', 'resumed'],
  suspended: ['suspended'],
  failed: ['failed'],
  canceled: ['canceled'],
  expired: ['expired'],
};

/** Whatever becomes of an exit is told once, in its order, to every listener. */
export function checkToldExits({ facts }: History): string[] {
  const byExit = Map.groupBy(facts.toldExits, ({ exitId }) => exitId);
  const logs = new Map(facts.logs.map(({ agent, events }) => [agent, events]));
  return facts.exits.flatMap(({ exitId, agent, status, because, isSettled }) => {
    const told = (byExit.get(exitId) ?? []).map(({ became }) => became);
    const name = `Exit ${short(exitId)}`;
    const ends = status === 'fired' ? [isSettled ? (because ?? 'filled') : 'sent'] : (END_OF[status] ?? []);
    const says = [];
    if (!ends.includes(told.at(-1) ?? ''))
      says.push(`${name} is ${because ?? status}, and was told last as ${told.at(-1) ?? 'nothing'}.`);
    if (!TOLD.test(told.map((became) => `${became},`).join('')))
      says.push(`${name} was told as ${told.join(', ')}.`);
    const heard = logs
      .get(agent)
      ?.filter((event) => event.exitId === exitId && event.type.startsWith('exit.'))
      .map(({ type }) => type.slice('exit.'.length))
      .filter((became) => became !== 'in_trouble');
    if (heard !== undefined && heard.join() !== told.join())
      says.push(
        `The log tells ${heard.join(', ') || 'nothing'} of exit ${short(exitId)}, which became ${told.join(', ') || 'nothing'}.`,
      );
    return says;
  });
}

/** An armed exit keeps a place of the day's trades, those of a group one together, and no other does. */
export function checkExitPlaces({ facts }: History): string[] {
  return facts.exitPlaces.flatMap(({ agent, reserved, open, mostTrades }) => {
    const own = facts.exits.filter((exit) => exit.agent === agent && isOpenWord(exit.status));
    const kept = new Set(
      own
        .filter(({ status }) => status !== 'suspended')
        .map(({ exitId, group }) => (group === null ? exitId : `group ${group}`)),
    );
    const groups = [...kept].filter((place) => place.startsWith('group ')).length;
    const trades = facts.budgets.find((budget) => budget.agent === agent)?.trades ?? 0;
    // Of a group one may be sent while another one keeps its place.
    const isOver = !facts.hasMidnight && trades + reserved - groups > mostTrades;
    return [
      ...(isOver
        ? [
            `Agent ${agent} has placed ${trades} trades of ${mostTrades}, and ${reserved} places are kept for its exits.`,
          ]
        : []),
      ...(reserved === kept.size && open === own.length
        ? []
        : [
            `The safeguards of agent ${agent} keep ${reserved} places for ${open} exits, and its exits make ${kept.size} for ${own.length}.`,
          ]),
    ];
  });
}
