/** One agent: where it stands, what it does and why, and the owner's word over it. */
import type { AgentEquity, EquityInterval, Order, OwnerAgentDetail, Position } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { middleOf, useBooks } from '../desk/books.ts';
import type { DeskEvent } from '../desk/live.ts';
import { type Resource, useResource } from '../desk/resource.ts';
import { Link } from '../desk/router.tsx';
import { AgentSwitch, TradingBadge } from '../parts/agent-state.tsx';
import { AlertText, Severity } from '../parts/alert.tsx';
import { CancelOrders } from '../parts/cancel-orders.tsx';
import { Decisions } from '../parts/decisions.tsx';
import { ExitRule } from '../parts/exit-rule.tsx';
import { Exits } from '../parts/exits.tsx';
import { Gain, money, precise, Time } from '../parts/figures.tsx';
import { Interval } from '../parts/interval.tsx';
import { Badge, Card, Said, State, Table, Untrusted, useAction } from '../parts/pieces.tsx';
import { Keys, Wallets, Webhooks } from '../parts/reach.tsx';
import { Days, Equity } from '../parts/results.tsx';
import { Safeguards } from '../parts/safeguards.tsx';

interface MarketCellProps {
  readonly venue: string;
  readonly marketId: string;
  readonly title: string;
}

const MarketCell = ({ venue, marketId, title }: MarketCellProps) => (
  <Link class="title" to={`/markets/${encodeURIComponent(marketId)}?venue=${encodeURIComponent(venue)}`}>
    {title}
  </Link>
);

/** By one stream: a browser has only six connections to the desk, for all its tabs. */
function Trading({ agentId }: { readonly agentId: string }) {
  const options = { on: (event: DeskEvent) => event.agentId === agentId, everyMs: 15_000 };
  const path = `/owner/agents/${agentId}`;
  const positions = useResource<readonly Position[]>(`${path}/positions`, options);
  const orders = useResource<readonly Order[]>(`${path}/orders/open`, options);
  const held = positions.data?.filter(({ redeemable }) => !redeemable) ?? [];
  const books = useBooks([...held, ...(orders.data ?? [])].map(({ tokenId }) => tokenId));
  const priceNow = (tokenId: string): number | null => {
    const book = books.get(tokenId);
    return book === undefined ? null : middleOf(book);
  };
  return (
    <>
      <Card title="Positions" wide>
        <Positions positions={positions} priceNow={priceNow} />
      </Card>
      <Card title="Guarded exits" wide>
        <Exits agentId={agentId} held={held} />
      </Card>
      <Card title="Open orders" wide>
        <OpenOrders agentId={agentId} orders={orders} priceNow={priceNow} />
      </Card>
    </>
  );
}

interface Prices {
  readonly priceNow: (tokenId: string) => number | null;
}

function Positions({ positions, priceNow }: Prices & { readonly positions: Resource<readonly Position[]> }) {
  const rows = positions.data ?? [];
  const price = ({ tokenId, currentPrice }: Position): number => priceNow(tokenId) ?? currentPrice;
  return (
    <>
      <State of={positions} what="positions" />
      {positions.data !== null && (
        <Table
          caption="Positions"
          rows={rows}
          keyOf={({ tokenId, walletAddress }) => `${tokenId} ${walletAddress}`}
          none="It holds nothing."
          columns={[
            { head: 'Market', cell: (row) => <MarketCell {...row} /> },
            { head: 'Held', cell: ({ outcome, size }) => `${precise(size)} ${outcome}` },
            { head: 'Cost', numeric: true, cell: ({ avgPrice }) => precise(avgPrice) },
            { head: 'Price', numeric: true, cell: (row) => precise(price(row)) },
            { head: 'Value', numeric: true, cell: (row) => money(price(row) * row.size) },
            {
              head: 'Unrealised',
              numeric: true,
              cell: (row) => <Gain value={price(row) * row.size - row.initialValue} />,
            },
          ]}
        />
      )}
    </>
  );
}

interface OpenOrdersProps extends Prices {
  readonly agentId: string;
  readonly orders: Resource<readonly Order[]>;
}

function OpenOrders({ agentId, orders, priceNow }: OpenOrdersProps) {
  const action = useAction();
  const path = `/owner/agents/${agentId}/orders`;
  return (
    <>
      <State of={orders} what="open orders" />
      {(orders.data?.length ?? 0) > 1 && (
        <div class="buttons">
          <CancelOrders
            label="Cancel all open orders of this agent"
            path={`${path}/cancel-market`}
            action={action}
            onDone={orders.reload}
          />
        </div>
      )}
      <Said said={action.said} />
      {orders.data !== null && (
        <Table
          caption="Open orders"
          rows={orders.data}
          keyOf={({ orderId }) => orderId}
          none="No order is open."
          columns={[
            {
              head: 'Market',
              cell: ({ venue, marketId, marketQuestion }) => (
                <MarketCell venue={venue} marketId={marketId} title={marketQuestion} />
              ),
            },
            { head: 'Order', cell: ({ side, outcome, orderType }) => `${side} ${outcome} ${orderType}` },
            { head: 'Price', numeric: true, cell: ({ price }) => precise(price) },
            { head: 'Market now', numeric: true, cell: ({ tokenId }) => precise(priceNow(tokenId)) },
            {
              head: 'Filled',
              numeric: true,
              cell: ({ filledSize, orderSize }) => `${precise(filledSize)} of ${precise(orderSize)}`,
            },
            {
              head: 'Status',
              cell: ({ status }) => <Badge kind={status === 'unknown' ? 'warn' : ''}>{status}</Badge>,
            },
            { head: 'Since', cell: ({ createdAt }) => <Time at={createdAt} short /> },
            {
              head: 'Stop',
              cell: ({ orderId }) => (
                <CancelOrders
                  label="Cancel order"
                  path={`${path}/cancel`}
                  body={{ orderId }}
                  action={action}
                  onDone={orders.reload}
                />
              ),
            },
          ]}
        />
      )}
    </>
  );
}

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
      wide
    >
      <State of={equity} what="equity" />
      {equity.data !== null && <Equity name={`Equity of ${agent.name}`} series={equity.data} marks={marks} />}
      {equity.data?.fillsTruncated === true && (
        <p class="note">The latest {marks.length} trades are marked.</p>
      )}
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
      {limit !== null && <span class="note"> of {format(limit)}</span>}
      {limit !== null && (
        <meter aria-label={`${name}: used of the limit`} min={0} max={limit || 1} value={used} />
      )}
    </dd>
  </div>
);

function Tiles({ agent }: { readonly agent: OwnerAgentDetail }) {
  const { quota } = agent;
  return (
    <dl class="tiles wide">
      <div>
        <dt>Equity</dt>
        <dd>{money(agent.equity)}</dd>
      </div>
      <div>
        <dt>Can be used</dt>
        <dd>{money(agent.availableBalance)}</dd>
      </div>
      <div>
        <dt>Unrealised</dt>
        <dd>
          <Gain value={agent.unrealizedPnl} />
        </dd>
      </div>
      <div>
        <dt>Today, after fees</dt>
        <dd>
          <Gain value={quota.realizedToday} />
        </dd>
      </div>
      <Quota name="Trades today" {...quota.trades} format={String} />
      <Quota name="Amount today" {...quota.amount} format={money} />
    </dl>
  );
}

function Attention({ agent: { alerts, ordersInDoubt } }: { readonly agent: OwnerAgentDetail }) {
  if (alerts.length === 0 && ordersInDoubt.count === 0) return null;
  return (
    <Card title="Needs attention" wide>
      <ul class="list">
        {alerts.map(({ code, severity, message, marketId }) => (
          <li key={`${code} ${marketId ?? ''}`}>
            <Severity severity={severity} /> <AlertText message={message} marketId={marketId} />
          </li>
        ))}
        {ordersInDoubt.orderIds.map((orderId) => (
          <li key={orderId}>
            <Badge kind="warn">in doubt</Badge> <span class="code">{orderId}</span>: the desk asks the venue
            what became of it.
          </li>
        ))}
      </ul>
    </Card>
  );
}

export function Agent({ agentId }: { readonly agentId: string }) {
  const agent = useResource<OwnerAgentDetail>(`/owner/agents/${encodeURIComponent(agentId)}`, {
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
      <Said said={action.said} />
      {agent.trouble !== null && <State of={agent} what="the agent" />}
      <Tiles agent={data} />
      {data.description !== '' && (
        <div class="wide">
          <Untrusted from="The agent says of itself">{data.description}</Untrusted>
        </div>
      )}
      <Attention agent={data} />
      <EquityCard agent={data} />
      <Card title="Profit and loss per day, after fees" wide>
        <Days name={`Profit and loss of ${data.name} per day, after fees`} days={data.days} />
      </Card>
      <Trading agentId={agentId} />
      <Card title="Decisions">
        <Decisions agentId={agentId} />
      </Card>
      <Card title="Safeguards">
        <Safeguards agent={data} onDone={agent.reload} />
      </Card>
      <Card title="Limits and exits">
        <ExitRule agent={data} onDone={agent.reload} />
      </Card>
      <Card title="API keys">
        <Keys agentId={agentId} />
      </Card>
      <Card title="Wallets that it may use">
        <Wallets agentId={agentId} />
      </Card>
      <Card title="Webhooks" wide>
        <Webhooks agentId={agentId} />
      </Card>
    </main>
  );
}
