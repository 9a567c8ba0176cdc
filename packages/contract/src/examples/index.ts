/**
 * A runnable example of every operation: a new operation without one does not compile. The OpenAPI document shows
 * them, and test/e2e/openapi-examples.test.ts runs each against a service. Not part of the package's index: no client
 * needs them.
 */
import type * as contract from '../index.ts';
import type { Operation } from '../operation.ts';
import answers from './answers.json' with { type: 'json' };

/** A service's answer to an example; lists are cut to their first items. */
interface RecordedAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** The request of a runnable example: what the operation takes, with `{{placeholders}}` for what must be fresh. */
export interface Example {
  /** The parameters in braces of the path. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** Beside the key and the media type. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/**
 * Values of a runnable example that its reader fills in. The OpenAPI document explains each name, and `test/e2e/openapi-stage.ts`
 * says how the test that runs every example comes by it.
 */
export const PLACEHOLDERS = {
  // Agents, keys and owners
  agentId: 'the id of one of your agents: GET /owner/agents',
  apiKeyId: 'the `id` of a key of this agent that it can do without: GET /agents/api-key/list',
  claimCode: '`claimCode` of POST /agents/register',
  passkeyRegistration:
    "the JSON of the browser's navigator.credentials.create for the options of POST /owner/passkey/register-options",
  passkeySignIn:
    "the JSON of the browser's navigator.credentials.get for the options of POST /owner/passkey/sign-in-options",
  passkeyExitRule:
    'the answer of navigator.credentials.get to POST /owner/agents/{{agentId}}/exit-rule/passkey-options with the same values',
  passkeyHeartbeat:
    'the answer of navigator.credentials.get to POST /owner/wallets/heartbeat/passkey-options with the same values',
  passkeyApproval:
    "the JSON of the browser's navigator.credentials.get for the options of POST /owner/approvals/{{approvalId}}/passkey-options",
  passkeyExit:
    'the answer of navigator.credentials.get to POST /owner/agents/{{agentId}}/exits/{{exitId}}/passkey-options with the same act',
  passkeyExits:
    'the answer of navigator.credentials.get to POST /owner/exits/resume/passkey-options with the same values',
  passkeyId: '`passkeyId` of a passkey of the owner, who has another one: GET /owner/passkeys',
  passkeyAdding: 'the answer of navigator.credentials.get to POST /owner/passkeys/passkey-options',
  passkeyAdded: 'the answer of navigator.credentials.create to POST /owner/passkeys/register-options',
  passkeyRemoving:
    'the answer of navigator.credentials.get to POST /owner/passkeys/{{passkeyId}}/remove/passkey-options',
  passkeyRecoveryCode: 'the answer of navigator.credentials.get to POST /owner/recovery-code/passkey-options',
  recoveryCode: '`recoveryCode` of POST /owner/recovery-code',
  passkeyRecovering: 'the answer of navigator.credentials.create to POST /owner/recovery/register-options',
  passkeyUndoing:
    'the answer of navigator.credentials.get to POST /owner/recovery/undo/passkey-options, with a passkey of before',
  ownersWallet: 'a wallet of the owner that another agent registered: GET /owner/agents/{agentId}/wallets',
  leftWallet: '`walletAddress` of a row of GET /owner/wallets/left',
  leftWalletOfAnyOwner: 'a wallet that left an owner: a trade with it is refused, and names it',

  // Wallets
  wallet: 'the registered EOA of this agent: `walletAddress` of GET /agents/me',
  newWallet: 'the address of an EOA whose key you have',
  venueKey:
    "`apiKey` of the venue's signed challenge (createOrDeriveApiKey), made with the key of {{newWallet}}",
  venueSecret: '`secret` of the same answer',
  venuePassphrase: '`passphrase` of the same answer',
  credentialNonce: '`nonce` of GET /wallet/credentials/challenge?address={{newWallet}}',
  credentialSignature:
    'EIP-191 personal_sign of the `message` of the same answer with the key of {{newWallet}}',
  linkNonce: '`nonce` of GET /wallet/link/challenge?address={{newWallet}}',
  linkSignature: 'EIP-191 personal_sign of the `message` of the same answer with the key of {{newWallet}}',
  solanaWallet: 'the Solana address of this agent: `solAddress` of GET /agents/me',
  delegatingWallet:
    'a linked Solana wallet that has approved the `delegate` of GET /venueb/agent/delegation for its USDC account',
  newSolanaWallet: 'the base58 address of a Solana key that you have',

  // Markets and orders of venue A
  marketId: '`id` of an open market of GET /markets whose tickSize is 0.01',
  conditionId: '`conditionId` of the same market',
  tokenId: 'its YES token: `clobTokenIds[0]`',
  eventMarketId: '`id` of an open market of GET /markets with `negRisk: true`, of which you hold NO shares',
  resolvedMarketId: '`id` of a resolved market: GET /markets?q=*&closed=true',
  salt: 'a whole number below 2^53 that you have not used before',
  signature:
    'EIP-712 signature of the order with the key of {{wallet}}: POST /markets/trade/prepare gives the typed data, /docs/signing every rule',
  clientOrderId: 'your own name for this order, another one for another order',
  orderId: '`orderId` of POST /markets/trade',

  exitSalt: 'a whole number below 2^53 that you have not used before',
  exitSignature: 'EIP-712 signature of the SELL order with the key of {{wallet}}, which holds the shares',
  exitId: '`exitId` of POST /markets/exits',
  ownSuspendedExitId:
    'id of a suspended exit of an agent without an owner, from GET /markets/exits?status=suspended',
  suspendedExitId: '`exitId` of an exit whose status is suspended: GET /owner/exits?status=suspended',
  setOrderId: '`orderId` of POST /markets/split or /markets/merge',
  approvalId: '`approvalId` of a trade that was refused with approval_required: GET /owner/approvals',

  // Venue B
  quoteIdToApprove: '`quoteId` of a quote whose quoteErrorCode is approval_required',
  ticker: '`id` of an active market of GET /markets with the name of venue B as `venue`',
  quoteId: '`quoteId` of POST /venueb/agent/quote',
  signedTransaction:
    '`unsignedTransaction` of the same answer, verified, and signed with the key of {{solanaWallet}}',
  quotedOrderId: '`orderId` of POST /venueb/agent/submit',

  // Skills and webhooks
  skillCode: '`skillCode` of a skill of GET /agent/skill/skills',
  pendingSkillCode: '`skillCode` of a skill of GET /operator/skills',
  webhookId: '`id` of POST /webhooks',
  callbackSource: 'the name of a source in WEBHOOK_INBOUND_SECRETS',
  callbackSignature: "hex HMAC-SHA256 of the raw body with the source's secret",
} as const satisfies Readonly<Record<string, string>>;

export type Placeholder = keyof typeof PLACEHOLDERS;

const WALLET = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const SOLANA_WALLET = '7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK';
const HASH = `0x${'4b'.repeat(32)}`;
const UUID = '01a2035b-8960-76c4-8030-049f991fa7ad';
const TEXT = 'see-x-placeholders';
/** The form of what a browser's passkey answers. */
const passkey = (response: Readonly<Record<string, string>>) => ({
  ...{ id: TEXT, rawId: TEXT, type: 'public-key', clientExtensionResults: {} },
  response: { clientDataJSON: TEXT, ...response },
});
const PASSKEY = passkey({ authenticatorData: TEXT, signature: TEXT });

/** Values in the form of each, which the document shows; they stand for nothing that is there. */
export const SAMPLES: Readonly<Record<Placeholder, unknown>> = {
  agentId: UUID,
  apiKeyId: '12',
  claimCode: '7K2QD-M9XTR',
  passkeyRegistration: passkey({ attestationObject: TEXT }),
  passkeySignIn: PASSKEY,
  passkeyExitRule: PASSKEY,
  passkeyHeartbeat: PASSKEY,
  passkeyApproval: PASSKEY,
  passkeyExit: PASSKEY,
  passkeyExits: PASSKEY,
  passkeyId: '12',
  passkeyAdding: PASSKEY,
  passkeyAdded: passkey({ attestationObject: TEXT }),
  passkeyRemoving: PASSKEY,
  passkeyRecoveryCode: PASSKEY,
  recoveryCode: '7K2QD-M9XTR-3VB8N-0PWZC-E5H1J-7K2Q6',
  passkeyRecovering: passkey({ attestationObject: TEXT }),
  passkeyUndoing: PASSKEY,
  ownersWallet: WALLET,
  leftWallet: WALLET,
  leftWalletOfAnyOwner: WALLET,
  wallet: WALLET,
  newWallet: WALLET,
  venueKey: UUID,
  venueSecret: TEXT,
  venuePassphrase: TEXT,
  credentialNonce: '01a205ce01a901a205c96dc977deaf98',
  credentialSignature: `0x${'5c'.repeat(64)}1b`,
  linkNonce: '01a205ce01a901a205c96dc977deaf98',
  linkSignature: `0x${'5c'.repeat(64)}1b`,
  solanaWallet: SOLANA_WALLET,
  delegatingWallet: SOLANA_WALLET,
  newSolanaWallet: SOLANA_WALLET,
  marketId: '510001',
  conditionId: HASH,
  tokenId: '53693768433577238893975993993238702361395025765281392345981578723767801761975',
  eventMarketId: '510003',
  resolvedMarketId: '510002',
  salt: 6026294733965314,
  signature: `0x${'5c'.repeat(64)}1b`,
  clientOrderId: 'my-order-1',
  orderId: HASH,
  exitSalt: 6026294733965315,
  exitSignature: `0x${'5c'.repeat(64)}1b`,
  exitId: UUID,
  ownSuspendedExitId: UUID,
  suspendedExitId: UUID,
  setOrderId: HASH,
  approvalId: UUID,
  quoteIdToApprove: UUID,
  ticker: 'KXRAIN-26DEC-T1',
  quoteId: UUID,
  signedTransaction: 'AQAAAA==',
  quotedOrderId: UUID,
  skillCode: UUID,
  pendingSkillCode: UUID,
  webhookId: UUID,
  callbackSource: 'dflow',
  callbackSignature: '9f'.repeat(32),
};

/** Where a name stands in an example. */
const fill = <const Name extends Placeholder>(name: Name): `{{${Name}}}` => `{{${name}}}`;

const MARK = /\{\{(\w+)\}\}/g;

/** The placeholders of an example and of their explanations, in the order in which they come. */
export function placeholdersOf(value: unknown): readonly Placeholder[] {
  const found = new Set<Placeholder>();
  const look = (text: string): void => {
    for (const [, name] of text.matchAll(MARK)) {
      const placeholder = name as Placeholder;
      if (found.has(placeholder)) continue;
      found.add(placeholder);
      look(PLACEHOLDERS[placeholder]);
    }
  };
  look(JSON.stringify(value) ?? '');
  return [...found];
}

/** The example with a value for each of its placeholders. A text that is a placeholder and nothing else takes the value's type. */
export function fillIn(example: unknown, values: Readonly<Record<string, unknown>>): unknown {
  if (typeof example === 'string') {
    const [whole, name = ''] = /^\{\{(\w+)\}\}$/.exec(example) ?? [];
    if (whole !== undefined) return values[name];
    return example.replaceAll(MARK, (_mark, each: string) => String(values[each]));
  }
  if (Array.isArray(example)) return example.map((item) => fillIn(item, values));
  if (typeof example !== 'object' || example === null) return example;
  return Object.fromEntries(Object.entries(example).map(([name, value]) => [name, fillIn(value, values)]));
}

// Markets, orders and positions, on both venues.

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/** Ten YES shares for a cent each, as a maker. */
const signedTrade = {
  marketConditionId: fill('conditionId'),
  marketQuestion: 'The question, for your journal',
  outcome: 'YES',
  orderSize: 10,
  price: 0.01,
  orderType: 'GTC',
  postOnly: true,
  reasoning: 'A cent is less than I believe it to be worth.',
  source: 'sdk:examples',
  order: {
    maker: fill('wallet'),
    signer: fill('wallet'),
    taker: ZERO_ADDRESS,
    tokenId: fill('tokenId'),
    makerAmount: '100000',
    takerAmount: '10000000',
    side: 'BUY',
    expiration: '0',
    nonce: '0',
    feeRateBps: '0',
    salt: fill('salt'),
    signatureType: 0,
    signature: fill('signature'),
  },
};

/** Ten YES shares for five cents each at the least, once the book pays no more for them. */
const signedExit = {
  marketConditionId: fill('conditionId'),
  marketQuestion: 'The question, for your journal',
  outcome: 'YES',
  orderSize: 10,
  price: 0.05,
  orderType: 'GTC',
  reasoning: 'Below five cents I was wrong.',
  order: {
    ...signedTrade.order,
    tokenId: fill('tokenId'),
    makerAmount: '10000000',
    takerAmount: '500000',
    side: 'SELL',
    salt: fill('exitSalt'),
    signature: fill('exitSignature'),
  },
  trigger: { kind: 'price_at_or_below', price: 0.05 },
};

const intent = {
  clientOrderId: fill('clientOrderId'),
  marketConditionId: fill('marketId'),
  outcome: 'YES',
  side: 'BUY',
  price: 0.01,
  size: 10,
  postOnly: true,
};

const fee = { amount: '0.25', fromAddress: fill('delegatingWallet') };

const TRADING_EXAMPLES = {
  listMarkets: { query: { q: 'will', limit: 5, order: 'volume24hr' } },
  getMarket: { path: { id: fill('marketId') } },
  getMarketContext: {
    path: { marketId: fill('marketId') },
    query: { myProbability: 0.6, size: 25 },
  },
  getOrderBook: { path: { tokenId: fill('tokenId') } },
  checkMarket: { query: { marketConditionId: fill('marketId') } },
  getPricesHistory: { query: { market: fill('tokenId'), interval: '1d' } },
  getBriefing: {},
  listVenues: {},
  getVenueSigning: { path: { id: 'polymarket' } },

  prepareTrade: { body: intent },
  prepareBatch: { body: { intents: [intent] } },
  placeTrade: { body: signedTrade },
  batchTrade: { body: { orders: [signedTrade] } },
  leaveExit: { body: signedExit },
  listExits: { query: { status: 'open', limit: 10 } },
  getExit: { path: { exitId: fill('exitId') } },
  cancelExit: { body: { exitId: fill('exitId') } },
  seeExits: { body: { exitIds: [fill('exitId')] } },
  resumeOwnExit: { path: { exitId: fill('ownSuspendedExitId') } },
  listOpenOrders: { query: { limit: 10 } },
  listOrders: { query: { orderStatus: 2, limit: 10 } },
  listFills: { query: { limit: 10 } },
  getOrder: { path: { orderId: fill('orderId') } },
  cancelOrder: { body: { orderId: fill('orderId') } },
  cancelMarket: { body: { marketConditionId: fill('conditionId') } },
  cancelAll: {},

  getOrderReceipt: { path: { orderId: fill('orderId') } },
  listReceipts: { query: { limit: 2 } },
  listApprovals: { query: { limit: 10 } },
  getApproval: { path: { approvalId: fill('approvalId') } },
  askQuoteApproval: { body: { quoteId: fill('quoteIdToApprove'), reasoning: 'Priced below the polls.' } },

  getCurrentPositions: { query: { sortBy: 'CURRENT' } },
  getClosedPositions: { query: { limit: 10 } },
  getWalletPositions: { path: { address: fill('wallet') } },
  getExpiringPositions: { query: { hours: 8760 } },
  getPortfolio: {},
  getStatement: { query: { from: '2026-01-01', limit: 3 } },
  redeemPosition: { body: { marketConditionId: fill('resolvedMarketId') } },
  splitSets: {
    body: { clientOrderId: fill('clientOrderId'), marketConditionId: fill('marketId'), amount: 5 },
  },
  convertSets: {
    body: { clientOrderId: fill('clientOrderId'), marketConditionId: fill('eventMarketId'), amount: 5 },
  },
  relaySet: { body: { orderId: fill('setOrderId'), signature: fill('signature') } },
  mergeSets: {
    body: { clientOrderId: fill('clientOrderId'), marketConditionId: fill('marketId'), amount: 5 },
  },

  quoteVenueB: {
    body: {
      marketTicker: fill('ticker'),
      side: 'YES',
      action: 'BUY',
      amount: 10,
      userPublicKey: fill('solanaWallet'),
    },
  },
  submitVenueB: {
    body: {
      quoteId: fill('quoteId'),
      signedTransaction: fill('signedTransaction'),
      reasoning: 'The quote is better than my price.',
    },
  },
  listVenueBOrders: { query: { limit: 10 } },
  getVenueBOrder: { path: { orderId: fill('quotedOrderId') } },
  cancelVenueBOrder: { body: { orderId: fill('quoteId') } },
  listVenueBPositions: { query: { userPublicKey: fill('solanaWallet') } },
  listVenueBPositionsByPost: { body: { userPublicKey: fill('solanaWallet') } },
  chargeFee: { headers: { 'idempotency-key': fill('clientOrderId') }, body: fee },
  chargeFeeByAgent: { headers: { 'idempotency-key': fill('clientOrderId') }, body: fee },
  getDelegation: { query: { walletAddress: fill('solanaWallet') } },
} as const satisfies Readonly<Record<string, Example>>;

// Agents, their keys and settings, their wallets and webhooks, skills, and streams.

const AGENT_EXAMPLES = {
  registerAgent: { body: { name: 'Momentum', description: 'Buys what has risen for an hour.' } },
  getClaim: { path: { claimCode: fill('claimCode') } },
  getClaimByQuery: { query: { claimCode: fill('claimCode') } },
  createApiKey: { body: { keyName: 'second machine' } },
  listApiKeys: {},
  revokeApiKey: { path: { id: fill('apiKeyId') } },
  revokeApiKeyByPost: { path: { id: fill('apiKeyId') } },
  getMe: {},
  getSettings: {},
  updateSettings: { body: { maxTradeAmount: 25, maxTradesPerDay: 50, autoRedeemEnabled: true } },
  getHealth: {},
  getRiskSettings: {},
  updateRiskSettings: { body: { stopLossPercent: 20, riskControlEnabled: true } },
  resetRiskSettings: {},
  listAgentTrades: { query: { limit: 10 } },
  listTradesByStrategy: {},
  getLeaderboard: { query: { limit: 10 } },

  registerCredentials: {
    body: {
      walletAddress: fill('newWallet'),
      apiKey: fill('venueKey'),
      apiSecret: fill('venueSecret'),
      apiPassphrase: fill('venuePassphrase'),
      signatureType: 0,
    },
  },
  checkCredentials: { query: { walletAddress: fill('wallet') } },
  getCredentialChallenge: { query: { address: fill('newWallet') } },
  createPaperCredentials: {
    body: {
      address: fill('newWallet'),
      nonce: fill('credentialNonce'),
      signature: fill('credentialSignature'),
    },
  },
  faucet: { body: { address: fill('wallet'), amount: 100 } },
  getLinkChallenge: { query: { address: fill('newWallet') } },
  linkWallet: {
    body: { address: fill('newWallet'), nonce: fill('linkNonce'), signature: fill('linkSignature') },
  },
  unlinkWallet: { body: { address: fill('wallet') } },
  updateSolAddress: { body: { solAddress: fill('newSolanaWallet') } },

  createWebhook: {
    body: {
      url: 'https://hooks.example.com/bellwether',
      events: ['order.*', 'fill'],
      description: 'my desk',
    },
  },
  listWebhooks: {},
  deleteWebhook: { path: { id: fill('webhookId') } },
  enableWebhook: { path: { id: fill('webhookId') } },
  testWebhook: { path: { id: fill('webhookId') } },
  listWebhookDeliveries: { path: { id: fill('webhookId') }, query: { limit: 20 } },
  receiveWebhook: {
    path: { source: fill('callbackSource') },
    headers: { 'x-signature': fill('callbackSignature') },
    body: { id: 'transaction-1', status: 'COMPLETED' },
  },

  listSkills: { query: { limit: 5 } },
  listSkillsAlias: { query: { limit: 5 } },
  listMySkills: {},
  getSkill: { path: { skillCode: fill('skillCode') } },
  submitSkill: {
    body: {
      skillName: 'Fade the open',
      description: 'Sells what rose at the open.',
      version: '1.0',
      howItWorks: '1. Wait ten minutes after the open.\n2. Sell half of what has risen.',
      githubUrl: 'https://github.com/example/fade-the-open',
    },
  },

  events: {},
  watchMarket: { query: { tokens: fill('tokenId') } },
} as const satisfies Readonly<Record<string, Example>>;

// Owners and the operator.

const agent = { agentId: fill('agentId') };

const PEOPLE_EXAMPLES = {
  getOwnerSession: {},
  passkeyRegistrationOptions: { body: { name: 'Ada' } },
  registerPasskey: { body: { response: fill('passkeyRegistration') } },
  passkeySignInOptions: {},
  signInWithPasskey: { body: { response: fill('passkeySignIn') } },
  signOutOwner: {},
  claimAgent: {
    body: { claimCode: fill('claimCode'), safeguards: { maxTradeAmount: { limit: 50, locked: true } } },
  },
  listOwnerAgents: {},
  updateOwnerSafeguards: { path: agent, body: { dailyTradeAmountLimit: { limit: 200, locked: true } } },
  pauseOwnerAgent: { path: agent, body: { paused: true } },
  listOwnerAgentKeys: { path: agent },
  revokeOwnerAgentKey: { path: { ...agent, keyId: fill('apiKeyId') } },
  listOwnerAgentWallets: { path: agent },
  grantOwnerAgentWallet: { path: agent, body: { walletAddress: fill('ownersWallet'), granted: true } },
  listLeftWallets: {},
  walletHeartbeatPasskeyOptions: { body: { walletAddress: fill('ownersWallet'), on: true } },
  setWalletHeartbeat: {
    body: { walletAddress: fill('ownersWallet'), on: true, response: fill('passkeyHeartbeat') },
  },
  getOwnerHome: {},
  getOwnerEquity: { query: { interval: '1d' } },
  getOwnerStatement: { query: { from: '2026-01-01', limit: 3 } },
  ownerEvents: {},
  ownerWatchMarket: { query: { tokens: fill('tokenId') } },
  exitRulePasskeyOptions: { path: agent, body: { capsBindExits: false, exitDistancePercent: 10 } },
  setExitRule: {
    path: agent,
    body: { capsBindExits: false, exitDistancePercent: 10, response: fill('passkeyExitRule') },
  },
  listOwnerPasskeys: {},
  addPasskeyOptions: {},
  addPasskeyRegistrationOptions: { body: { response: fill('passkeyAdding') } },
  addPasskey: { body: { name: 'Telephone', response: fill('passkeyAdded') } },
  renamePasskey: { path: { passkeyId: fill('passkeyId') }, body: { name: 'Laptop' } },
  removePasskeyOptions: { path: { passkeyId: fill('passkeyId') } },
  removePasskey: { path: { passkeyId: fill('passkeyId') }, body: { response: fill('passkeyRemoving') } },
  recoveryCodeOptions: {},
  newRecoveryCode: { body: { response: fill('passkeyRecoveryCode') } },
  recoveryOptions: { body: { code: fill('recoveryCode') } },
  recoverOwner: { body: { code: fill('recoveryCode'), response: fill('passkeyRecovering') } },
  undoRecoveryOptions: {},
  undoRecovery: { body: { response: fill('passkeyUndoing') } },
  pauseOwner: { body: { paused: true } },
  listSafeguards: {},
  getOwnerAgent: { path: agent },
  getOwnerAgentEquity: { path: agent, query: { interval: '1d' } },
  listOwnerAgentDecisions: { path: agent, query: { limit: 10 } },
  listOwnerAgentOpenOrders: { path: agent },
  listOwnerAgentOrders: { path: agent, query: { limit: 10 } },
  getOwnerAgentOrder: { path: { ...agent, orderId: fill('orderId') } },
  cancelOwnerAgentOrder: { path: agent, body: { orderId: fill('orderId') } },
  cancelOwnerAgentOrders: { path: agent, body: {} },
  listOwnerExits: { query: { status: 'open' } },
  cancelOwnerAgentExit: { path: agent, body: { exitId: fill('exitId') } },
  seeOwnerAgentExits: { path: agent, body: { exitIds: [fill('exitId')] } },
  resumeExit: { path: { ...agent, exitId: fill('suspendedExitId') } },
  exitPasskeyOptions: { path: { ...agent, exitId: fill('exitId') }, body: { act: 'arm_for_pause' } },
  actOnExit: {
    path: { ...agent, exitId: fill('exitId') },
    body: { act: 'arm_for_pause', response: fill('passkeyExit') },
  },
  exitsPasskeyOptions: { body: { exitIds: [fill('suspendedExitId')], resumeTrading: false } },
  resumeExits: {
    body: { exitIds: [fill('suspendedExitId')], resumeTrading: false, response: fill('passkeyExits') },
  },
  cancelOwnerOrders: { body: {} },
  listOwnerAgentFills: { path: agent, query: { limit: 10 } },
  listOwnerAgentPositions: { path: agent },
  listOwnerAgentClosedPositions: { path: agent, query: { limit: 10 } },
  getOwnerAgentPortfolio: { path: agent },
  listOwnerAgentWebhooks: { path: agent },
  listOwnerAgentWebhookDeliveries: { path: { ...agent, id: fill('webhookId') } },
  enableOwnerAgentWebhook: { path: { ...agent, id: fill('webhookId') } },
  getOwnerMarket: { path: { marketId: fill('marketId') } },
  getOwnerPricesHistory: { query: { market: fill('tokenId'), interval: '1d' } },
  getOwnerOrderReceipt: { path: { ...agent, orderId: fill('orderId') } },
  listOwnerAgentReceipts: { path: agent, query: { limit: 2 } },
  listOwnerApprovals: { query: { limit: 10 } },
  getOwnerApproval: { path: { approvalId: fill('approvalId') } },
  approvalPasskeyOptions: { path: { approvalId: fill('approvalId') } },
  approveTrade: {
    path: { approvalId: fill('approvalId') },
    body: { response: fill('passkeyApproval') },
  },
  declineAllTrades: { path: agent, body: { reason: 'It asks too often.' } },
  declineTrade: { path: { approvalId: fill('approvalId') }, body: { reason: 'Too much for one market.' } },
  liftOwnerWallet: { body: { walletAddress: fill('leftWallet') } },

  getOperatorStatus: {},
  listKeptTrades: {},
  decideKeptTrade: {
    body: { orderId: `0x${'5'.repeat(64)}`, tradeId: 'a trade of it', decision: 'discard' },
  },
  liftOperatorWallet: { body: { walletAddress: fill('leftWalletOfAnyOwner') } },
  listSkillsForReview: { query: { reviewStatus: 1 } },
  approveSkill: {
    path: { skillCode: fill('pendingSkillCode') },
    body: { difficultyLevel: 2, reviewRemark: 'Clear, and it keeps to its limits.' },
  },
  refuseSkill: {
    path: { skillCode: fill('pendingSkillCode') },
    body: { reviewRemark: 'It does not say when it stops.' },
  },
  setSkillVisibility: { path: { skillCode: fill('skillCode') }, body: { visible: false } },
} as const satisfies Readonly<Record<string, Example>>;

type Exports = typeof contract;
export type OperationId = {
  [Name in keyof Exports]: Exports[Name] extends Operation ? Exports[Name]['id'] : never;
}[keyof Exports];

/** What a service answered to each example: test/e2e/openapi-examples.test.ts records it with EXAMPLES=record. */
export const ANSWERS: Readonly<Record<string, RecordedAnswer>> = answers;

/** Operations of the service itself, outside the contract. */
type ProbeId = 'getLiveness' | 'getReadiness';

export const EXAMPLES: Readonly<Record<OperationId | ProbeId, Example>> = {
  ...AGENT_EXAMPLES,
  ...TRADING_EXAMPLES,
  ...PEOPLE_EXAMPLES,
  getLiveness: {},
  getReadiness: {},
};
