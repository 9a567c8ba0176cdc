/** The venue over DFlow: on the sandbox, or on the real services, by configuration. */
import { SANDBOX_PATHS } from '@bellwether/sandbox';
import type { Logger } from 'pino';
import { fetchSend } from '../adapters/outbound/http.ts';
import { createSolanaChain } from '../adapters/solana/solana-chain.ts';
import { createDflowVenue } from '../adapters/venues/dflow/dflow-venue.ts';
import { creditOnce } from '../adapters/venues/paper/credit-once.ts';
import type { SandboxCalls } from '../adapters/venues/paper/sandbox-holder.ts';
import type { Config } from '../config.ts';
import type { Clock } from '../ports/clock.ts';
import type { Venue } from '../ports/venue.ts';

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

export function createDflow({ config, sandbox, sandboxStatus, clock, log }: Parts): Venue {
  const { name: id, live, slippageBps } = config.venueB;
  const common = { id, slippageBps, clock, log };
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
      paper: { credit: creditOnce(sandbox.credit) },
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
  });
}
