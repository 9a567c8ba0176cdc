/** The fee of a transaction: 5,000 lamports per signature, and the compute units it bids for. */
import type { SolanaTransaction } from '@bellwether/protocol';

const LAMPORTS_PER_SIGNATURE = 5_000n;
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
const SET_LIMIT = 2;
const SET_PRICE = 3;
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;
const MAX_UNITS = 1_400_000n;
const UNITS_OF_A_PROGRAM = 200_000n;
const UNITS_OF_A_BUILTIN = 3_000n;
/** Builtin programs, which cost little. The loaders are missing: calling them is refused here. */
const BUILTINS: ReadonlySet<string> = new Set([COMPUTE_BUDGET, '11111111111111111111111111111111']);

type Instructions = Pick<SolanaTransaction, 'instructions' | 'requiredSignatures'>;

/** In lamports. Signatures that precompiled programs check are not counted: they cost more on the real network. */
export function feeOf(tx: Instructions): bigint {
  let price = 0n;
  let limit: bigint | null = null;
  let units = 0n;
  for (const { program, data } of tx.instructions) {
    const isBudget = program === COMPUTE_BUDGET;
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    if (isBudget && data[0] === SET_LIMIT && data.length >= 5) limit = BigInt(view.getUint32(1, true));
    if (isBudget && data[0] === SET_PRICE && data.length >= 9) price = view.getBigUint64(1, true);
    units += BUILTINS.has(program) ? UNITS_OF_A_BUILTIN : UNITS_OF_A_PROGRAM;
  }
  const bidFor = limit ?? units;
  const priority = price * (bidFor < MAX_UNITS ? bidFor : MAX_UNITS);
  return (
    BigInt(tx.requiredSignatures) * LAMPORTS_PER_SIGNATURE +
    (priority + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT
  );
}
