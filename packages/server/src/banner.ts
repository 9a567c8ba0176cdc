/** What the process says on the terminal: the lines of a start, and why the service cannot start, or ends: one sentence that says what to do next, no stack and no lines of other programs. */
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

// Why the service cannot start, or ends: one sentence that says what to do next, no stack and no lines of other programs.

/** Codes of Node (the first three) and of PostgreSQL. EFBIG is a limit of the process. */
const FULL_DISK_CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG', '53100'];
const FULL_DISK_WORDS = /No space left on device|Disk quota exceeded|File too large/;

export function explain(error: unknown): string {
  const { code, message, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE')
    return `Port ${port} is taken. Stop what is listening there, or set PORT to another.`;
  if (FULL_DISK_CODES.includes(code) || FULL_DISK_WORDS.test(message))
    return 'The disk of the database is full. Make room there, never inside the folder of the database, and start again: nothing that was acknowledged is lost. A first start needs 100 MB.';
  return message || String(error);
}
