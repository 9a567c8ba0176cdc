/**
 * Limits the size of accounts. Space costs only play money and accounts are stored permanently, so an account has at
 * most 10 KB: enough for tokens with their extensions and for lookup tables, small enough for a free sandbox.
 */
import { SOLANA_PROGRAMS, type SolanaTransaction } from '@bellwether/protocol';
import type { ChainAccount } from './types.ts';

const MAX_ACCOUNT_BYTES = 10_240;

/** Instructions of the system program that allocate space, by number: the offset of the size in their data. */
const SPACE_AT: ReadonlyMap<number, (view: DataView) => number> = new Map<number, (view: DataView) => number>(
  [
    [0, () => 12], // create account: number, lamports, space
    [3, (view) => seedEnd(view) + 8], // create account with seed: number, base, seed, lamports, space
    [8, () => 4], // allocate: number, space
    [9, (view) => seedEnd(view)], // allocate with seed: number, base, seed, space
  ],
);
const SEED_AT = 36;
const MAX_SEED_BYTES = 32n;

/** The offset after a seed: eight bytes of length, then the seed. The program itself refuses longer seeds. */
function seedEnd(view: DataView): number {
  const length = view.byteLength < SEED_AT + 8 ? 0n : view.getBigUint64(SEED_AT, true);
  return SEED_AT + 8 + Number(length > MAX_SEED_BYTES ? 0n : length);
}

function spaceAsked({ program, data }: SolanaTransaction['instructions'][number]): bigint {
  if (program !== SOLANA_PROGRAMS.system || data.length < 4) return 0n;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const at = SPACE_AT.get(view.getUint32(0, true))?.(view);
  return at === undefined || data.length < at + 8 ? 0n : view.getBigUint64(at, true);
}

/**
 * Why the transaction makes an account too large; `null` when it does not. Before execution the instructions are
 * checked, to avoid useless large allocations; after execution (`after`) the resulting accounts.
 */
export function oversized(
  tx: SolanaTransaction,
  after?: ReadonlyMap<string, ChainAccount | null>,
  before: (address: string) => ChainAccount | null = () => null,
): string | null {
  if (after === undefined) {
    const asked = tx.instructions.map(spaceAsked).find((space) => space > MAX_ACCOUNT_BYTES);
    return asked === undefined ? null : sentence(asked);
  }
  for (const [address, account] of after) {
    const bytes = account?.data.length ?? 0;
    if (bytes > MAX_ACCOUNT_BYTES && bytes > (before(address)?.data.length ?? 0))
      return sentence(BigInt(bytes));
  }
  return null;
}

const sentence = (bytes: bigint): string =>
  `the sandbox keeps accounts of at most ${MAX_ACCOUNT_BYTES} bytes; this transaction asks for ${bytes}`;
