/**
 * Checks whether a transaction that DFlow built may be given to a wallet: its bytes, its programs, its instructions, and
 * the transfers in a node's simulation. It trusts no field of DFlow's answer.
 */
import {
  effectsOf,
  MalformedTransaction,
  overreaches,
  parseTransaction,
  type QuoteTerms,
  SOLANA_PROGRAMS,
  type SolanaTransaction,
} from '@bellwether/protocol';
import type { Simulation } from '../chain.ts';

/** Reference §3.3, point 9. Programs are always named in the message itself, never by a lookup table. */
const ALLOWED: ReadonlySet<string> = new Set(Object.values(SOLANA_PROGRAMS));
/** Their instructions do not show their effects: only the simulation does. */
const OPAQUE: ReadonlySet<string> = new Set([SOLANA_PROGRAMS.dflowAggregator, SOLANA_PROGRAMS.dflowMarkets]);

const PRIORITY_FEE_CAP = 5_000_000n;
const SIGNATURE_FEE = 5_000n;
/** Two token accounts at most (170 bytes each), and the account in which DFlow keeps the order (344 bytes). */
const RENT = 2n * 2_074_080n + 3_285_120n;
/** The priority fee is a price times a limit, each rounded. */
const ROUNDING = 1_000n;

/** The maximum cost of fees and rent to the wallet. @param priorityFee DFlow's figure, if it sends one */
export function maxLamports(priorityFee: number | null | undefined): bigint {
  const said = priorityFee === null || priorityFee === undefined ? PRIORITY_FEE_CAP : BigInt(priorityFee);
  return SIGNATURE_FEE + (said < PRIORITY_FEE_CAP ? said : PRIORITY_FEE_CAP) + ROUNDING + RENT;
}

export type Read =
  | { readonly kind: 'read'; readonly transaction: SolanaTransaction }
  | { readonly kind: 'fault'; readonly fault: string };

/** Checks the bytes only. */
export function readChecked(base64: string, terms: QuoteTerms): Read {
  const fault = (text: string): Read => ({ kind: 'fault', fault: text });
  let transaction: SolanaTransaction;
  try {
    transaction = parseTransaction(base64);
  } catch (error) {
    if (error instanceof MalformedTransaction) return fault(error.message);
    throw error;
  }
  const { accountKeys, requiredSignatures, instructions } = transaction;
  if (accountKeys[0] !== terms.wallet) return fault('somebody else than the wallet would pay for it');
  if (requiredSignatures !== 1) return fault('it needs more signatures than the wallet’s');
  const stranger = instructions.find(({ program }) => !ALLOWED.has(program));
  if (stranger !== undefined) return fault(`it calls the program ${stranger.program}`);
  const unread = effectsOf(transaction).find(
    ({ kind, program }) => kind === 'unknown' && !OPAQUE.has(program),
  );
  if (unread !== undefined) return fault(`its instruction ${unread.index + 1} is not one that is known`);
  // Unknown instructions that remain are opaque; the simulation limits their effects.
  const [over] = overreaches(transaction, terms).filter(({ code }) => code !== 'instruction_not_known');
  return over === undefined ? { kind: 'read', transaction } : fault(over.detail);
}

/** Checks the simulated transfers. The venue fills an order later, so that nothing need arrive. `null`: only what the terms allow. */
export function faultOfChanges(
  changes: (Simulation & { kind: 'ok' })['changes'],
  terms: QuoteTerms,
): string | null {
  let paid = 0n;
  for (const { account, mint, before, after, authorityChanged } of changes) {
    const lost = before - after;
    if (authorityChanged) return `it would change who rules the account ${account}`;
    if (mint === null) {
      if (lost > terms.maxLamports) return `it would cost ${lost} lamports`;
    } else if (mint === terms.inputMint) {
      paid += lost;
    } else if (lost > 0n) {
      return `it would take ${lost} of the mint ${mint} too`;
    }
  }
  return paid > terms.maxInput ? `it would take ${paid} instead of at most ${terms.maxInput}` : null;
}
