/**
 * The venue's own services on paper, as this process serves them: from its own exchange while it leads, through the replica that
 * leads otherwise.
 */
import { dataDoor } from '@bellwether/exchange/doors/data';
import { gammaDoor } from '@bellwether/exchange/doors/gamma';
import { type Faults, polymarketDoor, polymarketSocketDoor } from '@bellwether/exchange/doors/polymarket';
import { relayerDoor } from '@bellwether/exchange/doors/relayer';
import { exchangeDomains } from '@bellwether/protocol';
import type { Door, DoorTools, VenueTools } from '../configured.ts';
import { PAPER_PATHS } from './paths.ts';

interface Parts extends DoorTools, Pick<VenueTools, 'paper' | 'clock' | 'chainId'> {
  readonly faults: Faults;
  /** The version of the orders that it takes. */
  readonly orderVersion: 1 | 2;
}

/** All that PAPER_DOORS names `clob`. */
const NAME = 'clob';

export function clobDoors(parts: Parts): readonly Door[] {
  const { paper, clock, chainId, guard, faults, forward } = parts;
  const { keys } = paper;
  const exchange = () => paper.local()?.exchange;
  const at = (prefix: string, open: (...args: Parameters<Door['register']>) => unknown): Door => ({
    name: NAME,
    prefix,
    async register(app) {
      app.addHook('preHandler', forward([prefix]));
      await open(app);
    },
  });
  return [
    at(PAPER_PATHS.clob, (app) =>
      polymarketDoor(app, {
        exchange: () => exchange() ?? null,
        keys,
        recover: parts.recover,
        chainId,
        domains: exchangeDomains(chainId),
        gtdMinLeadS: paper.gtdMinLeadS,
        limitsSigners: parts.limitsSigners,
        now: clock.now,
        orderVersion: parts.orderVersion,
        guard,
        faults,
      }),
    ),
    at(PAPER_PATHS.relayer, (app) =>
      relayerDoor(app, {
        exchange: () => exchange() ?? null,
        ...{ keys, chainId, guard, faults, now: clock.now, relayed: paper.relayed, recover: parts.recover },
      }),
    ),
    at(PAPER_PATHS.gamma, (app) => gammaDoor(app, { exchange, guard })),
    at(PAPER_PATHS.data, (app) => dataDoor(app, { exchange, now: clock.now, guard })),
    {
      name: NAME,
      prefix: PAPER_PATHS.sockets,
      register: (app) =>
        polymarketSocketDoor(app, {
          find: exchange,
          keys,
          now: clock.now,
          guard,
          faults,
          relay: parts.relayAt(PAPER_PATHS.sockets),
        }) as Promise<void>,
    },
  ];
}
