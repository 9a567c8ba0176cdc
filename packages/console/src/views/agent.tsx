/** One agent: where it stands, what it holds and does, its limits and keys. Each part has an address of its own. */
import type {
  AgentEquity,
  Decision,
  EquityInterval,
  OwnerAgentDetail,
  Decisions as Page,
} from '@bellwether/contract';
import { useRef, useState } from 'preact/hooks';
import { type Resource, useResource } from '../desk/live.ts';
import { type AgentPart, Link } from '../desk/router.tsx';
import { Orders, Positions } from '../parts/agent-orders.tsx';
import { AgentSwitch, Attention, PauseNote, SuspendedExits, TradingBadge } from '../parts/agent-state.tsx';
import { Exits } from '../parts/exits.tsx';
import { Gain, money, outcomeWords, price, shares, Time } from '../parts/figures.tsx';
import { Further, Pager, PER_PAGE, useHistory } from '../parts/lists.tsx';
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
  const marks = equity.data?.trades.map(({ t, side }) => ({ at: t * 1000, side })) ?? [];
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
        {equity.data?.tradesTruncated === true ? `The latest ${marks.length} trades are marked.` : ''}
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

const Overview = ({ agent }: Pick<OfAgent, 'agent'>) => (
  <>
    <Tiles agent={agent} />
    <Card title="Needs attention" wide>
      <Attention agents={[agent]} />
    </Card>
    <EquityCard agent={agent} />
    <Card title="Profit and loss per day, after fees">
      <PlotPlace low>
        <Days name={`Profit and loss of ${agent.name} per day, after fees`} days={agent.days} />
      </PlotPlace>
    </Card>
    {agent.description !== '' && (
      <Card title="About it" wide>
        <Untrusted from="The agent says of itself">{agent.description}</Untrusted>
      </Card>
    )}
  </>
);

type Named = readonly (readonly [AgentPart, string])[];

/** Each tab by its first part, and its parts where it has several. */
const TABS: readonly (readonly [AgentPart, string, Named])[] = [
  ['overview', 'Overview', []],
  [
    'positions',
    'Positions',
    [
      ['positions', 'Held'],
      ['exits', 'Guarded exits'],
    ],
  ],
  [
    'orders',
    'Activity',
    [
      ['orders', 'Orders'],
      ['decisions', 'Decisions'],
    ],
  ],
  ['limits', 'Limits', []],
  ['keys', 'Keys', []],
];

interface AgentProps {
  readonly agentId: string;
  readonly part: AgentPart;
}

function Tabs({ agentId, part }: AgentProps) {
  const link = (name: AgentPart, label: string, current: 'page' | 'true' | undefined) => (
    <Link
      key={name}
      class="tab"
      to={`/agents/${agentId}${name === 'overview' ? '' : `/${name}`}`}
      aria-current={current}
    >
      {label}
    </Link>
  );
  const isIn = (parts: Named) => parts.some(([name]) => name === part);
  const [, , parts = []] = TABS.find(([, , within]) => isIn(within)) ?? [];
  return (
    <>
      <nav class="tabs wide" aria-label="Parts of this agent">
        {TABS.map(([name, label, within]) =>
          link(name, label, isIn(within) ? 'true' : name === part ? 'page' : undefined),
        )}
      </nav>
      {parts.length > 0 && (
        <nav class="within wide" aria-label="Lists of this part">
          {parts.map(([name, label]) => link(name, label, name === part ? 'page' : undefined))}
        </nav>
      )}
    </>
  );
}

function Part({ agent, part, onDone }: OfAgent & Pick<AgentProps, 'part'>) {
  const { agentId } = agent;
  switch (part) {
    case 'overview':
      return <Overview agent={agent} />;
    case 'positions':
      return <Positions agentId={agentId} />;
    case 'exits':
      return <Exits agentId={agentId} onDone={onDone} />;
    case 'orders':
      return <Orders agentId={agentId} />;
    case 'decisions':
      return <Decisions agentId={agentId} />;
    case 'limits':
      return (
        <>
          <Card title="Safeguards" wide>
            <Safeguards agent={agent} onDone={onDone} />
          </Card>
          <Card title="Limits and exits" wide>
            <ExitRule agent={agent} onDone={onDone} />
          </Card>
        </>
      );
    case 'keys':
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
  }
}

export function Agent({ agentId, part }: AgentProps) {
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
      <Tabs agentId={agentId} part={part} />
      <Part agent={data} part={part} onDone={agent.reload} />
    </main>
  );
}

// The decision journal: what the agent wanted, why, what the desk checked, and what came of it.

const kindOf = (status: string): 'go' | 'stop' | 'warn' | '' => {
  if (status === 'denied' || status === 'rejected') return 'stop';
  if (status === 'unknown' || status === 'submitting') return 'warn';
  return status === 'filled' || status === 'matched' ? 'go' : '';
};

const wantedText = ({ wanted }: Decision): string => {
  const { side, outcome, outcomeName, size, amount, orderType } = wanted;
  const at = wanted.price === null ? '' : ` at ${price(wanted.price)}`;
  return `${side} ${shares(size)} ${outcomeWords(outcome, outcomeName)}${at}, ${money(amount)} ${orderType ?? ''}`;
};

const ResultBadge = ({ result: { status } }: Pick<Decision, 'result'>) => (
  <Badge kind={kindOf(status)}>
    {status === 'denied' ? 'refused by the desk' : status.replaceAll('_', ' ')}
  </Badge>
);

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

function DecisionEntry({
  agentId,
  decision,
  isAlike,
}: {
  readonly agentId: string;
  readonly decision: Decision;
  /** It shares its line with others. */
  readonly isAlike: boolean;
}) {
  const { at, orderId, venue, result, untrustedText } = decision;
  const { question, reasoning, source, skillSlug } = untrustedText;
  const labels = [source, skillSlug].filter((label) => label !== null && label !== '');
  return (
    <article>
      {isAlike && (
        <p>
          <strong>{wantedText(decision)}</strong>
        </p>
      )}
      <p class="note">
        <Time at={at} /> · {venue}
      </p>
      <Untrusted
        from={result.status === 'denied' ? 'The agent calls the market' : 'Market, in the venue’s words'}
      >
        {question}
      </Untrusted>
      {reasoning !== null && reasoning !== '' && (
        <Untrusted from="Why, in the agent’s words">{reasoning}</Untrusted>
      )}
      {labels.length > 0 && <p class="note">Labelled by the agent: {labels.join(', ')}</p>}
      <CameOfIt result={result} />
      {orderId !== null && (
        <Link class="touch" to={`/agents/${agentId}/orders/${orderId}`}>
          Order and receipt<span class="hidden"> of order {orderId}</span>
        </Link>
      )}
    </article>
  );
}

const keyOf = ({ at, orderId, untrustedText }: Decision): string =>
  `${at} ${orderId ?? untrustedText.question}`;

/** What alike decisions have in common: a refusal comes again in other markets, too. */
const kindOfDecision = ({ wanted, result, venue, marketConditionId }: Decision): string =>
  [
    venue,
    result.status,
    result.code,
    wanted.side,
    ...(result.status === 'denied' ? [] : [marketConditionId, wanted.outcome]),
  ].join(' ');

/** As many as make a page of lines. */
function shownOf(decisions: readonly Decision[], kindOf: (decision: Decision) => string): number {
  const kinds = new Set<string>();
  const end = decisions.findIndex((decision) => kinds.add(kindOf(decision)).size > PER_PAGE);
  return end < 0 ? decisions.length : end;
}

function DecisionLine({ agentId, alike }: { readonly agentId: string; readonly alike: readonly Decision[] }) {
  const [isOpen, setOpen] = useState(false);
  const [latest] = alike;
  if (latest === undefined) return null;
  const count = alike.length;
  const { wanted, untrustedText } = latest;
  const markets = new Set(alike.map(({ marketConditionId }) => marketConditionId)).size;
  const amount = alike.reduce((sum, decision) => sum + decision.wanted.amount, 0);
  const isOne = alike.every(({ result }) => result.status === latest.result.status);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <strong>
          {count === 1
            ? wantedText(latest)
            : `${count} times ${wanted.side}${markets > 1 ? '' : ` ${outcomeWords(wanted.outcome, wanted.outcomeName)}`}, ${money(amount)} in all`}
        </strong>
        {markets > 1 ? (
          <span class="title">{markets} markets</span>
        ) : (
          <q class="title">{untrustedText.question}</q>
        )}
        {isOne ? <ResultBadge {...latest} /> : <Badge>by now different</Badge>}
        <span class="note">
          <Time at={latest.at} short />
        </span>
      </summary>
      {isOpen &&
        alike.map((decision) => (
          <DecisionEntry key={keyOf(decision)} agentId={agentId} decision={decision} isAlike={count > 1} />
        ))}
    </details>
  );
}

type WhichDecisions = 'all' | 'refused';
const WHICH_DECISIONS: readonly (readonly [WhichDecisions, string])[] = [
  ['all', 'All'],
  ['refused', 'Refused by the desk'],
];

const READ_AT_ONCE = 100;

function Decisions({ agentId }: { readonly agentId: string }) {
  const [which, setWhich] = useState<WhichDecisions>('all');
  // As they were when they were listed: an order that is filled since must not move from line to line.
  const kinds = useRef(new Map<string, string>());
  const kindOf = (decision: Decision): string => {
    const key = keyOf(decision);
    const kind = kinds.current.get(key) ?? kindOfDecision(decision);
    kinds.current.set(key, kind);
    return kind;
  };
  const history = useHistory<Page, Decision>({
    path: `/owner/agents/${agentId}/decisions`,
    rowsOf: ({ decisions }) => decisions,
    keyOf,
    on: (event) => event.agentId === agentId,
    perRead: READ_AT_ONCE,
    shownOf: (rows) => shownOf(rows, kindOf),
  });
  const { resource } = history;
  const held = {
    ...history.held,
    show: () => {
      kinds.current.clear();
      history.held.show();
    },
  };
  const list = held.rows.filter(({ result }) => which === 'all' || result.status === 'denied');
  return (
    <Card title="Decisions" wide>
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
      <ul class="list folds">
        {[...Map.groupBy(list, kindOf)].map(([kind, alike]) => (
          <li key={kind}>
            <DecisionLine agentId={agentId} alike={alike} />
          </li>
        ))}
      </ul>
      <Pager of={history} what="decisions" />
    </Card>
  );
}
