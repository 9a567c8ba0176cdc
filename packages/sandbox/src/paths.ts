/** Paths of the sandbox's doors, below the base path of the service that has them. */
export const SANDBOX_PATHS = {
  metadata: '/paper/dflow/metadata',
  trade: '/paper/dflow/trade',
  rpc: '/paper/solana',
} as const;
