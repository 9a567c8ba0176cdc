/**
 * The changes that an owner makes on the page: a limit per safeguard, and whether it is locked. The owner's limit
 * replaces the agent's at once.
 */

import { CAP_NAMES } from '@bellwether/contract';
import type { Denial } from '../domain/denial.ts';
import { capsLocked, type OwnerLocks } from '../domain/locks.ts';
import type { Caps, Safeguards } from '../domain/safeguards.ts';

export type OwnerChange = {
  readonly [N in keyof Caps]?: { readonly limit: Caps[N]; readonly locked: boolean };
} & { readonly tradeLimitEnabled?: { readonly limit: boolean; readonly locked: boolean } };

export interface Decided {
  readonly limits: Partial<Pick<Safeguards, keyof Caps | 'tradeLimitEnabled'>>;
  readonly locks: Partial<OwnerLocks>;
}

const invalid = (path: string, detail: string): Denial => ({ code: 'invalid_request', path, detail });

/** @returns what changes, or why it cannot */
export function decideOwnerChange(locks: OwnerLocks, change: OwnerChange): Decided | readonly Denial[] {
  const denials: Denial[] = [];
  const limits: Record<string, unknown> = {};
  const newLocks: Record<string, unknown> = {};
  for (const name of CAP_NAMES) {
    const asked = change[name];
    if (asked === undefined) continue;
    if (asked.locked && asked.limit === null) {
      denials.push(invalid(`${name}.locked`, `${name} cannot be locked at "none": name a limit.`));
    }
    limits[name] = asked.limit;
    newLocks[name] = asked.locked ? asked.limit : null;
  }
  const caps = change.tradeLimitEnabled;
  if (caps !== undefined) {
    limits.tradeLimitEnabled = caps.limit;
    newLocks.tradeLimitEnabled = caps.locked;
  }
  const after = { ...locks, ...newLocks } as OwnerLocks;
  if (capsLocked(after)) {
    if (caps?.limit === false) {
      denials.push(
        invalid(
          'tradeLimitEnabled.limit',
          'The caps cannot be switched off while one of them is locked: unlock first.',
        ),
      );
    }
    // The agent may have switched them off before its owner locked one.
    limits.tradeLimitEnabled = true;
  }
  return denials.length > 0 ? denials : { limits, locks: newLocks };
}
