/** The text that a start prints: where the service is, which venues it has, and what to try first. */
import { resolve } from 'node:path';
import type { Config } from './config.ts';
import type { Service } from './service.ts';

const LOOPBACK = /^(localhost|127\.[\d.]+|::1)$/;
const LABEL_CHARS = 12;

/** Suggests what to try; the examples find a service on the default data folder without help, and trade paper money only. */
function nextCommand(config: Config, url: string): string {
  const banners = config.venues.map(({ banner }) => banner);
  const first = banners.find(({ beforeFirstOrder }) => beforeFirstOrder !== undefined);
  if (first !== undefined) return `Before the first order:  ${first.beforeFirstOrder}`;
  const isFound = config.databaseUrl === null && resolve(config.dataDir) === resolve('./data');
  const named = isFound ? '' : `BELLWETHER_URL=${url} `;
  const demos = banners.flatMap(({ demo }) => (demo === undefined ? [] : [`${named}npm run ${demo}`]));
  return `Try it, in another terminal:  ${demos.join('  or  ')}`;
}

/** Tells the operator what an address beyond this machine opens to others. */
function openness({ host, publicUrl }: Config, { facts }: Pick<Service, 'facts'>): string {
  if (LOOPBACK.test(host)) return '';
  return `
  Others can reach it on ${host}. They can use the following without a key:
${facts.open.map((route) => `    ${route}`).join('\n')}
  Requests must name the host of PUBLIC_URL (${publicUrl}) or one of ALLOWED_HOSTS;
  behind a proxy, set TRUST_PROXY. RATE_LIMITS, PAPER_DOORS and a firewall restrict access further.
`;
}

export function bannerOf(
  config: Config,
  service: Pick<Service, 'address' | 'facts'>,
  seconds: number,
): string {
  const { version, database, recovery } = service.facts;
  const url = service.address + config.basePath;
  const line = (label: string, text: string): string => `  ${label.padEnd(LABEL_CHARS)}${text}`;
  const lines = [
    line('address', `${url}  (API reference: ${config.publicUrl}/docs)`),
    ...config.venues.map(({ banner }) => line(banner.label, banner.text)),
    line('database', database),
    line('signatures', `${recovery} recovery`),
  ];
  return `Bellwether ${version} is ready (${seconds.toFixed(1)} s)

${lines.join('\n')}
${openness(config, service)}
${nextCommand(config, url)}`;
}
