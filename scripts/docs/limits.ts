/** The table of docs/limits.md: the classes of rate limits and the routes in each. */
import { readConfig } from '../../packages/server/src/config.ts';
import { table } from './markdown.ts';
import { OPERATIONS, routeOf } from './operations.ts';

const UNITS = [
  ['second', 1],
  ['minute', 60],
  ['hour', 3600],
] as const;

const ATTEMPTS = 'recovery codes that are not misspelt';

/** Calls that draw on a class that no route declares. */
const WITHOUT_ROUTES: Readonly<Record<string, string>> = {
  failed_auth: 'any call with a missing or wrong API key, or without a session where an owner’s is needed',
  failed_operator: 'any call with a missing or wrong `OPERATOR_KEY` where it is needed',
  door: 'the paper doors, under `/paper`',
  recovery: `${ATTEMPTS}, at \`POST /owner/recovery/register-options\``,
  recovery_of_owner: `${ATTEMPTS}, of which the first two groups are the owner’s`,
};
const COUNTED_PER: Readonly<Record<string, string>> = { recovery_of_owner: 'owner' };

function callsOf(name: string): string {
  const calls = WITHOUT_ROUTES[name];
  if (calls === undefined)
    throw new Error(`no route is of the class ${name}: say here which calls draw on it`);
  return calls;
}

/** `0.5 per second` reads as `30 per minute`. */
function rate(perSecond: number): string {
  for (const [unit, seconds] of UNITS) {
    const count = Math.round(perSecond * seconds * 1e6) / 1e6;
    if (count >= 1 && Number.isInteger(count)) return `${count} a ${unit}`;
  }
  return `${perSecond} a second`;
}

export function rateLimitTable(): string {
  const { rateLimits } = readConfig({});
  if (rateLimits === null) throw new Error('the defaults have no rate limits');
  return table(
    ['Class', 'Rate', 'Burst', 'Counted per', 'Calls'],
    Object.entries(rateLimits).map(([name, { perSecond, burst }]) => {
      const operations = OPERATIONS.filter(({ rateClass }) => rateClass === name);
      // A caller without an agent counts by address, as do owners on the pages.
      const isOfAgents = operations.some(({ permission }) => permission === 'agent');
      const calls = operations.map((operation) => `\`${routeOf(operation)}\``).join(', ');
      return [
        `\`${name}\``,
        rate(perSecond),
        String(burst),
        isOfAgents ? 'agent, else address' : (COUNTED_PER[name] ?? 'address'),
        calls || callsOf(name),
      ];
    }),
  );
}
