/** The venues of this service. Adding one: its folder under adapters/venues, its configuration, and a line here. */
import { parseMicro } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import type { Logger } from 'pino';
import type { Sql } from '../adapters/postgres/connection.ts';
import { createEvidenceLog } from '../adapters/postgres/evidence.ts';
import { createPriceHistory } from '../adapters/postgres/price-history.ts';
import type { PaperBackend } from '../adapters/venues/paper/paper-backend.ts';
import { createPaperVenue } from '../adapters/venues/paper/venue.ts';
import type { Config } from '../config.ts';
import type { Clock } from '../ports/clock.ts';
import type { EvidenceLog } from '../ports/evidence.ts';
import type { Venue, VenueId, Venues } from '../ports/venue.ts';
import { createDflow } from './dflow.ts';

export interface VenueParts {
  readonly config: Config;
  readonly sql: Sql;
  readonly paper: Pick<PaperBackend, 'venue' | 'markets' | 'sandbox' | 'sandboxStatus'>;
  readonly isCredited: (account: Address) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What a venue that is given from outside may use. */
export interface VenueTools {
  readonly clock: Clock;
  /** Where it writes what became of orders. */
  readonly evidence: EvidenceLog;
}

/** Venues instead of the configured ones with the same id, and beside them. */
export type GivenVenues = (tools: VenueTools) => readonly Venue[];

export function createVenues(parts: VenueParts, given: GivenVenues = () => []): Venues {
  const { config, sql, paper, clock, log } = parts;
  const configured: readonly (readonly [VenueId, () => Venue])[] = [
    [config.venueA.name, () => paperVenue(parts)],
    [config.venueB.name, () => createDflow({ ...paper, config, clock, log })],
  ];
  const extra = new Map(given({ clock, evidence: createEvidenceLog(sql) }).map((venue) => [venue.id, venue]));
  const venues = [
    ...configured.map(([id, create]) => extra.get(id) ?? create()),
    ...[...extra.values()].filter(({ id }) => !configured.some(([known]) => known === id)),
  ];
  return registryOf(venues, config.defaultVenue);
}

const paperVenue = ({ config, sql, paper, isCredited }: VenueParts): Venue =>
  createPaperVenue({
    id: config.venueA.name,
    exchange: paper.venue,
    markets: paper.markets,
    history: createPriceHistory(sql),
    simulationBalance: parseMicro(config.paper.simulationBalance, 'floor'),
    isCredited,
  });

/** The default venue first: answers about several begin with it. */
function registryOf(venues: readonly Venue[], defaultId: VenueId): Venues {
  const first = venues.find(({ id }) => id === defaultId);
  if (first === undefined) throw new Error(`DEFAULT_VENUE=${defaultId} is no venue of this service.`);
  const registry = new Map([first, ...venues].map((venue) => [venue.id, venue]));
  return Object.assign(registry, { default: first });
}
