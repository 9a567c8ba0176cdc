/**
 * How an agent stands. Whether it trades, and the switch that stops it: one tap stops, starting again is asked about.
 */
import type { HomeAgent, OwnerAgent, OwnerAlert } from '@bellwether/contract';
import { useEffect, useState } from 'preact/hooks';
import { type DeskEvent, onDeskEvent } from '../desk/live.ts';
import { Link } from '../desk/router.tsx';
import { send } from '../desk/session.ts';
import { money, outcomeWords, price, shares, signed, Time } from './figures.tsx';
import { Further, useHeld } from './lists.tsx';
import { type Action, Badge, Confirm, useAction } from './pieces.tsx';

type Trading = Pick<HomeAgent, 'agentId' | 'name' | 'tradingPaused' | 'pausedBy'>;

export const TradingBadge = ({ tradingPaused, pausedBy }: Pick<Trading, 'tradingPaused' | 'pausedBy'>) => {
  if (!tradingPaused) return <Badge kind="go">Trading allowed</Badge>;
  return <Badge kind="stop">{pausedBy === 'agent' ? 'Paused by the agent' : 'Paused by you'}</Badge>;
};

/** Exits that a pause has left suspended stay so when trading goes on. */
function suspendedText(agents: readonly Pick<OwnerAgent, 'suspendedExits'>[]): string {
  const count = agents.reduce((sum, { suspendedExits }) => sum + (suspendedExits?.count ?? 0), 0);
  if (count === 0) return '';
  const which = count === 1 ? '1 exit is suspended and protects' : `${count} exits are suspended and protect`;
  return ` ${which} nothing until you resume each of them, under “Orders” of its agent.`;
}

interface SwitchProps {
  /** Names what is paused, in the middle of a sentence. */
  readonly what: string;
  readonly isPaused: boolean;
  readonly path: string;
  readonly label?: string;
  readonly action: Action;
  readonly onDone: () => void;
}

export function PauseSwitch({ what, isPaused, path, label = '', action, onDone }: SwitchProps) {
  const [asks, setAsks] = useState(false);
  const set = (paused: boolean) =>
    void action
      .run(async () => {
        const answer = await send<OwnerAgent | readonly OwnerAgent[]>(path, { paused });
        const said = paused ? `Trading is paused: ${what}.` : `Trading is allowed again: ${what}.`;
        return `${said}${suspendedText([answer].flat())}`;
      })
      .then(onDone);
  return (
    <>
      <button
        type="button"
        class={isPaused ? 'go' : 'stop'}
        disabled={action.isBusy}
        onClick={() => (isPaused ? setAsks(true) : set(true))}
      >
        {isPaused ? 'Resume' : 'Pause'}
        {label === '' ? <span class="hidden"> {what}</span> : ` ${label}`}
      </button>
      {asks && (
        <Confirm
          title={`Let ${what} trade again?`}
          yes="Resume trading"
          onNo={() => setAsks(false)}
          onYes={() => {
            setAsks(false);
            set(false);
          }}
        >
          <p>Orders will be accepted again from the next one on, within the limits that are set.</p>
          <p>Exits that the pause suspended stay so: resume each of them under “Orders” of its agent.</p>
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
    path={`/owner/agents/${agent.agentId}/pause`}
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
    <button type="button" disabled={action.isBusy || seen === named} onClick={() => void see()}>
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
