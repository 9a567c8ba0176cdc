/** Conversions at a live venue: judged as an entry, handed out to be signed, or relayed, looked for on the chain, and booked once. */
import {
  createVenueCredentials,
  type Market,
  readRelayTerms,
  type SetResponse,
  Signer,
  signRelay,
  verifyRelay,
  verifyWalletCalls,
} from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { followSets } from '../../packages/server/src/trading/sets.ts';
import { call, openMarkets, type TestService, type Trader } from '../harness.ts';
import { newLiveTrader, orderAt, poolOf, startLiveDesk, startVenue } from '../live-desk.ts';
import { micro } from '../world.ts';

let venue: TestService;
let desk: TestService;
/** With credentials of the relayer. */
let relaying: TestService;
/** Those of one event of Protocol V2, the last one "Other". */
let event: readonly Market[];
let market: Market;
let ofV1: Market;
let names = 0;

beforeAll(async () => {
  venue = await startVenue();
  desk = await startLiveDesk(venue);
  const operator = Signer.generate();
  const { apiKey } = await createVenueCredentials({ clobUrl: `${venue.url}/paper/clob`, signer: operator });
  relaying = await startLiveDesk(venue, {
    ...{ POLYMARKET_RELAYER_API_KEY: apiKey, POLYMARKET_RELAYER_API_KEY_ADDRESS: operator.address },
  });
  const { client } = await newLiveTrader(desk, venue);
  event = (await client.listMarkets({ q: '*', limit: 500 }))
    .filter(({ version, negRisk, active }) => version === 'v2' && negRisk && active)
    .sort((a, b) => a.conditionId.localeCompare(b.conditionId));
  expect(event).toHaveLength(4);
  [market] = event as [Market];
  [ofV1] = (await openMarkets(client, '0.01', true)) as [Market];
});

const of = (amount: number, on = market) => {
  names += 1;
  return { clientOrderId: `live-convert-${names}`, marketId: on.id, amount };
};
/** The chain has it. */
const onChain = (trader: Trader, kind: 'split' | 'convert', amount: number, on = market) =>
  venue.exchange.execute({
    ...{ kind, account: trader.funder, conditionId: on.conditionId, amount: micro(amount) },
  });
/** Has NO shares that the desk knows of, and no YES shares any more. */
async function holder(type: 0 | 1 | 2 | 3 = 0, at = desk, on = market): Promise<Trader> {
  const trader = await newLiveTrader(at, venue, type);
  const { orderId } = await trader.client.splitSets(of(20, on));
  await onChain(trader, 'split', 20, on);
  await ended(trader, orderId, at);
  return trader;
}

async function follow(at: TestService): Promise<void> {
  await poolOf(at)`update handed_out_sets set due_at = now() - interval '1 second'`;
  await followSets(at.needs);
}
const ended = (trader: Trader, orderId: string, at = desk, status = 'filled') =>
  expect
    .poll(
      async () => {
        await follow(at);
        return (await orderAt(at, trader, orderId)).status;
      },
      { timeout: 15_000, interval: 300 },
    )
    .toBe(status);
const convert = (trader: Trader, body: unknown, at = desk) =>
  call(at, 'POST', '/markets/convert', { key: trader.apiKey, body });
const heldBy = async ({ client }: Trader) =>
  Object.fromEntries(
    (await client.getCurrentPositions()).map(({ marketId, outcome, size }) => [
      `${marketId} ${outcome}`,
      size,
    ]),
  );
/** After a conversion of so many of 20 pairs. */
const heldAfter = (amount: number) => ({
  [`${market.id} YES`]: 20,
  [`${market.id} NO`]: 20 - amount,
  ...Object.fromEntries(event.slice(1).map(({ id }) => [`${id} YES`, amount])),
});

describe.each([0, 1, 2, 3] as const)('of a wallet of type %i', (type) => {
  test('a conversion is handed out, seen on the chain, and booked in every market of the event', async () => {
    const trader = await holder(type);
    const body = of(8);
    const answer = await trader.client.convertSets(body);
    expect(answer).toMatchObject({ success: true, status: 'unsigned', amount: 0, txHash: null });
    const pins = { signer: trader.signer, wallet: trader.funder, market };
    const [first] = verifyWalletCalls(answer, { kind: 'convert', amount: 8 }, pins);
    expect(first?.value).toBe('0');
    expect(await trader.client.convertSets(body)).toEqual(answer);
    expect((await trader.client.getMe()).tradesToday).toBe(2);

    await onChain(trader, 'convert', 8);
    await ended(trader, answer.orderId);
    expect(await heldBy(trader)).toEqual(heldAfter(8));
    const filled = await trader.client.convertSets(body);
    expect(filled).toMatchObject({ status: 'filled', amount: 8, txHash: expect.stringMatching(/^0x/) });
    expect(filled.transactions).toBeUndefined();
    // What the NO shares were worth is what the YES shares cost: no collateral moved.
    const fills = await poolOf(desk)`
      select condition_id, outcome, side, size, cost from fills where order_id = ${answer.orderId} order by trade_id`;
    expect(fills.map(({ condition_id, outcome, side, size }) => [condition_id, outcome, side, size])).toEqual(
      [
        [market.conditionId, 'NO', 'SELL', micro(8)],
        ...event.slice(1).map(({ conditionId }) => [conditionId, 'YES', 'BUY', micro(8)]),
      ],
    );
    const [sold, ...bought] = fills.map(({ cost }) => cost as bigint);
    expect(bought.reduce((sum, cost) => sum + cost, 0n)).toBe(sold);
    expect((await orderAt(desk, trader, answer.orderId)).journal).toMatchObject([
      { event: 'recorded' },
      { event: 'handed_out', status: 'live' },
      { event: 'filled_completely', detail: expect.stringMatching(/^0x/) },
    ]);
  });
});

describe.each([1, 2, 3] as const)('through the relayer, from a wallet of type %i', (type) => {
  /** Has the relayer make what the desk has prepared. */
  async function relay(trader: Trader, answer: SetResponse, action: Parameters<typeof verifyRelay>[1]) {
    const own = { signer: trader.signer, wallet: trader.funder };
    const terms = await readRelayTerms({ ...own, relayerUrl: `${venue.url}/paper/relayer` });
    return signRelay(verifyRelay(answer, action, { ...own, market, terms }), trader.signer);
  }

  test('a conversion is signed, made once and booked; a pause stops it before', async () => {
    const trader = await newLiveTrader(relaying, venue, type);
    const split = await trader.client.splitSets(of(20));
    await trader.client.relaySet(await relay(trader, split, { kind: 'split', amount: 20 }));
    await ended(trader, split.orderId, relaying);

    const answer = await trader.client.convertSets(of(5));
    const request = await relay(trader, answer, { kind: 'convert', amount: 5 });
    await trader.client.updateSettings({ tradingPaused: true });
    await expect(trader.client.relaySet(request)).rejects.toMatchObject({ code: 'trading_paused' });
    expect(await heldBy(trader)).toEqual({ [`${market.id} YES`]: 20, [`${market.id} NO`]: 20 });
    await trader.client.updateSettings({ tradingPaused: false });
    expect(await trader.client.relaySet(request)).toMatchObject({ success: true, status: 'submitted' });
    expect((await trader.client.relaySet(request)).status).toBe('submitted');
    await ended(trader, answer.orderId, relaying);
    expect(await heldBy(trader)).toEqual(heldAfter(5));
    expect(await trader.client.relaySet(request)).toMatchObject({ status: 'filled', amount: 5 });
  });
});

describe('before it is handed out', () => {
  test.each([
    ['a pause', { tradingPaused: true }, 'trading_paused'],
    ['maxTradeAmount', { maxTradeAmount: 9.999999 }, 'max_trade_amount_exceeded'],
    ['maxTradesPerDay', { maxTradesPerDay: 2 }, 'max_trades_per_day_exceeded'],
    ['dailyTradeAmountLimit', { dailyTradeAmountLimit: 34.999999 }, 'daily_trade_amount_exceeded'],
    ['maxPositionValue', { maxPositionValue: 10_000 }, 'max_position_value_exceeded'],
    ['approvalAbove', { approvalAbove: 9.999999 }, 'approval_required'],
  ])('%s refuses it, while another one is with its owner', async (_, settings, code) => {
    const trader = await holder();
    expect((await trader.client.convertSets(of(5))).status).toBe('unsigned');
    await trader.client.updateSettings(settings);
    const refused = await convert(trader, of(10));
    expect(refused.body.code ?? refused.body.errors?.[0]?.code).toBe(code);
    expect(refused.body.transactions).toBeUndefined();
  });

  test('NO shares that are not there, and a market of Protocol V1, are refused', async () => {
    const trader = await holder();
    expect((await convert(trader, of(21))).body).toMatchObject({
      ...{ code: 'insufficient_balance', detail: expect.stringContaining('20 are available') },
    });
    expect((await convert(trader, of(1, ofV1))).body).toMatchObject({
      ...{ code: 'conversion_not_supported', detail: expect.stringContaining('markets of version v2') },
    });
    expect((await trader.client.getMe()).tradesToday).toBe(1);
  });
});

test('neither another amount, nor a conversion of another market of the event, is a proof, and one is the proof of one', async () => {
  const trader = await holder();
  const [, sibling] = event as [Market, Market];
  const split = await trader.client.splitSets(of(20, sibling));
  await onChain(trader, 'split', 20, sibling);
  await ended(trader, split.orderId);
  const [one, two] = [await trader.client.convertSets(of(6)), await trader.client.convertSets(of(6))];
  // Its YES shares of this market have a row of the same amount.
  const elsewhere = await trader.client.convertSets(of(6, sibling));
  await onChain(trader, 'convert', 6, sibling);
  await onChain(trader, 'convert', 7);
  await ended(trader, elsewhere.orderId);
  await follow(desk);
  const statuses = async () =>
    Promise.all([one, two].map(async ({ orderId }) => (await orderAt(desk, trader, orderId)).status));
  expect(await statuses()).toEqual(['live', 'live']);
  await onChain(trader, 'convert', 6);
  await ended(trader, one.orderId);
  await Promise.all([follow(desk), follow(desk)]);
  expect((await statuses()).sort()).toEqual(['filled', 'live']);
});
