/** Agents, their keys and settings, their wallets and webhooks, skills, and streams. */
import type { Example } from './example.ts';
import { fill } from './placeholders.ts';

export const AGENT_EXAMPLES = {
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
