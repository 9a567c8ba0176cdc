/** What an agent holds and what it has ordered. */
import type { CancelMarketResponse, Order, Position } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { type DeskEvent, middleOf, type Resource, useBooks, useResource } from '../desk/live.ts';
import { Link } from '../desk/router.tsx';
import { send } from '../desk/session.ts';
import { Exits } from './exits.tsx';
import { Gain, money, outcomeWords, price, shares, Time } from './figures.tsx';
import { Further, Pager, useHeld, useHistory, usePages } from './lists.tsx';
import { type Action, Badge, Card, Choices, State, Table, useAction } from './pieces.tsx';

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

type Which = 'open' | 'all';
const WHICH: readonly (readonly [Which, string])[] = [
  ['open', 'Open'],
  ['all', 'All'],
];

/** By one stream: a browser has only six connections to the desk, for all its tabs. */
interface AgentOrdersProps {
  readonly agentId: string;
  /** After an act that changes how the agent stands. */
  readonly onDone: () => void;
}

export function AgentOrders({ agentId, onDone }: AgentOrdersProps) {
  const [which, setWhich] = useState<Which>('open');
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
      <Card
        title="Orders"
        aside={<Choices name="Which orders" choices={WHICH} value={which} onChange={setWhich} />}
        wide
      >
        {which === 'open' ? (
          <OpenOrders agentId={agentId} orders={orders} priceNow={priceNow} />
        ) : (
          <AllOrders agentId={agentId} />
        )}
      </Card>
      {/* Last: what it says of positions without an exit grows and shrinks. */}
      <Card title="Guarded exits" wide>
        <Exits agentId={agentId} held={held} onDone={onDone} />
      </Card>
    </>
  );
}

interface Prices {
  readonly priceNow: (tokenId: string) => number | null;
}

function Positions({ positions, priceNow }: Prices & { readonly positions: Resource<readonly Position[]> }) {
  const keyOf = ({ tokenId, walletAddress }: Position): string => `${tokenId} ${walletAddress}`;
  const held = useHeld(positions.data, keyOf);
  const pages = usePages(held.rows);
  const now = ({ tokenId, currentPrice }: Position): number => priceNow(tokenId) ?? currentPrice;
  return (
    <>
      <State of={positions} what="positions" />
      <Further of={held} what="positions" />
      {positions.data !== null && (
        <Table
          caption="Positions"
          rows={pages.rows}
          gone={held.gone}
          keyOf={keyOf}
          none="It holds nothing. What it buys appears here."
          columns={[
            { head: 'Market', width: 3, cell: (row) => <MarketCell {...row} /> },
            {
              head: 'Held',
              width: 1.2,
              cell: ({ outcome, outcomeName, size }) =>
                `${shares(size)} ${outcomeWords(outcome, outcomeName)}`,
            },
            { head: 'Cost', numeric: true, cell: ({ avgPrice }) => price(avgPrice) },
            { head: 'Price', numeric: true, cell: (row) => price(now(row)) },
            { head: 'Value', numeric: true, cell: (row) => money(now(row) * row.size) },
            {
              head: 'Unrealised',
              numeric: true,
              cell: (row) => <Gain value={now(row) * row.size - row.initialValue} />,
            },
          ]}
        />
      )}
      <Pager of={pages} what="positions" />
    </>
  );
}

interface OpenOrdersProps extends Prices {
  readonly agentId: string;
  readonly orders: Resource<readonly Order[]>;
}

const orderKey = ({ orderId }: Order): string => orderId;
const orderWords = ({ side, outcome, outcomeName, orderType }: Order): string =>
  `${side} ${outcomeWords(outcome, outcomeName)} ${orderType}`;
const filledOf = ({ filledSize, orderSize }: Order): string =>
  `${shares(filledSize)} of ${shares(orderSize)}`;

const OrderMarket = ({ venue, marketId, marketQuestion }: Order) => (
  <MarketCell venue={venue} marketId={marketId} title={marketQuestion} />
);

const StatusBadge = ({ status }: Pick<Order, 'status'>) => (
  <Badge kind={status === 'unknown' ? 'warn' : ''}>{status.replaceAll('_', ' ')}</Badge>
);

function OpenOrders({ agentId, orders, priceNow }: OpenOrdersProps) {
  const action = useAction();
  const held = useHeld(orders.data, orderKey);
  const pages = usePages(held.rows);
  const path = `/owner/agents/${agentId}/orders`;
  return (
    <>
      <State of={orders} what="open orders" />
      <div class="head">
        <Further of={held} what="open orders" />
        <CancelOrders
          label="Cancel all open orders of this agent"
          path={`${path}/cancel-market`}
          isNone={orders.data === null || orders.data.length === 0}
          action={action}
          onDone={orders.reload}
        />
      </div>
      {orders.data !== null && (
        <Table
          caption="Open orders"
          rows={pages.rows}
          gone={held.gone}
          keyOf={orderKey}
          none="No order is open."
          columns={[
            { head: 'Market', width: 2.6, cell: OrderMarket },
            { head: 'Order', width: 1.3, cell: orderWords },
            { head: 'Price', width: 0.8, numeric: true, cell: (order) => price(order.price) },
            {
              head: 'Market now',
              width: 0.9,
              numeric: true,
              cell: ({ tokenId }) => price(priceNow(tokenId)),
            },
            { head: 'Filled', width: 1.2, numeric: true, cell: filledOf },
            { head: 'Status', width: 1.1, cell: (order) => <StatusBadge {...order} /> },
            { head: 'Since', width: 1.1, cell: ({ createdAt }) => <Time at={createdAt} short /> },
            {
              head: 'Stop',
              width: 1.3,
              // One that is not open any more keeps its button, so that its row keeps its height.
              cell: ({ orderId }) => (
                <CancelOrders
                  label="Cancel order"
                  path={`${path}/cancel`}
                  body={{ orderId }}
                  isNone={held.gone.has(orderId)}
                  action={action}
                  onDone={orders.reload}
                />
              ),
            },
          ]}
        />
      )}
      <Pager of={pages} what="open orders" />
    </>
  );
}

function AllOrders({ agentId }: { readonly agentId: string }) {
  const history = useHistory<readonly Order[], Order>({
    path: `/owner/agents/${agentId}/orders?`,
    rowsOf: (orders) => orders,
    keyOf: orderKey,
    on: (event) => event.agentId === agentId,
  });
  const { held, resource } = history;
  return (
    <>
      <State of={resource} what="orders" />
      <div class="head">
        <Further of={held} what="orders" keepsGone />
      </div>
      {resource.data !== null && (
        <Table
          caption="All orders"
          rows={held.rows}
          keyOf={orderKey}
          none={history.page > 0 ? 'There are no older ones.' : 'It has placed no order yet.'}
          columns={[
            { head: 'Placed', width: 1.2, cell: ({ createdAt }) => <Time at={createdAt} short /> },
            { head: 'Market', width: 2.8, cell: OrderMarket },
            {
              head: 'Order',
              width: 1.4,
              cell: (order) => (
                <Link to={`/agents/${agentId}/orders/${order.orderId}`}>
                  {orderWords(order)}
                  <span class="hidden"> and receipt</span>
                </Link>
              ),
            },
            { head: 'Price', width: 0.8, numeric: true, cell: (order) => price(order.price) },
            { head: 'Filled', width: 1.2, numeric: true, cell: filledOf },
            { head: 'Status', width: 1.2, cell: (order) => <StatusBadge {...order} /> },
          ]}
        />
      )}
      <Pager of={history} what="orders" />
    </>
  );
}

// Takes what rests off the books, with one tap: a cancel only reduces, so nothing is asked.

const countedOrders = (count: number): string => (count === 1 ? 'one order' : `${count} orders`);

type CancelOutcome = Pick<CancelMarketResponse, 'canceled' | 'notCanceled'>;

function outcomeOf({ canceled, notCanceled }: CancelOutcome): string {
  const left = Object.values(notCanceled);
  const done =
    canceled.length === 0 ? 'No order was canceled.' : `Canceled ${countedOrders(canceled.length)}.`;
  return left.length === 0
    ? done
    : `${done} Not canceled: ${countedOrders(left.length)} (${[...new Set(left)].join('; ')}).`;
}

interface CancelOrdersProps {
  /** Names what is canceled, for a label. */
  readonly label: string;
  readonly path: string;
  readonly body?: { readonly orderId: string };
  /** Nothing can be canceled now; the button keeps its place. */
  readonly isNone?: boolean;
  readonly action: Action;
  readonly onDone: () => void;
}

export function CancelOrders({ label, path, body, isNone = false, action, onDone }: CancelOrdersProps) {
  const cancel = () =>
    void action
      .run(async () => {
        return outcomeOf(await send<CancelOutcome>(path, body));
      })
      .then(onDone);
  return (
    <button type="button" class="stop" disabled={action.isBusy || isNone} onClick={cancel}>
      {label}
    </button>
  );
}
