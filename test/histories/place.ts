/** Where agents find the desk and its venue: among real processes, or in a simulation. */
import type { Sql } from '@bellwether/durable';
import type { SetOperation, SetUpName } from './history.ts';

/** A call of a wallet at a live venue that its owner has signed. Money in micro-units. */
export type OwnersCommand = { readonly account: string; readonly conditionId: string } & (
  | { readonly kind: SetOperation['kind']; readonly amount: bigint }
  | { readonly kind: 'redeem' }
);

export interface Place {
  readonly setUp: SetUpName;
  /** World time per time of its exchange: opened with another one, it would move. */
  readonly speed: number;
  readonly profile: 'interface' | 'polymarket';
  /** Address of both replicas, past every proxy. */
  readonly urls: readonly [string, string];
  /** @returns the URL of a connection to this replica that one client has for itself */
  link(replica: number): Promise<string>;
  /** Gives a new wallet its money at a live venue; on paper it has it already. */
  fund(wallet: string): Promise<void>;
  /** Moves the simulated world on: markets end, and are resolved some time later. Nothing where it moves by itself. */
  moveWorld(): Promise<void>;
  /** What the owner of a wallet sends to the chain by itself. `null`: on paper nothing, and where agents cannot. */
  readonly send: ((command: OwnersCommand) => Promise<void>) | null;
  /** Where wallets get their credentials, past every proxy. */
  readonly clobUrl: string;
  /** As the superuser, on the desk's database. */
  readonly sql: Sql;
  /** The database of the exchange; on paper the desk's. */
  readonly exchangeUrl: string;
}
