/** One agent: where it stands, what it does and why, and the owner's word over it. Each part has a tab of its own. */
import type { AgentEquity, EquityInterval, OwnerAgentDetail } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { type Resource, useResource } from '../desk/resource.ts';
import { type AgentTab, Link } from '../desk/router.tsx';
import { AgentOrders } from '../parts/agent-orders.tsx';
import { AgentSwitch, TradingBadge } from '../parts/agent-state.tsx';
import { Attention } from '../parts/attention.tsx';
import { Decisions } from '../parts/decisions.tsx';
import { ExitRule } from '../parts/exit-rule.tsx';
import { Gain, money, Time } from '../parts/figures.tsx';
import { Interval } from '../parts/interval.tsx';
import { Badge, Card, State, Tile, Untrusted, useAction } from '../parts/pieces.tsx';
import { Keys, Wallets, Webhooks } from '../parts/reach.tsx';
import { Days, Equity, PlotPlace } from '../parts/results.tsx';
import { Safeguards } from '../parts/safeguards.tsx';

function EquityCard({ agent }: { readonly agent: OwnerAgentDetail }) {
  const [interval, setInterval] = useState<EquityInterval>('1d');
  const equity = useResource<AgentEquity>(`/owner/agents/${agent.agentId}/equity?interval=${interval}`, {
    on: ({ type, agentId }) => type === 'fill' && agentId === agent.agentId,
    everyMs: 30_000,
  });
  const marks = equity.data?.fills.map(({ filledAt, side }) => ({ at: Date.parse(filledAt), side })) ?? [];
  return (
    <Card
      title="Equity and trades"
      aside={<Interval name="Equity of the last" value={interval} onChange={setInterval} />}
    >
      <PlotPlace>
        <State of={equity} what="equity" />
        {equity.data !== null && (
          <Equity name={`Equity of ${agent.name}`} series={equity.data} marks={marks} />
        )}
      </PlotPlace>
      <p class="note under">
        {equity.data?.fillsTruncated === true ? `The latest ${marks.length} trades are marked.` : ''}
      </p>
    </Card>
  );
}

interface QuotaProps {
  readonly name: string;
  readonly used: number;
  readonly limit: number | null;
  readonly format: (value: number) => string;
}

const Quota = ({ name, used, limit, format }: QuotaProps) => (
  <div>
    <dt>{name}</dt>
    <dd>
      {format(used)}
      <span class="note of"> {limit === null ? 'no limit' : `of ${format(limit)}`}</span>
      {limit !== null && (
        <meter aria-label={`${name}: used of the limit`} min={0} max={limit || 1} value={used} />
      )}
    </dd>
  </div>
);

function Tiles({ agent }: { readonly agent: OwnerAgentDetail }) {
  const { quota, unrealizedPnl } = agent;
  return (
    <dl class="tiles wide">
      <Tile name="Equity">{money(agent.equity)}</Tile>
      <Tile name="Can be used">{money(agent.availableBalance)}</Tile>
      <Tile name="Realised today, after fees">
        <Gain value={quota.realizedToday} />
      </Tile>
      <Tile name="Unrealised">
        <Gain value={unrealizedPnl} />
      </Tile>
      <Tile name="Both together">
        <Gain value={quota.realizedToday + unrealizedPnl} />
      </Tile>
      <Quota name="Trades today" {...quota.trades} format={String} />
      <Quota name="Amount today" {...quota.amount} format={money} />
    </dl>
  );
}

interface OfAgent {
  readonly agent: OwnerAgentDetail;
  readonly onDone: () => void;
}

function Overview({ agent, onDone }: OfAgent) {
  return (
    <>
      <Tiles agent={agent} />
      <div class="stack">
        <Card title="Safeguards">
          <Safeguards agent={agent} onDone={onDone} />
        </Card>
        <Card title="Limits and exits">
          <ExitRule agent={agent} onDone={onDone} />
        </Card>
      </div>
      <div class="stack">
        <Card title="Needs attention">
          <Attention agents={[agent]} />
        </Card>
        <EquityCard agent={agent} />
        <Card title="Profit and loss per day, after fees">
          <PlotPlace low>
            <Days name={`Profit and loss of ${agent.name} per day, after fees`} days={agent.days} />
          </PlotPlace>
        </Card>
        {agent.description !== '' && (
          <Card title="About it">
            <Untrusted from="The agent says of itself">{agent.description}</Untrusted>
          </Card>
        )}
      </div>
    </>
  );
}

const TABS: readonly (readonly [AgentTab, string])[] = [
  ['overview', 'Overview'],
  ['orders', 'Orders'],
  ['decisions', 'Decisions'],
  ['access', 'Keys and wallets'],
];

const Tabs = ({ agentId, tab }: { readonly agentId: string; readonly tab: AgentTab }) => (
  <nav class="tabs wide" aria-label="Parts of this agent">
    {TABS.map(([name, label]) => (
      <Link
        key={name}
        class="tab"
        to={`/agents/${agentId}${name === 'overview' ? '' : `/${name}`}`}
        aria-current={name === tab ? 'page' : undefined}
      >
        {label}
      </Link>
    ))}
  </nav>
);

function Part({ agent, tab, onDone }: OfAgent & { readonly tab: AgentTab }) {
  const { agentId } = agent;
  if (tab === 'orders') return <AgentOrders agentId={agentId} />;
  if (tab === 'decisions')
    return (
      <Card title="Decisions" wide>
        <Decisions agentId={agentId} />
      </Card>
    );
  if (tab === 'access')
    return (
      <>
        <Card title="API keys" wide>
          <Keys agentId={agentId} />
        </Card>
        <Card title="Wallets that it may use" wide>
          <Wallets agentId={agentId} />
        </Card>
        <Card title="Webhooks" wide>
          <Webhooks agentId={agentId} />
        </Card>
      </>
    );
  return <Overview agent={agent} onDone={onDone} />;
}

interface AgentProps {
  readonly agentId: string;
  readonly tab: AgentTab;
}

export function Agent({ agentId, tab }: AgentProps) {
  const agent: Resource<OwnerAgentDetail> = useResource(`/owner/agents/${encodeURIComponent(agentId)}`, {
    on: (event) => event.agentId === agentId,
    everyMs: 15_000,
  });
  const action = useAction();
  const { data } = agent;
  if (data === null)
    return (
      <main id="content">
        <h1>Agent</h1>
        <State of={agent} what="the agent" />
        <p>
          <Link to="">All your agents</Link>
        </p>
      </main>
    );
  return (
    <main id="content" class="columns">
      <div class="intro">
        <div>
          <h1>{data.name}</h1>
          <p class="badges">
            <TradingBadge {...data} />
            <Badge>
              {data.status}, called <Time at={data.lastCalledAt} short />
            </Badge>
          </p>
        </div>
        <AgentSwitch agent={data} action={action} onDone={agent.reload} />
      </div>
      {agent.trouble !== null && <State of={agent} what="the agent" />}
      <Tabs agentId={agentId} tab={tab} />
      <Part agent={data} tab={tab} onDone={agent.reload} />
    </main>
  );
}
