/** How many wallets an owner keeps. A wallet that is known already, whoever's it is, adds no row and always has room. */
import type { Tx } from './connection.ts';
import { only } from './rows.ts';

/** Registrations and links of one owner take turns from here on, so that none slips past the count. */
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
