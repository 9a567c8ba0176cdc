import { type EnvironmentOf, integer, refuseAll } from '../../packages/server/src/platform/settings.ts';
import { venueName } from '../../packages/server/src/venues/settings.ts';

const variables = {
  HOUSE_NAME: venueName('house', 'Name of the house.'),
  HOUSE_ASK_PIPS: integer(
    5_000,
    [1, 9_999],
    'What the house asks for a share of YES, in hundredths of a cent.',
  ),
  HOUSE_BID_PIPS: integer(4_800, [1, 9_999], 'What it pays for one.'),
};

export interface HouseSettings {
  readonly name: string;
  readonly ask: number;
  readonly bid: number;
}

export const houseSettings = {
  variables,
  prefixes: ['HOUSE_'],
  make(env: EnvironmentOf<typeof variables>): HouseSettings {
    refuseAll([
      env.HOUSE_BID_PIPS >= env.HOUSE_ASK_PIPS &&
        'HOUSE_BID_PIPS must be below HOUSE_ASK_PIPS: the house would pay callers to trade with it.',
    ]);
    return { name: env.HOUSE_NAME, ask: env.HOUSE_ASK_PIPS, bid: env.HOUSE_BID_PIPS };
  },
};
