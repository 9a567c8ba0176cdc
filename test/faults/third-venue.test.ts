/**
 * A third venue by its folder and a line of the registry, in a copy of this repository: the service that is started there is the
 * one that everybody starts, and no other file of the copy is touched.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BellwetherClient } from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import { copyWorkingTree } from '../mutants/working-copy.ts';
import { dataFolder, startProcess, startRefused } from '../service-process.ts';
import { afterFile } from '../setup/clean-up.ts';

const HOUSE = join(import.meta.dirname, '..', 'house');
let root: string;

beforeAll(() => {
  const copy = copyWorkingTree();
  afterFile('pools', copy.remove);
  root = copy.folder;
  const source = join(root, 'packages', 'server', 'src');
  const folder = join(source, 'venues', 'house');
  mkdirSync(folder);
  for (const file of readdirSync(HOUSE)) {
    const text = readFileSync(join(HOUSE, file), 'utf8');
    writeFileSync(join(folder, file), text.replaceAll('../../packages/server/src/', '../../'));
  }
  const registry = join(source, 'wiring', 'venue-registry.ts');
  const text = readFileSync(registry, 'utf8');
  const withHouse = text
    .replace('[polymarketVenue, dflowVenue]', '[polymarketVenue, dflowVenue, houseVenue]')
    .replace('\nexport', "import { houseVenue } from '../venues/house/index.ts';\n\nexport");
  expect(withHouse.match(/houseVenue/g)).toHaveLength(2);
  writeFileSync(registry, withHouse);
});

test('is printed, listed and reached through its door by the process that everybody starts', async () => {
  const service = await startProcess({
    ...{ root, dataDir: dataFolder(), env: { HOUSE_ASK_PIPS: '5100', LOG_LEVEL: 'warn' } },
  });
  expect(service.output()).toContain(
    '  venue C     house: PAPER; the house buys at 4800 and sells at 5100\n',
  );
  const agent = await new BellwetherClient({ baseUrl: service.url }).registerAgent({ name: 'Guest' });
  const client = new BellwetherClient({ baseUrl: service.url, apiKey: agent.apiKeyCode });
  expect(await client.listMarkets({ q: '*', venue: 'house' })).toMatchObject([
    { id: 'house-1', bestAsk: '0.51' },
  ]);
  const prices = await fetch(`${service.url}/paper/house/prices`);
  expect(await prices.json()).toMatchObject({ bid: 4_800, ask: 5_100 });
});

test.each([
  [{ HOUSE_ASK_PIPS: '0' }, 'HOUSE_ASK_PIPS must be >= 1.'],
  [{ HOUSE_ASKS: '1' }, 'HOUSE_ASKS is not a setting of this service. Did you mean HOUSE_ASK_PIPS?'],
])('stops the start with %j', async (env, sentence) => {
  const { exit, output } = await startRefused({ root, dataDir: dataFolder(), env });
  expect(exit).toEqual({ code: 1, signal: null });
  expect(output).toBe(`Bellwether cannot start: ${sentence}\n`);
});
