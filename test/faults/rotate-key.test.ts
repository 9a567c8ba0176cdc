/** The master key is rotated while two replicas serve agents: no request fails, and the old key opens nothing afterwards. */
import { randomBytes } from 'node:crypto';
import { BellwetherClient } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { rotateKey } from '../../packages/server/src/operations/rotate-key.ts';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { createSecrets, masterKeyName } from '../../packages/server/src/platform/system/secrets.ts';
import { exitOrder, hold } from '../exits.ts';
import {
  aMarket,
  call,
  newTrader,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { createDeskDatabase } from '../postgres.ts';
import { runScript } from '../service-process.ts';
import { afterFile } from '../setup/clean-up.ts';

const OLD = randomBytes(32);
const NEW = randomBytes(32);
const [oldName, newName] = [masterKeyName(OLD), masterKeyName(NEW)];
const WALLETS = 4;
const oldOnly = { MASTER_KEY: OLD.toString('hex') };
const newOnly = { MASTER_KEY: NEW.toString('hex') };
const both = { ...newOnly, MASTER_KEY_OLD: OLD.toString('hex') };

let DATABASE_URL: string;
let sql: Sql;
const traders: Trader[] = [];
const start = (keys: Readonly<Record<string, string>>): Promise<TestService> =>
  startTestService({ DATABASE_URL, WEBHOOKS_ALLOW_LOOPBACK: 'on', PAPER_WORLD: 'off', ...keys });

const clientAt = ({ url }: TestService, { apiKey }: Trader) => new BellwetherClient({ baseUrl: url, apiKey });

const hook = (at: TestService, { apiKey }: Trader, n: number) =>
  call(at, 'POST', '/webhooks', {
    key: apiKey,
    body: { url: `http://127.0.0.1:9/${n}`, events: ['order.filled'] },
  });

const keyIds = async (): Promise<Record<string, number[]>> => {
  const [row] = await sql`
    select array(select distinct key_id from credentials order by 1) as credentials,
      array(select distinct key_id from webhook_endpoints order by 1) as webhooks,
      array(select distinct key_id from exits order by 1) as exits,
      array(select key_id from master_root) as root, array(select key_id from master_key_check order by 1) as checks`;
  return row as never;
};

const rotateByCommand = () => runScript('scripts/rotate-key.ts', [], { env: { DATABASE_URL, ...both } });

beforeAll(async () => {
  DATABASE_URL = await createDeskDatabase();
  sql = openPool(DATABASE_URL, { max: 2, applicationName: 'test' });
  afterFile('pools', () => sql.end({ timeout: 1 }));
  const first = await start(oldOnly);
  for (let n = 0; n < WALLETS; n += 1) {
    const trader = await newTrader(first);
    expect((await hook(first, trader, n)).status).toBe(200);
    traders.push(trader);
  }
  const [holder] = traders as [Trader];
  const market = await aMarket(holder.client);
  await hold(holder, market, 20);
  const trigger = { kind: 'price_at_or_above', price: 0.95 } as const;
  await holder.client.leaveExit({ ...(await exitOrder(holder, market, { worst: 0.9 })), trigger });
  await expect(rotateKey({ sql, newest: NEW, former: OLD })).rejects.toThrow(
    new RegExp(
      `1 of the connected services do not know key ${newName} \\(bellwether \\w+ ${oldName}\\)\\. Restart each, then run this again\\. Where you set keys yourself`,
    ),
  );
  await first.stop();
});

describe('a rotation', () => {
  let replicas: [TestService, TestService];
  beforeAll(async () => {
    replicas = [await start(both), await start(both)];
  });

  test('with a wrong pair of keys is refused, and changes nothing', async () => {
    const before = await keyIds();
    await expect(rotateKey({ sql, newest: NEW, former: randomBytes(32) })).rejects.toThrow(
      new RegExp(`written with key ${oldName} that is neither MASTER_KEY nor MASTER_KEY_OLD`),
    );
    expect(await keyIds()).toEqual(before);
  });

  test('that is killed goes on where it was; meanwhile every request at both replicas succeeds', async () => {
    const market = await aMarket(clientAt(replicas[0], traders[0] as Trader));
    const statuses: number[] = [];
    let isOver = false;
    const agent = async (trader: Trader, turn: number): Promise<void> => {
      for (let n = turn; !isOver; n += 1) {
        const at = replicas[n % 2] as TestService;
        const request = await restingOrder(trader, market);
        statuses.push(
          (await call(at, 'POST', '/markets/trade', { key: trader.apiKey, body: request })).status,
        );
        // Seals, with whichever key is in use.
        const made = await hook(at, trader, n + WALLETS);
        statuses.push(made.status);
        const path = `/webhooks/${made.body.id}`;
        statuses.push((await call(at, 'DELETE', path, { key: trader.apiKey })).status);
      }
    };
    const working = Promise.all(traders.map(agent));
    const killed = new Error('killed');
    let batches = 0;
    const onBatch = (): void => {
      batches += 1;
      if (batches === 2) throw killed;
    };
    await expect(rotateKey({ sql, newest: NEW, former: OLD, batch: 1, onBatch })).rejects.toBe(killed);
    expect((await keyIds()).checks).toEqual([1, 2]);
    const { code, stdout } = await rotateByCommand();
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Everything is sealed with key ${newName} \\(\\d+ rows`));
    expect(stdout).toContain(`Key ${oldName} is retired.`);
    isOver = true;
    await working;
    expect(statuses.filter((status) => status >= 400)).toEqual([]);
    expect(statuses.length).toBeGreaterThan(0);
    expect(await keyIds()).toMatchObject({ credentials: [2], exits: [2], root: [2], checks: [2] });
    expect((await keyIds()).webhooks).toEqual([2]);
    const again = { code: 0, stdout: expect.stringMatching(/^Everything is sealed with key \w+ \(0 rows/) };
    expect(await rotateByCommand()).toMatchObject(again);
  });

  test('leaves nothing that the old key opens, and no process seals with it', async () => {
    const secrets = createSecrets(OLD, Date.now);
    const rows = await sql`select user_id, wallet_address, sealed from credentials`;
    expect(rows.length).toBe(WALLETS);
    for (const row of rows) {
      const identity = `credentials/${row.user_id}/${row.wallet_address}`;
      expect(() => secrets.open({ keyId: 1, bytes: row.sealed as Buffer }, identity)).toThrow();
    }
    await expect(sql`update credentials set key_id = 1`).rejects.toMatchObject({ code: 'BW002' });
    await expect(sql`update exits set key_id = 1`).rejects.toMatchObject({ code: 'BW002' });
  });

  test('a start needs the new key, and with it every API key and credential works as before', async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await expect(start(oldOnly)).rejects.toThrow(
      new RegExp(`MASTER_KEY is not the one .* it needs key ${newName}, and was given key ${oldName}\\.`),
    );
    const after = await start(newOnly);
    for (const trader of traders) {
      const client = { key: trader.apiKey };
      expect((await call(after, 'GET', '/agents/me', client)).status).toBe(200);
      const request = await restingOrder(trader, await aMarket(clientAt(after, trader)));
      expect((await call(after, 'POST', '/markets/trade', { ...client, body: request })).status).toBe(201);
    }
    const rows = await sql`select user_id, wallet_address, key_id, sealed from credentials`;
    for (const row of rows) {
      const sealed = { keyId: Number(row.key_id), bytes: row.sealed as Buffer };
      const identity = `credentials/${row.user_id}/${row.wallet_address}`;
      expect(JSON.parse(after.needs.secrets.open(sealed, identity))).toHaveProperty('apiKey');
    }
    const [exit] = await sql`select exit_id, key_id, sealed from exits`;
    const sealed = { keyId: Number(exit?.key_id), bytes: exit?.sealed as Buffer };
    expect(JSON.parse(after.needs.secrets.open(sealed, `exits/${exit?.exit_id}`))).toHaveProperty('order');
  });
});
