/** Wallets for whose keys the desk keeps up the venue's heartbeat: the owner's word, and who sends. */
import type { WalletAddress } from '../domain/addresses.ts';
import type { VenueId } from '../domain/market.ts';
import type { Sql } from '../platform/database/connection.ts';
import type { HeartbeatLog } from '../venues/heartbeats.ts';

export interface HeartbeatStore {
  /** Wallets of the owner that have a key, and whether the owner wants its heartbeat. */
  ofOwner(userId: bigint): Promise<ReadonlyMap<string, boolean>>;
  /** @returns false when the owner has no key of the wallet */
  set(userId: bigint, walletAddress: WalletAddress, isOn: boolean, at: number): Promise<boolean>;
}

interface OfOwnerRow {
  readonly wallet_address: string;
  readonly is_on: boolean;
}

export const createHeartbeatStore = (sql: Sql): HeartbeatStore => ({
  async ofOwner(userId) {
    const rows = await sql<OfOwnerRow[]>`
      select c.wallet_address, w.wallet_address is not null as is_on from credentials c
      left join wallet_heartbeats w on w.wallet_address = c.wallet_address and w.user_id = c.user_id
      where c.user_id = ${userId}`;
    return new Map(rows.map((row) => [row.wallet_address, row.is_on]));
  },

  async set(userId, walletAddress, isOn, at) {
    const [row] = await sql<object[]>`
      with own as (
        select wallet_address from credentials where wallet_address = ${walletAddress} and user_id = ${userId}
      ), switched_on as (
        insert into wallet_heartbeats as w (wallet_address, user_id, since)
        select wallet_address, ${userId}, ${new Date(at)}::timestamptz from own where ${isOn}
        -- It may be the word of a former owner.
        on conflict (wallet_address) do update set user_id = excluded.user_id, since = excluded.since
          where w.user_id <> excluded.user_id
      ), switched_off as (
        delete from wallet_heartbeats w using own where w.wallet_address = own.wallet_address and not ${isOn}
      ) select 1 from own`;
    return row !== undefined;
  },
});

export const createHeartbeatLog = (sql: Sql, venue: VenueId): HeartbeatLog => ({
  venue,

  async lease(holder, forMs) {
    // The database's clock alone decides. Nothing is written while no owner wants it.
    const rows = await sql<{ readonly wallet_address: string }[]>`
      with held as (
        insert into heartbeat_senders as h (venue, holder, leased_until)
        select ${venue}, ${holder}, clock_timestamp() + ${forMs} * interval '1 millisecond'
        where exists (select 1 from wallet_heartbeats)
        on conflict (venue) do update set holder = excluded.holder, leased_until = excluded.leased_until
          where h.holder = excluded.holder or h.leased_until <= clock_timestamp()
        returning 1
      ), wanted as (
        select c.wallet_address, c.eoa, c.user_id from wallet_heartbeats w
        join credentials c on c.wallet_address = w.wallet_address and c.user_id = w.user_id
        where exists (select 1 from held)
      ), reaching as (
        -- A venue's key is of its EOA, which may control several wallets.
        select w.wallet_address, r.agent_id, r.address, g.silence_seconds is not null as has_limit,
          exists (select 1 from silences x where x.agent_id = r.agent_id
            and x.called_at = (select max(k.last_called_at) from api_keys k where k.agent_id = r.agent_id)) as is_silent
        from wanted w join agent_wallets r on r.signer = w.eoa and (r.is_own or r.granted)
        join agents a on a.agent_id = r.agent_id and a.user_id = w.user_id
        join safeguards g on g.agent_id = r.agent_id
      )
      select w.wallet_address from wanted w left join reaching r using (wallet_address) group by 1
      having not coalesce(bool_or(r.has_limit and r.is_silent), false)
        or bool_or(r.has_limit and not r.is_silent)
        -- An agent that no silence ends is alive while an order of it rests there.
        -- Limited, so that each is looked up by its agent: the open orders of all agents are many.
        or bool_or(not r.has_limit and (select true from orders o
          where o.agent_id = r.agent_id and o.wallet_address = r.address and order_is_open(o.status) limit 1))`;
    return rows.map((row) => row.wallet_address);
  },

  async release(holder) {
    await sql`delete from heartbeat_senders where venue = ${venue} and holder = ${holder}`;
  },
});
