import type { MarketTerms } from '@bellwether/sdk';

export const MARKET = {
  conditionId: `0x${'1'.repeat(64)}`,
  question: 'Will it happen?',
  clobTokenIds: [
    '10887229618305499305493883108279982562016544018965943301810854885492933346428',
    '89711174926330519158043401581181146613785179104141808554061413232025882707365',
  ],
  tickSize: '0.01',
  negRisk: false,
  minOrderSize: 5,
} satisfies MarketTerms;
