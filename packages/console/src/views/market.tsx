/** A market as its owner looks at it: prices, depth, and what the owner's agents have in it. */
import type { HistoryInterval, OwnerAgent, OwnerMarket, PricesHistory } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { type Book, type Level, middleOf, useBooks, useResource } from '../desk/live.ts';
import { Link } from '../desk/router.tsx';
import { Gain, money, outcomeWords, price, roundShares, shares, Time } from '../parts/figures.tsx';
import { Further, Pager, useHeld, usePages } from '../parts/lists.tsx';
import { Badge, Card, Choices, Facts, State, Table, Untrusted } from '../parts/pieces.tsx';
import { Plot, PlotPlace } from '../parts/plots.tsx';

const LEVELS = 6;

const RANGES: readonly (readonly [HistoryInterval, string])[] = [
  ['1h', 'Hour'],
  ['1d', 'Day'],
  ['1w', 'Week'],
  ['1m', 'Month'],
];

interface PricesProps {
  readonly tokenId: string;
  readonly venue: string;
  readonly title: string;
}

function Prices({ tokenId, venue, title }: PricesProps) {
  const [range, setRange] = useState<HistoryInterval>('1d');
  const history = useResource<PricesHistory>(
    `/owner/markets/prices-history?market=${encodeURIComponent(tokenId)}&venue=${encodeURIComponent(venue)}&interval=${range}`,
    { everyMs: 60_000 },
  );
  const known = history.data?.history ?? [];
  const last = known.at(-1);
  // A price stays as it was until the next one.
  const points = last === undefined ? [] : [...known, { t: Date.now() / 1000, p: last.p }];
  const choices = <Choices name="Prices of the last" choices={RANGES} value={range} onChange={setRange} />;
  return (
    <Card title={title} aside={choices} wide>
      <PlotPlace>
        {history.code === 'invalid_request' ? (
          <p class="note">There are no past prices of {venue} here.</p>
        ) : (
          <State of={history} what="prices" />
        )}
        {history.data !== null && points.length === 0 && (
          <p class="note">No price is recorded in this time.</p>
        )}
        {points.length > 0 && (
          <Plot
            name={title}
            times={points.map(({ t }) => t * 1000)}
            lines={[{ label: 'YES', colour: '--accent', values: points.map(({ p }) => p), stepped: true }]}
            format={price}
          />
        )}
      </PlotPlace>
    </Card>
  );
}

/** Always so many lines, each with its place from the best price: figures change where they stand. */
const Side = ({ name, levels }: { readonly name: string; readonly levels: readonly Level[] }) => {
  let sum = 0;
  const rows = Array.from({ length: LEVELS }, (_, place) => {
    const level = levels[place];
    sum += level?.size ?? 0;
    return { place, level, sum };
  });
  return (
    <Table
      caption={name}
      rows={rows}
      keyOf={({ place }) => String(place)}
      phone="table"
      none=""
      columns={[
        { head: name, width: 0.8, numeric: true, cell: ({ level }) => price(level?.price) },
        { head: 'Size', numeric: true, cell: ({ level }) => roundShares(level?.size) },
        {
          head: 'Sum',
          width: 1.1,
          numeric: true,
          cell: (row) => roundShares(row.level === undefined ? null : row.sum),
        },
      ]}
    />
  );
};

const asLevels = (levels: readonly { readonly price: string; readonly size: string }[]): readonly Level[] =>
  levels.map(({ price, size }) => ({ price: Number(price), size: Number(size) }));

interface DepthProps {
  readonly market: OwnerMarket;
  readonly live: Book | undefined;
  readonly title: string;
}

function Depth({ market, live, title }: DepthProps) {
  const book = live ?? {
    bids: asLevels(market.books.yes?.bids ?? []),
    asks: asLevels(market.books.yes?.asks ?? []),
  };
  return (
    <Card
      title={title}
      aside={<Badge kind={live ? 'go' : ''}>{live ? 'as it moves' : 'when it was read'}</Badge>}
    >
      <div class="depth">
        <Side name="Bids" levels={book.bids} />
        <Side name="Asks" levels={book.asks} />
      </div>
    </Card>
  );
}

interface OwnProps {
  readonly data: OwnerMarket;
  readonly names: ReadonlyMap<string, string>;
}

function Own({ data, names }: OwnProps) {
  const nameOf = (agentId: string) => names.get(agentId) ?? 'An agent';
  return (
    <>
      <Card title="Your agents’ positions" wide>
        <Positions positions={data.positions} nameOf={nameOf} />
      </Card>
      <Card title="Your agents’ open orders" wide>
        <OpenOrders orders={data.orders} nameOf={nameOf} />
      </Card>
      <Card title="Your agents’ fills" wide>
        <Fills fills={data.fills} nameOf={nameOf} />
      </Card>
    </>
  );
}

interface Whose {
  readonly nameOf: (agentId: string) => string;
}

type OwnPosition = OwnerMarket['positions'][number];

function Positions({ positions, nameOf }: Whose & { readonly positions: readonly OwnPosition[] }) {
  const keyOf = ({ tokenId, walletAddress }: OwnPosition): string => `${tokenId} ${walletAddress}`;
  const held = useHeld(positions, keyOf);
  return (
    <>
      <Further of={held} what="positions" />
      <Table
        caption="Positions"
        rows={held.rows}
        gone={held.gone}
        keyOf={keyOf}
        none="Your agents hold nothing here."
        phone="lines"
        columns={[
          {
            head: 'Agent',
            width: 1.6,
            cell: ({ agentIds: [first, ...others] }) =>
              first !== undefined && (
                <>
                  <Link class="title" to={`/agents/${first}/positions`}>
                    {nameOf(first)}
                  </Link>
                  {others.length > 0 && <span class="note">and {others.map(nameOf).join(', ')}</span>}
                </>
              ),
          },
          {
            head: 'Held',
            cell: ({ outcome, outcomeName, size }) => `${shares(size)} ${outcomeWords(outcome, outcomeName)}`,
          },
          { head: 'Cost', numeric: true, cell: ({ avgPrice }) => price(avgPrice) },
          { head: 'Unrealised', numeric: true, cell: ({ unrealizedPnl }) => <Gain value={unrealizedPnl} /> },
          { head: 'Realised', numeric: true, cell: ({ realizedPnl }) => <Gain value={realizedPnl} /> },
          { head: 'Value', numeric: true, cell: ({ currentValue }) => money(currentValue) },
        ]}
      />
    </>
  );
}

function OpenOrders({ orders, nameOf }: Whose & Pick<OwnerMarket, 'orders'>) {
  const keyOf = ({ orderId }: OwnerMarket['orders'][number]): string => orderId;
  const held = useHeld(orders, keyOf);
  const pages = usePages(held.rows);
  return (
    <>
      <Further of={held} what="open orders" />
      <Table
        caption="Open orders"
        rows={pages.rows}
        gone={held.gone}
        keyOf={keyOf}
        none="No order is open here."
        phone="lines"
        columns={[
          {
            head: 'Order',
            width: 1.6,
            cell: ({ agentId, orderId, side, outcome, outcomeName }) => (
              <Link class="title" to={`/agents/${agentId}/orders/${orderId}`}>
                {side} {outcomeWords(outcome, outcomeName)}
              </Link>
            ),
          },
          { head: 'Agent', width: 1.6, inLines: 'plain', cell: ({ agentId }) => nameOf(agentId) },
          { head: 'Price', numeric: true, cell: (order) => price(order.price) },
          { head: 'Left', numeric: true, cell: ({ remainingSize }) => shares(remainingSize) },
        ]}
      />
      <Pager of={pages} what="open orders" />
    </>
  );
}

function Fills({ fills, nameOf }: Whose & Pick<OwnerMarket, 'fills'>) {
  const keyOf = ({ tradeId, orderId }: OwnerMarket['fills'][number]): string => `${tradeId} ${orderId}`;
  const held = useHeld(fills, keyOf);
  const pages = usePages(held.rows);
  return (
    <>
      <Further of={held} what="fills" keepsGone />
      <Table
        caption="Fills"
        rows={pages.rows}
        keyOf={keyOf}
        none="Nothing was filled here."
        phone="lines"
        columns={[
          {
            head: 'Fill',
            width: 1.6,
            cell: ({ agentId, orderId, side, size, outcome, outcomeName }) => (
              <Link class="title" to={`/agents/${agentId}/orders/${orderId}`}>
                {side} {shares(size)} {outcomeWords(outcome, outcomeName)}
              </Link>
            ),
          },
          { head: 'Agent', width: 1.6, inLines: 'plain', cell: ({ agentId }) => nameOf(agentId) },
          { head: 'Price', numeric: true, cell: (fill) => price(fill.price) },
          { head: 'Fee', numeric: true, cell: ({ fee }) => price(fee) },
          {
            head: 'Time',
            width: 1.2,
            inLines: 'plain',
            cell: ({ filledAt }) => <Time at={filledAt} short />,
          },
        ]}
      />
      <Pager of={pages} what="fills" />
    </>
  );
}

export function Market({ marketId, venue }: { readonly marketId: string; readonly venue: string | null }) {
  const query = venue === null ? '' : `?venue=${encodeURIComponent(venue)}`;
  const market = useResource<OwnerMarket>(`/owner/markets/${encodeURIComponent(marketId)}${query}`, {
    on: ({ data }) => data?.marketId === marketId,
    everyMs: 15_000,
  });
  const agents = useResource<readonly OwnerAgent[]>('/owner/agents');
  const names = new Map(agents.data?.map(({ agentId, name }) => [agentId, name]));
  const [yes] = market.data?.market.clobTokenIds ?? [];
  const live = useBooks(yes === undefined ? [] : [yes]).get(yes ?? '');
  const { data } = market;
  if (data === null)
    return (
      <main id="content">
        <h1>Market</h1>
        <State of={market} what="the market" />
      </main>
    );
  const { market: facts, untrustedText } = data;
  const sides = ['YES', 'NO'].map((side, at) => outcomeWords(side, facts.outcomes[at]));
  const [yesWords = 'YES'] = sides;
  const yesPrice = (live === undefined ? null : middleOf(live)) ?? facts.yesPrice;
  return (
    <main id="content" class="columns">
      <div class="intro">
        <h1>{untrustedText.title}</h1>
        <Badge kind={facts.active ? 'go' : ''}>{facts.status}</Badge>
      </div>
      {market.trouble !== null && <State of={market} what="the market" />}
      {yes !== undefined && <Prices tokenId={yes} venue={facts.venue} title={`Price of ${yesWords}`} />}
      <Depth market={data} live={live} title={`Depth of ${yesWords}`} />
      <Card title="Figures">
        <Facts
          rows={[
            ...(sides.join() === 'YES,NO' ? [] : [['Outcomes', sides.join(', ')] as const]),
            ['Price of YES', price(yesPrice)],
            ['Venue', facts.venue],
            ['Volume of 24 hours', money(facts.volume24hr)],
            [
              'Ends',
              facts.endDate.startsWith('9999-') ? 'the venue names no time' : <Time at={facts.endDate} />,
            ],
            ...(facts.gameStartTime === undefined
              ? []
              : [['Game starts', <Time at={facts.gameStartTime} />] as const]),
            ...(facts.takerDelaySeconds === undefined
              ? []
              : [['Takers are held', `${facts.takerDelaySeconds} s`] as const]),
          ]}
        />
      </Card>
      <Own data={data} names={names} />
      <Card title="Rules" wide>
        <p class="note">{untrustedText.notice}</p>
        <Untrusted from="Written by strangers">{untrustedText.rules}</Untrusted>
      </Card>
    </main>
  );
}
