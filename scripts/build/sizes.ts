/** How large the published packages may become, held by test/faults/packages.test.ts. A package that is new gets its row here. */
export interface SizeBounds {
  /** As it is downloaded. */
  readonly tarballBytes: number;
  /** In node_modules, without what it depends on. */
  readonly unpackedBytes: number;
  /** A page's bundle that signs and places an order, with everything that it depends on, minified and gzipped. */
  readonly browserGzipBytes?: number;
}

export const SIZE_BOUNDS: Readonly<Record<string, SizeBounds>> = {
  '@bellwether/sdk': { tarballBytes: 300_000, unpackedBytes: 1_450_000, browserGzipBytes: 220_000 },
  '@bellwether/mcp': { tarballBytes: 60_000, unpackedBytes: 200_000 },
  '@bellwether/cli': { tarballBytes: 100_000, unpackedBytes: 500_000 },
};
