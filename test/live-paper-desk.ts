/**
 * A desk whose paper orders meet a live venue's books. The live venue is another service of this process; its doors speak
 * the venue's protocol over TCP.
 */
import type { Overrides } from '../packages/server/src/service.ts';
import { startTestService, type TestService } from './harness.ts';
import { liveEnvironment } from './live-environment.ts';

export function startLivePaper(
  venue: Pick<TestService, 'url'>,
  environment: Readonly<Record<string, string>> = {},
  overrides: Overrides = {},
): Promise<TestService> {
  const {
    VENUE_A_BACKEND: _,
    VENUE_A_ORDER_PROFILE: __,
    VENUE_A_DOUBT_S: ___,
    ...urls
  } = liveEnvironment(venue.url);
  return startTestService({ ...urls, PAPER_DOORS: 'clob', PAPER_MARKETS: 'live', ...environment }, overrides);
}
