/**
 * Reads of the chain's database that no index serves: transactions by account, accounts by program. Their cost grows with
 * what is kept, so one of them runs at a time and few may wait; nothing is written for them when a transaction lands.
 */
import type { Row, Sql } from '@bellwether/durable';
import { parseBase58, readTransaction, SOLANA_PROGRAMS } from '@bellwether/protocol';
import { landedOf } from './landed-rows.ts';
import { addressesOf } from './touched-accounts.ts';
import {
  type AddressedAccount,
  type Archive,
  type LandedPage,
  type LandedTransaction,
  type ProgramFilter,
  ScanBusy,
} from './types.ts';

/** Transactions that one search looks through. */
const MOST_SEARCHED = 50_000;
const MOST_WAITING = 10;
const MINT_BYTES = 32;
const MIN_TOKEN_ACCOUNT_BYTES = 165;

/** Empty for text that is no address, which no account has. */
const hexOf = (address: string): string => Buffer.from(parseBase58(address) ?? []).toString('hex');

export class ChainArchive implements Archive {
  readonly #sql: Sql;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** 0 while nothing was forgotten. */
  async firstSlot(): Promise<number> {
    const [row] = await this.#sql`
      select case when forgotten = 0 then 0 else coalesce((select min(slot) from sandbox_transactions), 0) end::text as slot
      from sandbox_chain`;
    return Number(row?.slot ?? 0);
  }

  async landedIn(slot: number, most: number): Promise<readonly LandedTransaction[]> {
    const rows = await this.#sql`
      select slot::text, at_ms::text, err, meta, wire from sandbox_transactions
      where slot = ${String(slot)}::bigint order by at_ms, signature limit ${most}::int`;
    return rows.map(landedOf);
  }

  landedWith(address: string, page: LandedPage): Promise<readonly LandedTransaction[]> {
    return this.#alone(() => this.#landedWith(address, page));
  }

  /** The message names most addresses; those that it loads from tables stand in what was recorded of it. */
  async #landedWith(
    address: string,
    { before, until, most }: LandedPage,
  ): Promise<readonly LandedTransaction[]> {
    const [from, to] = [await this.#placeOf(before), await this.#placeOf(until)];
    if ((before !== undefined && from === null) || (until !== undefined && to === null)) return [];
    const rows = await this.#sql`
      select slot::text, at_ms::text, err, meta, wire from (
        select * from sandbox_transactions
        where (${from?.slot ?? null}::bigint is null or (slot, signature) < (${from?.slot ?? null}::bigint, ${before ?? null}::text))
          and (${to?.slot ?? null}::bigint is null or (slot, signature) > (${to?.slot ?? null}::bigint, ${until ?? null}::text))
        order by slot desc, signature desc limit ${MOST_SEARCHED}::int
      ) newest
      where position(decode(${hexOf(address)}, 'hex') in wire) > 0
        or get_byte(wire, 1 + 64 * get_byte(wire, 0)) >= 128 and position(${`"${address}"`} in meta) > 0
      limit ${2 * most}::int`;
    const names = ({ wire, meta }: LandedTransaction): boolean =>
      addressesOf(readTransaction(wire), meta.loadedAddresses).includes(address);
    // The bytes of an address may also stand in an instruction's data.
    return rows.map(landedOf).filter(names).slice(0, most);
  }

  async #placeOf(signature: string | undefined): Promise<{ readonly slot: string } | null> {
    if (signature === undefined) return null;
    const [row] = await this.#sql`select slot::text from sandbox_transactions where signature = ${signature}`;
    return row === undefined ? null : { slot: row.slot as string };
  }

  accountsOfProgram(
    program: string,
    { size, bytes, most }: ProgramFilter,
  ): Promise<readonly AddressedAccount[]> {
    return this.#alone(async () => {
      const rows = await this.#sql`
        select address, lamports::text, owner, executable, data from sandbox_accounts
        where owner = ${program} and (${size ?? null}::int is null or length(data) = ${size ?? null}::int)
          and not exists (
            select from unnest(
              ${bytes.map(({ offset }) => offset)}::int[],
              ${bytes.map((one) => Buffer.from(one.bytes).toString('hex'))}::text[]
            ) as wanted (at, hex)
            where substring(data from at + 1 for length(hex) / 2) <> decode(hex, 'hex'))
        limit ${most}::int`;
      return rows.map(accountOf);
    });
  }

  largestTokenAccounts(mint: string, most: number): Promise<readonly AddressedAccount[]> {
    return this.#alone(async () => {
      // The amount is little-endian in bytes 64 to 71; bytes compare from the first on.
      const rows = await this.#sql`
        select address, lamports::text, owner, executable, data from sandbox_accounts
        where owner in (${SOLANA_PROGRAMS.token}, ${SOLANA_PROGRAMS.token2022})
          and length(data) >= ${MIN_TOKEN_ACCOUNT_BYTES}::int
          and substring(data from 1 for ${MINT_BYTES}::int) = decode(${hexOf(mint)}, 'hex')
        order by substring(data from 72 for 1) || substring(data from 71 for 1) || substring(data from 70 for 1)
          || substring(data from 69 for 1) || substring(data from 68 for 1) || substring(data from 67 for 1)
          || substring(data from 66 for 1) || substring(data from 65 for 1) desc, address
        limit ${most}::int`;
      return rows.map(accountOf);
    });
  }

  supply(): Promise<bigint> {
    return this.#alone(async () => {
      const [row] = await this
        .#sql`select coalesce(sum(lamports), 0)::text as lamports from sandbox_accounts`;
      return BigInt(row?.lamports ?? 0);
    });
  }

  /** @throws ScanBusy */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MOST_WAITING)
      return Promise.reject(new ScanBusy('too many reads of the whole chain wait: ask again in a second'));
    this.#waiting += 1;
    const running = this.#last.then(work).finally(() => {
      this.#waiting -= 1;
    });
    this.#last = running.catch(() => {});
    return running;
  }
}

const accountOf = (row: Row): AddressedAccount => ({
  address: row.address,
  account: { lamports: BigInt(row.lamports), owner: row.owner, executable: row.executable, data: row.data },
});
