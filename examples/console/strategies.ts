/** Four agents that trade on paper, each with a mind of its own: something to look at in the owner's console. */
import {
  BellwetherApiError,
  BellwetherClient,
  buildLimitOrder,
  buildMarketOrder,
  createVenueCredentials,
  credentialRequest,
  type Market,
  OrderBuildError,
  Signer,
} from '@bellwether/sdk';

export interface Seat {
  readonly client: BellwetherClient;
  readonly signer: Signer;
  readonly name: string;
  readonly agentId: string;
  /** A person becomes its owner here. */
  readonly claimUrl: string;
}

interface Turn extends Seat {
  readonly markets: readonly Market[];
  /** Middle prices of YES at this agent's turn before, by market. */
  readonly before: ReadonlyMap<string, number>;
  readonly round: number;
}

interface Strategy {
  readonly name: string;
  readonly description: string;
  readonly act: (turn: Turn) => Promise<void>;
}

export interface Outcome {
  readonly agent: string;
  /** The refusal of the desk or the venue; `null`: it traded. */
  readonly refused: string | null;
}

const MARKETS = 4;
const SPREAD = { low: 0.15, high: 0.85 } as const;

const pick = <T>(items: readonly T[], round: number): T => items[round % items.length] as T;

const onGrid = (market: Market, price: number): string => {
  const tick = Number(market.tickSize);
  const ticks = Math.min(Math.round(1 / tick) - 1, Math.max(1, Math.round(price / tick)));
  return (ticks * tick).toFixed(4);
};

interface Taking {
  readonly market: Market;
  readonly outcome: 'YES' | 'NO';
  readonly amount: number;
  readonly reasoning: string;
  readonly source: string;
}

/** Spends at once, at most three hundredths beyond the book. */
async function take({ client, signer }: Seat, { market, outcome, amount, ...labels }: Taking): Promise<void> {
  const best = outcome === 'YES' ? Number(market.bestAsk) : 1 - Number(market.bestBid);
  const worstPrice = onGrid(market, best + 0.03);
  await client.placeTrade(
    await buildMarketOrder({ signer, market, outcome, side: 'BUY', amount, worstPrice, ...labels }),
  );
}

/** Sells the position that gained most, when one gained enough. */
async function takeProfit({ client, signer, markets }: Turn, source: string): Promise<boolean> {
  const positions = await client.getCurrentPositions();
  const gained = positions
    .filter(({ percentPnl, size }) => percentPnl > 2 && size >= 5)
    .sort((a, b) => b.percentPnl - a.percentPnl);
  for (const { conditionId, outcome, size, currentPrice, percentPnl } of gained) {
    const market = markets.find((candidate) => candidate.conditionId === conditionId);
    if (market === undefined) continue;
    const order = await buildMarketOrder({
      signer,
      market,
      outcome,
      side: 'SELL',
      shares: size.toFixed(2),
      worstPrice: onGrid(market, currentPrice - 0.03),
      source,
      reasoning: `Up ${percentPnl.toFixed(1)} %: take it.`,
    });
    await client.placeTrade(order);
    return true;
  }
  return false;
}

/** How far the price of YES moved since this agent looked last. */
const moved = ({ before }: Turn, market: Market): number =>
  market.yesPrice - (before.get(market.id) ?? market.yesPrice);

const STRATEGIES: readonly Strategy[] = [
  {
    name: 'Patient maker',
    description: 'Rests a bid one tick below the best one, and moves it when the market moves.',
    async act({ client, signer, markets, round }) {
      const market = pick(markets, round);
      const open = await client.listOpenOrders();
      if (open.length > 3) await client.cancelOrder(open.at(-1)?.orderId ?? '');
      const price = onGrid(market, Number(market.bestBid) - Number(market.tickSize));
      await client.placeTrade(
        await buildLimitOrder({
          ...{ signer, market, outcome: 'YES', side: 'BUY', price, size: 20, postOnly: true },
          source: 'sdk:patient-maker',
          reasoning: `Waits at ${price}, a tick below the best bid ${market.bestBid}.`,
        }),
      );
    },
  },
  {
    name: 'Trend follower',
    description: 'Buys what rose since it looked last, and sells what gained two percent.',
    async act(turn) {
      const source = 'sdk:trend';
      if (turn.round % 3 === 2 && (await takeProfit(turn, source))) return;
      const market = [...turn.markets].sort((a, b) => Math.abs(moved(turn, b)) - Math.abs(moved(turn, a)))[0];
      if (market === undefined) return;
      const outcome = moved(turn, market) >= 0 ? 'YES' : 'NO';
      const reasoning = `YES moved by ${moved(turn, market).toFixed(3)}: follow it.`;
      await take(turn, { market, outcome, amount: 8 + (turn.round % 3) * 4, reasoning, source });
    },
  },
  {
    name: 'Contrarian',
    description: 'Buys what fell, because crowds overdo it.',
    async act(turn) {
      const source = 'sdk:contrarian';
      if (turn.round % 4 === 3 && (await takeProfit(turn, source))) return;
      const market = pick(turn.markets, turn.round + 1);
      const outcome = moved(turn, market) > 0 ? 'NO' : 'YES';
      const reasoning = `YES moved by ${moved(turn, market).toFixed(3)}: too far, bet against it.`;
      await take(turn, { market, outcome, amount: 12, reasoning, source });
    },
  },
  {
    name: 'Impatient gambler',
    description: 'Wants more than it may: look at what the desk refuses.',
    async act(turn) {
      const market = pick(turn.markets, turn.round);
      const amount = turn.round % 3 === 1 ? 400 : 25 + (turn.round % 4) * 10;
      const reasoning = 'A feeling. Double it if it falls.';
      await take(turn, {
        market,
        outcome: turn.round % 2 === 0 ? 'YES' : 'NO',
        amount,
        reasoning,
        source: 'sdk:hunch',
      });
    },
  },
];

/** @param baseUrl of a service whose venue A is on paper */
export async function seatAgents(baseUrl: string): Promise<readonly Seat[]> {
  const visitor = new BellwetherClient({ baseUrl });
  const seats: Seat[] = [];
  for (const { name, description } of STRATEGIES) {
    const { agentId, apiKeyCode, claimUrl } = await visitor.registerAgent({ name, description });
    const client = visitor.withApiKey(apiKeyCode);
    const { venues } = await client.getMe();
    if (venues.some(({ kind, backend }) => kind === 'A' && backend !== 'paper'))
      throw new Error('venue A is live there: this demo trades simulated money only');
    const signer = Signer.generate();
    const credentials = await createVenueCredentials({ clobUrl: `${baseUrl}/paper/clob`, signer });
    await client.registerCredentials(credentialRequest(signer, credentials));
    await client.updateSettings({ maxTradesPerDay: 500, maxTradeAmount: 100, dailyTradeAmountLimit: 5000 });
    seats.push({ client, signer, name, agentId, claimUrl });
  }
  return seats;
}

async function tradable(client: BellwetherClient): Promise<readonly Market[]> {
  const found = await client.listMarkets({ q: '*', order: 'liquidity', limit: 50 });
  const fitting = found.filter(
    ({ active, bestBid, bestAsk, endDate }) =>
      active &&
      Number(bestBid) >= SPREAD.low &&
      Number(bestAsk) <= SPREAD.high &&
      Date.parse(endDate) > Date.now() + 3_600_000,
  );
  return fitting.slice(0, MARKETS);
}

/** Each agent acts once. A refusal is part of the show, and ends nothing. */
export function createTrading(seats: readonly Seat[]): () => Promise<readonly Outcome[]> {
  const seen = seats.map(() => new Map<string, number>());
  let round = 0;
  return async () => {
    const outcomes: Outcome[] = [];
    for (const [i, seat] of seats.entries()) {
      const markets = await tradable(seat.client);
      const before = seen[i] as Map<string, number>;
      try {
        if (markets.length > 0) await STRATEGIES[i]?.act({ ...seat, markets, before, round });
        outcomes.push({ agent: seat.name, refused: null });
      } catch (error) {
        if (error instanceof BellwetherApiError) outcomes.push({ agent: seat.name, refused: error.code });
        else if (error instanceof OrderBuildError)
          outcomes.push({ agent: seat.name, refused: error.message });
        else throw error;
      }
      for (const { id, yesPrice } of markets) before.set(id, yesPrice);
    }
    round++;
    return outcomes;
  };
}
