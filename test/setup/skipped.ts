/** Parts that a run has left out, with the reason: one line after its end (global.ts). */
import { appendFileSync } from 'node:fs';
import { inject } from 'vitest';

export function noteSkipped(what: string, why: string): void {
  appendFileSync(inject('skippedFile'), `${what} (${why})\n`);
}

/** @returns the path of a browser, or `null`, which is noted */
export function browserFor(what: string, path: string | null): string | null {
  if (path === null) noteSkipped(what, 'no Chromium found: set CHROMIUM_PATH, or install one');
  return path;
}
