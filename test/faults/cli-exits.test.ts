/** An exit that the command line leaves while the desk does not answer: what is known is said, and the same exit again is no second one. */
import { join } from 'node:path';
import type { BellwetherClient } from '@bellwether/sdk';
import { expect, test } from 'vitest';
import { EXIT_CODES } from '../../packages/cli/src/exit-codes.ts';
import { cli, deskBetween } from '../cli-process.ts';
import { aMarket, newAgent, startTestService } from '../harness.ts';
import { dataFolder } from '../service-process.ts';

test('an exit whose answers are all lost: the error names the command that leaves the same one', async () => {
  const service = await startTestService({ PAPER_WORLD: 'off' });
  const agent = await newAgent(service);
  const client: BellwetherClient = agent.client;
  const env = {
    BELLWETHER_URL: service.url,
    BELLWETHER_HOME: join(dataFolder(), 'keys'),
    BELLWETHER_API_KEY: agent.apiKey,
    BELLWETHER_PRIVATE_KEY: `0x${'6e'.repeat(32)}`,
    BELLWETHER_KEY_USE: 'paper',
  };
  expect(await cli(['init'], env)).toMatchObject({ code: 0 });
  const market = await aMarket(client);
  expect(await cli(['split', market.id, '20', '--yes'], env)).toMatchObject({ code: 0 });

  let isLost = true;
  const url = await deskBetween(service.url, async ({ path }, pass) => {
    const answer = await pass();
    return isLost && path === '/markets/exits' ? 'cut' : answer;
  });
  const terms = ['sell', market.id, 'YES', '--size', '10', '--price', '0.05', '--below', '0.05'];
  const lost = await cli([...terms, '--group', 'mine', '--yes', '--json', '--url', url], env);
  expect(lost).toMatchObject({ code: EXIT_CODES.unknown.status, stdout: '' });
  const { error } = JSON.parse(lost.stderr);
  expect(error).toMatchObject({
    code: 'exit_outcome_unknown',
    fix: expect.stringContaining('bellwether exits'),
  });

  isLost = false;
  const again = /bellwether (sell .*)$/m.exec(error.fix)?.[1]?.replaceAll("'", '').split(' ') ?? [];
  const repeated = await cli([...again, '--yes', '--json'], env);
  expect({ code: repeated.code, stderr: repeated.stderr }).toMatchObject({ code: 0 });
  expect(JSON.parse(repeated.stdout)).toMatchObject({
    status: 'armed',
    group: 'mine',
    orderId: error.orderId,
  });
  expect(await client.listExits()).toHaveLength(1);
});
