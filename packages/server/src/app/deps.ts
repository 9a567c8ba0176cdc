/** What the use cases are given. One object, wired once. */

import type { Micro } from '@bellwether/contract/decimals';
import type { RecoverPublicKey, SolanaAddress, VerifyEd25519 } from '@bellwether/protocol';
import type { AgentFacts } from '../ports/agent-facts.ts';
import type { Clock } from '../ports/clock.ts';
import type { FeeStore } from '../ports/fee-store.ts';
import type { OwnerStore } from '../ports/owners.ts';
import type { Passkeys } from '../ports/passkeys.ts';
import type { ChainOrderStore, QuoteStore } from '../ports/quoted-orders.ts';
import type { RedemptionStore } from '../ports/redemptions.ts';
import type { RefusalLog, ResultStore } from '../ports/results.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { SigningProvider } from '../ports/signing-provider.ts';
import type { RecommendedSkills, SkillStore } from '../ports/skills.ts';
import type { AgentStore, OrderStore, PositionStore, TradeLedger, WalletStore } from '../ports/stores.ts';
import type { Venues } from '../ports/venue.ts';
import type { WalletLinkStore } from '../ports/wallet-links.ts';
import type { InboundSources, WebhookSender, WebhookStore } from '../ports/webhooks.ts';

export interface Deps {
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly agents: AgentStore;
  readonly wallets: WalletStore;
  readonly walletLinks: WalletLinkStore;
  readonly orders: OrderStore;
  readonly positions: PositionStore;
  readonly ledger: TradeLedger;
  readonly redemptions: RedemptionStore;
  readonly refusals: RefusalLog;
  readonly results: ResultStore;
  readonly owners: OwnerStore;
  readonly passkeys: Passkeys;
  readonly webhooks: WebhookStore;
  readonly webhookSender: WebhookSender;
  readonly inboundSources: InboundSources;
  readonly venues: Venues;
  readonly facts: AgentFacts;
  readonly skills: SkillStore;
  readonly recommendedSkills: RecommendedSkills;
  readonly quotes: QuoteStore;
  readonly chainOrders: ChainOrderStore;
  readonly fees: FeeStore;
  readonly signing: SigningProvider;
  /** Where fees go. */
  readonly feeWallet: SolanaAddress;
  readonly maxFeeCharge: Micro;
  /** The JSON-RPC of the paper chain; `null` on a live one, or while its door is shut. */
  readonly paperRpcUrl: string | null;
  /** Where trading by quote must not be offered. */
  readonly geography: {
    /** In which a trusted proxy names the caller's country (ISO 3166 alpha-2); `null`: nobody says. */
    readonly header: string | null;
    readonly isBlocked: (country: string) => boolean;
  };
  readonly signatures: {
    readonly chainId: number;
    readonly recover: RecoverPublicKey;
    /** Faster than the one in plain JavaScript, where there is one. */
    readonly verifyEd25519?: VerifyEd25519;
  };
  readonly publicUrl: string;
  readonly simulationBalance: Micro;
  readonly faucetPerDay: Micro;
}
