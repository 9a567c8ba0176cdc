/** Markets, orders and positions, on both venues. */
import type { Example } from './example.ts';
import { fill } from './placeholders.ts';

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

export const TRADING_EXAMPLES = {
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
