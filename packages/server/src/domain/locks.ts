/**
 * The settings that an owner controls: a ceiling per safeguard that the agent's key cannot exceed (of the silence a floor), and a pause
 * that it cannot lift. Checked in the transaction that changes the settings, against the locked row.
 *
 * Switching the caps off would make a ceiling useless, so one locked ceiling also locks `tradeLimitEnabled`.
 */
import { CAP_NAMES, CAPS, type CapName } from '@bellwether/contract';
import type { Denial } from './denial.ts';
import { type Ceilings, figureText, hasCeiling, type Safeguards } from './safeguards.ts';

export interface OwnerLocks extends Ceilings {
  /** The caps cannot be switched off. */
  readonly tradeLimitEnabled: boolean;
}

export const NO_LOCKS: OwnerLocks = {
  ...(Object.fromEntries(CAP_NAMES.map((name) => [name, null])) as unknown as Ceilings),
  tradeLimitEnabled: false,
};

export const capsLocked = (locks: OwnerLocks): boolean => locks.tradeLimitEnabled || hasCeiling(locks);

/** The change that an agent's key requests; absent fields stay unchanged. */
export type SafeguardChange = Partial<Omit<Safeguards, 'ownerPaused'>>;

/** Of most settings more is looser. A shorter silence sends exits and cancels orders sooner, which a thief could want. */
const isBeyond = (name: CapName, asked: number | bigint, lock: number | bigint): boolean =>
  'lock' in CAPS[name] ? asked < lock : asked > lock;

/** @returns a denial per field that the owner's locks forbid; empty when the whole change is allowed */
export function lockedDenials(
  current: Pick<Safeguards, 'ownerPaused'>,
  locks: OwnerLocks,
  change: SafeguardChange,
): Denial[] {
  const denials: Denial[] = [];
  const deny = (path: string, detail: string) => denials.push({ code: 'locked_by_owner', path, detail });
  if (change.tradingPaused === false && current.ownerPaused) {
    deny(
      'tradingPaused',
      'tradingPaused: the owner has paused this agent, and only the owner can resume it.',
    );
  }
  for (const name of CAP_NAMES) {
    const ceiling = locks[name];
    const asked = change[name];
    if (ceiling === null || asked === undefined) continue;
    if (asked === null || isBeyond(name, asked, ceiling)) {
      deny(
        name,
        `${name} is locked by the owner at ${figureText(name, ceiling)}; ${asked === null ? 'none' : figureText(name, asked)} was asked.`,
      );
    }
  }
  if (change.tradeLimitEnabled === false && capsLocked(locks)) {
    deny(
      'tradeLimitEnabled',
      locks.tradeLimitEnabled
        ? 'tradeLimitEnabled is locked by the owner: the caps stay on.'
        : 'tradeLimitEnabled cannot be switched off while the owner has locked a cap.',
    );
  }
  const [first, ...rest] = denials;
  if (first === undefined) return [];
  return [{ ...first, context: { lockedFields: denials.map(({ path }) => path).join(', ') } }, ...rest];
}
