/** Where agents find the desk and its venue: among real processes, or in a simulation. */
import type { Sql } from '@bellwether/durable';
import type { SetUpName } from './history.ts';

export interface Place {
  readonly setUp: SetUpName;
  readonly profile: 'interface' | 'polymarket';
  /** Address of both replicas, past every proxy. */
  readonly urls: readonly [string, string];
  /** @returns the URL of a connection to this replica that one client has for itself */
  link(replica: number): Promise<string>;
  /** Gives a new wallet its money at a live venue; on paper it has it already. */
  fund(wallet: string): Promise<void>;
  /** Where wallets get their credentials, past every proxy. */
  readonly clobUrl: string;
  /** As the superuser, on the desk's database. */
  readonly sql: Sql;
  /** The database of the exchange; on paper the desk's. */
  readonly exchangeUrl: string;
}
