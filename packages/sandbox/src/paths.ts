/** Where the doors of the sandbox lie, below the base path of whoever serves them. */
export const SANDBOX_PATHS = {
  metadata: '/paper/dflow/metadata',
  trade: '/paper/dflow/trade',
  rpc: '/paper/solana',
} as const;
