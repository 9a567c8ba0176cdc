/**
 * A third venue, as its folder under packages/server/src/venues/ would declare it. Tests add it to the registry by a line, and
 * nothing of the service knows it.
 */
import type { ConfiguredVenue, VenueDeclaration } from '../../packages/server/src/venues/configured.ts';
import { type HouseSettings, houseSettings } from './settings.ts';

export const houseVenue = {
  variables: houseSettings.variables,
  prefixes: houseSettings.prefixes,
  nameVariable: 'HOUSE_NAME',
  make: (environment: Parameters<typeof houseSettings.make>[0]) =>
    configured(houseSettings.make(environment)),
} satisfies VenueDeclaration;

const configured = (settings: HouseSettings): ConfiguredVenue => ({
  id: settings.name,
  backend: 'paper',
  settings,
  banner: {
    label: 'venue C',
    text: `${settings.name}: PAPER; the house buys at ${settings.bid} and sells at ${settings.ask}`,
  },
  doors: [{ name: 'house', paths: ['/paper/house'], isOpenByDefault: true }],
  open: async (tools) => (await import('./open.ts')).openHouse(settings, tools),
});
