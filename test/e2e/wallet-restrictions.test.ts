/** An owner's locks and pause follow the wallets of its agents; each test tries to bypass them. */

import { WEBHOOK_EVENTS } from '@bellwether/contract';
import {
  buildMarketOrder,
  createVenueCredentials,
  credentialRequest,
  linkSignersWallet,
  type Market,
  type SignatureType,
  type Signer,
} from '@bellwether/sdk';
import { Check } from 'typebox/value';
import { beforeAll, describe, expect, test } from 'vitest';
import { ownerOf } from '../approving.ts';
import { createFakeQuoteVenue, type FakeQuoteVenue } from '../fake-quote-venue.ts';
import {
  aMarket,
  call,
  limitOrder,
  newAgent,
  newTrader,
  refusalOf,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import type { Visitor } from '../passkey.ts';
import { newQuoteTrader } from '../quote-trader.ts';

const OPERATOR_KEY = 'operator-key-of-the-restrictions-test';
let service: TestService;
let venue: FakeQuoteVenue;
let market: Market;

beforeAll(async () => {
  venue = createFakeQuoteVenue();
  service = await startTestService({ PAPER_WORLD: 'off', OPERATOR_KEY }, { venues: () => [venue] });
  market = await aMarket((await newTrader(service)).client);
});

const pause = (owner: Visitor, { agentId }: Pick<Trader, 'agentId'>, paused = true) =>
  owner.send('POST', `/owner/agents/${agentId}/pause`, { paused });
const lock = async (owner: Visitor, { agentId }: Pick<Trader, 'agentId'>, limits: Record<string, number>) => {
  const change = Object.fromEntries(
    Object.entries(limits).map(([name, limit]) => [name, { limit, locked: true }]),
  );
  expect((await owner.send('POST', `/owner/agents/${agentId}/safeguards`, change)).status).toBe(200);
};

const LOOSE = { maxTradesPerDay: 5000, maxTradeAmount: 100_000, dailyTradeAmountLimit: 1_000_000 };

/** A new agent that has linked the wallet's key, with the highest possible caps. */
async function freshAgent(signer: Signer, signatureType: SignatureType = 0): Promise<Trader> {
  const agent = { ...(await newAgent(service)), signer };
  await agent.client.updateSettings(LOOSE);
  await linkSignersWallet({ client: agent.client, signer, signatureType });
  return { ...agent, signatureType, funder: signer.wallet(signatureType) };
}

const credentials = (signer: Signer) =>
  createVenueCredentials({ clobUrl: `${service.url}/paper/clob`, signer });

/** A resting BUY for the amount of collateral. */
const buy = (trader: Trader, money = 10) =>
  limitOrder(trader, market, { side: 'BUY', price: '0.1', size: money * 10 }).then((request) =>
    trader.client.placeTrade(request),
  );

const usage = async ({ agentId }: Pick<Trader, 'agentId'>) =>
  (await service.needs.agents.settings(agentId)).usage;

describe('the pause', () => {
  test('applies to a new agent that links the same wallet, until the owner resumes', async () => {
    const agent = await newTrader(service);
    await buy(agent);
    const owner = await ownerOf(service, agent);
    await pause(owner, agent);
    const fresh = await freshAgent(agent.signer);
    const answer = await fresh.post('/markets/trade', await restingOrder(fresh, market));
    expect(answer.body).toMatchObject({ status: 403, code: 'trading_paused' });
    expect(answer.body.detail).toContain('owner');
    // A batch has the same result.
    const batch = await fresh.post('/markets/batch-trade', { orders: [await restingOrder(fresh, market)] });
    expect(batch.body).toMatchObject({ succeeded: 0, failed: 1 });
    await pause(owner, agent, false);
    expect((await buy(fresh)).success).toBe(true);
  });

  test('that is set after the wallet left binds no new owner, before and after the wallet comes back', async () => {
    const agent = await newTrader(service);
    await buy(agent);
    const owner = await ownerOf(service, agent);
    const fresh = await freshAgent(agent.signer);
    await pause(owner, agent);
    expect((await buy(fresh)).success).toBe(true);
    const next = await freshAgent(agent.signer);
    expect((await buy(next)).success).toBe(true);
    expect((await owner.send('POST', '/owner/pause', { paused: true })).status).toBe(200);
    expect((await owner.send('GET', '/owner/wallets/left')).body[0].agents[0].paused).toBe(false);
    expect((await buy(next)).success).toBe(true);
    await linkSignersWallet({ client: agent.client, signer: agent.signer });
    const again = await freshAgent(agent.signer);
    expect(await refusalOf(buy(again))).toBe('trading_paused');
    expect((await owner.send('GET', '/owner/wallets/left')).body[0].agents[0].paused).toBe(true);
    await pause(owner, agent, false);
    await pause(owner, agent);
    expect((await buy(again)).success).toBe(true);
  });

  test('of the first of three owners binds the third, that of the second only from before the second move', async () => {
    const agent = await newTrader(service);
    await buy(agent);
    const owner = await ownerOf(service, agent);
    const second = await freshAgent(agent.signer);
    const ownerOfSecond = await ownerOf(service, second);
    const third = await freshAgent(agent.signer);
    await pause(ownerOfSecond, second);
    await pause(owner, agent);
    expect((await buy(third)).success).toBe(true);
    for (const { client } of [second, third]) await linkSignersWallet({ client, signer: agent.signer });
    expect(await refusalOf(buy(third))).toBe('trading_paused');
    await pause(ownerOfSecond, second, false);
    expect((await buy(third)).success).toBe(true);
  });

  test.each([
    [0, 2],
    [2, 1],
    [1, 3],
    [3, 0],
  ] as const)('a wallet of type %i binds the same key’s wallet of type %i', async (first, second) => {
    const agent = await newTrader(service, first);
    await buy(agent);
    const owner = await ownerOf(service, agent);
    await pause(owner, agent);
    // Never registered with the owner: nothing has to move.
    const other = { ...(await newAgent(service)), signer: agent.signer };
    const request = credentialRequest(agent.signer, await credentials(agent.signer), second);
    const { walletAddress } = await other.client.registerCredentials(request);
    const trader: Trader = { ...other, signatureType: second, funder: walletAddress.toLowerCase() };
    expect(await refusalOf(buy(trader))).toBe('trading_paused');
  });

  test('applies after a new registration, a second move, a move by a key registered before', async () => {
    const agent = await newTrader(service, 1);
    await buy(agent);
    const owner = await ownerOf(service, agent);
    await pause(owner, agent);
    await agent.client.unlinkWallet(agent.signer.address);
    const second = { ...(await newAgent(service)), signer: agent.signer };
    const request = credentialRequest(agent.signer, await credentials(agent.signer), 1);
    await second.client.registerCredentials(request);
    const trader = { ...agent, ...second };
    expect(await refusalOf(buy(trader))).toBe('trading_paused');
    const third = await freshAgent(agent.signer, 1);
    expect(await refusalOf(buy(third))).toBe('trading_paused');
    // Rotation, and a second key of the agent.
    await third.client.registerCredentials(request);
    expect(await refusalOf(buy(third))).toBe('trading_paused');
    const { apiKeyCode } = (await third.post('/agents/create-api-key', { keyName: 'b' })).body;
    const body = await restingOrder(third, market);
    expect((await call(service, 'POST', '/markets/trade', { key: apiKeyCode, body })).body.code).toBe(
      'trading_paused',
    );
  });

  test('does not bind another agent of the same owner that shares the wallet', async () => {
    const agent = await newTrader(service);
    const sibling = { ...(await newAgent(service)), signer: agent.signer };
    await sibling.client.updateSettings(LOOSE);
    await buy(agent);
    const owner = await ownerOf(service, agent, sibling);
    await pause(owner, agent);
    await linkSignersWallet({ client: sibling.client, signer: agent.signer });
    const shared = { ...agent, ...sibling };
    expect((await buy(shared)).success).toBe(true);
    expect(await refusalOf(buy(agent))).toBe('trading_paused');
    // Both agents have traded with it: for other agents the stricter restriction applies.
    const fresh = await freshAgent(agent.signer);
    expect(await refusalOf(buy(fresh))).toBe('trading_paused');
  });

  test('does not bind a wallet that left before its agent had an owner', async () => {
    const agent = await newTrader(service);
    await buy(agent);
    const fresh = await freshAgent(agent.signer);
    const owner = await ownerOf(service, agent);
    await pause(owner, agent);
    expect((await buy(fresh)).success).toBe(true);
  });
});

describe('locks and the usage of the day', () => {
  test('locks of after the move bind no new owner; of those of before, the laxest value since', async () => {
    const agent = await newTrader(service);
    await buy(agent);
    const owner = await ownerOf(service, agent);
    await lock(owner, agent, { maxTradeAmount: 60, maxOpenOrders: 50 });
    const fresh = await freshAgent(agent.signer);
    await lock(owner, agent, { maxTradeAmount: 10, maxPositionValue: 5, approvalAbove: 1, maxOpenOrders: 0 });
    expect((await buy(fresh, 50)).success).toBe(true);
    expect(await refusalOf(buy(fresh, 61))).toBe('max_trade_amount_exceeded');
    await lock(owner, agent, { maxTradeAmount: 90 });
    await lock(owner, agent, { maxTradeAmount: 70 });
    expect((await buy(fresh, 90)).success).toBe(true);
    expect(await refusalOf(buy(fresh, 91))).toBe('max_trade_amount_exceeded');
    const [left] = (await owner.send('GET', '/owner/wallets/left')).body;
    expect(left.agents[0].lockedByOwner).toEqual({ maxTradeAmount: 90, maxOpenOrders: 50 });
    await owner.send('POST', `/owner/agents/${agent.agentId}/safeguards`, {
      maxTradeAmount: { limit: 70, locked: false },
    });
    await lock(owner, agent, { maxTradeAmount: 1 });
    expect((await buy(fresh, 500)).success).toBe(true);
  });

  test('a new agent continues with the usage of the day, never above the locked ceilings', async () => {
    const agent = await newTrader(service);
    await buy(agent, 60);
    const owner = await ownerOf(service, agent);
    await lock(owner, agent, { dailyTradeAmountLimit: 100, maxTradeAmount: 60 });
    const fresh = await freshAgent(agent.signer);
    expect(await refusalOf(buy(fresh, 70))).toBe('max_trade_amount_exceeded');
    // The move canceled the open order and returned its budget: 0 of 100 is used.
    expect((await buy(fresh, 50)).success).toBe(true);
    expect((await buy(fresh, 50)).success).toBe(true);
    expect(await refusalOf(buy(fresh, 10))).toBe('daily_trade_amount_exceeded');
    // A second new agent, and the first agent again, have the same budget.
    const second = await freshAgent(agent.signer);
    expect((await buy(second, 40)).success).toBe(true);
    await linkSignersWallet({ client: agent.client, signer: agent.signer });
    expect((await buy(agent, 60)).success).toBe(true);
    expect((await buy(agent, 40)).success).toBe(true);
    expect(await refusalOf(buy(agent, 1))).toBe('daily_trade_amount_exceeded');
  });

  test('trades by other agents count toward the locked agent, and returns go to it, too', async () => {
    const agent = await newTrader(service);
    await buy(agent, 20);
    const owner = await ownerOf(service, agent);
    await lock(owner, agent, { maxTradesPerDay: 3, dailyTradeAmountLimit: 100 });
    const fresh = await freshAgent(agent.signer);
    const before = await usage(agent);
    const { orderId } = await buy(fresh, 30);
    expect(await usage(agent)).toEqual({ trades: before.trades + 1, amount: before.amount + 30_000_000n });
    expect(await usage(fresh)).toEqual({ trades: 1, amount: 30_000_000n });
    await fresh.client.cancelOrder(orderId);
    // The amount returns to both, the trade still counts for the day.
    expect(await usage(agent)).toEqual({ trades: before.trades + 1, amount: before.amount });
    expect(await usage(fresh)).toEqual({ trades: 1, amount: 0n });
    expect((await buy(fresh, 30)).success).toBe(true);
    expect(await refusalOf(buy(fresh, 30))).toBe('max_trades_per_day_exceeded');
  });

  test('several wallets that left share one budget, even for simultaneous trades', async () => {
    const agent = await newTrader(service);
    const others = await Promise.all([newTrader(service), newTrader(service)]);
    const signers = [agent.signer, ...others.map(({ signer }) => signer)];
    for (const signer of signers) {
      await linkSignersWallet({ client: agent.client, signer });
      await buy({ ...agent, signer, funder: signer.address }, 1);
    }
    const owner = await ownerOf(service, agent);
    await lock(owner, agent, { dailyTradeAmountLimit: 100 });
    const fresh = await Promise.all(signers.map((signer) => freshAgent(signer)));
    const used = (await usage(agent)).amount;
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => refusalOf(buy(fresh[i % 3] as Trader, 10))),
    );
    expect(new Set(answers)).toEqual(new Set(['nothing', 'daily_trade_amount_exceeded']));
    expect((await usage(agent)).amount).toBeLessThanOrEqual(100_000_000n);
    expect(answers.filter((one) => one === 'nothing')).toHaveLength(
      Number((100_000_000n - used) / 10_000_000n),
    );
  });

  test('two agents with swapped wallets trade concurrently without a deadlock', async () => {
    const [one, two] = await Promise.all([newTrader(service), newTrader(service)]);
    await Promise.all([buy(one, 1), buy(two, 1)]);
    for (const agent of [one, two]) {
      const owner = await ownerOf(service, agent);
      await lock(owner, agent, { dailyTradeAmountLimit: 900 });
    }
    await linkSignersWallet({ client: one.client, signer: two.signer });
    await linkSignersWallet({ client: two.client, signer: one.signer });
    const a = { ...one, signer: two.signer, funder: two.funder };
    const b = { ...two, signer: one.signer, funder: one.funder };
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => refusalOf(buy(i % 2 === 0 ? a : b, 2))),
    );
    expect(answers.every((answer) => answer === 'nothing')).toBe(true);
    expect((await usage(one)).trades).toBe((await usage(two)).trades);
  });

  test('the position limit applies, too', async () => {
    const agent = await newTrader(service);
    await buy(agent, 10);
    const owner = await ownerOf(service, agent);
    await lock(owner, agent, { maxPositionValue: 30 });
    const fresh = await freshAgent(agent.signer);
    expect((await buy(fresh, 20)).success).toBe(true);
    expect(await refusalOf(buy(fresh, 20))).toBe('max_position_value_exceeded');
  });

  test('a loss of another agent counts for the agent that had the wallet', async () => {
    const agent = await newTrader(service);
    await buy(agent, 10);
    const owner = await ownerOf(service, agent);
    await lock(owner, agent, { dailyLossLimit: 0.5 });
    const fresh = await freshAgent(agent.signer);
    const common = { signer: fresh.signer, market, outcome: 'YES' } as const;
    const bought = await fresh.client.placeTrade(
      await buildMarketOrder({ ...common, side: 'BUY', amount: 50, worstPrice: 0.95 }),
    );
    await fresh.client.placeTrade(
      await buildMarketOrder({
        ...common,
        side: 'SELL',
        shares: Math.floor(bought.filledSize),
        worstPrice: 0.01,
      }),
    );
    const lost = await service.needs.agents.settings(fresh.agentId);
    expect(lost.realizedToday).toBeLessThan(-500_000n);
    expect((await service.needs.agents.settings(agent.agentId)).realizedToday).toBe(lost.realizedToday);
    expect(await refusalOf(buy(fresh))).toBe('daily_loss_limit_reached');
    // The context shows the limits that apply to the trade.
    const { safeguards, warnings } = await fresh.client.getMarketContext(market.id, {
      side: 'BUY',
      size: 10,
    });
    expect(safeguards.dailyLoss).toMatchObject({ limit: 0.5, left: 0 });
    expect(warnings.map(({ code }) => code)).toContain('daily_loss_limit_reached');
  });

  test('no trade passes unchecked during a concurrent link', async () => {
    const agent = await newTrader(service);
    await buy(agent);
    const owner = await ownerOf(service, agent);
    await pause(owner, agent);
    const fresh = { ...(await newAgent(service)), signer: agent.signer };
    const trader = { ...agent, ...fresh };
    const linking = linkSignersWallet({ client: fresh.client, signer: agent.signer });
    const answers: string[] = [];
    for (let i = 0; i < 8; i += 1)
      answers.push(...(await Promise.all(Array.from({ length: 4 }, () => refusalOf(buy(trader, 1))))));
    await linking;
    answers.push(await refusalOf(buy(trader, 1)));
    expect(new Set(answers).has('nothing')).toBe(false);
    expect(answers.at(-1)).toBe('trading_paused');
  });
});

describe('Solana wallets', () => {
  test('the pause follows a Solana wallet: quotes for it, its solAddress, its link', async () => {
    const agent = await newQuoteTrader(service);
    await agent.trade();
    const owner = await ownerOf(service, agent);
    await pause(owner, agent);
    const other = await newQuoteTrader(service);
    // The quote or the submit reports it.
    const answered = async () => {
      const quoted = await other.quote({ userPublicKey: agent.wallet.address });
      if (quoted.unsignedTransaction === undefined) return quoted.quoteErrorCode;
      const signedTransaction = agent.wallet.sign(quoted.unsignedTransaction);
      return (await other.post('/venueb/agent/submit', { quoteId: quoted.quoteId, signedTransaction })).body
        .code;
    };
    expect(await answered()).toBe('trading_paused');
    await other.client.updateSolAddress(agent.wallet.address);
    expect(await answered()).toBe('trading_paused');
    await other.client.unlinkWallet(agent.wallet.address);
    expect(await answered()).toBe('trading_paused');
    await pause(owner, agent, false);
    await lock(owner, agent, { maxTradeAmount: 5 });
    expect(await answered()).toBe('max_trade_amount_exceeded');
    await lock(owner, agent, { maxTradeAmount: 50, maxTradesPerDay: 1 });
    expect(await answered()).toBe('max_trades_per_day_exceeded');
    await lock(owner, agent, { maxTradesPerDay: 2 });
    expect(await answered()).toBeUndefined();
    expect(await answered()).toBe('max_trades_per_day_exceeded');
  });
});

describe('how the owner sees and lifts restrictions', () => {
  test('the page lists wallets that left; the owner and the operator can lift, others cannot', async () => {
    const agent = await newTrader(service);
    await buy(agent);
    const owner = await ownerOf(service, agent);
    await pause(owner, agent);
    const fresh = await freshAgent(agent.signer);
    const { body: left } = await owner.send('GET', '/owner/wallets/left');
    expect(left).toMatchObject([
      { walletAddress: agent.signer.address, agents: [{ agentId: agent.agentId, paused: true }] },
    ]);
    const eve = await ownerOf(service);
    expect((await eve.send('GET', '/owner/wallets/left')).body).toEqual([]);
    const lift = { walletAddress: agent.signer.address };
    expect((await eve.send('POST', '/owner/wallets/lift', lift)).body.code).toBe('wallet_not_found');
    expect(await refusalOf(buy(fresh))).toBe('trading_paused');
    expect((await owner.send('POST', '/owner/wallets/lift', lift)).status).toBe(200);
    expect((await buy(fresh)).success).toBe(true);
    expect((await owner.send('GET', '/owner/wallets/left')).body).toEqual([]);
    // The agent's own pause is unchanged.
    expect((await agent.client.getSettings()).pausedByOwner).toBe(true);
  });

  test('only agents that had the wallet get a webhook event, once', async () => {
    const agent = await newTrader(service, 2);
    await buy(agent);
    const sibling = await newAgent(service);
    const owner = await ownerOf(service, agent, sibling);
    await pause(owner, agent);
    const url = 'https://hooks.example.com/';
    const hook = await agent.client.createWebhook({ url, events: ['wallet.left'] });
    const other = await sibling.client.createWebhook({ url, events: ['*'] });
    const reported = (trader: Pick<Trader, 'client'>, id: string) => trader.client.listWebhookDeliveries(id);
    const fresh = await freshAgent(agent.signer, 2);
    expect(await refusalOf(buy(fresh))).toBe('trading_paused');
    const [event, ...more] = await reported(agent, hook.id);
    expect(more).toEqual([]);
    expect(event?.event).toMatchObject({
      type: 'wallet.left',
      agentId: agent.agentId,
      data: { keyAddress: agent.signer.address, paused: true, restrictionsMoved: true },
    });
    expect(Check(WEBHOOK_EVENTS['wallet.left']!.data, event?.event.data)).toBe(true);
    // Back, and away again: another event.
    await linkSignersWallet({ client: agent.client, signer: agent.signer });
    await freshAgent(agent.signer, 2);
    expect(await reported(agent, hook.id)).toHaveLength(2);
    expect(await reported(sibling, other.id)).toEqual([]);
  });

  test('by the operator', async () => {
    const agent = await newTrader(service);
    await buy(agent);
    const owner = await ownerOf(service, agent);
    await pause(owner, agent);
    const fresh = await freshAgent(agent.signer);
    const lift = { walletAddress: agent.funder };
    const byAgent = await fresh.post('/operator/wallets/lift', lift);
    expect(byAgent.status).toBe(401);
    const answer = await call(service, 'POST', '/operator/wallets/lift', { key: OPERATOR_KEY, body: lift });
    expect(answer.status).toBe(200);
    expect((await buy(fresh)).success).toBe(true);
  });
});
