/** Venue B's sandbox as its embedder sees it. Everything else in this package is private to it. */
export * from './sandbox.ts';
