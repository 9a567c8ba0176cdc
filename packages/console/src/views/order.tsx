/** One order: what was asked, what was checked, what the venue answered. */
import type { OrderDetail } from '@bellwether/contract';
import { useResource } from '../desk/resource.ts';
import { Link } from '../desk/router.tsx';
import { money, precise, Time } from '../parts/figures.tsx';
import { Badge, Card, Facts, State, Table, Untrusted } from '../parts/pieces.tsx';

interface OrderViewProps {
  readonly agentId: string;
  readonly orderId: string;
}

function Terms({ order }: { readonly order: OrderDetail }) {
  return (
    <>
      <Untrusted from="Market, as strangers put it">{order.marketQuestion}</Untrusted>
      {order.reasoning !== null && order.reasoning !== '' && (
        <Untrusted from="Why, in the agent’s words">{order.reasoning}</Untrusted>
      )}
      <Facts
        rows={[
          [
            'Order',
            `${order.side} ${precise(order.orderSize)} ${order.outcome} at ${precise(order.price)}, ${order.orderType}`,
          ],
          ['Status', <Badge>{order.status}</Badge>],
          [
            'Filled',
            `${precise(order.filledSize)} for ${money(order.filledAmount)}, fees ${precise(order.feePaid)}`,
          ],
          ['Venue', order.venue],
          ['Wallet', <span class="code">{order.walletAddress}</span>],
          ['Order id', <span class="code">{order.orderId}</span>],
          ['Placed', <Time at={order.createdAt} />],
          ...(order.errorMessage === null ? [] : [['The venue said', order.errorMessage] as const]),
        ]}
      />
    </>
  );
}

function History({ order }: { readonly order: OrderDetail }) {
  return (
    <>
      <ul class="list">
        {order.journal.map(({ at, event, status, detail }) => (
          <li key={`${at} ${event} ${status}`}>
            <span class="note">
              <Time at={at} />{' '}
            </span>
            {event} → {status}
            {detail === undefined ? '' : `: ${detail}`}
          </li>
        ))}
      </ul>
      <Table
        caption="Fills"
        rows={order.fills}
        keyOf={({ tradeId }) => tradeId}
        none="Nothing is filled."
        columns={[
          { head: 'Time', cell: ({ filledAt }) => <Time at={filledAt} /> },
          { head: 'Size', numeric: true, cell: ({ size }) => precise(size) },
          { head: 'Price', numeric: true, cell: ({ price }) => precise(price) },
          { head: 'Fee', numeric: true, cell: ({ fee }) => precise(fee) },
          { head: 'As', cell: ({ liquidity }) => liquidity },
        ]}
      />
    </>
  );
}

export function OrderView({ agentId, orderId }: OrderViewProps) {
  const path = `/owner/agents/${encodeURIComponent(agentId)}/orders/${encodeURIComponent(orderId)}`;
  const on = (event: { agentId: string; data: { orderId?: string } }) =>
    event.agentId === agentId && event.data?.orderId === orderId;
  const order = useResource<OrderDetail>(path, { on });
  return (
    <main id="content" class="columns">
      <div class="intro">
        <div>
          <h1>Order</h1>
          <p>
            <Link to={`/agents/${agentId}`}>The agent that placed it</Link>
          </p>
        </div>
      </div>
      <Card title="Order">
        <State of={order} what="the order" />
        {order.data !== null && <Terms order={order.data} />}
      </Card>
      <Card title="What became of it">{order.data !== null && <History order={order.data} />}</Card>
    </main>
  );
}
