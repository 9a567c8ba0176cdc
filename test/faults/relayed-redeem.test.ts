/** Redemptions without gas at a live venue: prepared for each wallet, signed, made once, and closed by the venue's own list. */
import {
  createVenueCredentials,
  type Market,
  readRelayTerms,
  Signer,
  signRelay,
  verifyRelay,
  type WalletAction,
} from '@bellwether/sdk';
import { beforeAll, expect, test, vi } from 'vitest';
import { followRedemptions, resolveMarkets } from '../../packages/server/src/positions/redeem.ts';
import { followSets } from '../../packages/server/src/trading/sets.ts';
import { call, type TestService, type Trader } from '../harness.ts';
import { newLiveTrader, poolOf, startLiveDesk, startVenue } from '../live-desk.ts';
import { endingMarkets, type ManualClock, manualClock, micro, resolveMarket } from '../world.ts';

const SETS = 8;
const REDEEM: WalletAction = { kind: 'redeem' };

let clock: ManualClock;
let venue: TestService;
let relayerUrl: string;
let key: Record<string, string>;
/** It has read nothing of the venue before the outcome, as after a start. */
let desk: TestService;
let market: Market;
const traders = new Map<number, Trader>();

beforeAll(async () => {
  clock = manualClock(Date.now());
  venue = await startVenue({}, { clock });
  relayerUrl = `${venue.url}/paper/relayer`;
  const operator = Signer.generate();
  const { apiKey } = await createVenueCredentials({ clobUrl: `${venue.url}/paper/clob`, signer: operator });
  key = { POLYMARKET_RELAYER_API_KEY: apiKey, POLYMARKET_RELAYER_API_KEY_ADDRESS: operator.address };
  const before = await startLiveDesk(venue, key);
  for (const type of [1, 2, 3] as const) traders.set(type, await newLiveTrader(before, venue, type));
  market = (await endingMarkets(traders.get(1) as Trader))[0] as Market;
  for (const trader of traders.values()) {
    const { orderId } = await trader.client.splitSets({
      ...{ clientOrderId: `sets of ${trader.funder.slice(2, 8)}`, marketId: market.id, amount: SETS },
    });
    await venue.exchange.execute({
      ...{ kind: 'split', account: trader.funder, conditionId: market.conditionId, amount: micro(SETS) },
    });
    await vi.waitFor(
      async () => {
        await poolOf(before)`update handed_out_sets set due_at = now() - interval '1 second'`;
        await followSets(before.needs);
        expect((await trader.client.getOrder(orderId)).status).toBe('filled');
      },
      { timeout: 20_000, interval: 300 },
    );
  }
  await resolveMarket(venue, clock, market.conditionId);
  const { databaseUrl, masterKey } = before;
  desk = await startLiveDesk(venue, { ...key, DATABASE_URL: databaseUrl, MASTER_KEY: masterKey });
  await vi.waitFor(
    async () => {
      await resolveMarkets(desk.needs);
      expect(await poolOf(desk)`select 1 from traded_markets where payout is not null`).toHaveLength(1);
    },
    { timeout: 60_000, interval: 500 },
  );
});

const ask = async ({ apiKey }: Trader, path: string, body: object) =>
  (await call(desk, 'POST', path, { key: apiKey, body })).body;
const cash = ({ funder }: Trader) => venue.exchange.account(funder).available;

async function signed({ signer, funder }: Trader, answer: Parameters<typeof verifyRelay>[0]) {
  const own = { signer, wallet: funder };
  const terms = await readRelayTerms({ ...own, relayerUrl });
  return signRelay(verifyRelay(answer, REDEEM, { ...own, market, terms, now: clock.now }), signer);
}

test.each([1, 2, 3])(
  'a wallet of type %i redeems by a signature, once',
  { timeout: 300_000 },
  async (type) => {
    const trader = traders.get(type) as Trader;
    const answer = await ask(trader, '/markets/redeem', { marketId: market.id });
    expect(answer).toMatchObject({ status: 'unsigned', relays: [{ walletAddress: trader.funder }] });
    expect(answer.transactions).toBeUndefined();
    const [relay] = answer.relays;
    const request = await signed(trader, { ...relay, status: answer.status });
    const before = cash(trader);
    const stranger = traders.get((type % 3) + 1) as Trader;
    expect((await ask(stranger, '/markets/relay', request)).code).toBe('order_not_found');
    const wrong = { ...request, signature: await stranger.signer.signDigest(new Uint8Array(32).fill(1)) };
    expect((await ask(trader, '/markets/relay', wrong)).code).toBe('transaction_signature_invalid');
    // A pause stops no exit.
    await trader.client.updateSettings({ tradingPaused: true });
    const answers = await Promise.all([1, 2, 3].map(() => ask(trader, '/markets/relay', request)));
    expect(answers).toMatchObject(
      Array(3).fill({ success: true, status: 'submitted', orderId: relay.orderId }),
    );
    expect(cash(trader) - before).toBe(micro(SETS));
    await vi.waitFor(
      async () => {
        await ask(trader, '/markets/redeem', { marketId: market.id });
        await followRedemptions(desk.needs);
        const open = await call(desk, 'GET', '/markets/current-positions', { key: trader.apiKey });
        expect(open.body).toEqual([]);
      },
      { timeout: 30_000, interval: 500 },
    );
    expect(await ask(trader, '/markets/redeem', { marketId: market.id })).toMatchObject({
      status: 'nothing_to_redeem',
    });
    expect((await ask(trader, '/markets/relay', request)).status).toBe('submitted');
    expect(cash(trader) - before).toBe(micro(SETS));
  },
);
