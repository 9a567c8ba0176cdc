import type { OpenVenue, VenueTools } from '../../packages/server/src/venues/configured.ts';
import { houseJobs, type Ledger } from './jobs.ts';
import { houseMarket } from './market.ts';
import type { HouseSettings } from './settings.ts';
import { createHouseVenue } from './venue.ts';

export function openHouse({ name, bid, ask }: HouseSettings, tools: VenueTools): OpenVenue {
  const ledger: Ledger = { countedAt: null };
  return {
    venue: createHouseVenue(name, { ...houseMarket(), bestBid: bid, bestAsk: ask }, tools),
    doors: ({ guard }) => [
      {
        name: 'house',
        prefix: '/paper/house',
        async register(app) {
          app.get('/prices', async (request, reply) => {
            const waitS = await guard.admit(request);
            if (waitS > 0) return reply.code(429).header('retry-after', waitS).send({ error: 'too many' });
            return { bid, ask, ...ledger };
          });
        },
      },
    ],
    jobs: houseJobs(ledger, tools.clock),
  };
}
