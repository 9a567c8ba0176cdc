/** Every agent of the owner at a glance, and the switch that stops them all. */
import type { EquityInterval, EquitySeries, HomeAgent, OwnerHome, RiskAlert } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { useResource } from '../desk/resource.ts';
import { Link } from '../desk/router.tsx';
import { session } from '../desk/session.ts';
import { useStore } from '../desk/store.ts';
import { AgentSwitch, PauseSwitch, TradingBadge } from '../parts/agent-state.tsx';
import { AlertText, Severity } from '../parts/alert.tsx';
import { CancelOrders } from '../parts/cancel-orders.tsx';
import { Gain, money, Time } from '../parts/figures.tsx';
import { Happenings } from '../parts/happenings.tsx';
import { Interval } from '../parts/interval.tsx';
import { LeftWallets } from '../parts/left-wallets.tsx';
import { type Action, Badge, Card, Said, State, Table, useAction } from '../parts/pieces.tsx';
import { Days, Equity } from '../parts/results.tsx';

const openOrdersOf = ({ agents }: OwnerHome): number =>
  agents.reduce((sum, { openOrdersCount }) => sum + openOrdersCount, 0);

/** A pause lets what rests go on resting: the page says so, beside the switch. */
function Resting({ home }: { readonly home: OwnerHome }) {
  const resting = home.agents
    .filter(({ tradingPaused }) => tradingPaused)
    .reduce((sum, { openOrdersCount }) => sum + openOrdersCount, 0);
  if (resting === 0) return null;
  return (
    <p class="message">
      {resting === 1 ? 'One order' : `${resting} orders`} of paused agents still rest on the books and may
      fill.
    </p>
  );
}

const STATUS: Readonly<Record<string, string>> = { active: 'Active', idle: 'Idle', offline: 'Offline' };

function Tiles({ home }: { readonly home: OwnerHome }) {
  const today = home.days.at(-1);
  const inDoubt = home.agents.reduce((sum, { ordersInDoubt }) => sum + ordersInDoubt.count, 0);
  return (
    <dl class="tiles">
      <div>
        <dt>Equity</dt>
        <dd>{money(home.equity)}</dd>
      </div>
      <div>
        <dt>Today, after fees</dt>
        <dd>
          <Gain value={today?.net ?? 0} />
        </dd>
      </div>
      <div>
        <dt>At risk</dt>
        <dd>{money(home.exposure.total)}</dd>
      </div>
      <div>
        <dt>Open orders</dt>
        <dd>{openOrdersOf(home)}</dd>
      </div>
      <div>
        <dt>In doubt</dt>
        <dd>{inDoubt}</dd>
      </div>
    </dl>
  );
}

interface Raised {
  readonly agent: HomeAgent;
  readonly alert: RiskAlert;
}

function Alerts({ agents }: { readonly agents: readonly HomeAgent[] }) {
  const raised: Raised[] = agents.flatMap((agent) => agent.alerts.map((alert) => ({ agent, alert })));
  const inDoubt = agents.filter(({ ordersInDoubt }) => ordersInDoubt.count > 0);
  if (raised.length === 0 && inDoubt.length === 0) return <p class="note">Nothing needs your attention.</p>;
  return (
    <ul class="list">
      {raised.map(({ agent, alert }) => (
        <li key={`${agent.agentId} ${alert.code} ${alert.marketId ?? ''}`}>
          <Severity severity={alert.severity} /> <Link to={`/agents/${agent.agentId}`}>{agent.name}</Link>:{' '}
          <AlertText {...alert} />
        </li>
      ))}
      {inDoubt.map((agent) => (
        <li key={agent.agentId}>
          <Badge kind="warn">in doubt</Badge> <Link to={`/agents/${agent.agentId}`}>{agent.name}</Link>:{' '}
          {agent.ordersInDoubt.count === 1 ? 'one order whose' : `${agent.ordersInDoubt.count} orders whose`}{' '}
          outcome is not known yet; the desk asks the venue.
        </li>
      ))}
    </ul>
  );
}

const used = (
  { used: amount, limit }: { readonly used: number; readonly limit: number | null },
  format: (n: number) => string,
) => (limit === null ? format(amount) : `${format(amount)} of ${format(limit)}`);

function Agents({
  home,
  action,
  onDone,
}: {
  readonly home: OwnerHome;
  readonly action: Action;
  readonly onDone: () => void;
}) {
  return (
    <Table
      caption="Agents"
      rows={home.agents}
      keyOf={({ agentId }) => agentId}
      none="You have claimed no agent yet. Open the claim link that your agent gave you: its address ends in a code like 7K2QD-M9XTR."
      columns={[
        {
          head: 'Agent',
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
          head: 'Switch',
          cell: (agent) => <AgentSwitch agent={agent} action={action} onDone={onDone} />,
        },
        { head: 'Equity', numeric: true, cell: ({ equity }) => money(equity) },
        { head: 'Today', numeric: true, cell: ({ quota }) => <Gain value={quota.realizedToday} /> },
        { head: 'Unrealised', numeric: true, cell: ({ unrealizedPnl }) => <Gain value={unrealizedPnl} /> },
        { head: 'Open', numeric: true, cell: ({ openOrdersCount }) => openOrdersCount },
        { head: 'Trades today', numeric: true, cell: ({ quota }) => used(quota.trades, String) },
        { head: 'Amount today', numeric: true, cell: ({ quota }) => used(quota.amount, money) },
      ]}
    />
  );
}

function Exposure({ exposure }: Pick<OwnerHome, 'exposure'>) {
  return (
    <>
      <Table
        caption="By venue"
        rows={exposure.byVenue}
        keyOf={({ venue }) => venue}
        none="Nothing is held on any venue."
        columns={[
          { head: 'Venue', cell: ({ venue }) => venue },
          { head: 'Positions', numeric: true, cell: ({ positionsCount }) => positionsCount },
          { head: 'Value', numeric: true, cell: ({ value }) => money(value) },
          { head: 'At risk', numeric: true, cell: (row) => money(row.exposure) },
        ]}
      />
      {exposure.byMarket.length > 0 && (
        <Table
          caption="By market"
          rows={exposure.byMarket}
          keyOf={({ venue, marketId }) => `${venue} ${marketId}`}
          none=""
          columns={[
            {
              head: 'Market',
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
        <h1>Your agents</h1>
        {data !== null && data.agentsTotal > 0 && (
          <div class="buttons">
            <PauseSwitch
              what="all your agents"
              label="everything"
              isPaused={data.allPaused}
              path="/owner/pause"
              action={action}
              onDone={home.reload}
            />
            {openOrdersOf(data) > 0 && (
              <CancelOrders
                label={`Cancel all open orders (${openOrdersOf(data)})`}
                path="/owner/orders/cancel"
                action={action}
                onDone={home.reload}
              />
            )}
          </div>
        )}
      </div>
      <OneWayIn />
      <Said said={action.said} />
      {data !== null && <Resting home={data} />}
      <State of={home} what="your agents" />
      {data !== null && (
        <>
          <div class="wide">
            <Tiles home={data} />
            {!data.isCurrent && <p class="note">A venue does not answer: its older figures are counted.</p>}
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
          <Card
            title="Equity"
            aside={<Interval name="Equity of the last" value={interval} onChange={setInterval} />}
          >
            <State of={equity} what="equity" />
            {equity.data !== null && <Equity name="Equity of all agents" series={equity.data} />}
          </Card>
          <Card title="Profit and loss per day, after fees">
            <Days name="Profit and loss of all agents per day, after fees" days={data.days} />
          </Card>
          <Card title="Needs attention">
            <Alerts agents={data.agents} />
          </Card>
          <Card title="Exposure">
            <Exposure exposure={data.exposure} />
          </Card>
          <LeftWallets />
          <Card title="What happens" wide>
            <Happenings names={new Map(data.agents.map(({ agentId, name }) => [agentId, name]))} />
          </Card>
        </>
      )}
    </main>
  );
}
