/** One agent: where it stands, what it does and why, and the owner's word over it. Each part has a tab of its own. */
import type {
  AgentEquity,
  Decision,
  EquityInterval,
  OwnerAgentDetail,
  Decisions as Page,
} from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { type Resource, useResource } from '../desk/live.ts';
import { type AgentTab, Link } from '../desk/router.tsx';
import { AgentOrders } from '../parts/agent-orders.tsx';
import { AgentSwitch, Attention, PauseNote, SuspendedExits, TradingBadge } from '../parts/agent-state.tsx';
import { Gain, money, outcomeWords, price, shares, Time } from '../parts/figures.tsx';
import { Further, Pager, useHistory } from '../parts/lists.tsx';
import { Badge, Card, Choices, Interval, State, Tile, Untrusted, useAction } from '../parts/pieces.tsx';
import { Days, Equity, PlotPlace } from '../parts/plots.tsx';
import { Keys, Wallets, Webhooks } from '../parts/reach.tsx';
import { ExitRule, Safeguards } from '../parts/safeguards.tsx';

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
  if (tab === 'orders') return <AgentOrders agentId={agentId} onDone={onDone} />;
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
          <PauseNote agents={[data]} />
        </div>
        <AgentSwitch agent={data} action={action} onDone={agent.reload} />
      </div>
      <SuspendedExits agents={[data]} onDone={agent.reload} />
      {agent.trouble !== null && <State of={agent} what="the agent" />}
      <Tabs agentId={agentId} tab={tab} />
      <Part agent={data} tab={tab} onDone={agent.reload} />
    </main>
  );
}

// The decision journal: what the agent wanted, why, what the desk checked, and what came of it.

const kindOf = (status: string): 'go' | 'stop' | 'warn' | '' => {
  if (status === 'denied' || status === 'rejected') return 'stop';
  if (status === 'unknown' || status === 'submitting') return 'warn';
  return status === 'filled' || status === 'matched' ? 'go' : '';
};

function WantedOrder({ wanted }: Pick<Decision, 'wanted'>) {
  const { side, outcome, outcomeName, size, amount, orderType } = wanted;
  return (
    <strong>
      {side} {shares(size)} {outcomeWords(outcome, outcomeName)}
      {wanted.price === null ? '' : ` at ${price(wanted.price)}`}, {money(amount)} {orderType ?? ''}
    </strong>
  );
}

function CameOfIt({ result }: Pick<Decision, 'result'>) {
  const { message, code, filledSize, avgPrice, feePaid } = result;
  if (message !== null || code !== null)
    return (
      <p>
        {message ?? 'The venue gave no reason.'} {code !== null && <span class="code">{code}</span>}
      </p>
    );
  if (filledSize === 0)
    return <p class="note">The desk checked it and the venue took it; nothing is filled yet.</p>;
  return (
    <p class="note">
      Filled {shares(filledSize)}
      {avgPrice === null ? '' : ` at ${price(avgPrice)} on average`}, fees {price(feePaid)}.
    </p>
  );
}

function DecisionEntry({ agentId, decision }: { readonly agentId: string; readonly decision: Decision }) {
  const { at, orderId, venue, wanted, result, untrustedText } = decision;
  const { question, reasoning, source, skillSlug } = untrustedText;
  const labels = [source, skillSlug].filter((label) => label !== null && label !== '');
  return (
    <li>
      <div class="head">
        <WantedOrder wanted={wanted} />
        <span>
          <Badge kind={kindOf(result.status)}>
            {result.status === 'denied' ? 'refused by the desk' : result.status}
          </Badge>{' '}
          <span class="note">
            <Time at={at} /> · {venue}
          </span>
        </span>
      </div>
      <Untrusted
        from={result.status === 'denied' ? 'The agent calls the market' : 'Market, in the venue’s words'}
      >
        {question}
      </Untrusted>
      {reasoning !== null && reasoning !== '' && (
        <Untrusted from="Why, in the agent’s words">{reasoning}</Untrusted>
      )}
      {labels.length > 0 && <p class="note">Labelled by the agent: {labels.join(', ')}</p>}
      <div class="head">
        <CameOfIt result={result} />
        {orderId !== null && (
          <Link to={`/agents/${agentId}/orders/${orderId}`}>
            Order and receipt<span class="hidden"> of order {orderId}</span>
          </Link>
        )}
      </div>
    </li>
  );
}

const keyOf = ({ at, orderId, untrustedText }: Decision): string =>
  `${at} ${orderId ?? untrustedText.question}`;

type WhichDecisions = 'all' | 'refused';
const WHICH_DECISIONS: readonly (readonly [WhichDecisions, string])[] = [
  ['all', 'All'],
  ['refused', 'Refused by the desk'],
];

function Decisions({ agentId }: { readonly agentId: string }) {
  const [which, setWhich] = useState<WhichDecisions>('all');
  const history = useHistory<Page, Decision>({
    path: `/owner/agents/${agentId}/decisions?`,
    rowsOf: ({ decisions }) => decisions,
    keyOf,
    on: (event) => event.agentId === agentId,
  });
  const { held, resource } = history;
  const list = held.rows.filter(({ result }) => which === 'all' || result.status === 'denied');
  return (
    <>
      <State of={resource} what="the journal" />
      <div class="head">
        <Choices name="Which decisions" choices={WHICH_DECISIONS} value={which} onChange={setWhich} />
        <Further of={held} what="decisions" keepsGone />
      </div>
      {resource.data !== null && list.length === 0 && (
        <p class="note">
          {which === 'refused'
            ? 'Nothing was refused among these.'
            : history.page > 0
              ? 'There are no older ones.'
              : 'It has not tried to trade yet. What it wants, and why, appears here with its first order.'}
        </p>
      )}
      <ul class="list">
        {list.map((decision) => (
          <DecisionEntry agentId={agentId} key={keyOf(decision)} decision={decision} />
        ))}
      </ul>
      <Pager of={history} what="decisions" />
    </>
  );
}
