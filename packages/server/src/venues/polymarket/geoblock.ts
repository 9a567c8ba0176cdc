/**
 * Whether the venue serves this machine's region, as the venue's own public check says. Information only: the venue judges
 * every order itself, and a check that fails must not stop cancels.
 */
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { VenueHttp } from './http.ts';
import { READ } from './wire.ts';

const EVERY_MS = 3_600_000;
const PATH = '/api/geoblock';

export interface Geoblock {
  /** `null`: not known. */
  readonly blocked: () => boolean | null;
  /** `null`, or a sentence for the venue's status. */
  readonly notice: () => string | null;
  readonly close: () => void;
}

export function watchGeoblock(options: {
  readonly http: VenueHttp;
  readonly log: OutboundLog;
  readonly everyMs?: number;
}): Geoblock {
  const { http, log, everyMs = EVERY_MS } = options;
  let said: { readonly blocked: boolean; readonly region: string } | null = null;
  const ask = async (): Promise<void> => {
    const found = await http.read({ path: PATH }, READ.geoblock);
    if (found === null) return;
    const region = [found.country, found.region].filter((part) => !!part).join(' ');
    if (found.blocked && said?.blocked !== true) log.warn({ region }, 'the venue does not serve this region');
    said = { blocked: found.blocked, region };
  };
  const again = () => void ask().catch(() => {});
  const timer = setInterval(again, everyMs);
  timer.unref();
  again();
  return {
    blocked: () => said?.blocked ?? null,
    notice: () =>
      said?.blocked === true
        ? `the venue does not serve this region (${said.region}): it refuses orders`
        : null,
    close: () => clearInterval(timer),
  };
}
