/** Backends behind each venue's name in this database, for good: real and simulated money never meet in one record. */
import { transact } from '@bellwether/durable';
import type { Sql } from './connection.ts';
import type { VenueBackendsRow } from './rows.generated.ts';

export interface VenueBackend {
  readonly venue: string;
  readonly backend: 'paper' | 'live';
}

/** @throws Error with a sentence for the operator when the database is of the other backend */
export async function keepVenueBackends(sql: Sql, backends: readonly VenueBackend[]): Promise<void> {
  const found = await transact(sql, async (tx) => {
    for (const { venue, backend } of backends) {
      // Signed orders from before this table can only be of the paper exchange.
      await tx`insert into venue_backends (venue, backend)
        select ${venue}, case when exists (select 1 from orders where venue = ${venue} and kind = 'signed')
          then 'paper' else ${backend} end
        on conflict (venue) do nothing`;
    }
    return tx<VenueBackendsRow[]>`select * from venue_backends`;
  });
  for (const { venue, backend } of backends) {
    const kept = found.find((row) => row.venue === venue)?.backend;
    if (kept !== undefined && kept !== backend)
      throw new Error(
        `This database holds ${kept} orders of ${venue}, which is configured as ${backend}. Give each its own database (DATABASE_URL, or DATA_DIR).`,
      );
  }
}
