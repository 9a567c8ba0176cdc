/** The faucet for play SOL: builds its transfers and tracks the total of each address per UTC day. */
import { createHash, randomUUID } from 'node:crypto';
import { SOLANA_PROGRAMS } from '@bellwether/protocol';
import type { Address, Blockhash, KeyPairSigner } from '@solana/kit';
import type { AirdropAllowance, Statement } from './chain-interface.ts';

/** Below 2^53, so that clients without exact integers read it correctly. */
export const FAUCET_LAMPORTS = 5_000_000n * 1_000_000_000n;
const SYSTEM_TRANSFER = 2;

export interface Faucet {
  readonly address: string;
  /** A signed transfer; each one is unique. */
  transfer(to: string, lamports: bigint, blockhash: string): Promise<Uint8Array>;
}

/** Large. */
export const loadKit = () => import('@solana/kit');

export async function openFaucet(seed: string): Promise<Faucet> {
  const kit = await loadKit();
  const secret = createHash('sha256').update(seed).update('\0faucet').digest();
  const signer = await kit.createKeyPairSignerFromPrivateKeyBytes(secret);
  const transfer = async (to: string, lamports: bigint, blockhash: string): Promise<Uint8Array> => {
    const message = kit.pipe(
      kit.createTransactionMessage({ version: 0 }),
      (m) => kit.setTransactionMessageFeePayerSigner(signer, m),
      (m) =>
        kit.setTransactionMessageLifetimeUsingBlockhash(
          { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n },
          m,
        ),
      (m) =>
        kit.appendTransactionMessageInstructions(
          [
            {
              programAddress: SOLANA_PROGRAMS.system as string as Address,
              accounts: [
                { address: signer.address, role: kit.AccountRole.WRITABLE_SIGNER, signer },
                { address: to as Address, role: kit.AccountRole.WRITABLE },
              ],
              data: transferData(lamports),
            },
            // Two equal transfers under one blockhash would be one transaction.
            {
              programAddress: SOLANA_PROGRAMS.memo as string as Address,
              data: new TextEncoder().encode(randomUUID()),
            },
          ],
          m,
        ),
    );
    const signed = await kit.signTransactionMessageWithSigners(message);
    return new Uint8Array(kit.getTransactionEncoder().encode(signed));
  };
  return { address: (signer satisfies KeyPairSigner).address, transfer };
}

function transferData(lamports: bigint): Uint8Array {
  const data = new Uint8Array(12);
  const view = new DataView(data.buffer);
  view.setUint32(0, SYSTEM_TRANSFER, true);
  view.setBigUint64(4, lamports, true);
  return data;
}

/** A receiver or caller for which the faucet tracks a total. */
interface Counted {
  readonly key: string;
  /** `null`: unlimited. */
  readonly most: bigint | null;
  readonly whom: string;
}

export function accountsOf(address: string, seed: string, allowance?: AirdropAllowance): readonly Counted[] {
  const own = { key: address, most: allowance?.perDay ?? null, whom: 'an address' };
  const caller = allowance?.caller;
  if (caller === undefined) return [own];
  // A network address is personal data: only a hash is stored, which cannot be reversed without the seed.
  const hash = createHash('sha256').update(seed).update('\0source\0').update(caller.source).digest('hex');
  return [own, { key: `source ${hash.slice(0, 32)}`, most: caller.perDay, whom: 'a caller' }];
}

/** The totals of one day. A new day starts from zero. */
export class Allowances {
  #day: string;
  #given: Map<string, bigint>;

  constructor(day: string, given: Map<string, bigint>) {
    this.#day = day;
    this.#given = given;
  }

  given(day: string, address: string): bigint {
    return day === this.#day ? (this.#given.get(address) ?? 0n) : 0n;
  }

  /** @param lamports negative: returns them to the allowance */
  add(day: string, address: string, lamports: bigint): void {
    if (day !== this.#day) {
      this.#day = day;
      this.#given = new Map();
    }
    this.#given.set(address, (this.#given.get(address) ?? 0n) + lamports);
  }
}

/** Statements that record the gift for each of `keys`. */
export function giftStatements(gift: {
  readonly keys: readonly string[];
  readonly day: string;
  readonly lamports: bigint;
}): Statement[] {
  return [
    // Totals of other days are not needed.
    { text: 'delete from sandbox_airdrops where day <> $1', values: [gift.day] },
    ...gift.keys.map((key) => ({
      text: `
        insert into sandbox_airdrops (address, day, lamports) values ($1, $2, $3::text::bigint)
        on conflict (address, day) do update set lamports = sandbox_airdrops.lamports + excluded.lamports`,
      values: [key, gift.day, String(gift.lamports)],
    })),
  ];
}

/** `2026-11-21` */
export const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
