/** The limit on an owner's wallets. A wallet that is already known, of any owner, adds no row and is always allowed. */
import type { Tx } from '../platform/database/connection.ts';
import { only } from '../platform/database/rows.ts';

/** Serialises registrations and links of one owner until the commit, so that the count stays exact. */
export async function hasRoomFor(tx: Tx, userId: bigint, address: string, max: number): Promise<boolean> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`wallets of ${userId}`}, 0))`;
  const { known, held } = only(
    await tx<{ known: boolean; held: number }[]>`
    select exists (select 1 from credentials where wallet_address = ${address}
        union all select 1 from linked_wallets where address = ${address}) as known,
      (select count(*)::int from (
        select wallet_address from credentials where user_id = ${userId}
        union select address from linked_wallets where user_id = ${userId}) as held) as held`,
  );
  return known || held < max;
}
