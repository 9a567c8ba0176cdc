/** Venue A: Polymarket's protocol, on the paper exchange or at the real venue. */
import type { ConfiguredVenue, VenueDeclaration } from '../configured.ts';
import { PAPER_PATHS, type PolymarketSettings, polymarketSettings } from './settings.ts';

export const polymarketVenue = {
  variables: polymarketSettings.variables,
  prefixes: polymarketSettings.prefixes,
  nameVariable: 'VENUE_A_NAME',
  make: (environment: Parameters<typeof polymarketSettings.make>[0]) =>
    configured(polymarketSettings.make(environment)),
} satisfies VenueDeclaration;

function configured(settings: PolymarketSettings): ConfiguredVenue {
  const { name, live, followed, profile } = settings;
  return {
    id: name,
    backend: live === null ? 'paper' : 'live',
    settings,
    banner: {
      label: 'venue A',
      text: `${name}: ${connection(settings)}; order profile "${profile}"`,
      demo: 'demo',
      ...(live === null
        ? {}
        : { beforeFirstOrder: 'WALLET_PRIVATE_KEY=… npm run doctor -- --wallet 0x…  (docs/going-live.md)' }),
    },
    doors: [
      {
        name: 'clob',
        paths: Object.values(PAPER_PATHS),
        isOpenByDefault: true,
        // They would be mistaken for the venue itself.
        ...(live === null ? {} : { isShutBecause: 'venue A is live' }),
      },
    ],
    ...(live === null
      ? {
          paperExchange: {
            followLive:
              followed === null
                ? null
                : async (parts) => (await import('./live-on-paper.ts')).followLive(followed, parts),
          },
        }
      : {}),
    open: async (tools) => (await import('./open.ts')).openPolymarket(settings, tools),
  };
}

function connection({ live }: PolymarketSettings): string {
  if (live === null) return 'PAPER, simulated money';
  const sending = live.sends ? '' : '; LIVE_ORDERS=off: orders are not sent';
  return `LIVE, real money; ${new URL(live.urls.clob).host}${sending}`;
}
