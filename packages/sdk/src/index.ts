/** Everything that an agent needs: a key that signs locally, order building, and the service's operations. */
export type {
  AgentApproval,
  AgentRecord,
  ApiKeyRecord,
  Approval,
  Briefing,
  CancelAllResponse,
  CancelMarketResponse,
  CancelResponse,
  ChainPosition,
  ChangedSettings,
  CredentialCheck,
  CredentialRequest,
  CredentialResult,
  Delegation,
  ErrorCode,
  ExitRequest,
  ExitTrigger,
  FaucetRequest,
  FaucetResponse,
  FeeChargeResponse,
  Fill,
  GuardedExit,
  LeftExit,
  LinkChallenge,
  LinkRequest,
  LinkResult,
  Market,
  MarketContext,
  Me,
  Order,
  OrderBook,
  OrderDetail,
  OrderReceipt,
  Position,
  PreparedTrade,
  PricesHistory,
  Quote,
  QuotedCancelResponse,
  QuotedOrder,
  QuotedOrderDetail,
  ReceiptEntry,
  ReceiptFault,
  ReceiptHead,
  RegisterRequest,
  RegisterResponse,
  RiskAlert,
  SeenExits,
  SetResponse,
  Settings,
  SettingsUpdate,
  SignedOrder,
  SolAddressResult,
  SubmitResponse,
  TradeIntent,
  TradeRequest,
  TradeResponse,
  UnlinkResult,
  Webhook,
  WebhookDelivery,
  WebhookEvent,
  WebhookRequest,
} from '@bellwether/contract';
export {
  type OrderBuildCode,
  OrderBuildError,
  type OrderSide,
  type OutcomeNames,
} from '@bellwether/contract';
export type {
  Address,
  ExchangeContracts,
  OrderVersion,
  SignatureType,
  SolanaAddress,
} from '@bellwether/protocol';
export {
  BellwetherApiError,
  BellwetherConnectionError,
  type FieldError,
  isProblem,
  type ProblemWith,
} from './api-error.ts';
export { type BookLevels, priceToReach, type ReachedPrice } from './book-price.ts';
export {
  buildLimitOrder,
  buildMarketOrder,
  type LimitOrder,
  type MarketBuy,
  type MarketOrder,
  type MarketSell,
  type MarketTerms,
  type TradeLabels,
} from './build-order.ts';
export {
  checkOrder,
  type OrderCheck,
  type OrderCheckName,
  type OrderCheckOptions,
  type OrderFinding,
} from './check-order.ts';
export {
  checkWallet,
  type WalletCheck,
  type WalletCheckName,
  type WalletCheckOptions,
  type WalletFinding,
} from './check-wallet.ts';
export { BellwetherClient, type ClientOptions } from './client.ts';
export type { CallOptions, ClientMethods, FeeCharge, ProblemCode } from './client-methods.ts';
export {
  type ClosedPosition,
  type ClosePosition,
  closePosition,
  type PlannedSale,
} from './close-position.ts';
export { type MeantExit, verifyExit, worstExitPrice } from './exits.ts';
export type { KeyUse } from './key-use.ts';
export { outcomeMismatch, sideCalled } from './known-tokens.ts';
export {
  createPaperCredentials,
  type IdentityLink,
  identityLink,
  linkSignersWallet,
  linkSolanaWallet,
  type WalletToLink,
} from './link-wallet.ts';
export {
  type IntentField,
  type IntentTerms,
  type IntentWords,
  intentFaults,
  tradeIntent,
} from './order-intent.ts';
export { QuoteError, type QuoteFault, type UnsafeReason, UnsafeTransaction } from './quote-error.ts';
export { type QuoteLabels, QuoteTrading, type WaitOptions } from './quotes.ts';
export {
  type OwnRelayTerms,
  type RelayPins,
  readRelayTerms,
  signRelay,
  type VerifiedRelay,
  verifyRelay,
} from './relay.ts';
export { type ChallengePins, ForeignChallenge } from './sign-challenge.ts';
export { type OrderConnection, type OrderProfile, orderIdOf } from './sign-order.ts';
export {
  type ClobAuthHeaders,
  type DepositKind,
  InvalidPrivateKey,
  type LocalAccount,
  Signer,
} from './signer.ts';
export { SolanaRpcError } from './solana-rpc.ts';
export { InvalidSolanaKey, SolanaSigner } from './solana-signer.ts';
export type {
  AgentEvent,
  CurrentAgentEvent,
  EventsOptions,
  MarketEvent,
  RecordedAgentEvent,
  StreamOptions,
} from './streams.ts';
export type { Fetch, TransportOptions } from './transport.ts';
export { BellwetherUsageError } from './usage-error.ts';
export {
  createVenueCredentials,
  credentialRequest,
  type VenueCredentials,
  VenueCredentialsError,
  type VenueCredentialsOptions,
} from './venue-credentials.ts';
export { KeyNotForThis, LIVE_CLOB_ORIGIN } from './venue-login.ts';
export {
  PreparedOrderError,
  type PreparedPins,
  signPrepared,
  type VerifiedPrepared,
  verifyPrepared,
} from './verify-prepared.ts';
export type { OnChainOptions, QuoteAsk, VerifiedQuote, VerifyOptions } from './verify-quote.ts';
export {
  type ReceiptsToVerify,
  type VerifiedReceipts,
  verifyReceipts,
} from './verify-receipts.ts';
export {
  verifyWalletCalls,
  type WalletAction,
  WalletCallsError,
  type WalletPins,
  type WalletTransaction,
  walletTransactions,
} from './verify-wallet-calls.ts';
export {
  type ReceivedWebhook,
  verifyWebhook,
  WebhookSignatureError,
  WebhookTooOldError,
} from './verify-webhook.ts';
