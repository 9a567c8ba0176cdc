/** Opens venue A: the paper exchange, or the live connection. */
import { exchangeDomains } from '@bellwether/protocol';
import { createPooledSend } from '../../platform/outbound/pooled-send.ts';
import type { OpenVenue, VenueTools } from '../configured.ts';
import { clobDoors } from './doors.ts';
import { openFaults } from './faults.ts';
import type { LivePolymarket, PolymarketSettings } from './settings.ts';
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
