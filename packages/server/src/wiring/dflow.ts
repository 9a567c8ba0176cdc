/** Venue B and who signs for the platform on it: the sandbox's, or the real services by configuration. */
import { readFileSync } from 'node:fs';
import { parseSolanaAddress, type SolanaAddress } from '@bellwether/protocol';
import { SANDBOX_PATHS } from '@bellwether/sandbox';
import type { Logger } from 'pino';
import { fetchSend } from '../adapters/outbound/http.ts';
import { createFireblocksSigning } from '../adapters/signing/fireblocks.ts';
import { createLocalSigning } from '../adapters/signing/local.ts';
import { createSolanaChain } from '../adapters/solana/solana-chain.ts';
import { createDflowVenue } from '../adapters/venues/dflow/dflow-venue.ts';
import { creditOnce } from '../adapters/venues/paper/credit-once.ts';
import type { SandboxCalls } from '../adapters/venues/paper/sandbox-holder.ts';
import type { Config, FireblocksSettings } from '../config.ts';
import type { Clock } from '../ports/clock.ts';
import type { VenueB } from '../ports/quotes.ts';
import type { SigningProvider } from '../ports/signing-provider.ts';

/** Stands for the sandbox in addresses: what answers is this process, or the replica that leads. */
const SANDBOX = 'http://sandbox';

interface Parts {
  readonly config: Config;
  readonly sandbox: SandboxCalls;
  /** `ready`, or why the sandbox cannot execute. */
  readonly sandboxStatus: () => string;
  readonly clock: Clock;
  readonly log: Logger;
}

export function createVenueB({ config, sandbox, sandboxStatus, clock, log }: Parts): VenueB {
  const { name, live, slippageBps } = config.venueB;
  const common = { name, slippageBps, clock, log };
  if (live === null) {
    const send = sandbox.request;
    const venue = createDflowVenue({
      ...common,
      backend: 'paper',
      metadataUrl: SANDBOX + SANDBOX_PATHS.metadata,
      tradeUrl: SANDBOX + SANDBOX_PATHS.trade,
      apiKey: null,
      exchangeStatusUrl: `${SANDBOX}${SANDBOX_PATHS.metadata}/trade-api/v2/exchange/status`,
      send,
      chain: createSolanaChain({ url: SANDBOX + SANDBOX_PATHS.rpc, send, clock, log }),
      credit: creditOnce(sandbox.credit),
    });
    const status = () => (sandboxStatus() === 'ready' ? venue.status() : sandboxStatus());
    return { ...venue, status };
  }
  return createDflowVenue({
    ...common,
    ...live,
    backend: 'live',
    exchangeStatusUrl: live.statusUrl,
    send: fetchSend,
    chain: createSolanaChain({ url: live.rpcUrl, send: fetchSend, clock, log }),
    credit: null,
  });
}

/**
 * @param secret of the local key
 * @throws Error when Fireblocks' key file cannot be read, or its vault has another key than the configuration says
 */
export async function createSigning(
  fireblocks: FireblocksSettings | null,
  { secret, clock, log }: { readonly secret: Uint8Array } & Pick<Parts, 'clock' | 'log'>,
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
