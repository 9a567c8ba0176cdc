/** Venue B: Kalshi's markets as Solana tokens through DFlow, on the embedded sandbox or for real. */
import { SANDBOX_PATHS } from '@bellwether/sandbox/paths';
import type { ConfiguredVenue, VenueDeclaration } from '../configured.ts';
import { type DflowSettings, dflowSettings } from './settings.ts';

export const dflowVenue = {
  variables: dflowSettings.variables,
  prefixes: dflowSettings.prefixes,
  nameVariable: 'VENUE_B_NAME',
  make: (environment: Parameters<typeof dflowSettings.make>[0]) =>
    configured(dflowSettings.make(environment)),
} satisfies VenueDeclaration;

function configured(settings: DflowSettings): ConfiguredVenue {
  const { name, live, isOpenByDefault } = settings;
  return {
    id: name,
    backend: live === null ? 'paper' : 'live',
    settings,
    banner: {
      label: 'venue B',
      text:
        live === null
          ? `${name}: PAPER, simulated money on a Solana chain of its own`
          : `${name}: LIVE, real money; ${new URL(live.tradeUrl).host}; ${settings.countryHeader === null ? 'looks at NO country: you keep out where it must not be offered' : `refuses a BUY by the country in ${settings.countryHeader}`}`,
      demo: 'demo:venue-b',
    },
    doors: [
      { name: 'dflow', paths: [SANDBOX_PATHS.metadata, SANDBOX_PATHS.trade], isOpenByDefault },
      { name: 'solana', paths: [SANDBOX_PATHS.rpc], isOpenByDefault },
    ],
    open: async (tools) => (await import('./open.ts')).openDflow(settings, tools),
  };
}
