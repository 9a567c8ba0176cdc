/** Which Solana wallet belongs to an agent: linked, traded with, credited, released. */
import { type Briefing, linkSolanaWallet, SolanaSigner } from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';
import { newAgent } from '../harness.ts';
import { fake, get, newTicker, onBoth, placed, service, useStage } from './quoted-reads-stage.ts';

useStage();

describe('ownership', () => {
  test('is proved by a link or a submitted order; naming an address proves nothing', async () => {
    const owner = await onBoth();
    const { id } = newTicker();
    await placed({ agentId: owner.agentId, wallet: owner.wallet, ticker: id });

    const stranger = await newAgent(service);
    await stranger.client.updateSolAddress(owner.wallet);
    for (const path of [
      '/markets/current-positions',
      '/markets/positions/expiring?hours=8000',
      '/markets/closed-positions',
      '/venueb/agent/positions',
    ]) {
      const { status, body } = await get(path, stranger.apiKey);
      expect({ path, status, shown: (body.positions ?? body).length }).toEqual({
        path,
        status: 200,
        shown: 0,
      });
    }
    for (const path of [
      `/markets/current-positions?user=${owner.wallet}`,
      `/markets/portfolio?user=${owner.wallet}`,
      `/markets/briefing?user=${owner.wallet}`,
      `/markets/wallet/${owner.wallet}/positions`,
      `/markets/context/${id}?user=${owner.wallet}`,
    ]) {
      const { status, body } = await get(path, stranger.apiKey);
      expect({ path, status, code: body.code }).toEqual({ path, status: 404, code: 'wallet_not_found' });
    }
    const briefing = (await get('/markets/briefing', stranger.apiKey)).body as Briefing;
    expect(briefing.venues.kalshi).toMatchObject({ currentPositionsCount: 0, positionsValue: 0 });
    expect((await get(`/markets/context/${id}`, stranger.apiKey)).body).toMatchObject({
      positions: [],
      safeguards: { positionValue: { used: 0 } },
    });

    const trader = await newAgent(service);
    const traded = SolanaSigner.generate().address;
    await placed({ agentId: trader.agentId, wallet: traded, ticker: id });
    expect((await get('/markets/current-positions', trader.apiKey)).body).toHaveLength(1);
    expect((await get(`/markets/wallet/${traded}/positions`, trader.apiKey)).body.positionCount).toBe(1);
  });

  test('a link takes the wallet from an agent that traded with it; an unlink releases it', async () => {
    const first = await newAgent(service);
    const solana = SolanaSigner.generate();
    const { id } = newTicker();
    await placed({ agentId: first.agentId, wallet: solana.address, ticker: id });
    const count = async (as: string) => (await get('/markets/current-positions', as)).body.length;
    expect(await count(first.apiKey)).toBe(1);
    const second = await newAgent(service);
    await linkSolanaWallet(second.client, solana);
    expect([await count(first.apiKey), await count(second.apiKey)]).toEqual([0, 1]);
    await second.client.unlinkWallet(solana.address);
    expect([await count(first.apiKey), await count(second.apiKey)]).toEqual([1, 0]);
  });

  test('an address of another venue, or of none, is refused as a wallet', async () => {
    const both = await onBoth();
    for (const query of [
      `venue=polymarket&user=${both.wallet}`,
      `venue=kalshi&user=${both.funder}`,
      `user=${'2'.repeat(32)}`,
    ]) {
      const { status, body } = await get(`/markets/current-positions?${query}`, both.apiKey);
      expect({ query, status, code: body.code }).toEqual({ query, status: 404, code: 'wallet_not_found' });
    }
    expect((await get('/markets/current-positions?user=nobody', both.apiKey)).body.code).toBe(
      'invalid_request',
    );
  });

  test('is credited when a wallet is linked or named; a failed credit does not prevent the link', async () => {
    const agent = await newAgent(service);
    const [linked, named, broke] = [1, 2, 3].map(() => SolanaSigner.generate());
    await linkSolanaWallet(agent.client, linked as SolanaSigner);
    await agent.client.updateSolAddress((named as SolanaSigner).address);
    expect(fake.credited).toEqual(
      expect.arrayContaining([(linked as SolanaSigner).address, (named as SolanaSigner).address]),
    );
    fake.controls.creditFails = true;
    try {
      const result = await linkSolanaWallet(agent.client, broke as SolanaSigner);
      expect(result.success).toBe(true);
    } finally {
      fake.controls.creditFails = false;
    }
    expect((await agent.client.getMe()).solAddress).toBe((broke as SolanaSigner).address);
  });
});
