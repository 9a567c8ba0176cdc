/** What the `fix` of a refused order, quote, set or exit says, done. */
import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '@bellwether/contract';
import type { Market } from '@bellwether/sdk';
import { expect } from 'vitest';
import { approve, ownerOf } from '../approving.ts';
import { bidOf, exitOrder, hold } from '../exits.ts';
import {
  limitOrder,
  marketBuy,
  marketSell,
  newTrader,
  type RawAnswer,
  restingOrder,
  type Trader,
  withTurns,
} from '../harness.ts';
import {
  buy,
  changed,
  type Followed,
  get,
  limitedTrader,
  market,
  negRisk,
  onChain,
  routeIn,
  service,
  stranger,
  trade,
  trader,
} from './errors-stage.ts';

/** A sound order in place of the one that was changed. */
const instead =
  (fields: object, ofOrder: object = {}, sound = () => restingOrder(trader, market)): Followed =>
  async (refused) => {
    refused(await changed(fields, ofOrder));
    return trade(await sound());
  };

/** Refused under a limit of an agent of its own; `then` does what the fix says. */
const limited =
  (
    limits: Parameters<typeof limitedTrader>[0],
    order: (agent: Trader) => Promise<unknown>,
    then: (agent: Trader, answer: RawAnswer) => Promise<unknown>,
    before: (agent: Trader) => Promise<unknown> = async () => {},
  ): Followed =>
  async (refused) => {
    const agent = await limitedTrader({});
    await before(agent);
    await agent.client.updateSettings(limits);
    const body = await order(agent);
    await then(agent, refused(await trade(body, agent.apiKey)));
    return trade(body, agent.apiKey);
  };

/** Raises the setting that the fix names. */
const raise =
  (value: number) =>
  async (agent: Trader, { body: { fix } }: RawAnswer) => {
    const [, name = ''] = /raise (\w+) in/.exec(fix) ?? [];
    const [method, path] = routeIn(fix);
    expect(method).toBe('POST');
    expect((await agent.post(path, { [name]: value })).status).toBe(200);
  };

const gtd = (ahead = 600) => ({
  type: 'GTD' as const,
  expiration: Math.floor(Date.now() / 1000) + ahead,
  side: 'BUY' as const,
  price: 0.01,
  size: 10,
});
const split = (agent: Pick<Trader, 'post'>, of: Pick<Market, 'id'>, kind: 'split' | 'convert' = 'split') =>
  agent.post(`/markets/${kind}`, { clientOrderId: randomUUID(), marketId: of.id, amount: 5 });

/** Leaves an exit below the bid, as it is after `bend`. */
async function leave(agent: Trader, bend: (sound: Record<string, unknown>) => object) {
  const bid = bidOf(service, market);
  const stop = Math.round(bid * 100 - 3) / 100;
  const worst = Math.round(stop * 95) / 100;
  const sound = {
    ...(await exitOrder(agent, market, { worst })),
    trigger: { kind: 'price_at_or_below', price: stop },
  };
  return agent.post('/markets/exits', await bend(sound));
}
const holder = async () => {
  const agent = await newTrader(service);
  await hold(agent, market, 30);
  return agent;
};
const exits =
  (wrong: (sound: Record<string, unknown>, agent: Trader) => object | Promise<object>): Followed =>
  async (refused) => {
    const agent = await holder();
    refused(await leave(agent, (sound) => wrong(sound, agent)));
    return leave(agent, (sound) => sound);
  };

/** An agent whose owner is asked for what is above five. */
async function asking() {
  const agent = await newTrader(service);
  const owner = await ownerOf(service, agent);
  await agent.client.updateSettings({ approvalAbove: 5 });
  const order = await buy(agent, 10);
  const { body } = await trade(order, agent.apiKey);
  return { agent, owner, order, approvalId: body.approvalId as string };
}

export const ORDER_FIXES = {
  unknown_market: instead({ marketConditionId: `0x${'0'.repeat(64)}` }),
  token_market_mismatch: instead({}, { tokenId: '1' }),
  outcome_name_mismatch: async (refused) => {
    const order = await restingOrder(trader, market);
    const { errors } = refused(await trade({ ...order, outcome: 'MAYBE' })).body;
    const [outcome] = /\b(YES|NO)\b/.exec(errors[0].message) ?? [];
    return trade({ ...order, outcome });
  },
  outcome_token_mismatch: async (refused) => {
    const order = await restingOrder(trader, market);
    refused(await trade({ ...order, outcome: 'NO' }));
    return trade({
      ...order,
      outcome: (['YES', 'NO'] as const)[market.clobTokenIds.indexOf(order.order.tokenId)],
    });
  },
  taker_not_supported: instead({}, { taker: `0x${'1'.repeat(40)}` }),
  salt_out_of_range: instead({}, { salt: '9007199254740992' }),
  fee_rate_out_of_range: instead({}, { feeRateBps: '1001' }),
  builder_not_allowed: async (refused) => {
    const { id } =
      [...service.exchange.markets()].find(({ version, status }) => version === 'v2' && status === 'open') ??
      {};
    const v2 = await trader.client.getMarket(String(id));
    const { order, ...request } = await restingOrder(trader, v2);
    refused(await trade({ ...request, order: { ...order, builder: `0x${'9'.repeat(64)}` } }));
    return trade({ ...request, order: { ...order, builder: `0x${'0'.repeat(64)}` } });
  },
  amount_out_of_range: instead({}, { makerAmount: '0' }),
  order_size_mismatch: async (refused) => {
    const order = await restingOrder(trader, market);
    refused(await trade({ ...order, orderSize: 11 }));
    return trade({ ...order, orderSize: Number(order.order.takerAmount) / 1_000_000 });
  },
  price_mismatch: async (refused) => {
    const order = await restingOrder(trader, market);
    refused(await trade({ ...order, price: 0.02 }));
    const { makerAmount, takerAmount } = order.order;
    return trade({ ...order, price: Number(makerAmount) / Number(takerAmount) });
  },
  price_off_tick_grid: async (refused) => {
    const { errors } = refused(await changed({ price: 0.015 })).body;
    expect(errors.length).toBeGreaterThan(0);
    const tick = Number((await trader.client.getMarket(market.id)).tickSize);
    return trade(
      await limitOrder(trader, market, { side: 'BUY', price: Math.floor(0.015 / tick) * tick, size: 10 }),
    );
  },
  price_out_of_range: instead({}, { makerAmount: '10000000' }, () =>
    limitOrder(trader, market, { side: 'BUY', price: market.tickSize, size: 10 }),
  ),
  immediate_buy_precision: instead({ orderType: 'FAK', price: 0.2 }, { makerAmount: '2000001' }, () =>
    marketBuy(trader, market, 2),
  ),
  size_below_minimum: instead({ orderSize: 4 }, { makerAmount: '40000', takerAmount: '4000000' }, () =>
    restingOrder(trader, market, market.minOrderSize),
  ),
  amount_below_minimum: instead({ orderType: 'FAK' }, { makerAmount: '100000' }, () =>
    marketBuy(trader, market, 1),
  ),
  order_type_mismatch: instead({ isLimitOrder: false, orderType: 'GTC' }, {}, () =>
    marketBuy(trader, market, 2),
  ),
  post_only_mismatch: async (refused) => {
    const order = await restingOrder(trader, market);
    refused(await trade({ ...order, orderType: 'FOK', postOnly: true }));
    return trade({ ...order, orderType: 'GTC', postOnly: true });
  },
  expiration_required: instead({ orderType: 'GTD' }, {}, () => limitOrder(trader, market, gtd())),
  expiration_too_soon: async (refused) => {
    const soon = await limitOrder(trader, market, gtd(60));
    const { detail } = refused(await trade(soon)).body;
    const [, earliest] = /(\d{10}) or later/.exec(detail) ?? [];
    return trade(await limitOrder(trader, market, { ...gtd(), expiration: Number(earliest) + 60 }));
  },
  expiration_not_allowed: instead({ expirationTime: Date.now() + 600_000 }),
  expiration_mismatch: async (refused) => {
    const order = await limitOrder(trader, market, gtd());
    refused(await trade({ ...order, expirationTime: Date.now() + 900_000 }));
    return trade({ ...order, expirationTime: Number(order.order.expiration) * 1000 });
  },
  wallet_address_mismatch: instead({ walletAddress: `0x${'1'.repeat(40)}` }),
  funder_address_mismatch: async (refused) => {
    const order = await restingOrder(trader, market);
    refused(await trade({ ...order, funderAddress: stranger.signer.address }));
    return trade({ ...order, funderAddress: order.order.maker });
  },
  owner_mismatch: instead({ owner: 'another' }),
  tick_size_mismatch: async (refused) => {
    const order = await restingOrder(trader, market);
    refused(await trade({ ...order, tickSize: '0.001' }));
    const { tickSize } = await trader.client.getMarket(market.id);
    return trade({ ...order, tickSize });
  },
  neg_risk_mismatch: async (refused) => {
    const order = await restingOrder(trader, market);
    refused(await trade({ ...order, negRisk: true }));
    return trade({ ...order, negRisk: (await trader.client.getMarket(market.id)).negRisk });
  },
  invalid_order_payload: async (refused) => {
    const order = await restingOrder(trader, market);
    const { order: other } = await restingOrder(trader, market);
    const { diagnosis } = refused(
      await trade({ ...order, order: { ...order.order, signature: other.signature } }),
    ).body;
    // With every part of what is to be signed.
    expect(diagnosis.typedData.message).toMatchObject({ tokenId: order.order.tokenId });
    return trade(order);
  },
  insufficient_balance: async (refused) => {
    const agent = await newTrader(service);
    const order = await marketBuy(agent, market, 10_001);
    const { fix } = refused(await trade(order, agent.apiKey)).body;
    expect((await agent.post(routeIn(fix)[1], { address: agent.funder, amount: 1_000 })).status).toBe(200);
    return trade(order, agent.apiKey);
  },
  conversion_not_supported: async (refused) => {
    const agent = await newTrader(service);
    await hold(agent, negRisk, 10);
    refused(await split(agent, market, 'convert'));
    return split(agent, negRisk, 'convert');
  },

  trading_paused: limited(
    { tradingPaused: true },
    (agent) => restingOrder(agent, market),
    async (agent, { body }) => {
      const [method, path] = routeIn(body.fix);
      expect(method).toBe('POST');
      await agent.post(path, JSON.parse(/\{.*\}/.exec(body.fix)?.[0] ?? ''));
    },
  ),
  credentials_not_registered: async (refused) => {
    const agent = { ...(await limitedTrader({})) };
    const { walletAddress } = await agent.client.getMe();
    await agent.client.unlinkWallet(String(walletAddress));
    const order = await restingOrder(agent, market);
    const { fix } = refused(await trade(order, agent.apiKey)).body;
    const { address } = agent.signer;
    const { nonce, message } = (await agent.get(`${routeIn(fix)[1]}?address=${address}`)).body;
    const signature = await agent.signer.signMessage(message);
    expect((await agent.post(routeIn(fix, {}, 1)[1], { address, nonce, signature })).status).toBe(200);
    return trade(order, agent.apiKey);
  },
  max_trade_amount_exceeded: limited({ maxTradeAmount: 10 }, (agent) => buy(agent, 11), raise(11)),
  max_trades_per_day_exceeded: limited(
    { maxTradesPerDay: 1 },
    (agent) => buy(agent, 5),
    raise(2),
    async (agent) => trade(await buy(agent, 5), agent.apiKey),
  ),
  daily_trade_amount_exceeded: limited(
    { dailyTradeAmountLimit: 20 },
    (agent) => buy(agent, 15),
    raise(40),
    async (agent) => trade(await buy(agent, 15), agent.apiKey),
  ),
  max_position_value_exceeded: limited(
    { maxPositionValue: 20 },
    (agent) => buy(agent, 15),
    raise(40),
    async (agent) => trade(await buy(agent, 15), agent.apiKey),
  ),
  daily_loss_limit_reached: async (refused) => {
    const agent = await limitedTrader({ dailyLossLimit: 0.01 });
    const { filledSize } = await agent.client.placeTrade(await buy(agent, 50));
    await agent.client.placeTrade(await marketSell(agent, market, Math.floor(filledSize / 2)));
    refused(await trade(await buy(agent, 5), agent.apiKey));
    return trade(await marketSell(agent, market, Math.floor(filledSize / 2)), agent.apiKey);
  },
  max_open_orders_exceeded: limited(
    { maxOpenOrders: 1 },
    (agent) => restingOrder(agent, market),
    async (agent) => agent.client.cancelMarket({}),
    async (agent) => trade(await restingOrder(agent, market), agent.apiKey),
  ),
  approval_required: async (refused) => {
    const { agent, owner, order, approvalId } = await asking();
    const { fix } = refused(await trade(order, agent.apiKey)).body;
    await approve(owner, approvalId);
    expect((await agent.get(routeIn(fix, { approvalId })[1])).body.status).toBe('approved');
    return trade(order, agent.apiKey);
  },
  approval_not_required: async (refused) => {
    const quote = await onChain.quote();
    refused(await onChain.post('/venueb/agent/approval', { quoteId: quote.quoteId }));
    return onChain.submit(quote);
  },
  approval_not_found: async (refused) => {
    const { agent } = await asking();
    const { fix } = refused(await agent.get(`/agents/approvals/${randomUUID()}`)).body;
    const { body } = await agent.get(routeIn(fix)[1]);
    return agent.get(`/agents/approvals/${(body.approvals ?? body)[0].approvalId}`);
  },
  approval_gone: async (refused) => {
    const { agent, owner, approvalId } = await asking();
    await approve(owner, approvalId);
    refused(await owner.send('POST', `/owner/approvals/${approvalId}/decline`, {}));
    return owner.send('POST', `/owner/agents/${agent.agentId}/pause`, { paused: true });
  },

  exit_price_out_of_range: exits(async (sound, agent) => ({
    ...(await exitOrder(agent, market, { worst: 0.01 })),
    trigger: sound.trigger,
  })),
  exit_trigger_out_of_range: exits((sound) => ({ ...sound, trigger: { kind: 'silence' } })),
  exit_order_already_used: async (refused) => {
    const agent = await holder();
    const { body } = await leave(agent, (sound) => {
      kept = sound;
      return sound;
    });
    let again = {
      ...kept,
      trigger: { ...kept.trigger, price: Math.round(kept.trigger.price * 100 - 1) / 100 },
    };
    refused(await agent.post('/markets/exits', again));
    await agent.post('/markets/exits/cancel', { exitId: body.exitId });
    again = { ...(await exitOrder(agent, market, { worst: kept.price })), trigger: kept.trigger };
    return agent.post('/markets/exits', again);
  },
  exit_group_mismatch: async (refused) => {
    const agent = await holder();
    const left = async (outcome: 'YES' | 'NO', group: string) =>
      agent.post('/markets/exits', {
        ...(await exitOrder(agent, market, { worst: 0.95, outcome })),
        ...{ trigger: { kind: 'price_at_or_above', price: 0.95 }, group },
      });
    await left('YES', 'position');
    const { fix } = refused(await left('NO', 'position')).body;
    return left('NO', /"([^"]+)"/.exec(fix)?.[1] ?? '');
  },
  exit_not_found: async (refused) => {
    const agent = await holder();
    await leave(agent, (sound) => sound);
    const { fix } = refused(await agent.get('/markets/exits/unknown')).body;
    const [{ exitId }] = (await agent.get(routeIn(fix)[1])).body;
    return agent.get(`/markets/exits/${exitId}`);
  },
  exit_gone: async (refused) => {
    const agent = await holder();
    const { exitId } = (await leave(agent, (sound) => sound)).body;
    await agent.client.updateSettings({ tradingPaused: true });
    await agent.client.updateSettings({ tradingPaused: false });
    await agent.post('/markets/exits/cancel', { exitId });
    refused(await leave(agent, (sound) => ({ ...sound, replaces: exitId })));
    return leave(agent, (sound) => sound);
  },
  exit_limit_reached: async (refused) => {
    const agent = await newTrader(service);
    await hold(agent, market, 1_000);
    const left = await Promise.all(Array.from({ length: 50 }, () => leave(agent, (sound) => sound)));
    const { fix } = refused(await leave(agent, (sound) => sound)).body;
    const [method, path] = routeIn(fix);
    expect(method).toBe('POST');
    await agent.post(path, { exitId: left[0]?.body.exitId });
    return leave(agent, (sound) => sound);
  },

  order_not_found: async (refused) => {
    await trade(await restingOrder(trader, market));
    const { fix } = refused(await get(`/markets/orders/0x${'0'.repeat(64)}`)).body;
    const [{ orderId }] = (await get(routeIn(fix)[1])).body;
    return get(`/markets/orders/${orderId}`);
  },
  order_already_placed: async (refused) => {
    const order = await restingOrder(trader, market);
    await trade(order);
    refused(await trade({ ...order, postOnly: true }));
    return trade({ ...(await restingOrder(trader, market)), postOnly: true });
  },
  client_order_id_already_used: async (refused) => {
    const clientOrderId = randomUUID();
    await trade({ ...(await restingOrder(trader, market)), clientOrderId });
    const { orderId } = refused(await trade({ ...(await restingOrder(trader, market)), clientOrderId })).body;
    return get(`/markets/orders/${orderId}`);
  },
  receipt_not_found: async (refused) => {
    const { body } = await trade(await buy(trader, 5));
    const receipt = () => get(`/markets/orders/${body.orderId}/receipt`);
    refused(await receipt());
    await withTurns(service, ['write receipts'], expect.poll(async () => (await receipt()).status).toBe(200));
    return receipt();
  },
} as const satisfies Partial<Record<ErrorCode, Followed>>;

// biome-ignore lint/suspicious/noExplicitAny: a body of any shape
let kept: any;
