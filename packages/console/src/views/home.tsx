/** Every agent of the owner at a glance, and the switch that stops them all. */
import type { EquityInterval, EquitySeries, LeftWallet, OwnerHome } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { useResource } from '../desk/live.ts';
import { Link } from '../desk/router.tsx';
import { send, session, useStore } from '../desk/session.ts';
import { CancelOrders } from '../parts/agent-orders.tsx';
import {
  AgentSwitch,
  Attention,
  Happenings,
  PauseNote,
  PauseSwitch,
  SuspendedExits,
  TradingBadge,
} from '../parts/agent-state.tsx';
import { Gain, Id, money, Time } from '../parts/figures.tsx';
import { Further, useHeld } from '../parts/lists.tsx';
import { type Action, Card, Confirm, Interval, State, Table, Tile, useAction } from '../parts/pieces.tsx';
import { Days, Equity, PlotPlace, Sparkline } from '../parts/plots.tsx';

const openOrdersOf = ({ agents }: OwnerHome): number =>
  agents.reduce((sum, { openOrdersCount }) => sum + openOrdersCount, 0);

const STATUS: Readonly<Record<string, string>> = { active: 'Active', idle: 'Idle', offline: 'Offline' };

function Tiles({ home }: { readonly home: OwnerHome }) {
  const today = home.days.at(-1)?.net ?? 0;
  const inDoubt = home.agents.reduce((sum, { ordersInDoubt }) => sum + ordersInDoubt.count, 0);
  return (
    <dl class="tiles">
      <Tile name="Equity">{money(home.equity)}</Tile>
      <Tile name="Realised today, after fees">
        <Gain value={today} />
      </Tile>
      <Tile name="Unrealised">
        <Gain value={home.unrealizedPnl} />
      </Tile>
      <Tile name="Both together">
        <Gain value={today + home.unrealizedPnl} />
      </Tile>
      <Tile name="At risk">{money(home.exposure.total)}</Tile>
      <Tile name="Open orders">
        {openOrdersOf(home)}
        {inDoubt > 0 && <span class="note warn"> {inDoubt} in doubt</span>}
      </Tile>
    </dl>
  );
}

const used = (
  { used: amount, limit }: { readonly used: number; readonly limit: number | null },
  format: (n: number) => string,
) => (limit === null ? format(amount) : `${format(amount)} of ${format(limit)}`);

interface AgentsProps {
  readonly home: OwnerHome;
  readonly action: Action;
  readonly onDone: () => void;
}

function Agents({ home, action, onDone }: AgentsProps) {
  const held = useHeld(home.agents, ({ agentId }) => agentId);
  return (
    <>
      <Further of={held} what="your agents" />
      <Table
        caption="Agents"
        rows={held.rows}
        gone={held.gone}
        keyOf={({ agentId }) => agentId}
        none="You have claimed no agent yet. Open the claim link that your agent gave you: its address ends in a code like 7K2QD-M9XTR."
        columns={[
          {
            head: 'Agent',
            width: 2.2,
            cell: (agent) => (
              <>
                <Link class="title" to={`/agents/${agent.agentId}`}>
                  {agent.name}
                </Link>
                <TradingBadge {...agent} />
                <span class="note">
                  {STATUS[agent.status] ?? agent.status}, called <Time at={agent.lastCalledAt} short />
                </span>
              </>
            ),
          },
          {
            head: '24 hours',
            width: 1.1,
            cell: ({ name, recentEquity }) => <Sparkline name={`Equity of ${name}`} values={recentEquity} />,
          },
          { head: 'Equity', width: 1.2, numeric: true, cell: ({ equity }) => money(equity) },
          {
            head: 'Realised today',
            width: 1.1,
            numeric: true,
            cell: ({ quota }) => <Gain value={quota.realizedToday} />,
          },
          {
            head: 'Unrealised',
            width: 1.1,
            numeric: true,
            cell: ({ unrealizedPnl }) => <Gain value={unrealizedPnl} />,
          },
          {
            head: 'Together',
            width: 1.1,
            numeric: true,
            cell: ({ quota, unrealizedPnl }) => <Gain value={quota.realizedToday + unrealizedPnl} />,
          },
          {
            head: 'Open orders',
            width: 0.8,
            numeric: true,
            cell: ({ openOrdersCount }) => openOrdersCount,
          },
          {
            head: 'Used today',
            width: 1.9,
            numeric: true,
            cell: ({ quota }) => (
              <>
                <span class="of">{used(quota.trades, String)} trades</span>{' '}
                <span class="of">{used(quota.amount, money)}</span>
              </>
            ),
          },
          {
            head: 'Switch',
            width: 1.3,
            cell: (agent) => <AgentSwitch agent={agent} action={action} onDone={onDone} />,
          },
        ]}
      />
    </>
  );
}

const marketKey = ({ venue, marketId }: { readonly venue: string; readonly marketId: string }): string =>
  `${venue} ${marketId}`;

function Exposure({ exposure }: Pick<OwnerHome, 'exposure'>) {
  const venues = useHeld(exposure.byVenue, ({ venue }) => venue);
  const markets = useHeld(exposure.byMarket, marketKey);
  const both = {
    further: venues.further + markets.further,
    gone: new Set([...venues.gone, ...markets.gone]),
    show: () => {
      venues.show();
      markets.show();
    },
  };
  return (
    <>
      <Further of={both} what="venues and markets" />
      <Table
        caption="By venue"
        rows={venues.rows}
        gone={venues.gone}
        keyOf={({ venue }) => venue}
        phone="table"
        none="Nothing is held on any venue."
        columns={[
          { head: 'Venue', cell: ({ venue }) => venue },
          { head: 'Positions', numeric: true, cell: ({ positionsCount }) => positionsCount },
          { head: 'Value', numeric: true, cell: ({ value }) => money(value) },
          { head: 'At risk', numeric: true, cell: (row) => money(row.exposure) },
        ]}
      />
      {markets.rows.length > 0 && (
        <Table
          caption="By market"
          rows={markets.rows}
          gone={markets.gone}
          keyOf={marketKey}
          none=""
          phone="table"
          columns={[
            {
              head: 'Market',
              width: 2.5,
              cell: ({ venue, marketId, title }) => (
                <Link
                  class="title"
                  to={`/markets/${encodeURIComponent(marketId)}?venue=${encodeURIComponent(venue)}`}
                >
                  {title}
                </Link>
              ),
            },
            { head: 'Value', numeric: true, cell: ({ value }) => money(value) },
            { head: 'At risk', numeric: true, cell: (row) => money(row.exposure) },
          ]}
        />
      )}
    </>
  );
}

function OneWayIn() {
  const present = useStore(session);
  if (!('canRecover' in present) || present.canRecover) return null;
  return (
    <p class="note wide">
      One passkey is the only way into your account:{' '}
      <Link to="/sign-in">add a second one, or print a recovery code</Link>.
    </p>
  );
}

export function Home() {
  const [interval, setInterval] = useState<EquityInterval>('1d');
  const home = useResource<OwnerHome>('/owner/home', { on: () => true, everyMs: 15_000 });
  const equity = useResource<EquitySeries>(`/owner/equity?interval=${interval}`, { everyMs: 30_000 });
  const action = useAction();
  const { data } = home;
  return (
    <main id="content" class="columns">
      <div class="intro">
        <div>
          <h1>Your agents</h1>
          {data !== null && <PauseNote agents={data.agents} />}
        </div>
        {data !== null && data.agentsTotal > 0 && (
          <div class="buttons">
            <PauseSwitch
              what="all your agents"
              label="everything"
              isPaused={data.allPaused}
              suspended={data.agents.reduce((sum, { exits }) => sum + exits.suspended, 0)}
              action={action}
              onDone={home.reload}
            />
            <CancelOrders
              label="Cancel all open orders"
              isNone={openOrdersOf(data) === 0}
              path="/owner/orders/cancel"
              action={action}
              onDone={home.reload}
            />
          </div>
        )}
      </div>
      {data !== null && <SuspendedExits agents={data.agents} onDone={home.reload} />}
      <State of={home} what="your agents" />
      {data !== null && (
        <>
          <div class="wide">
            <Tiles home={data} />
            <p class="note under">
              {data.isCurrent ? '' : 'A venue does not answer: its older figures are counted.'}
            </p>
          </div>
          <Card title="Agents" wide>
            <Agents home={data} action={action} onDone={home.reload} />
            {data.agentsTotal > data.agents.length && (
              <p class="note">
                The latest {data.agents.length} of {data.agentsTotal} are listed. Open orders, orders in doubt
                and what needs attention are of these; the other figures count all.
              </p>
            )}
          </Card>
          <Card title="Needs attention">
            <Attention agents={data.agents} named />
          </Card>
          <Card title="What happens">
            <Happenings names={new Map(data.agents.map(({ agentId, name }) => [agentId, name]))} />
          </Card>
          <Card
            title="Equity"
            aside={<Interval name="Equity of the last" value={interval} onChange={setInterval} />}
          >
            <PlotPlace>
              <State of={equity} what="equity" />
              {equity.data !== null && <Equity name="Equity of all agents" series={equity.data} />}
            </PlotPlace>
          </Card>
          <Card title="Profit and loss per day, after fees">
            <PlotPlace low>
              <Days name="Profit and loss of all agents per day, after fees" days={data.days} />
            </PlotPlace>
          </Card>
          <Card title="Exposure" wide>
            <Exposure exposure={data.exposure} />
          </Card>
          <OneWayIn />
          <LeftWallets />
        </>
      )}
    </main>
  );
}

// Wallets that the owner's agents had and that others use now: the owner's limits still bind them until the owner lifts them.

function bindings({ name, paused, lockedByOwner }: LeftWallet['agents'][number]): string {
  const locks = Object.entries(lockedByOwner)
    .filter(([safeguard]) => safeguard !== 'tradeLimitEnabled')
    .map(([safeguard, limit]) => `${safeguard} ${limit}`);
  const parts = [...(paused ? ['paused'] : []), ...locks];
  return `${name}: ${parts.length === 0 ? 'nothing is locked or paused' : parts.join(', ')}`;
}

function LeftWallets() {
  const wallets = useResource<readonly LeftWallet[]>('/owner/wallets/left', { everyMs: 60_000 });
  const [asked, setAsked] = useState<string | null>(null);
  const action = useAction();
  const lift = (walletAddress: string) =>
    void action
      .run(async () => {
        await send('/owner/wallets/lift', { walletAddress });
        return 'The wallet is free of your limits.';
      })
      .then(wallets.reload);
  const isShown = wallets.trouble !== null || (wallets.data ?? []).length > 0;
  return (
    isShown && (
      <Card title="Wallets that left" wide>
        <p class="note">
          Your agents had these wallets, and agents of other owners use them now: the key’s holder linked or
          registered them anew. What you have locked or paused still binds them, with what the day has used of
          it.
        </p>
        <State of={wallets} what="wallets that left" />
        {wallets.data !== null && (
          <Table
            caption="Wallets that left"
            rows={wallets.data}
            keyOf={({ walletAddress }) => walletAddress}
            none="No wallet of yours is used by others."
            columns={[
              { head: 'Wallet', cell: ({ walletAddress }) => <Id id={walletAddress} /> },
              { head: 'Since', cell: ({ leftAt }) => <Time at={leftAt} short /> },
              {
                head: 'Bound by',
                cell: ({ agents }) => (
                  <ul class="list">
                    {agents.map((agent) => (
                      <li key={agent.agentId}>{bindings(agent)}</li>
                    ))}
                  </ul>
                ),
              },
              {
                head: 'Switch',
                cell: ({ walletAddress }) => (
                  <button type="button" disabled={action.isClosed} onClick={() => setAsked(walletAddress)}>
                    Set free<span class="hidden"> {walletAddress}</span>
                  </button>
                ),
              },
            ]}
          />
        )}
        {asked !== null && (
          <Confirm
            title="Set this wallet free?"
            yes="Set it free"
            onNo={() => setAsked(null)}
            onYes={() => {
              setAsked(null);
              lift(asked);
            }}
          >
            <p>Your limits and pauses no longer bind {asked}. This cannot be undone.</p>
          </Confirm>
        )}
      </Card>
    )
  );
}
