/** The live venue of a world: the venue in a box, a process of its own that restarts nothing and is never killed, but lies and fails. */
import { openPool, socketUrl } from '@bellwether/durable';
import { Faults } from '../../packages/exchange/src/doors/polymarket/index.ts';
import { DEPOSIT } from '../histories/agents.ts';
import type { OwnersCommand } from '../histories/place.ts';
import { venuePlan } from '../histories/venue-plan.ts';
import { openVenueInABox } from '../venue-in-a-box.ts';
import { WORLD_SPEED } from './desk.ts';
import { VENUE } from './faults.ts';
import type { Server, World } from './world.ts';

const START_WITHIN_MS = 60_000;

export interface LiveVenue {
  readonly url: string;
  readonly databaseUrl: string;
  fund(account: string): Promise<void>;
  moveWorld(): Promise<void>;
  /** A call of a wallet that its owner has signed. */
  send(command: OwnersCommand): Promise<void>;
  begin(): void;
  endFaults(): void;
  kill(): Promise<void>;
}

export async function openVenue(server: Server, world: World): Promise<LiveVenue> {
  const process = world.process(VENUE);
  const databaseUrl = socketUrl(server.where, await server.createDatabase(world));
  const faults = new Faults(Date.now);
  const opening = world.scheduler.within(process, () =>
    openVenueInABox(openPool(databaseUrl, { max: 4 }), faults, WORLD_SPEED),
  );
  const { url, exchange } = await world.until(opening, START_WITHIN_MS);
  return {
    ...{ url, databaseUrl },
    fund: (account) =>
      world.scheduler.within(process, async () => {
        await exchange.execute({ kind: 'deposit', account, amount: DEPOSIT, reason: 'faucet' });
      }),
    moveWorld: () => world.scheduler.within(process, () => exchange.step()),
    send: (command) =>
      world.scheduler.within(process, async () => {
        await exchange.execute(command);
      }),
    begin: () => faults.set(venuePlan(world.seed)),
    endFaults: () => faults.set({}),
    kill: () => world.kill(process),
  };
}
