/** Credentials on paper by a text of this service: proof of the key, once, for this agent, and nothing is shown. */
import { type SignatureType, Signer } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  aMarket,
  newAgent,
  newTrader,
  restingOrder,
  startTestService,
  type TestService,
} from '../harness.ts';

let service: TestService;
let now = Date.now();

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock: { now: () => now } });
});

type Agent = Awaited<ReturnType<typeof newAgent>>;

async function signed(agent: Agent, address: string = agent.signer.address, signer = agent.signer) {
  const { nonce, message } = await agent.client.getCredentialChallenge(address);
  return { address, nonce, signature: await signer.signMessage(message) };
}
const post = (agent: Agent, body: object) => agent.post('/wallet/credentials/paper', body);

describe('credentials on paper', () => {
  test.each([0, 1, 2, 3] as const)('a wallet of type %i trades with them', async (type) => {
    const agent = await newAgent(service);
    const wallet = agent.signer.wallet(type);
    const { status, body } = await post(agent, await signed(agent, wallet));
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, walletAddress: wallet, signatureType: type });
    expect(JSON.stringify(body)).not.toMatch(/apiKey|secret|passphrase/i);
    const trader = { ...agent, signatureType: type as SignatureType, funder: wallet };
    const placed = await agent.client.placeTrade(await restingOrder(trader, await aMarket(agent.client)));
    expect(placed).toMatchObject({ success: true, status: 'live' });
    expect((await agent.client.getMe()).simulationBalance).toBeGreaterThan(0);
  });

  test('the text is ours, names agent and purpose, and is never the venue’s', async () => {
    const agent = await newAgent(service);
    const { message } = await agent.client.getCredentialChallenge(agent.signer.address);
    expect(message).toContain(agent.agentId);
    expect(message).toContain('simulated money only');
    expect(message).not.toContain('attests that I control');
  });

  test('a second wallet, another key and a new challenge for the same wallet', async () => {
    const agent = await newAgent(service);
    const second = Signer.generate();
    expect((await post(agent, await signed(agent))).status).toBe(200);
    expect((await post(agent, await signed(agent, second.address, second))).status).toBe(200);
    expect((await post(agent, await signed(agent))).status).toBe(200);
  });

  test('a challenge is good once, for five minutes, this agent, this address and this purpose', async () => {
    const agent = await newAgent(service);
    const other = await newAgent(service);
    const used = await signed(agent);
    expect((await post(agent, used)).status).toBe(200);
    const refused = [
      await post(agent, used),
      await post(other, await signed(agent)),
      await post(agent, { ...(await signed(agent)), address: agent.signer.wallet(1) }),
    ];
    const { nonce, message } = await agent.client.getLinkChallenge(agent.signer.address);
    const link = { address: agent.signer.address, nonce, signature: await agent.signer.signMessage(message) };
    refused.push(await post(agent, link));
    const stale = await signed(agent);
    now += 300_000;
    refused.push(await post(agent, stale));
    for (const { status, body } of refused)
      expect([status, body.code]).toEqual([400, 'link_challenge_invalid']);
    const credential = await signed(agent);
    const asLink = await agent.post('/wallet/link', credential);
    expect(asLink.body.code).toBe('link_challenge_invalid');
  });

  test('two uses at once: one wins', async () => {
    const agent = await newAgent(service);
    const answer = await signed(agent);
    const statuses = (await Promise.all([post(agent, answer), post(agent, answer)])).map(
      ({ status }) => status,
    );
    expect(statuses.sort()).toEqual([200, 400]);
  });

  test('a foreign signature, a foreign wallet and a wrong type are refused', async () => {
    const agent = await newAgent(service);
    const stranger = Signer.generate();
    const foreign = await post(agent, await signed(agent, agent.signer.address, stranger));
    expect(foreign.body.code).toBe('link_signature_invalid');
    const owned = await newTrader(service);
    const taken = await post(agent, await signed(agent, owned.signer.address, owned.signer));
    expect([taken.status, taken.body.code]).toEqual([409, 'wallet_already_registered']);
    const proxy = await signed(agent, agent.signer.wallet(1));
    const wrong = await post(agent, { ...proxy, signatureType: 2 });
    expect(wrong.body.code).toBe('wallet_owner_mismatch');
  });
});
