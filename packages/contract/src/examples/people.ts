/** Owners and the operator. */
import type { Example } from './example.ts';
import { fill } from './placeholders.ts';

const agent = { agentId: fill('agentId') };

export const PEOPLE_EXAMPLES = {
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
  getOwnerHome: {},
  getOwnerEquity: { query: { interval: '1d' } },
  ownerEvents: {},
  ownerWatchMarket: { query: { tokens: fill('tokenId') } },
  pauseOwner: { body: { paused: true } },
  listSafeguards: {},
  getOwnerAgent: { path: agent },
  getOwnerAgentEquity: { path: agent, query: { interval: '1d' } },
  listOwnerAgentDecisions: { path: agent, query: { limit: 10 } },
  listOwnerAgentOpenOrders: { path: agent },
  listOwnerAgentOrders: { path: agent, query: { limit: 10 } },
  getOwnerAgentOrder: { path: { ...agent, orderId: fill('orderId') } },
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
