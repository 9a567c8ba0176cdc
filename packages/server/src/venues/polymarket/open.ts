/** Opens venue A: the paper exchange, or the live connection. */

import { dataDoor } from '@bellwether/exchange/doors/data';
import { gammaDoor } from '@bellwether/exchange/doors/gamma';
import {
  Faults,
  NO_FAULTS,
  parseFaultPlan,
  polymarketDoor,
  polymarketSocketDoor,
} from '@bellwether/exchange/doors/polymarket';
import { relayerDoor } from '@bellwether/exchange/doors/relayer';
import { exchangeDomains } from '@bellwether/protocol';
import type { Clock } from '../../platform/clock.ts';
import { createPooledSend } from '../../platform/outbound/http.ts';
import type { Door, DoorTools, OpenVenue, VenueTools } from '../configured.ts';
import { type LivePolymarket, PAPER_PATHS, type PolymarketSettings } from './settings.ts';
import { createPolymarketVenue } from './venue.ts';

/** Wire reference 2.12. */
const LIVE_GTD_MIN_LEAD_S = 180;

const signingOf = ({ profile }: PolymarketSettings, { chainId }: VenueTools) => ({
  domains: exchangeDomains(chainId),
  chainId,
  profile,
});

/** @throws Error with a sentence that names the setting */
export function openPolymarket(settings: PolymarketSettings, tools: VenueTools): OpenVenue {
  if (settings.live !== null) return openLive(settings, settings.live, tools);
  const faults = tools.faults ?? openFaults(settings.faults, tools.clock);
  return {
    venue: tools.paper.createVenue({
      ...{ id: settings.name, signing: signingOf(settings, tools), builder: settings.builder },
    }),
    doors: (doorTools) =>
      clobDoors({ ...tools, ...doorTools, faults, orderVersion: settings.profile === 'interface' ? 1 : 2 }),
  };
}

function openLive(settings: PolymarketSettings, live: LivePolymarket, tools: VenueTools): OpenVenue {
  const { clock, log, openSecrets, keepsOrder } = tools;
  const pooled = createPooledSend();
  const { venue, stop } = createPolymarketVenue({
    ...{ id: settings.name, clock, log, openSecrets, keepsOrder, send: pooled.send, ...live },
    signing: signingOf(settings, tools),
    rules: { gtdMinLeadS: LIVE_GTD_MIN_LEAD_S, builder: settings.builder, areAmountsExact: true },
    orders: tools.liveOrders(settings.name),
    heartbeats: tools.heartbeats(settings.name),
    holder: tools.replicaId,
    bucketsOf: tools.bucketsOf,
  });
  return {
    venue,
    async stop() {
      await stop();
      pooled.close();
    },
  };
}

// The venue's own services on paper, as this process serves them: from its own exchange while it leads, through the replica that
// leads otherwise.

interface Parts extends DoorTools, Pick<VenueTools, 'paper' | 'clock' | 'chainId'> {
  readonly faults: Faults;
  /** The version of the orders that it takes. */
  readonly orderVersion: 1 | 2;
}

/** All that PAPER_DOORS names `clob`. */
const NAME = 'clob';

function clobDoors(parts: Parts): readonly Door[] {
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

// The faults that the venue's doors on paper show, to test clients against them.

/** @param given JSON; `null`: none @throws Error with a sentence that names the setting */
function openFaults(given: string | null, clock: Clock): Faults {
  return new Faults(clock.now, given === null ? NO_FAULTS : planOf(given));
}

function planOf(text: string) {
  try {
    const plan = parseFaultPlan(text);
    // On paper an order of the desk is final once it is filled.
    if (plan.failingTradesShare > 0)
      throw new Error('failingTradesShare is for "npm run exchange": trades of the desk’s own venue settle');
    return plan;
  } catch (error) {
    throw new Error(`PAPER_FAULTS: ${(error as Error).message}.`);
  }
}
