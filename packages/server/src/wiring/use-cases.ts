/**
 * Needs of the use cases, composed once. No room knows this object's type: each says in one interface what it needs, and the
 * compiler checks that it is here.
 */

import { readFileSync } from 'node:fs';
import { parseMicro } from '@bellwether/contract/decimals';
import { parseSolanaAddress, type RecoverPublicKey, type SolanaAddress } from '@bellwether/protocol';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import {
  createFireblocksSigning,
  createLocalSigning,
  type FireblocksSettings,
  type SigningProvider,
} from '../fees/index.ts';
import { createShownMarkets } from '../markets/index.ts';
import { createPasskeys } from '../owners/index.ts';
import type { Clock } from '../platform/clock.ts';
import { fetchSend } from '../platform/outbound/http.ts';
import type { Secrets } from '../platform/secrets.ts';
import { nativeSha256, nativeVerifyEd25519 } from '../platform/system/secrets.ts';
import { createTransactionToSign } from '../quoting/index.ts';
import { createRecommendedSkills } from '../skills/index.ts';
import { venuesWith } from '../venues/asking.ts';
import type { Venues } from '../venues/venue.ts';
import { createWebhookSender } from '../webhooks/index.ts';
import type { Stores } from './stores.ts';

interface UseCaseParts {
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

// Who signs for the platform: a key of the service's own on the sandbox's chain, Fireblocks' on a real one.

interface SigningParts {
  readonly secret: Uint8Array;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * @param secret of the local key
 * @throws Error when Fireblocks' key file cannot be read, or its vault has another key than the configuration says
 */
export async function createSigning(
  fireblocks: FireblocksSettings | null,
  { secret, clock, log }: SigningParts,
): Promise<SigningProvider> {
  if (fireblocks === null) return createLocalSigning(secret);
  return createFireblocksSigning({
    baseUrl: fireblocks.url,
    apiKey: fireblocks.apiKey,
    privateKeyPem: readKey(fireblocks.keyFile),
    vaultId: fireblocks.vaultId,
    assetId: fireblocks.assetId,
    mode: fireblocks.mode,
    address: walletOf('FIREBLOCKS_ADDRESS', fireblocks.address),
    now: clock.now,
    send: fetchSend,
    log,
  });
}

function readKey(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new Error(`FIREBLOCKS_KEY_FILE=${file} cannot be read.`);
  }
}

/** @throws Error that names the setting */
function walletOf(setting: string, text: string): SolanaAddress {
  const address = parseSolanaAddress(text);
  if (address === null) throw new Error(`${setting} must be the base58 text of a 32-byte public key.`);
  return address;
}
