/**
 * The purpose of a key. A key for paper holds nothing that is worth anything, so it may believe a desk where a key for a live
 * venue may not; a key signs only for the one that it was made for.
 */
export type KeyUse = 'paper' | 'live';
