/** Made by scripts/generate-rows.ts from the migrated schema. Do not edit. */
import type { Payout } from '@bellwether/contract/positions';
import type { Address, OrderVersion, SignatureType, SolanaAddress } from '@bellwether/protocol';
import type { FirstAnswer } from '../../domain/evidence.ts';
import type { OrderKind, OrderStatus } from '../../domain/lifecycle.ts';
import type { FillRow, OrderForce, OrderOutcome, OrderRow, WalletAddress } from '../../domain/records.ts';

type Outcome = 'YES' | 'NO';
type Side = 'BUY' | 'SELL';
type FeeStatus =
  | 'signing'
  | 'unsigned'
  | 'signed'
  | 'unknown'
  | 'broadcast'
  | 'landed'
  | 'refused'
  | 'failed'
  | 'dropped';
/** JSON has no 64-bit integers. */
export type MoneyAsText<T> = { readonly [K in keyof T]: T[K] extends bigint ? string : T[K] };

export interface AgentResultsRow {
  readonly agent_id: string;
  readonly source: string;
  readonly skill_slug: string;
  readonly trades: bigint;
  readonly volume: bigint;
  readonly fees: bigint;
  readonly realized: bigint;
  readonly wins: bigint;
  readonly losses: bigint;
  readonly last_trade_at: Date | null;
}

export interface AgentWalletsRow {
  readonly agent_id: string;
  readonly address: WalletAddress;
  readonly signer: WalletAddress;
  readonly is_own: boolean;
  readonly granted: boolean;
  readonly lifted: boolean;
  readonly since: Date;
  readonly turn: bigint;
  readonly taken_along: unknown;
}

export interface AgentsRow {
  readonly agent_id: string;
  readonly user_id: bigint;
  readonly name: string;
  readonly description: string;
  readonly claim_code: string;
  readonly claimed_at: Date | null;
  readonly wallet_address: Address | null;
  readonly sol_address: SolanaAddress | null;
  readonly created_at: Date;
}

export interface ApiKeysRow {
  readonly id: bigint;
  readonly agent_id: string;
  readonly key_hash: Buffer;
  readonly key_prefix: string;
  readonly key_suffix: string;
  readonly name: string;
  readonly status: 1 | 2;
  readonly create_type: 1 | 2;
  readonly created_at: Date;
  readonly last_called_at: Date;
  readonly revoked_at: Date | null;
}

export interface ApprovalsRow {
  readonly approval_id: string;
  readonly agent_id: string;
  readonly order_id: string;
  readonly asked_at: Date;
  readonly waits_until: Date;
  readonly order_ends_at: Date | null;
  readonly terms: unknown;
  readonly decision: string | null;
  readonly decided_at: Date | null;
  readonly decided_by: bigint | null;
  readonly approved_until: Date | null;
  readonly decline_reason: string | null;
  readonly superseded_at: Date | null;
}

export interface BudgetReturnsRow {
  readonly agent_id: string;
  readonly order_id: string;
  readonly day: Date;
  readonly trades: number;
  readonly amount: bigint;
}

export interface CallersVersionRow {
  readonly one: boolean;
  readonly version: string;
}

export interface ChainOrdersRow {
  readonly order_id: string;
  readonly agent_id: string;
  readonly signature: string;
  readonly wire: Buffer;
  readonly stage: 'sending' | 'landed' | 'done';
  readonly attempts: number;
  readonly sent_at: Date | null;
  readonly landed_at: Date | null;
  readonly due_at: Date;
  readonly fills: string[];
  readonly reverts: readonly { readonly signature: string; readonly mint: string; readonly amount: string }[];
}

export interface CredentialsRow {
  readonly wallet_address: Address;
  readonly user_id: bigint;
  readonly eoa: Address;
  readonly funder: Address;
  readonly signature_type: SignatureType;
  readonly api_key_hash: Buffer;
  readonly key_id: number;
  readonly sealed: Buffer;
  readonly registered_at: Date;
}

export interface DailyResultsRow {
  readonly agent_id: string;
  readonly day: Date;
  readonly realized: bigint;
  readonly fees: bigint;
}

export interface DeskWatchRow {
  readonly one: boolean;
  readonly seen_at: Date;
  readonly since: Date;
  readonly database_name: string | null;
  readonly restores: number;
}

export interface EquityOpenWalletsRow {
  readonly wallet: string;
}

export interface EquityPointsRow {
  readonly wallet: string;
  readonly step: number;
  readonly span: Date;
  readonly at: Date;
  readonly equity: bigint;
  readonly deposits: bigint;
}

export interface ExchangeLeaderRow {
  readonly one: boolean;
  readonly replica_id: string;
  readonly url: string;
  readonly since: Date;
}

export interface ExitTroublesRow {
  readonly exit_id: string;
  readonly code: string;
  readonly detail: string | null;
  readonly since: Date;
  readonly told_at: Date | null;
  readonly gone_at: Date | null;
}

export interface ExitsRow {
  readonly exit_id: string;
  readonly agent_id: string;
  readonly user_id: bigint;
  readonly api_key_id: bigint;
  readonly order_id: string;
  readonly venue: string;
  readonly market_id: string;
  readonly condition_id: string;
  readonly token_id: string;
  readonly outcome: string;
  readonly funder: string;
  readonly wallet_address: string;
  readonly time_in_force: string;
  readonly limit_price: number;
  readonly shares: bigint;
  readonly order_ends_at: Date | null;
  readonly key_id: number | null;
  readonly sealed: Buffer | null;
  readonly trigger_kind: string;
  readonly trigger_price: number | null;
  readonly trigger_at: Date | null;
  readonly trigger_minutes: number | null;
  readonly group_name: string | null;
  readonly expires_at: Date | null;
  readonly fires_on_pause: boolean;
  readonly must_let_go: boolean;
  readonly status: string;
  readonly because: string | null;
  readonly trouble: string | null;
  readonly trouble_detail: string | null;
  readonly fired: unknown;
  readonly attempts: number;
  readonly next_attempt_at: Date;
  readonly reviewed_at: Date;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly outcome_name: string | null;
  readonly silence_seconds: number | null;
  readonly settled_at: Date | null;
  readonly held: bigint | null;
  readonly writer: string;
  readonly became: string | null;
  readonly seen_at: Date | null;
  readonly owner_seen_at: Date | null;
  readonly change: bigint;
  readonly after_fill: bigint | null;
  readonly in_order: boolean;
}

export interface FactLogRow {
  readonly one: boolean;
  readonly kept_since: Date;
  readonly webhooks_seen: string;
  readonly forgotten_writer: string;
  readonly forgotten_seq: bigint;
}

export interface FactsRow {
  readonly seq: bigint;
  readonly writer: string;
  readonly agent_id: string;
  readonly kind: string;
  readonly subject: string;
  readonly at: Date;
  readonly payload: unknown;
  readonly recorded_by: string | null;
}

export interface FaucetDrawsRow {
  readonly address: string;
  readonly day: Date;
  readonly amount: bigint;
}

export interface FeeChargesRow {
  readonly id: string;
  readonly agent_id: string;
  readonly idempotency_key: string | null;
  readonly venue: string;
  readonly amount: bigint;
  readonly from_address: SolanaAddress;
  readonly to_address: SolanaAddress;
  readonly request_id: string;
  readonly status: FeeStatus;
  readonly attempt: number;
  readonly lease_until: Date;
  readonly provider_id: string | null;
  readonly signature: string | null;
  readonly wire: Buffer | null;
  readonly last_valid_block_height: bigint | null;
  readonly dead_signatures: string[];
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface FillsRow {
  readonly wallet: WalletAddress;
  readonly order_id: string;
  readonly trade_id: bigint;
  readonly agent_id: string | null;
  readonly condition_id: string;
  readonly token_id: string;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly price: number;
  readonly size: bigint;
  readonly cost: bigint;
  readonly fee: bigint;
  readonly liquidity: FillRow['liquidity'];
  readonly match_kind: string;
  readonly realized: bigint;
  readonly filled_at: Date;
  readonly counts_at: Date | null;
  readonly recorded: bigint | null;
}

export interface HandedOutSetsRow {
  readonly order_id: string;
  readonly ends_at: Date;
  readonly due_at: Date;
  readonly relay: unknown;
  readonly signature: string | null;
  readonly submitted_at: Date | null;
  readonly transaction_id: string | null;
  readonly relay_state: string | null;
}

export interface HeartbeatSendersRow {
  readonly venue: string;
  readonly holder: string;
  readonly leased_until: Date;
}

export interface IdempotencyKeysRow {
  readonly scope: string;
  readonly route: string;
  readonly key: string;
  readonly body_hash: Buffer;
  readonly lease_until: Date | null;
  readonly status: number | null;
  readonly body: string | null;
  readonly expires_at: Date;
}

export interface InboundWebhooksRow {
  readonly id: bigint;
  readonly source: string;
  readonly signature: Buffer;
  readonly body_hash: Buffer;
  readonly body: Buffer;
  readonly received_at: Date;
}

export interface LateOrdersRow {
  readonly order_id: string;
  readonly due_at: Date;
}

export interface LinkedWalletsRow {
  readonly address: string;
  readonly user_id: bigint;
  readonly kind: string;
  readonly signer: string;
  readonly linked_at: Date;
}

export interface MasterKeyCheckRow {
  readonly key_id: number;
  readonly sealed: Buffer;
  readonly name: string | null;
}

export interface MasterRootRow {
  readonly one: boolean;
  readonly key_id: number;
  readonly sealed: Buffer;
}

export interface MigrationsRow {
  readonly number: number;
  readonly name: string;
  readonly applied_at: Date;
}

export interface OrderWalletsRow {
  readonly agent_id: string;
  readonly address: string;
  readonly user_id: bigint;
}

export interface OrdersRow {
  readonly agent_id: string;
  readonly order_id: string;
  readonly user_id: bigint;
  readonly venue: string;
  readonly market_id: string;
  readonly condition_id: string;
  readonly question: string;
  readonly token_id: string;
  readonly outcome: OrderOutcome;
  readonly side: Side;
  readonly is_limit: boolean;
  readonly time_in_force: OrderForce;
  readonly post_only: boolean;
  readonly defer_exec: boolean;
  readonly price: number;
  readonly limit_price: number;
  readonly shares: bigint;
  readonly money: bigint;
  readonly funder: WalletAddress;
  readonly wallet_address: WalletAddress;
  readonly signature_type: SignatureType | null;
  readonly version: OrderVersion | null;
  readonly expiration: Date | null;
  readonly fee_amount: bigint;
  readonly reasoning: string | null;
  readonly source: string | null;
  readonly skill_slug: string | null;
  readonly request_id: string;
  readonly created_at: Date;
  readonly status: OrderStatus;
  readonly filled: bigint;
  readonly cost: bigint;
  readonly fees: bigint;
  readonly error_code: string | null;
  readonly first_answer: MoneyAsText<FirstAnswer> | null;
  readonly journal: OrderRow['journal'];
  readonly reserved_day: Date;
  readonly reserved_amount: bigint;
  readonly updated_at: Date;
  readonly is_redemption: boolean;
  readonly restricted_by: string[] | null;
  readonly kind: OrderKind;
  readonly journal_lines: string;
  readonly client_order_id: string | null;
  readonly cancel_at: Date | null;
  readonly cancel_cause: string | null;
  readonly outcome_name: string | null;
  readonly sent_at: Date | null;
}

export interface OrdersBeforeReceiptsRow {
  readonly order_id: string;
}

export interface OwnerSessionsRow {
  readonly token_hash: Buffer;
  readonly user_id: bigint;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly credential_id: string | null;
}

export interface OwnersRow {
  readonly user_id: bigint;
  readonly created_at: Date;
  readonly name: string | null;
  readonly passkey_handle: string | null;
  readonly merged_into: bigint | null;
}

export interface PasskeyChallengesRow {
  readonly challenge: string;
  readonly purpose: string;
  readonly passkey_handle: string | null;
  readonly owner_name: string | null;
  readonly expires_at: Date;
}

export interface PasskeysRow {
  readonly credential_id: string;
  readonly user_id: bigint;
  readonly public_key: Buffer;
  readonly counter: bigint;
  readonly transports: readonly string[];
  readonly backed_up: boolean;
  readonly created_at: Date;
  readonly last_used_at: Date;
  readonly passkey_id: bigint;
  readonly name: string;
}

export interface PositionsRow {
  readonly wallet: WalletAddress;
  readonly token_id: string;
  readonly condition_id: string;
  readonly outcome: Outcome;
  readonly size: bigint;
  readonly cost: bigint;
  readonly realized: bigint;
  readonly fees: bigint;
  readonly updated_at: Date;
  readonly bought_size: bigint;
  readonly bought_cost: bigint;
  readonly closed_at: Date | null;
  readonly settled: bigint;
  readonly agent_id: string | null;
  readonly source: string | null;
  readonly skill_slug: string | null;
  readonly is_held: boolean | null;
  readonly has_sets: boolean;
}

export interface PulseRow {
  readonly one: boolean;
  readonly at: Date;
}

export interface QuotesRow {
  readonly quote_id: string;
  readonly agent_id: string;
  readonly ticker: string;
  readonly title: string;
  readonly end_date: Date | null;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly asked: bigint;
  readonly wallet: SolanaAddress | null;
  readonly destination: SolanaAddress | null;
  readonly mints: readonly [string, string] | null;
  readonly input_mint: SolanaAddress | null;
  readonly output_mint: SolanaAddress | null;
  readonly in_amount: bigint | null;
  readonly out_amount: bigint | null;
  readonly min_out_amount: bigint | null;
  readonly is_redemption: boolean;
  readonly message: Buffer | null;
  readonly last_valid_block_height: bigint | null;
  readonly dead_at: Date | null;
  readonly error_code: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly withdrawn_at: Date | null;
  readonly withheld: Buffer | null;
  readonly outcomes: string[] | null;
}

export interface RaisedAlertsRow {
  readonly agent_id: string;
  readonly alert: string;
  readonly raised_at: Date;
}

export interface RateBucketsRow {
  readonly name: string;
  readonly tokens: number;
  readonly at: Date;
}

export interface ReceiptHeadsRow {
  readonly agent_id: string;
  readonly sequence: bigint;
  readonly hash: Buffer;
  readonly told_on: Date | null;
}

export interface ReceiptLogRow {
  readonly one: boolean;
  readonly writer: string;
  readonly seq: bigint;
  readonly began_at: Date;
  readonly uncorrected_after: string | null;
}

export interface ReceiptsRow {
  readonly agent_id: string;
  readonly sequence: bigint;
  readonly kind: string;
  readonly order_id: string | null;
  readonly recorded_at: Date;
  readonly body: string;
  readonly hash: Buffer;
}

export interface RecoveriesRow {
  readonly user_id: bigint;
  readonly credential_id: string;
  readonly began_at: Date;
  readonly ends_at: Date;
}

export interface RecoveryCodesRow {
  readonly user_id: bigint;
  readonly code_hash: Buffer;
  readonly made_at: Date;
  readonly beginning_hash: Buffer | null;
}

export interface RedemptionChecksRow {
  readonly venue: string;
  readonly wallet: string;
  readonly checked_at: Date;
}

export interface RedemptionRequestsRow {
  readonly wallet: string;
  readonly condition_id: string;
  readonly agent_id: string;
  readonly automatic: boolean;
  readonly requested_at: Date;
}

export interface RefusalCountsRow {
  readonly agent_id: string;
  readonly total: bigint;
}

export interface RefusalsRow {
  readonly agent_id: string;
  readonly slot: number;
  readonly refused_at: Date;
  readonly code: string;
  readonly detail: string;
  readonly venue: string;
  readonly condition_id: string;
  readonly question: string;
  readonly outcome: string;
  readonly side: string;
  readonly shares: bigint;
  readonly money: bigint;
  readonly wallet_address: string;
  readonly reasoning: string | null;
  readonly source: string | null;
  readonly skill_slug: string | null;
  readonly request_id: string;
}

export interface RelayedRedemptionsRow {
  readonly digest: string;
  readonly agent_id: string;
  readonly venue: string;
  readonly wallet: string;
  readonly market_id: string;
  readonly condition_id: string;
  readonly relay: unknown;
  readonly created_at: Date;
  readonly submitted_at: Date | null;
  readonly transaction_id: string | null;
  readonly refused: string | null;
}

export interface RetiredMasterKeysRow {
  readonly key_id: number;
  readonly name: string | null;
  readonly retired_at: Date;
}

export interface RiskWatchesRow {
  readonly agent_id: string;
  readonly listened_until: Date;
  readonly watched_at: Date;
}

export interface SafeguardsRow {
  readonly agent_id: string;
  readonly trading_paused: boolean;
  readonly trade_limit_enabled: boolean;
  readonly max_trades_per_day: number;
  readonly max_trade_amount: bigint;
  readonly daily_trade_amount_limit: bigint;
  readonly max_position_value: bigint | null;
  readonly daily_loss_limit: bigint | null;
  readonly auto_redeem_enabled: boolean;
  readonly risk_control_enabled: boolean;
  readonly take_profit_percent: number | null;
  readonly stop_loss_percent: number | null;
  readonly updated_at: Date;
  readonly usage_day: Date;
  readonly used_trades: number;
  readonly used_amount: bigint;
  readonly owner_paused: boolean;
  readonly locked_max_trades_per_day: number | null;
  readonly locked_max_trade_amount: bigint | null;
  readonly locked_daily_trade_amount_limit: bigint | null;
  readonly locked_max_position_value: bigint | null;
  readonly locked_daily_loss_limit: bigint | null;
  readonly locked_trade_limit: boolean;
  readonly max_open_orders: number | null;
  readonly locked_max_open_orders: number | null;
  readonly approval_above: bigint | null;
  readonly locked_approval_above: bigint | null;
  readonly silence_seconds: number | null;
  readonly locked_silence_seconds: number | null;
  readonly caps_bind_exits: boolean;
  readonly exit_distance_percent: number;
  readonly reserved_exits: number;
  readonly open_exits: number;
}

export interface SetTransactionsRow {
  readonly wallet: string;
  readonly transaction_hash: string;
  readonly condition_id: string;
  readonly kind: string;
  readonly order_id: string;
}

export interface SilencesRow {
  readonly agent_id: string;
  readonly called_at: Date;
  readonly fired_at: Date;
  readonly orders: number;
}

export interface SimulationCreditsRow {
  readonly wallet: string;
  readonly amount: bigint;
  readonly credited_at: Date;
}

export interface SkillsRow {
  readonly skill_code: string;
  readonly slug: string;
  readonly skill_name: string;
  readonly user_id: bigint;
  readonly agent_id: string | null;
  readonly category: 1 | 2;
  readonly version: string;
  readonly author: string;
  readonly description: string;
  readonly difficulty_level: number;
  readonly install_count: number;
  readonly how_it_works: string;
  readonly hub_url: string;
  readonly github_url: string;
  readonly create_source: 1 | 2;
  readonly review_status: 1 | 2 | 3;
  readonly review_remark: string;
  readonly is_visible: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface SqlFunctionsRow {
  readonly file: string;
  readonly hash: string;
  readonly release: number;
  readonly applied_at: Date;
}

export interface TradedMarketsRow {
  readonly condition_id: string;
  readonly market_id: string;
  readonly slug: string;
  readonly question: string;
  readonly end_date: Date;
  readonly payout: Payout | null;
  readonly resolved_at: Date | null;
  readonly swept_at: Date | null;
  readonly venue: string | null;
  readonly category: string | null;
  readonly outcomes: string[] | null;
}

export interface UnnamedMarketsRow {
  readonly condition_id: string;
  readonly venue: string;
}

export interface UsedLinkChallengesRow {
  readonly nonce: string;
  readonly expires_at: Date;
}

export interface VenueBackendsRow {
  readonly venue: string;
  readonly backend: string;
  readonly since: Date;
}

export interface VenueFollowersRow {
  readonly venue: string;
  readonly wallet_address: string;
  readonly holder: string;
  readonly leased_until: Date;
}

export interface VenueOrdersRow {
  readonly order_id: string;
  readonly venue: string;
  readonly wallet_address: string;
  readonly matched: bigint;
  readonly ended: string | null;
  readonly is_counted: boolean;
  readonly missing_since: Date | null;
  readonly is_final: boolean;
}

export interface VenueTradesRow {
  readonly order_id: string;
  readonly trade_id: string;
  readonly nth: bigint;
  readonly status: string;
  readonly size: bigint;
  readonly cost: bigint;
  readonly fee: bigint;
  readonly is_counted: boolean;
  readonly aside_state: string | null;
  readonly aside: unknown;
}

export interface WalletDepositsRow {
  readonly id: bigint;
  readonly wallet: string;
  readonly at: Date;
  readonly amount: bigint | null;
  readonly reason: string;
}

export interface WalletHeartbeatsRow {
  readonly wallet_address: string;
  readonly user_id: bigint;
  readonly since: Date;
}

export interface WebhookDeliveriesRow {
  readonly id: bigint;
  readonly endpoint_id: string;
  readonly agent_id: string;
  readonly event_id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly next_attempt_at: Date;
  readonly last_attempt_at: Date | null;
  readonly finished_at: Date | null;
  readonly response_status: number | null;
  readonly error: string | null;
}

export interface WebhookEndpointsRow {
  readonly id: string;
  readonly agent_id: string;
  readonly url: string;
  readonly events: string[];
  readonly description: string;
  readonly key_id: number;
  readonly sealed_secret: Buffer;
  readonly created_at: Date;
  readonly enabled: boolean;
  readonly disabled_at: Date | null;
  readonly failures: number;
  readonly failing_since: Date | null;
  readonly last_success_at: Date | null;
  readonly hold_until: Date;
  readonly lease_until: Date;
  readonly served_at: Date;
  readonly listens_since: string;
}
