/** What the `fix` of a refusal to an owner, the operator, or about a webhook, a skill or the fee says, done. */
import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '@bellwether/contract';
import { linkSolanaWallet, type Market, SolanaSigner } from '@bellwether/sdk';
import { beforeAll, expect } from 'vitest';
import { ownerOf } from '../approving.ts';
import { bidOf, exitOrder, hold, pushBidTo } from '../exits.ts';
import {
  aMarket,
  call,
  limitOrder,
  newAgent,
  newTrader,
  startTestService,
  type TestService,
} from '../harness.ts';
import { Visitor } from '../passkey.ts';
import { standIn } from '../stand-in.ts';
import { endingMarkets, movingClock, resolveMarket } from '../world.ts';
import { type Followed, routeIn } from './errors-stage.ts';

const OPERATOR_KEY = 'an-operator-key-of-decent-length';
const SECRET = '0123456789abcdef=';
const clock = movingClock();
let desk: TestService;
let hooks: string;

/** For the top of a test file. */
export function useOwnDesk(): void {
  beforeAll(async () => {
    hooks = await standIn((_asked, response) => void response.writeHead(204).end());
    desk = await startTestService(
      {
        PAPER_WORLD: 'off',
        OPERATOR_KEY,
        WEBHOOKS_ALLOW_LOOPBACK: 'on',
        WEBHOOK_INBOUND_SECRETS: `signer=${SECRET}`,
      },
      { clock },
    );
  });
}

const owned = async () => {
  const agent = await newTrader(desk);
  return { agent, owner: await ownerOf(desk, agent) };
};
const passkeys = async (owner: Visitor) => (await owner.send('GET', '/owner/passkeys')).body.passkeys;
const remove = async (owner: Visitor, passkeyId: string) => {
  const path = `/owner/passkeys/${passkeyId}/remove`;
  return owner.send('POST', path, await owner.word(`${path}/passkey-options`));
};
const signIn = async (owner: Visitor, sign: (challenge: string) => object) => {
  const { body } = await owner.send('POST', '/owner/passkey/sign-in-options');
  return owner.send('POST', '/owner/passkey/sign-in', sign(body.challenge));
};
const recovery = (by: Visitor, code: string) => by.send('POST', '/owner/recovery/register-options', { code });
const submit = (key: string, nth = 0) =>
  call(desk, 'POST', '/agent/skill/submit-skill', {
    key,
    body: { skillName: `Skill ${nth}`, description: 'Sells.', version: '0.1', howItWorks: '1. Sell.' },
  });
const hook = (agent: Pick<Awaited<ReturnType<typeof newAgent>>, 'post'>, url = `${hooks}/a`) =>
  agent.post('/webhooks', { url, events: ['fill'] });

/** An agent with a linked Solana wallet, which has paper money. */
async function payer() {
  const agent = await newAgent(desk);
  const signer = SolanaSigner.generate();
  await linkSolanaWallet(agent.client, signer);
  // The first quote credits a wallet, with any outcome.
  const asked = { marketTicker: 'KX', side: 'YES', action: 'BUY', amount: 5, userPublicKey: signer.address };
  await agent.post('/venueb/agent/quote', asked);
  const delegate = () => agent.client.venueB.approveDelegate({ signer, amount: 1 });
  const charge = (fields: object) =>
    agent.post('/venueb/agent/charge-fee', { amount: '0.25', fromAddress: signer.address, ...fields });
  return { ...agent, wallet: signer, delegate, charge };
}
const charged =
  (wrong: Record<string, unknown>): Followed =>
  async (refused) => {
    const { charge, delegate } = await payer();
    await delegate();
    refused(await charge(wrong));
    return charge({});
  };

export const OWNER_FIXES = {
  locked_by_owner: async (refused) => {
    const { agent, owner } = await owned();
    await owner.send('POST', `/owner/agents/${agent.agentId}/safeguards`, {
      maxTradeAmount: { limit: 20, locked: true },
    });
    const { fix } = refused(await agent.post('/agents/settings', { maxTradeAmount: 21 })).body;
    const { lockedByOwner } = (await agent.get(routeIn(fix)[1])).body;
    return agent.post('/agents/settings', { maxTradeAmount: lockedByOwner.maxTradeAmount });
  },
  owner_session_required: async (refused) => {
    const { owner } = await owned();
    owner.cookie = null;
    refused(await owner.send('GET', '/owner/agents'));
    await owner.signIn();
    return owner.send('GET', '/owner/agents');
  },
  passkey_rejected: async (refused) => {
    const { owner } = await owned();
    const stranger = new Visitor(desk);
    refused(await signIn(stranger, (challenge) => stranger.signature(challenge)));
    stranger.passkey = owner.passkey;
    return stranger.signIn();
  },
  passkey_not_found: async (refused) => {
    const { owner } = await owned();
    const name = (passkeyId: string) =>
      owner.send('POST', `/owner/passkeys/${passkeyId}/name`, { name: 'Phone' });
    const { fix } = refused(await name('999999999')).body;
    const { body } = await owner.send(...routeIn(fix));
    return name(body.passkeys[0].passkeyId);
  },
  another_passkey_required: async (refused) => {
    const { owner } = await owned();
    const [{ passkeyId }] = await passkeys(owner);
    refused(await remove(owner, passkeyId));
    await owner.addPasskey('Another');
    return remove(owner, passkeyId);
  },
  passkey_limit_reached: async (refused) => {
    const { owner } = await owned();
    for (let nth = 1; nth < 20; nth += 1) await owner.addPasskey(`${nth}`);
    const more = async () => {
      const word = await owner.word('/owner/passkeys/passkey-options');
      const { body } = await owner.send('POST', '/owner/passkeys/register-options', word);
      const device = new Visitor(desk);
      return owner.send('POST', '/owner/passkeys/register', device.registration(body.challenge));
    };
    refused(await more());
    await remove(owner, (await passkeys(owner)).at(-1).passkeyId);
    return more();
  },
  recovery_code_invalid: async (refused) => {
    const { owner } = await owned();
    const code = await owner.newRecoveryCode();
    expect(code.split('-').map(({ length }) => length)).toEqual([5, 5, 5, 5, 5, 5]);
    const finder = new Visitor(desk);
    refused(await recovery(finder, `${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}`));
    return recovery(finder, code);
  },
  recovery_code_not_found: async (refused) => {
    const { owner } = await owned();
    const [old, last] = [await owner.newRecoveryCode(), await owner.newRecoveryCode()];
    const finder = new Visitor(desk);
    refused(await recovery(finder, old));
    return recovery(finder, last);
  },
  recovery_not_found: async (refused) => {
    const { owner } = await owned();
    await owner.addPasskey('Not mine');
    const word = await owner.word('/owner/recovery/undo/passkey-options');
    refused(await owner.send('POST', '/owner/recovery/undo', word));
    return remove(owner, (await passkeys(owner)).at(-1).passkeyId);
  },
  during_recovery_not_allowed: async (refused) => {
    const { agent, owner } = await owned();
    const code = await owner.newRecoveryCode();
    await new Visitor(desk).recover(code);
    const loosen = () =>
      owner.send('POST', `/owner/agents/${agent.agentId}/safeguards`, {
        tradeLimitEnabled: { limit: false, locked: false },
      });
    refused(await loosen());
    await owner.send(
      'POST',
      '/owner/recovery/undo',
      await owner.word('/owner/recovery/undo/passkey-options'),
    );
    await owner.signIn();
    return loosen();
  },
  agent_already_claimed: async (refused) => {
    const agent = await newTrader(desk);
    const { claimCode } = await agent.client.getMe();
    const [owner, other] = [await ownerOf(desk, agent), await ownerOf(desk)];
    refused(await other.send('POST', '/owner/claim', { claimCode }));
    // The person who claimed it has it.
    return owner.send('GET', `/owner/agents/${agent.agentId}`);
  },
  agent_not_found: async (refused) => {
    const { owner } = await owned();
    refused(await owner.send('GET', `/owner/agents/${randomUUID()}`));
    const [{ agentId }] = (await owner.send('GET', '/owner/agents')).body;
    return owner.send('GET', `/owner/agents/${agentId}`);
  },
  operator_disabled: async (refused) => {
    const without = await startTestService({ PAPER_WORLD: 'off' });
    const { fix } = refused(await call(without, 'GET', '/operator/status', { key: OPERATOR_KEY })).body;
    expect(OPERATOR_KEY.length).toBeGreaterThanOrEqual(Number(/at least (\d+) characters/.exec(fix)?.[1]));
    return call(desk, 'GET', '/operator/status', { key: OPERATOR_KEY });
  },

  skill_not_found: async (refused) => {
    const agent = await newAgent(desk);
    const { fix } = refused(await agent.get(`/agent/skill/skills/${randomUUID()}`)).body;
    const [{ skillCode }] = (await agent.get(routeIn(fix)[1])).body.list;
    return agent.get(`/agent/skill/skills/${skillCode}`);
  },
  skill_queue_full: async (refused) => {
    const { apiKey } = await newAgent(desk);
    const { skillCode } = (await submit(apiKey)).body;
    for (let nth = 1; nth < 20; nth += 1) await submit(apiKey, nth);
    refused(await submit(apiKey, 20));
    await call(desk, 'POST', `/operator/skills/${skillCode}/refuse`, {
      key: OPERATOR_KEY,
      body: { reviewRemark: 'no' },
    });
    return submit(apiKey, 20);
  },

  webhook_not_found: async (refused) => {
    const agent = await newAgent(desk);
    await hook(agent);
    const { fix } = refused(await agent.post(`/webhooks/${randomUUID()}/test`)).body;
    const [{ id }] = (await agent.get(routeIn(fix)[1])).body;
    return agent.post(`/webhooks/${id}/test`);
  },
  webhook_url_refused: async (refused) => {
    const agent = await newAgent(desk);
    refused(await hook(agent, 'https://user@10.0.0.1/'));
    return hook(agent, 'https://hooks.example.com/');
  },
  webhook_limit_reached: async (refused) => {
    const agent = await newAgent(desk);
    for (let nth = 0; nth < 10; nth += 1) await hook(agent);
    const { fix } = refused(await hook(agent)).body;
    const [{ id }] = (await agent.get('/webhooks')).body;
    await call(desk, ...routeIn(fix, { id }), { key: agent.apiKey });
    return hook(agent);
  },
  webhook_signature_invalid: async (refused) => {
    const body = '{"id": "1", "type": "ping"}';
    const inbound = (signature: string) =>
      call(desk, 'POST', '/webhooks/inbound/signer', { body, headers: { 'x-signature': signature } });
    refused(await inbound('00'));
    const { createHmac } = await import('node:crypto');
    return inbound(createHmac('sha256', SECRET).update(body).digest('hex'));
  },
  faucet_allowance_exceeded: async (refused) => {
    const { funder: address, post } = await newTrader(desk);
    const { detail } = refused(await post('/paper/faucet', { address, amount: 1_000_000 })).body;
    return post('/paper/faucet', { address, amount: Number(/(\d+)[^\d]*$/.exec(detail)?.[1]) });
  },

  fee_amount_required: charged({ amount: undefined }),
  invalid_fee_amount: charged({ amount: 0.25 }),
  fee_amount_too_large: async (refused) => {
    const { charge, delegate } = await payer();
    await delegate();
    const { detail } = refused(await charge({ amount: '100.000001' })).body;
    expect(detail).toContain('100');
    return charge({ amount: '1' });
  },
  from_address_required: charged({ fromAddress: undefined }),
  delegate_equals_owner: async (refused) => {
    const { charge, delegate, client } = await payer();
    await delegate();
    refused(await charge({ fromAddress: (await client.venueB.delegation()).delegate }));
    return charge({});
  },
  wallet_not_yours: async (refused) => {
    const [agent, { wallet, delegate }] = [await payer(), await payer()];
    await delegate();
    const fromAddress = wallet.address;
    refused(await agent.charge({ fromAddress }));
    await linkSolanaWallet(agent.client, wallet);
    return agent.charge({ fromAddress });
  },
  delegation_insufficient: async (refused) => {
    const { charge, delegate, get } = await payer();
    const { fix } = refused(await charge({})).body;
    expect((await get(routeIn(fix)[1])).body.delegate).toEqual(expect.any(String));
    await delegate();
    return charge({});
  },

  exit_liquidity_required: async (refused) => {
    const { agent, owner } = await owned();
    const market = await aMarket(agent.client);
    await hold(agent, market, 20);
    const stop = Math.round(bidOf(desk, market) * 100 - 3) / 100;
    const worst = Math.round(stop * 95) / 100;
    const order = await exitOrder(agent, market, { worst, type: 'FAK' });
    const trigger = { kind: 'price_at_or_below', price: stop };
    const { exitId } = (await agent.post('/markets/exits', { ...order, trigger })).body;
    const path = `/owner/agents/${agent.agentId}/exits/${exitId}`;
    const sell = async () => {
      const word = await owner.word(`${path}/passkey-options`, { act: 'sell' });
      return owner.send('POST', `${path}/act`, { act: 'sell', ...word });
    };
    await pushBidTo(desk, { market, price: worst - 0.01 });
    refused(await sell());
    const bidder = await newTrader(desk);
    await bidder.client.placeTrade(
      await limitOrder(bidder, market, { side: 'BUY', price: worst, size: 2_000 }),
    );
    return sell();
  },

  // Last: they move the clock.
  passkey_challenge_expired: async (refused) => {
    const { owner } = await owned();
    refused(
      await signIn(owner, (challenge) => {
        clock.advance(5 * 60_000 + 1);
        return owner.signature(challenge);
      }),
    );
    return owner.signIn();
  },
  market_not_active: async (refused) => {
    const agent = await newTrader(desk);
    const [first] = await endingMarkets(agent);
    const { id, conditionId } = first as Market;
    const split = (marketId: string) =>
      agent.post('/markets/split', { clientOrderId: randomUUID(), marketId, amount: 1 });
    await resolveMarket(desk, clock, conditionId);
    const { fix } = refused(await split(id)).body;
    expect(fix).toContain('POST /markets/redeem');
    const [active] = (await agent.get('/markets?q=*')).body;
    return split(active.id);
  },
} as const satisfies Partial<Record<ErrorCode, Followed>>;
