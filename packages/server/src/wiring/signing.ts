/** Who signs for the platform: a key of the service's own on the sandbox's chain, Fireblocks' on a real one. */
import { readFileSync } from 'node:fs';
import { parseSolanaAddress, type SolanaAddress } from '@bellwether/protocol';
import type { Logger } from 'pino';
import type { FireblocksSettings, SigningProvider } from '../fees/index.ts';
import { createFireblocksSigning, createLocalSigning } from '../fees/index.ts';
import type { Clock } from '../platform/clock.ts';
import { fetchSend } from '../platform/outbound/http.ts';

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
export function walletOf(setting: string, text: string): SolanaAddress {
  const address = parseSolanaAddress(text);
  if (address === null) throw new Error(`${setting} must be the base58 text of a 32-byte public key.`);
  return address;
}
