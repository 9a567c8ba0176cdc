/**
 * How an agent stands. Whether it trades, and the switch that stops it: one tap stops, starting again is asked about.
 */
import type { HomeAgent, OwnerAgent, OwnerAlert, OwnerExit, ResumedExits } from '@bellwether/contract';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type DeskEvent, onDeskEvent } from '../desk/live.ts';
import { Link } from '../desk/router.tsx';
import { read, send, sendWithPasskey, useRecoveryDay } from '../desk/session.ts';
import { whenText } from './exits.tsx';
import { money, outcomeWords, price, shares, signed, Time } from './figures.tsx';
import { Further, useHeld } from './lists.tsx';
import { type Action, Badge, Confirm, useAction } from './pieces.tsx';

type Trading = Pick<HomeAgent, 'agentId' | 'name' | 'tradingPaused' | 'pausedBy' | 'exits'>;

export const TradingBadge = ({ tradingPaused, pausedBy }: Pick<Trading, 'tradingPaused' | 'pausedBy'>) => {
  if (!tradingPaused) return <Badge kind="go">Trading allowed</Badge>;
  return <Badge kind="stop">{pausedBy === 'agent' ? 'Paused by the agent' : 'Paused by you'}</Badge>;
};

type Standing = Pick<HomeAgent, 'agentId' | 'tradingPaused' | 'openOrdersCount' | 'exits'>;

const sumOf = <T,>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0);

const countedExits = (count: number): string => (count === 1 ? '1 exit' : `${count} exits`);

/** What a pause would do to exits; empty: there are none. */
function pausedExitsText(agents: readonly Standing[], isRecovering: boolean): string {
  const [suspends, sends] = [
    sumOf(agents, ({ exits }) => exits.toSuspend),
    sumOf(agents, ({ exits }) => exits.toSend),
  ];
  if (isRecovering)
    return suspends + sends === 0 ? '' : ' It suspends every exit, also those that you armed for it.';
  const parts = [
    ...(suspends === 0 ? [] : [`suspends ${countedExits(suspends)}`]),
    ...(sends === 0 ? [] : [`sends ${sends} that you armed for it`]),
  ];
  return parts.length === 0 ? '' : ` It ${parts.join(' and ')}.`;
}

/** What a pause does and does not, beside the switch: what rests goes on resting. */
export function PauseNote({ agents }: { readonly agents: readonly Standing[] }) {
  const isRecovering = useRecoveryDay();
  const resting = sumOf(
    agents.filter(({ tradingPaused }) => tradingPaused),
    ({ openOrdersCount }) => openOrdersCount,
  );
  return (
    <p class="note resting">
      {resting === 0
        ? 'A pause stops new orders. What rests on the books stays until you cancel it.'
        : `${resting === 1 ? 'One order of a paused agent still rests' : `${resting} orders of paused agents still rest`} on the books and may fill.`}
      {pausedExitsText(agents, isRecovering)}
    </p>
  );
}

// Exits that a pause has suspended stay so when trading goes on, unless they are resumed with it.

const MOST_ASKED = 100;

const suspendedOf = (agentId: string | undefined) =>
  read<readonly OwnerExit[]>(
    `/owner/exits?status=suspended&limit=${MOST_ASKED}${agentId === undefined ? '' : `&agentId=${agentId}`}`,
  );

const LETS_GO =
  'An exit that is armed again watches from then on: a trigger that holds already must let go first, and hold anew.';

/** The exits that one passkey arms: these and no others. */
const ExitList = ({ exits }: { readonly exits: readonly OwnerExit[] }) => (
  <>
    <ul class="list">
      {exits.map((exit) => (
        <li key={exit.exitId}>
          {exit.agentName}: sell {shares(exit.size)} {outcomeWords(exit.outcome, exit.outcomeName)}{' '}
          <span class="title">{exit.marketTitle ?? `Market ${exit.marketId}`}</span>{' '}
          <span class="note">
            for no less than {price(exit.worstPrice)}, when {whenText(exit)}
          </span>
        </li>
      ))}
    </ul>
    {exits.length === MOST_ASKED && (
      <p class="note">These are the latest {MOST_ASKED}: what else is suspended stays so.</p>
    )}
    <p class="note">{LETS_GO}</p>
  </>
);

/** @returns what came of it, in words */
async function resumeExits(
  exits: readonly OwnerExit[],
  { agentId, resumeTrading }: { readonly agentId?: string; readonly resumeTrading: boolean },
): Promise<string> {
  const { exitIds, notResumed } = await sendWithPasskey<ResumedExits>('/owner/exits/resume', {
    exitIds: exits.map(({ exitId }) => exitId),
    resumeTrading,
    ...(agentId === undefined ? {} : { agentId }),
  });
  const armed = `${countedExits(exitIds.length)} ${exitIds.length === 1 ? 'is' : 'are'} armed again.`;
  if (notResumed.length === 0) return armed;
  const why = [...new Set(notResumed.map(({ message }) => message))].join(' ');
  return `${armed} ${countedExits(notResumed.length)} ${notResumed.length === 1 ? 'is' : 'are'} not: ${why}`;
}

/** On top while trading goes on and exits protect nothing. What comes while the page is open stands over it, so that nothing moves. */
export function SuspendedExits({
  agents,
  onDone,
}: {
  readonly agents: readonly (Standing & Pick<HomeAgent, 'name'>)[];
  readonly onDone: () => void;
}) {
  const action = useAction();
  const [asked, setAsked] = useState<readonly OwnerExit[] | null>(null);
  const bare = agents.filter(({ tradingPaused, exits }) => !tradingPaused && exits.suspended > 0);
  const count = sumOf(bare, ({ exits }) => exits.suspended);
  const wasThere = useRef(count > 0).current;
  if (count === 0 && !wasThere) return null;
  const ask = () =>
    void action.run(async () => {
      const all: OwnerExit[] = [];
      for (const { agentId } of bare) if (all.length < MOST_ASKED) all.push(...(await suspendedOf(agentId)));
      if (all.length === 0) {
        onDone();
        return 'No exit is suspended any more.';
      }
      setAsked(all.slice(0, MOST_ASKED));
      return null;
    });
  return (
    <section class={wasThere ? 'wide message error' : 'bar'} aria-label="Suspended exits">
      <p>
        {count === 0 ? (
          'No exit is suspended any more.'
        ) : (
          <>
            <strong>
              {countedExits(count)} {count === 1 ? 'is suspended and protects' : 'are suspended and protect'}{' '}
              nothing,
            </strong>{' '}
            although trading goes on:{' '}
            {bare.map(({ agentId, name, exits }, i) => (
              <span key={agentId}>
                {i > 0 && ', '}
                {exits.suspended} of <Link to={`/agents/${agentId}/exits`}>{name}</Link>
              </span>
            ))}
            .
          </>
        )}
      </p>
      <button type="button" disabled={action.isClosed || count === 0} onClick={ask}>
        Look at {count === 1 ? 'it' : 'them'} and resume
      </button>
      {asked !== null && (
        <Confirm
          title={`Arm ${countedExits(asked.length)} again?`}
          yes={`Resume ${countedExits(asked.length)}, with your passkey`}
          onNo={() => setAsked(null)}
          onYes={() => {
            setAsked(null);
            void action.run(() => resumeExits(asked, { resumeTrading: false })).then(onDone);
          }}
        >
          <ExitList exits={asked} />
        </Confirm>
      )}
    </section>
  );
}

interface SwitchProps {
  /** Names what is paused, in the middle of a sentence. */
  readonly what: string;
  /** Whose switch it is; missing: all agents'. */
  readonly agentId?: string;
  readonly isPaused: boolean;
  /** How many exits are suspended, as far as the page knows. */
  readonly suspended: number;
  readonly label?: string;
  readonly action: Action;
  readonly onDone: () => void;
}

export function PauseSwitch({ what, agentId, isPaused, suspended, label = '', action, onDone }: SwitchProps) {
  const [asked, setAsked] = useState<readonly OwnerExit[] | null>(null);
  const path = agentId === undefined ? '/owner/pause' : `/owner/agents/${agentId}/pause`;
  const run = (work: () => Promise<string | null>) => {
    setAsked(null);
    void action.run(work).then(onDone);
  };
  const pause = async () => {
    const answer = await send<OwnerAgent | readonly OwnerAgent[]>(path, { paused: true });
    const count = sumOf([answer].flat(), ({ suspendedExits }) => suspendedExits?.count ?? 0);
    const said = `Trading is paused: ${what}.`;
    return count === 0
      ? said
      : `${said} ${countedExits(count)} ${count === 1 ? 'is' : 'are'} suspended, until you resume ${count === 1 ? 'it' : 'them'}.`;
  };
  const resume = async () => {
    await send(path, { paused: false });
    return `Trading is allowed again: ${what}.`;
  };
  const resumeBoth = (exits: readonly OwnerExit[]) => async () =>
    `Trading is allowed again: ${what}. ${await resumeExits(exits, { resumeTrading: true, ...(agentId && { agentId }) })}`;
  /** The question shows what is suspended at that moment, and its answer is for that alone. Without any it opens before the next key. */
  const ask = () => {
    if (suspended === 0) setAsked([]);
    else
      void action.run(async () => {
        setAsked(await suspendedOf(agentId));
        return null;
      });
  };
  return (
    <>
      <button
        type="button"
        class={isPaused ? 'go' : 'stop'}
        disabled={isPaused ? action.isClosed : action.isBusy}
        onClick={() => (isPaused ? ask() : run(pause))}
      >
        {isPaused ? 'Resume' : 'Pause'}
        {label === '' ? <span class="hidden"> {what}</span> : ` ${label}`}
      </button>
      {asked !== null && (
        <Confirm
          title={`Let ${what} trade again?`}
          onNo={() => setAsked(null)}
          {...(asked.length === 0
            ? { yes: 'Resume trading', onYes: () => run(resume) }
            : {
                yes: `Resume trading and ${countedExits(asked.length)}`,
                onYes: () => run(resumeBoth(asked)),
                less: { label: 'Resume trading alone', onLess: () => run(resume) },
              })}
        >
          <p>Orders will be accepted again from the next one on, within the limits that are set.</p>
          {asked.length > 0 && (
            <>
              <p>
                {countedExits(asked.length)} {asked.length === 1 ? 'is' : 'are'} suspended, and{' '}
                {asked.length === 1 ? 'protects' : 'protect'} nothing until you resume{' '}
                {asked.length === 1 ? 'it' : 'them'}, with your passkey:
              </p>
              <ExitList exits={asked} />
            </>
          )}
        </Confirm>
      )}
    </>
  );
}

/** The agent's own switch; what the agent paused itself, its owner resumes as well. */
export const AgentSwitch = ({
  agent,
  action,
  onDone,
}: {
  readonly agent: Trading;
  readonly action: Action;
  readonly onDone: () => void;
}) => (
  <PauseSwitch
    what={agent.name}
    isPaused={agent.tradingPaused}
    suspended={agent.exits.suspended}
    agentId={agent.agentId}
    action={action}
    onDone={onDone}
  />
);

// What needs the owner, one line for each agent and kind, with the markets by name; it stands still like every list.

type Raised = Pick<OwnerAlert, 'code' | 'severity' | 'message' | 'marketId' | 'marketTitle' | 'exitIds'> & {
  readonly agentId: string;
  readonly agentName: string;
};

type Watched = Pick<HomeAgent, 'agentId' | 'name' | 'alerts' | 'ordersInDoubt'>;

const KINDS: Readonly<Record<string, 'stop' | 'warn'>> = { critical: 'stop', warning: 'warn' };

/** How several of one kind read; others read as their code. */
const SEVERAL: Readonly<Record<string, string>> = {
  position_near_resolution: 'positions are in markets that end soon or have ended',
  redeemable_winnings: 'positions have won and can be redeemed',
  market_closing_soon: 'markets with open orders stop trading soon',
  order_in_doubt: 'markets have orders whose outcome is not known yet',
  stale_open_order: 'markets have orders that have been open for long',
  stop_loss_reached: 'positions have reached the stop loss',
  take_profit_reached: 'positions have reached the take profit',
  position_concentrated: 'markets hold a large part of the account',
  exit_suspended: 'markets have suspended exits',
  exit_in_trouble: 'markets have exits that could not be sent',
  exit_unguarded: 'markets have shares whose exits have ended unsold',
  exit_ends_soon: 'markets have exits that end soon',
};

const raisedBy = ({ agentId, name, alerts, ordersInDoubt }: Watched): Raised[] => [
  ...alerts.map((alert) => ({ ...alert, agentId, agentName: name })),
  ...(ordersInDoubt.count > 0 && !alerts.some(({ code }) => code === 'order_in_doubt')
    ? [
        {
          agentId,
          agentName: name,
          code: 'orders_in_doubt',
          severity: 'warning' as const,
          message: `${ordersInDoubt.count === 1 ? 'One order whose' : `${ordersInDoubt.count} orders whose`} outcome is not known yet; the desk asks the venue.`,
        },
      ]
    : []),
];

const MarketLink = ({ marketId, marketTitle }: Pick<Raised, 'marketId' | 'marketTitle'>) =>
  marketId === undefined ? null : (
    <Link to={`/markets/${encodeURIComponent(marketId)}`}>{marketTitle ?? 'The market'}</Link>
  );

/** The owner has seen how exits ended. What the agent says of it takes nothing away here. */
function Seen({ agentId, exitIds }: Pick<Raised, 'agentId' | 'exitIds'>) {
  const action = useAction();
  const [seen, setSeen] = useState<string | null>(null);
  if (exitIds === undefined) return null;
  const named = exitIds.join();
  const see = () =>
    action.run(async () => {
      await send(`/owner/agents/${agentId}/exits/seen`, { exitIds });
      setSeen(named);
      return 'It is noted that you have seen it. Nothing is guarded by that.';
    });
  return (
    <button type="button" disabled={action.isClosed || seen === named} onClick={() => void see()}>
      I have seen it
    </button>
  );
}

function Group({ raised, named }: { readonly raised: readonly Raised[]; readonly named: boolean }) {
  const [first] = raised;
  if (first === undefined) return null;
  const lead = (
    <>
      <Badge kind={KINDS[first.severity] ?? ''}>{first.severity}</Badge>{' '}
      {named && (
        <>
          <Link to={`/agents/${first.agentId}`}>{first.agentName}</Link>:{' '}
        </>
      )}
    </>
  );
  if (raised.length === 1)
    return (
      <li>
        {lead}
        {first.message} <MarketLink {...first} /> <Seen {...first} />
      </li>
    );
  return (
    <li>
      {lead}
      <details>
        <summary>
          {raised.length} {SEVERAL[first.code] ?? `times ${first.code.replaceAll('_', ' ')}`}
        </summary>
        <ul class="list">
          {raised.map((one) => (
            <li key={one.marketId}>
              <MarketLink {...one} /> <span class="note">{one.message}</span> <Seen {...one} />
            </li>
          ))}
        </ul>
      </details>
    </li>
  );
}

interface AttentionProps {
  /** `null`: not read yet. */
  readonly agents: readonly Watched[] | null;
  /** With the agent's name in each line. */
  readonly named?: boolean;
}

export function Attention({ agents, named = false }: AttentionProps) {
  const held = useHeld(
    agents === null ? null : agents.flatMap(raisedBy),
    ({ agentId, code, marketId }) => `${agentId} ${code} ${marketId ?? ''}`,
  );
  const groups = Map.groupBy(held.rows, ({ agentId, code }) => `${agentId} ${code}`);
  return (
    <>
      <Further of={held} what="what needs attention" />
      {held.rows.length === 0 ? (
        <p class="note">Nothing needs your attention.</p>
      ) : (
        <ul class="list">
          {[...groups].map(([key, raised]) => (
            <Group key={key} raised={raised} named={named} />
          ))}
        </ul>
      )}
    </>
  );
}

// The latest events of the stream, in words.

const KEPT_HAPPENINGS = 30;

const ORDER_EVENT = /^order\.(.+)$/;

const SIDES = ['YES', 'NO'];

const SET_WORDS: Readonly<Record<string, string>> = {
  SPLIT: 'Split',
  MERGE: 'Merge of',
  CONVERT: 'Conversion of',
};

/** Words for a person about an event; `null`: it says nothing that others do not say. */
function wordsFor({ type, data }: DeskEvent): string | null {
  const [, status] = ORDER_EVENT.exec(type) ?? [];
  // Not every event has data.
  const which = () => outcomeWords(data.outcome, data.outcomeName);
  if (status !== undefined && data.outcome === 'BOTH')
    return `${SET_WORDS[data.orderType]} ${shares(data.orderSize)} ${data.orderType === 'CONVERT' ? 'NO' : 'full sets'}: ${status}${
      data.errorCode ? ` (${data.errorCode})` : ''
    }`;
  if (status !== undefined)
    return `${data.side} ${shares(data.orderSize)} ${which()} at ${price(data.price)}: ${status.replaceAll('_', ' ')}${
      data.errorCode ? ` (${data.errorCode})` : ''
    }`;
  switch (type) {
    case 'fill':
      return `${data.side === 'BUY' ? 'Bought' : 'Sold'} ${shares(data.size)} ${which()} at ${price(data.price)} for ${money(data.cost)}, fee ${price(data.fee)}`;
    case 'fill.reversed':
      return `The settlement of a fill of ${shares(data.size)} ${which()} failed: it does not count`;
    case 'market.resolved':
      return `A market was decided: ${outcomeWords(data.payout, data.outcomes?.[SIDES.indexOf(data.payout)])}`;
    case 'risk':
      return data.message;
    case 'fee':
      return `A fee of ${price(data.amount)} was charged`;
    case 'redemption':
      return `${shares(data.size)} ${which()} were redeemed for ${money(data.payout)}`;
    case 'balance':
      return data.reason === 'trade' || data.reason === 'split' || data.reason === 'merge'
        ? null
        : `${signed(data.change)} collateral: ${data.reason}`;
    case 'safeguards':
      return 'Safeguards changed';
    case 'wallet.left':
      return `A wallet left: ${data.walletAddress}`;
    default:
      if (type.startsWith('exit.')) return data.message;
      return type.startsWith('approval')
        ? `Approval: ${type.slice('approval.'.length).replaceAll('_', ' ')}`
        : null;
  }
}

interface Happening {
  readonly key: number;
  readonly event: DeskEvent;
  readonly words: string;
}

/** The place has a fixed height: what comes first fills it, what comes later waits behind the button. */
export function Happenings({ names }: { readonly names: ReadonlyMap<string, string> }) {
  const [list, setList] = useState<readonly Happening[]>([]);
  useEffect(() => {
    let key = 0;
    // Events of one turn are drawn together: a busy agent must not have the page drawn for each event.
    let waiting: Happening[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = onDeskEvent((event) => {
      const words = wordsFor(event);
      if (words === null) return;
      waiting = [{ key: ++key, event, words }, ...waiting].slice(0, KEPT_HAPPENINGS);
      timer ??= setTimeout(() => {
        timer = undefined;
        const fresh = waiting;
        waiting = [];
        setList((before) => [...fresh, ...before].slice(0, KEPT_HAPPENINGS));
      }, 250);
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, []);
  const held = useHeld(list, ({ key }) => String(key), true);
  return (
    <>
      <Further of={held} what="what happens" keepsGone />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section class="scroll tall" aria-label="List of what happens" tabIndex={0}>
        {held.rows.length === 0 ? (
          <p class="note">Nothing yet since this page was opened.</p>
        ) : (
          <ul class="list">
            {held.rows.map(({ key, event, words }) => (
              <li key={key}>
                <span class="note">
                  <Time at={event.createdAt} />{' '}
                </span>
                <Link to={`/agents/${event.agentId}`}>{names.get(event.agentId) ?? 'An agent'}</Link>: {words}
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  );
}
