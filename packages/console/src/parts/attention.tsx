/** What needs the owner, one line for each agent and kind, with the markets by name; it stands still like every list. */
import type { HomeAgent, OwnerAlert } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { send } from '../desk/call.ts';
import { Link } from '../desk/router.tsx';
import { Further, useHeld } from './held.tsx';
import { Badge, useAction } from './pieces.tsx';

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
