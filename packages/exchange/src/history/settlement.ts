/**
 * How far a trade has settled. The life follows from the trade's time and its fate, so no step of it is written:
 * MATCHED → MINED → CONFIRMED after fixed delays; a trade that is going to fail is RETRYING from the time at which it
 * should have been mined until it is reversed, and FAILED from then on. Where it cannot be reversed it settles after all.
 */
import { createHash } from 'node:crypto';
import type { Settlement, SettlementDelays, TradePlace } from '../trade-history.ts';

export type Fate =
  | { readonly kind: 'settles' }
  | { readonly kind: 'fails' }
  | { readonly kind: 'failed' | 'settled_late'; readonly at: number };

export const SETTLEMENT_DELAYS: SettlementDelays = { minedAfterMs: 1_000, confirmedAfterMs: 3_000 };

export function settlementOf(
  trade: TradePlace,
  fate: Fate,
  { seed, now, delays }: { readonly seed: string; readonly now: number; readonly delays: SettlementDelays },
): Settlement {
  const { minedAfterMs, confirmedAfterMs } = delays;
  const dueAt = trade.at + minedAfterMs;
  if (fate.kind === 'failed') return { status: 'FAILED', since: fate.at };
  const minedAt = fate.kind === 'settled_late' ? fate.at : dueAt;
  if (now < dueAt) return { status: 'MATCHED', since: trade.at };
  if (fate.kind === 'fails' || now < minedAt) return { status: 'RETRYING', since: dueAt };
  const transactionHash = transactionHashOf(seed, trade.number);
  const confirmedAt = minedAt + Math.max(0, confirmedAfterMs - minedAfterMs);
  return now < confirmedAt
    ? { status: 'MINED', since: minedAt, transactionHash }
    : { status: 'CONFIRMED', since: confirmedAt, transactionHash };
}

const transactionHashOf = (seed: string, number: number): string =>
  `0x${createHash('sha256').update(`transaction\0${seed}\0${number}`).digest('hex')}`;

const FATES = ['settles', 'fails', 'failed', 'settled_late'] as const;
export const FATE_CODE = { settles: 0, fails: 1, failed: 2, settled_late: 3 } as const;

/** From the columns `fate` and `fate_ms`. */
export function fateOf(code: number, at: number | null): Fate {
  const kind = FATES[code];
  if (kind === undefined) throw new Error(`a trade has the unknown fate ${code}`);
  return kind === 'failed' || kind === 'settled_late' ? { kind, at: at ?? 0 } : { kind };
}
