/** The public interface of the quote venue's sandbox. The rest of the package is private. */
export * from './sandbox.ts';
