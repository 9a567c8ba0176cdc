/** What an agent holds and what it has ordered. */
import type { CancelMarketResponse, Order, OwnerExit, Position } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { type DeskEvent, middleOf, type Resource, useBooks, useResource } from '../desk/live.ts';
import { Link } from '../desk/router.tsx';
import { send } from '../desk/session.ts';
import { shortWhen } from './exits.tsx';
import { Gain, money, outcomeWords, price, shares, Time } from './figures.tsx';
import { Further, Pager, useHeld, useHistory, usePages } from './lists.tsx';
import { type Action, Badge, Card, Choices, State, Table, useAction } from './pieces.tsx';

interface OfAgent {
  readonly agentId: string;
}

/** Follows what the agent does; figures that move without an event are read again, too. */
const ofAgent = (agentId: string) => ({
  on: (event: DeskEvent) => event.agentId === agentId,
  everyMs: 15_000,
});

function usePrices(of: readonly { readonly tokenId: string }[] | null): (tokenId: string) => number | null {
  const books = useBooks((of ?? []).map(({ tokenId }) => tokenId));
  return (tokenId) => {
    const book = books.get(tokenId);
    return book === undefined ? null : middleOf(book);
  };
}

interface Holding {
  readonly walletAddress: string;
  readonly marketId: string;
  readonly outcome: string;
}

const holdingOf = ({ walletAddress, marketId, outcome }: Holding): string =>
  `${walletAddress.toLowerCase()} ${marketId} ${outcome}`;

const MOST_EXITS = 100;

/** Which exits guard a holding, the one that is armed first. */
function guardText(exits: readonly OwnerExit[] | null, holding: Holding): string {
  if (exits === null) return '—';
  const guards = exits.filter((exit) => holdingOf(exit) === holdingOf(holding));
  const first = guards.find(({ status }) => status === 'armed') ?? guards[0];
  // Of more than are read, one may be missing here.
  if (first === undefined) return exits.length < MOST_EXITS ? 'none' : '—';
  return `${shortWhen(first)}${guards.length === 1 ? '' : ` and ${guards.length - 1} more`}`;
}

export function Positions({ agentId }: OfAgent) {
  const positions = useResource<readonly Position[]>(`/owner/agents/${agentId}/positions`, ofAgent(agentId));
  const exits = useResource<readonly OwnerExit[]>(`/owner/exits?agentId=${agentId}&limit=100&status=open`, {
    on: ({ type, agentId: of }) => of === agentId && type.startsWith('exit.'),
    everyMs: 60_000,
  });
  const keyOf = ({ tokenId, walletAddress }: Position): string => `${tokenId} ${walletAddress}`;
  const held = useHeld(positions.data, keyOf);
  const pages = usePages(held.rows);
  const priceNow = usePrices(positions.data?.filter(({ redeemable }) => !redeemable) ?? null);
  const now = ({ tokenId, currentPrice }: Position): number => priceNow(tokenId) ?? currentPrice;
  return (
    <Card title="Positions" wide>
      <p class="hint">
        Where no exit is left, only the agent can sell: ask it to sign one. The desk holds no key.
      </p>
      <State of={positions} what="positions" />
      <Further of={held} what="positions" />
      {positions.data !== null && (
        <Table
          caption="Positions"
          rows={pages.rows}
          gone={held.gone}
          keyOf={keyOf}
          none="It holds nothing. What it buys appears here."
          phone="lines"
          columns={[
            {
              head: 'Market',
              width: 3,
              cell: ({ venue, marketId, title }) => (
                <Link
                  class="title"
                  to={`/markets/${encodeURIComponent(marketId)}?venue=${encodeURIComponent(venue)}`}
                >
                  {title}
                </Link>
              ),
            },
            {
              head: 'Held',
              width: 1.2,
              inLines: 'plain',
              cell: ({ outcome, outcomeName, size }) =>
                `${shares(size)} ${outcomeWords(outcome, outcomeName)}`,
            },
            { head: 'Cost', numeric: true, cell: ({ avgPrice }) => price(avgPrice) },
            { head: 'Price', numeric: true, cell: (row) => price(now(row)) },
            {
              head: 'Exit',
              numeric: true,
              cell: (row) => guardText(exits.data, row),
            },
            {
              head: 'Value, unrealised',
              width: 1.2,
              numeric: true,
              inLines: 'plain',
              cell: (row) => (
                <>
                  <span class="of">{money(now(row) * row.size)}</span>
                  <Gain value={now(row) * row.size - row.initialValue} />
                </>
              ),
            },
          ]}
        />
      )}
      <Pager of={pages} what="positions" />
    </Card>
  );
}

type Which = 'open' | 'all';
const WHICH: readonly (readonly [Which, string])[] = [
  ['open', 'Open'],
  ['all', 'All'],
];

export function Orders({ agentId }: OfAgent) {
  const [which, setWhich] = useState<Which>('open');
  return (
    <Card
      title="Orders"
      aside={<Choices name="Which orders" choices={WHICH} value={which} onChange={setWhich} />}
      wide
    >
      {which === 'open' ? <OpenOrders agentId={agentId} /> : <AllOrders agentId={agentId} />}
    </Card>
  );
}

const orderKey = ({ orderId }: Order): string => orderId;
const orderWords = ({ side, outcome, outcomeName, orderType }: Order): string =>
  `${side} ${outcomeWords(outcome, outcomeName)} ${orderType}`;
const filledOf = ({ filledSize, orderSize }: Order): string =>
  `${shares(filledSize)} of ${shares(orderSize)}`;
const atPrice = (order: Order): string => `${orderWords(order)} at ${price(order.price)}`;

const orderLink = (agentId: string) => ({
  head: 'Market',
  width: 2.6,
  cell: ({ orderId, marketQuestion }: Order) => (
    <Link class="title" to={`/agents/${agentId}/orders/${orderId}`}>
      {marketQuestion}
      <span class="hidden"> (order and receipt)</span>
    </Link>
  ),
});

/** Of an order that simply rests, what is filled says as much. */
const RESTS = new Set(['live', 'partially_filled']);
const StatusWord = ({ status }: Pick<Order, 'status'>) => {
  const words = status.replaceAll('_', ' ');
  if (RESTS.has(status)) return <span class="usual">{words}</span>;
  return <Badge kind={status === 'unknown' ? 'warn' : ''}>{words}</Badge>;
};

function OpenOrders({ agentId }: OfAgent) {
  const path = `/owner/agents/${agentId}/orders`;
  const orders: Resource<readonly Order[]> = useResource(`${path}/open`, ofAgent(agentId));
  const action = useAction();
  const held = useHeld(orders.data, orderKey);
  const pages = usePages(held.rows);
  const priceNow = usePrices(orders.data);
  return (
    <>
      <State of={orders} what="open orders" />
      <div class="head">
        <Further of={held} what="open orders" />
        <CancelOrders
          label="Cancel all open orders"
          of="of this agent"
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
          phone="lines"
          columns={[
            orderLink(agentId),
            { head: 'Order', width: 1.8, inLines: 'plain', cell: atPrice },
            {
              head: 'Now',
              width: 0.8,
              numeric: true,
              cell: ({ tokenId }) => price(priceNow(tokenId)),
            },
            { head: 'Filled', width: 1.2, numeric: true, inLines: 'plain', cell: filledOf },
            { head: 'Status', width: 1.1, inLines: 'plain', cell: (order) => <StatusWord {...order} /> },
            {
              head: 'Since',
              width: 1.1,
              inLines: 'none',
              cell: ({ createdAt }) => <Time at={createdAt} short />,
            },
            {
              head: 'Stop',
              inLines: 'plain',
              // One that is not open any more keeps its button, so that its row keeps its height.
              cell: (order) => (
                <CancelOrders
                  label="Cancel"
                  of={`order ${atPrice(order)} of ${order.marketQuestion}`}
                  path={`${path}/cancel`}
                  body={{ orderId: order.orderId }}
                  isNone={held.gone.has(order.orderId)}
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

function AllOrders({ agentId }: OfAgent) {
  const history = useHistory<readonly Order[], Order>({
    path: `/owner/agents/${agentId}/orders`,
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
          phone="lines"
          columns={[
            orderLink(agentId),
            { head: 'Order', width: 2, inLines: 'plain', cell: atPrice },
            { head: 'Filled', width: 1.2, numeric: true, inLines: 'plain', cell: filledOf },
            { head: 'Status', width: 1.2, inLines: 'plain', cell: (order) => <StatusWord {...order} /> },
            {
              head: 'Placed',
              width: 1.2,
              inLines: 'plain',
              cell: ({ createdAt }) => <Time at={createdAt} short />,
            },
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
  readonly label: string;
  /** Names what is canceled, where the label alone does not. */
  readonly of?: string;
  readonly path: string;
  readonly body?: { readonly orderId: string };
  /** Nothing can be canceled now; the button keeps its place. */
  readonly isNone?: boolean;
  readonly action: Action;
  readonly onDone: () => void;
}

export function CancelOrders({ label, of, path, body, isNone = false, action, onDone }: CancelOrdersProps) {
  const cancel = () =>
    void action
      .run(async () => {
        return outcomeOf(await send<CancelOutcome>(path, body));
      })
      .then(onDone);
  return (
    <button type="button" class="stop" disabled={action.isBusy || isNone} onClick={cancel}>
      {label}
      {of !== undefined && <span class="hidden"> {of}</span>}
    </button>
  );
}
