/**
 * Values of the placeholders in the test that runs the examples. Reads share one agent that has traded on both
 * venues; an example that changes something gets an agent or an owner of its own, so no example depends on another.
 */
import { createHmac, randomUUID } from 'node:crypto';
import type { Placeholder } from '@bellwether/contract/examples';
import {
  BellwetherApiError,
  buildMarketOrder,
  createVenueCredentials,
  linkSolanaWallet,
  type Market,
  Signer,
  SolanaSigner,
} from '@bellwether/sdk';
import { expect, vi } from 'vitest';
import { ownerOf } from '../approving.ts';
import {
  call,
  limitOrder,
  newAgent,
  newTrader,
  openMarkets,
  type TestService,
  type Trader,
  withTurns,
} from '../harness.ts';
import { Visitor } from '../passkey.ts';
import { aSandboxMarket } from '../sandbox.ts';
import { type ManualClock, resolveMarket } from '../world.ts';
import { receiptOf, WAITING } from './receipts-stage.ts';

export const OPERATOR_KEY = 'operator-key-of-the-runnable-examples';
const INBOUND_SECRET = 'the-secret-of-the-examples';
export const ENVIRONMENT = {
  PAPER_WORLD: 'off',
  // On, so that answers say what they say then; no example must meet one.
  RATE_LIMITS: 'on',
  ...Object.fromEntries(
    ['REGISTER_PER_HOUR', 'CLAIM_PER_MINUTE', 'RELAY_PER_MINUTE', 'DOOR_PER_SECOND', 'DOOR_BURST'].map(
      (name) => [`RATE_LIMIT_${name}`, '100000'],
    ),
  ),
  OPERATOR_KEY,
  WEBHOOK_INBOUND_SECRETS: `signer=${INBOUND_SECRET}`,
};

/** An agent on both venues. */
interface Actor extends Trader {
  readonly solana: SolanaSigner;
}

export interface World {
  readonly service: TestService;
  readonly market: Market;
  /** Traded by the reader, and resolved since. */
  readonly resolved: Market;
  readonly quoted: Market;
  /** Of a negative-risk event. */
  readonly ofEvent: Market;
  /** Has orders, fills, positions, quoted orders, a webhook and skills. */
  readonly reader: Actor;
  /** Owns the reader. */
  readonly readersOwner: Visitor;
  /** Holds tokens of the resolved market. */
  readonly winner: Actor;
}

async function newActor(service: TestService): Promise<Actor> {
  const trader = await newTrader(service);
  const solana = SolanaSigner.generate();
  // The service's clock has been moved to the end of a market.
  const { timestamp } = await trader.client.getHealth();
  await linkSolanaWallet(trader.client, solana, { now: () => Date.parse(timestamp) });
  return { ...trader, solana };
}

export const restingIn = (actor: Trader, market: Market) =>
  limitOrder(actor, market, { side: 'BUY', price: '0.01', size: 10, postOnly: true });

const exitFrom = (actor: Actor, market: Market) =>
  limitOrder(actor, market, { side: 'SELL', price: '0.05', size: 10 });

async function leaveExit(actor: Actor, market: Market): Promise<string> {
  const trigger = { kind: 'price_at_or_below', price: 0.05 } as const;
  return (await actor.client.leaveExit({ ...(await exitFrom(actor, market)), trigger })).exitId;
}

/** An owner's pause has suspended it. */
async function suspendExit(actor: Actor, owner: Visitor, market: Market): Promise<string> {
  const exitId = await leaveExit(actor, market);
  for (const paused of [true, false])
    await owner.send('POST', `/owner/agents/${actor.agentId}/pause`, { paused });
  return exitId;
}

async function buy(actor: Trader, market: Market, outcome: 'YES' | 'NO' = 'YES'): Promise<void> {
  const order = { signer: actor.signer, market, outcome, side: 'BUY', amount: 10, worstPrice: 0.99 } as const;
  const labels = { source: 'sdk:examples', skillSlug: 'fade-the-open', reasoning: 'To have a position.' };
  await actor.client.placeTrade({ ...(await buildMarketOrder(order)), ...labels });
}

async function sellAll(actor: Trader, market: Market): Promise<void> {
  const held = await actor.client.getCurrentPositions({ market: market.conditionId });
  for (const { size } of held) {
    const order = {
      signer: actor.signer,
      market,
      outcome: 'YES',
      side: 'SELL',
      shares: size,
      worstPrice: 0.01,
    } as const;
    await actor.client.placeTrade(await buildMarketOrder(order));
  }
}

const submitSkill = (actor: Pick<Trader, 'client'>) =>
  actor.client.submitSkill({
    skillName: `Example ${randomUUID().slice(0, 8)}`,
    description: 'For the examples.',
    version: '1.0',
    howItWorks: '1. Wait.',
  });

const approve = (service: TestService, skillCode: string) =>
  call(service, 'POST', `/operator/skills/${skillCode}/approve`, { key: OPERATOR_KEY, body: {} });

/** Subscribes to fills alone: with risk events the latest delivery would depend on the moment. */
async function newWebhook(service: TestService, { apiKey }: Pick<Trader, 'apiKey'>): Promise<string> {
  const body = { url: 'https://hooks.example.com/bellwether', events: ['order.filled'] };
  return (await call(service, 'POST', '/webhooks', { key: apiKey, body })).body.id;
}

/** Once every delivery has been tried: the recorded answer shows one that failed. */
async function isAttempted(
  service: TestService,
  { client }: Pick<Trader, 'client'>,
  webhookId: string,
): Promise<void> {
  const areTried = vi.waitFor(async () => {
    const deliveries = await client.listWebhookDeliveries(webhookId, {});
    expect(deliveries.map(({ attempts }) => Math.min(attempts, 1))).toEqual([1]);
  }, WAITING);
  await withTurns(service, ['webhooks'], areTried);
}

/** A wallet that leaves its owner: another agent proves its key. */
async function loseWallet(
  service: TestService,
): Promise<{ readonly owner: Visitor; readonly wallet: string }> {
  const loser = await newTrader(service);
  const owner = await ownerOf(service, loser);
  await owner.send('POST', `/owner/agents/${loser.agentId}/pause`, { paused: true });
  const finder = await newAgent(service);
  const { nonce, message } = await finder.client.getLinkChallenge(loser.signer.address);
  const signature = await loser.signer.signMessage(message);
  await finder.client.linkWallet({ address: loser.signer.address, nonce, signature });
  return { owner, wallet: loser.signer.address };
}

/** A paper venue never says what no order can have: this one does, and gives the reader's order for it. */
async function keepTradeAside({ needs }: TestService, { agentId, client }: Trader): Promise<void> {
  const [{ orderId } = { orderId: '' }] = await client.listOpenOrders({ limit: 1 });
  const order = await needs.orders.byId(agentId, orderId);
  const keptAside = { held: async () => ({ orders: [], total: 0 }), decide: async () => order };
  Object.assign(needs.venues.default, { keptAside });
}

export async function prepareWorld(service: TestService, clock: ManualClock): Promise<World> {
  const reader = await newActor(service);
  const winner = await newActor(service);
  const markets = (await openMarkets(reader.client)).sort(
    (a, b) => Date.parse(a.endDate) - Date.parse(b.endDate),
  );
  const [resolved, ...later] = markets as [Market, ...Market[]];
  const [market, sold] = later.slice(-2) as [Market, Market];
  await buy(reader, resolved);
  await buy(winner, resolved);
  await buy(winner, resolved, 'NO');
  await resolveMarket(service, clock, resolved.conditionId);
  await buy(reader, sold);
  await sellAll(reader, sold);
  await buy(reader, market);
  await reader.client.placeTrade(await restingIn(reader, market));
  const quoted = await aSandboxMarket(reader.client);
  const { orderId } = await reader.client.venueB.trade({
    ...{ ticker: quoted.id, side: 'YES', action: 'BUY', amount: 20 },
    signer: reader.solana,
  });
  await withTurns(service, ['follow'], reader.client.venueB.wait(orderId));
  const [ofEvent] = (await openMarkets(reader.client, '0.01', true)).slice(-1) as [Market];
  const webhookId = await newWebhook(service, reader);
  await reader.client.testWebhook(webhookId);
  await approve(service, (await submitSkill(reader)).skillCode);
  await submitSkill(reader);
  const { owner: readersOwner } = await loseWallet(service);
  const { claimCode } = await reader.client.getMe();
  await readersOwner.send('POST', '/owner/claim', { claimCode });
  // Receipts are made behind the trades: once this order has one, so have those before it.
  await receiptOf(service, reader, (await reader.client.listOrders({ limit: 1 }))[0]?.orderId ?? '');
  await isAttempted(service, reader, webhookId);
  await keepTradeAside(service, reader);
  return { service, market, resolved, quoted, ofEvent, reader, readersOwner, winner };
}

/** Who sends an example: an agent, and a person's browser. */
export interface Scene {
  readonly actor: Actor;
  readonly visitor: Visitor;
  /** The example's own, made when it is first asked for. */
  value(name: Placeholder): Promise<unknown>;
}

type Values = Readonly<Record<Placeholder, (value: Scene['value']) => unknown>>;

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

function agentValues({ service, market }: World, { actor, visitor }: Pick<Scene, 'actor' | 'visitor'>) {
  const { client } = actor;
  const newSigner = once(() => Signer.generate());
  const credentials = once(() =>
    createVenueCredentials({ clobUrl: `${service.url}/paper/clob`, signer: newSigner() }),
  );
  const challenge = once(() => client.getCredentialChallenge(newSigner().address));
  const link = once(() => client.getLinkChallenge(newSigner().address));
  const lost = once(() => loseWallet(service));
  const challengeOf = async (path: string, body?: object) =>
    (await visitor.send('POST', path, body)).body.challenge as string;
  return {
    agentId: () => actor.agentId,
    apiKeyId: async () => (await client.createApiKey('spare')).id,
    claimCode: async () => (await (await newAgent(service)).client.getMe()).claimCode,
    passkeyRegistration: async () =>
      visitor.registration(await challengeOf('/owner/passkey/register-options', { name: 'Ada' })).response,
    passkeySignIn: async () => {
      await visitor.register('Ada');
      return visitor.signature(await challengeOf('/owner/passkey/sign-in-options')).response;
    },
    passkeyExitRule: async () =>
      visitor.signature(
        await challengeOf(`/owner/agents/${actor.agentId}/exit-rule/passkey-options`, {
          ...{ capsBindExits: false, exitDistancePercent: 10 },
        }),
      ).response,
    passkeyHeartbeat: async (value: Scene['value']) =>
      visitor.signature(
        await challengeOf('/owner/wallets/heartbeat/passkey-options', {
          ...{ walletAddress: (await value('ownersWallet')) as string, on: true },
        }),
      ).response,
    passkeyApproval: async (value: Scene['value']) =>
      visitor.signature(await challengeOf(`/owner/approvals/${await value('approvalId')}/passkey-options`))
        .response,
    passkeyExit: async (value: Scene['value']) =>
      visitor.signature(
        await challengeOf(`/owner/agents/${actor.agentId}/exits/${await value('exitId')}/passkey-options`, {
          act: 'arm_for_pause',
        }),
      ).response,
    passkeyExits: async (value: Scene['value']) =>
      visitor.signature(
        await challengeOf('/owner/exits/resume/passkey-options', {
          ...{ exitIds: [await value('suspendedExitId')], resumeTrading: false },
        }),
      ).response,
    suspendedExitId: () => suspendExit(actor, visitor, market),
    ...passkeyValues(service, visitor),
    ownersWallet: async () => {
      const other = await newTrader(service);
      const { claimCode } = await other.client.getMe();
      await visitor.send('POST', '/owner/claim', { claimCode });
      return other.signer.address;
    },
    leftWallet: async () => {
      const { owner, wallet } = await lost();
      visitor.cookie = owner.cookie;
      return wallet;
    },
    leftWalletOfAnyOwner: async () => (await lost()).wallet,
    wallet: () => actor.funder,
    newWallet: () => newSigner().address,
    venueKey: async () => (await credentials()).apiKey,
    venueSecret: async () => (await credentials()).apiSecret,
    venuePassphrase: async () => (await credentials()).apiPassphrase,
    credentialNonce: async () => (await challenge()).nonce,
    credentialSignature: async () => newSigner().signMessage((await challenge()).message),
    linkNonce: async () => (await link()).nonce,
    linkSignature: async () => newSigner().signMessage((await link()).message),
    solanaWallet: () => actor.solana.address,
    delegatingWallet: async () => {
      await client.venueB.approveDelegate({ signer: actor.solana, amount: 1 });
      return actor.solana.address;
    },
    newSolanaWallet: () => SolanaSigner.generate().address,
    skillCode: async () => {
      const { skillCode } = await submitSkill(actor);
      await approve(service, skillCode);
      return skillCode;
    },
    pendingSkillCode: async () => (await submitSkill(actor)).skillCode,
    webhookId: async () => {
      const [known] = await client.listWebhooks();
      return known?.id ?? newWebhook(service, actor);
    },
    callbackSource: () => 'signer',
    callbackSignature: () =>
      createHmac('sha256', INBOUND_SECRET)
        .update('{"id":"transaction-1","status":"COMPLETED"}')
        .digest('hex'),
  };
}

/** Another device of the same owner makes what the example sends. */
function passkeyValues(service: TestService, visitor: Visitor) {
  const optionsOf = async (path: string, body?: object) =>
    (await visitor.send('POST', path, body)).body.challenge as string;
  return {
    passkeyId: async () => {
      await visitor.addPasskey('Telephone');
      return (await visitor.send('GET', '/owner/passkeys')).body.passkeys.at(-1).passkeyId;
    },
    passkeyAdding: async () => (await visitor.word('/owner/passkeys/passkey-options')).response,
    passkeyAdded: async () => {
      const word = await visitor.word('/owner/passkeys/passkey-options');
      const challenge = await optionsOf('/owner/passkeys/register-options', word);
      return new Visitor(service).registration(challenge).response;
    },
    passkeyRemoving: async (value: Scene['value']) =>
      (await visitor.word(`/owner/passkeys/${await value('passkeyId')}/remove/passkey-options`)).response,
    passkeyRecoveryCode: async () => (await visitor.word('/owner/recovery-code/passkey-options')).response,
    recoveryCode: async () => {
      if (visitor.cookie === null) await visitor.register('Ada');
      return visitor.newRecoveryCode();
    },
    passkeyRecovering: async (value: Scene['value']) => {
      const code = await value('recoveryCode');
      const stranger = new Visitor(service);
      const { body } = await stranger.send('POST', '/owner/recovery/register-options', { code });
      return stranger.registration(body.challenge).response;
    },
    passkeyUndoing: async () => {
      await new Visitor(service).recover(await visitor.newRecoveryCode());
      return (await visitor.word('/owner/recovery/undo/passkey-options')).response;
    },
  };
}

function tradingValues({ service, market, resolved, quoted, ofEvent }: World, actor: Actor) {
  const { client } = actor;
  const trade = once(() => restingIn(actor, market));
  const exit = once(() => exitFrom(actor, market));
  const ask = { ticker: quoted.id, side: 'YES', action: 'BUY', amount: 10 } as const;
  const quote = once(() => client.venueB.quote(ask, actor.solana.address));
  return {
    marketId: () => market.id,
    conditionId: () => market.conditionId,
    tokenId: () => market.clobTokenIds[0],
    eventMarketId: () => ofEvent.id,
    resolvedMarketId: () => resolved.id,
    salt: async () => (await trade()).order.salt,
    signature: async () => (await trade()).order.signature,
    clientOrderId: () => randomUUID(),
    orderId: async () => {
      const [open] = await client.listOrders({ limit: 1, orderStatus: 2 });
      return open?.orderId ?? (await client.placeTrade(await trade())).orderId;
    },
    approvalId: async () => {
      await client.updateSettings({ approvalAbove: 0 });
      const refused = await client
        .placeTrade(await restingIn(actor, market))
        .catch((error: unknown) => error);
      await client.updateSettings({ approvalAbove: null });
      return refused instanceof BellwetherApiError ? refused.approvalId : undefined;
    },
    ticker: () => quoted.id,
    quoteIdToApprove: async () => {
      await ownerOf(service, actor);
      await client.updateSettings({ approvalAbove: 1 });
      const request = { marketTicker: quoted.id, side: 'YES', action: 'BUY', amount: 10 } as const;
      return (await client.quoteVenueB({ ...request, userPublicKey: actor.solana.address })).quoteId;
    },
    quoteId: async () => (await quote()).quoteId,
    signedTransaction: async () =>
      client.venueB.sign(
        client.venueB.verify(await quote(), ask, { wallet: actor.solana.address, use: actor.solana.use }),
        actor.solana,
      ),
    exitSalt: async () => (await exit()).order.salt,
    exitSignature: async () => (await exit()).order.signature,
    exitId: async () => {
      const [known] = await client.listExits({ status: 'open', limit: 1 });
      return known?.exitId ?? leaveExit(actor, market);
    },
    ownSuspendedExitId: async () => {
      const exitId = await leaveExit(actor, market);
      for (const tradingPaused of [true, false]) await client.updateSettings({ tradingPaused });
      return exitId;
    },
    setOrderId: async () => {
      const [market] = await openMarkets(client);
      const split = { clientOrderId: randomUUID(), marketId: market?.id ?? '', amount: 1 };
      return (await client.splitSets(split)).orderId;
    },
    quotedOrderId: async () => (await client.venueB.orders({ limit: 1 }))[0]?.orderId,
  };
}

/** The scene of one example: an agent with an open order where the example may change something. */
async function actorOf(world: World, { id, isRead }: SceneOf): Promise<Actor> {
  if (id === 'redeemPosition') return world.winner;
  if (isRead || id === 'listVenueBPositionsByPost') return world.reader;
  const actor = await newActor(world.service);
  await actor.client.placeTrade(await restingIn(actor, world.market));
  if (id === 'mergeSets' || id === 'convertSets' || /exit/i.test(id)) {
    const { id: marketId } = id === 'convertSets' ? world.ofEvent : world.market;
    await actor.client.splitSets({ clientOrderId: randomUUID(), marketId, amount: 10 });
  }
  return actor;
}

interface SceneOf {
  readonly id: string;
  readonly isRead: boolean;
  /** Sent with the session of the agent's owner. */
  readonly isOwners: boolean;
}

export async function newScene(world: World, of: SceneOf): Promise<Scene> {
  const { service, readersOwner } = world;
  const actor = await actorOf(world, of);
  const owner = of.isRead ? readersOwner : of.isOwners ? await ownerOf(service, actor) : null;
  const visitor = of.isOwners && owner !== null ? owner : new Visitor(service);
  const values: Values = { ...agentValues(world, { actor, visitor }), ...tradingValues(world, actor) };
  const kept = new Map<Placeholder, Promise<unknown>>();
  const scene: Scene = {
    actor,
    visitor,
    value(name) {
      const known = kept.get(name) ?? Promise.resolve(values[name](scene.value));
      kept.set(name, known);
      return known;
    },
  };
  return scene;
}
