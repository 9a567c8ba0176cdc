/** Where the venue's own services lie on paper, below the base path. */
export const PAPER_PATHS = {
  clob: '/paper/clob',
  gamma: '/paper/gamma',
  data: '/paper/data',
  sockets: '/paper/ws',
  relayer: '/paper/relayer',
} as const;
