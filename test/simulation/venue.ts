/** The live venue of a world: the venue in a box, a process of its own that restarts nothing and is never killed, but lies and fails. */
import { openPool, socketUrl } from '@bellwether/durable';
import { Faults } from '../../packages/exchange/src/doors/polymarket/index.ts';
import { DEPOSIT } from '../histories/agents.ts';
import { venuePlan } from '../histories/venue-plan.ts';
import { openVenueInABox } from '../venue-in-a-box.ts';
import { VENUE } from './faults.ts';
import type { Server, World } from './world.ts';

const START_WITHIN_MS = 60_000;

export interface LiveVenue {
  readonly url: string;
  readonly databaseUrl: string;
  fund(account: string): Promise<void>;
  begin(): void;
  endFaults(): void;
  kill(): Promise<void>;
}

export async function openVenue(server: Server, world: World): Promise<LiveVenue> {
  const process = world.process(VENUE);
  const databaseUrl = socketUrl(server.where, await server.createDatabase(world));
  const faults = new Faults(Date.now);
  const opening = world.scheduler.within(process, () =>
    openVenueInABox(openPool(databaseUrl, { max: 4 }), faults),
  );
  const { url, exchange } = await world.until(opening, START_WITHIN_MS);
  return {
    ...{ url, databaseUrl },
    fund: (account) =>
      world.scheduler.within(process, async () => {
        await exchange.execute({ kind: 'deposit', account, amount: DEPOSIT, reason: 'faucet' });
      }),
    begin: () => faults.set(venuePlan(world.seed)),
    endFaults: () => faults.set({}),
    kill: () => world.kill(process),
  };
}
