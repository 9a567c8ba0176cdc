/** A market as its owner looks at it: prices, depth, and what the owner's agents have in it. */
import type { HistoryInterval, OwnerAgent, OwnerMarket, PricesHistory } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { type Book, type Level, middleOf, useBooks } from '../desk/books.ts';
import { useResource } from '../desk/resource.ts';
import { Link } from '../desk/router.tsx';
import { Gain, money, precise, Time } from '../parts/figures.tsx';
import { Badge, Card, Facts, State, Table, Untrusted } from '../parts/pieces.tsx';
import { Plot } from '../parts/plot.tsx';

const LEVELS = 10;

const RANGES: readonly (readonly [HistoryInterval, string])[] = [
  ['1h', 'Hour'],
  ['1d', 'Day'],
  ['1w', 'Week'],
  ['1m', 'Month'],
];

function Prices({ tokenId, venue }: { readonly tokenId: string; readonly venue: string }) {
  const [range, setRange] = useState<HistoryInterval>('1d');
  const history = useResource<PricesHistory>(
    `/owner/markets/prices-history?market=${encodeURIComponent(tokenId)}&venue=${encodeURIComponent(venue)}&interval=${range}`,
    { everyMs: 60_000 },
  );
  const known = history.data?.history ?? [];
  const last = known.at(-1);
  // A price stays as it was until the next one.
  const points = last === undefined ? [] : [...known, { t: Date.now() / 1000, p: last.p }];
  const choices = (
    <fieldset class="choices">
      <legend class="hidden">Prices of the last</legend>
      {RANGES.map(([interval, label]) => (
        <button
          key={interval}
          type="button"
          aria-pressed={interval === range}
          onClick={() => setRange(interval)}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
  return (
    <Card title="Price of YES" aside={choices} wide>
      {history.code === 'invalid_request' ? (
        <p class="note">There are no past prices of {venue} here.</p>
      ) : (
        <State of={history} what="prices" />
      )}
      {history.data !== null && points.length === 0 && <p class="note">No price is recorded in this time.</p>}
      {points.length > 0 && (
        <Plot
          name="Price of YES"
          times={points.map(({ t }) => t * 1000)}
          lines={[{ label: 'YES', colour: '--accent', values: points.map(({ p }) => p), stepped: true }]}
          format={precise}
        />
      )}
    </Card>
  );
}

const Side = ({ name, levels }: { readonly name: string; readonly levels: readonly Level[] }) => {
  let sum = 0;
  const rows = levels.slice(0, LEVELS).map(({ price, size }) => {
    sum += size;
    return { price, size, sum };
  });
  return (
    <Table
      caption={name}
      rows={rows}
      keyOf={({ price }) => String(price)}
      none={`No ${name.toLowerCase()}.`}
      columns={[
        { head: name, numeric: true, cell: ({ price }) => precise(price) },
        { head: 'Size', numeric: true, cell: ({ size }) => precise(size) },
        { head: 'Sum', numeric: true, cell: (row) => precise(row.sum) },
      ]}
    />
  );
};

const asLevels = (levels: readonly { readonly price: string; readonly size: string }[]): readonly Level[] =>
  levels.map(({ price, size }) => ({ price: Number(price), size: Number(size) }));

function Depth({ market, live }: { readonly market: OwnerMarket; readonly live: Book | undefined }) {
  const book = live ?? {
    bids: asLevels(market.books.yes?.bids ?? []),
    asks: asLevels(market.books.yes?.asks ?? []),
  };
  return (
    <Card
      title="Depth of YES"
      aside={<Badge kind={live ? 'go' : ''}>{live ? 'as it moves' : 'when it was read'}</Badge>}
    >
      <div class="depth">
        <Side name="Bids" levels={book.bids} />
        <Side name="Asks" levels={book.asks} />
      </div>
    </Card>
  );
}

function Own({ data, names }: { readonly data: OwnerMarket; readonly names: ReadonlyMap<string, string> }) {
  const whose = (agentId: string) => (
    <Link to={`/agents/${agentId}`}>{names.get(agentId) ?? 'An agent'}</Link>
  );
  return (
    <>
      <Card title="Your agents’ positions" wide>
        <Table
          caption="Positions"
          rows={data.positions}
          keyOf={({ tokenId, walletAddress }) => `${tokenId} ${walletAddress}`}
          none="Your agents hold nothing here."
          columns={[
            { head: 'Held', cell: ({ outcome, size }) => `${precise(size)} ${outcome}` },
            { head: 'Cost', numeric: true, cell: ({ avgPrice }) => precise(avgPrice) },
            { head: 'Value', numeric: true, cell: ({ currentValue }) => money(currentValue) },
            {
              head: 'Unrealised',
              numeric: true,
              cell: ({ unrealizedPnl }) => <Gain value={unrealizedPnl} />,
            },
            { head: 'Realised', numeric: true, cell: ({ realizedPnl }) => <Gain value={realizedPnl} /> },
          ]}
        />
      </Card>
      <Card title="Your agents’ open orders">
        <Table
          caption="Open orders"
          rows={data.orders}
          keyOf={({ orderId }) => orderId}
          none="No order is open here."
          columns={[
            { head: 'Agent', cell: ({ agentId }) => whose(agentId) },
            {
              head: 'Order',
              cell: ({ agentId, orderId, side, outcome }) => (
                <Link to={`/agents/${agentId}/orders/${orderId}`}>
                  {side} {outcome}
                </Link>
              ),
            },
            { head: 'Price', numeric: true, cell: ({ price }) => precise(price) },
            { head: 'Left', numeric: true, cell: ({ remainingSize }) => precise(remainingSize) },
          ]}
        />
      </Card>
      <Card title="Your agents’ fills">
        <Table
          caption="Fills"
          rows={data.fills}
          keyOf={({ tradeId, orderId }) => `${tradeId} ${orderId}`}
          none="Nothing was filled here."
          columns={[
            { head: 'Time', cell: ({ filledAt }) => <Time at={filledAt} short /> },
            { head: 'Agent', cell: ({ agentId }) => whose(agentId) },
            { head: 'Fill', cell: ({ side, size, outcome }) => `${side} ${precise(size)} ${outcome}` },
            { head: 'Price', numeric: true, cell: ({ price }) => precise(price) },
            { head: 'Fee', numeric: true, cell: ({ fee }) => precise(fee) },
          ]}
        />
      </Card>
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
  const price = (live === undefined ? null : middleOf(live)) ?? facts.yesPrice;
  return (
    <main id="content" class="columns">
      <div class="intro">
        <h1>{untrustedText.title}</h1>
        <Badge kind={facts.active ? 'go' : ''}>{facts.status}</Badge>
      </div>
      {market.trouble !== null && <State of={market} what="the market" />}
      {yes !== undefined && <Prices tokenId={yes} venue={facts.venue} />}
      <Depth market={data} live={live} />
      <Card title="Figures">
        <Facts
          rows={[
            ['Price of YES', precise(price)],
            ['Venue', facts.venue],
            ['Volume of 24 hours', money(facts.volume24hr)],
            ['Ends', <Time at={facts.endDate} />],
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
