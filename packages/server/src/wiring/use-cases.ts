/**
 * Needs of the use cases, composed once. No use case knows this object's type: each names in its parameters the few
 * things that it needs, and the compiler checks that they are here.
 */
import { parseMicro } from '@bellwether/contract/decimals';
import type { RecoverPublicKey } from '@bellwether/protocol';
import type { Config } from '../config.ts';
import type { SigningProvider } from '../fees/index.ts';
import { createShownMarkets } from '../markets/index.ts';
import { createPasskeys } from '../owners/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { Secrets } from '../platform/secrets.ts';
import { nativeVerifyEd25519 } from '../platform/system/ed25519.ts';
import { nativeSha256 } from '../platform/system/sha256.ts';
import { createTransactionToSign } from '../quoting/index.ts';
import { createRecommendedSkills } from '../skills/index.ts';
import { venuesWith } from '../venues/asking.ts';
import type { Venues } from '../venues/venue.ts';
import { createWebhookSender } from '../webhooks/index.ts';
import { walletOf } from './signing.ts';
import type { Stores } from './stores.ts';

export interface UseCaseParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly stores: Stores;
  readonly secrets: Secrets;
  readonly venues: Venues;
  readonly signing: SigningProvider;
  readonly recover: RecoverPublicKey;
  readonly version: string;
  /** With PORT=0 the port is known only once the service listens. */
  readonly publicUrl: () => string;
}

export type UseCaseNeeds = ReturnType<typeof composeNeeds>;

export function composeNeeds(parts: UseCaseParts) {
  const { config, clock, stores, secrets, venues, signing, recover, version, publicUrl } = parts;
  return {
    ...stores,
    clock,
    secrets,
    venues,
    signing,
    sha256: nativeSha256,
    passkeys: createPasskeys(publicUrl),
    webhookSender: createWebhookSender({
      allowLoopback: config.webhooks.allowLoopback,
      userAgent: `Bellwether-Webhooks/${version}`,
    }),
    inboundSources: {
      secretOf: (source: string) => config.webhooks.inboundSecrets.get(source) ?? null,
    },
    recommendedSkills: createRecommendedSkills(stores.skills, clock),
    shownMarkets: createShownMarkets(),
    transactionToSign: createTransactionToSign(stores.quotes, clock),
    ordersUnderWay: new Set<string>(),
    feeWallet: config.fees.wallet === null ? signing.address : walletOf('FEE_WALLET', config.fees.wallet),
    maxFeeCharge: parseMicro(config.fees.maxCharge, 'floor'),
    get paperRpcUrl(): string | null {
      const [path] = venuesWith({ venues }, 'quotes').flatMap(({ quotes }) => quotes.openRpcPath ?? []);
      return path === undefined ? null : publicUrl() + path;
    },
    signatures: {
      chainId: config.chainId,
      recover,
      verifyEd25519: nativeVerifyEd25519,
    },
    get publicUrl(): string {
      return publicUrl();
    },
    simulationBalance: parseMicro(config.paper.simulationBalance, 'floor'),
    faucetPerDay: parseMicro(config.paper.faucetPerDay),
  };
}
