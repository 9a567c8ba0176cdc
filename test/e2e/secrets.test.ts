/**
 * No secret is stored, logged or shown twice in plain text: every route is called with real keys, correctly and not, and
 * then the whole database, the whole log and every answer are searched for these secrets.
 */

import type { Operation } from '@bellwether/contract';
import * as contract from '@bellwether/contract';
import { buildMarketOrder, createVenueCredentials, credentialRequest, Signer } from '@bellwether/sdk';
import { pino } from 'pino';
import { generatePrivateKey } from 'viem/accounts';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import { ownerOf } from '../approving.ts';
import {
  aMarket,
  call,
  newAgent,
  type RawAnswer,
  restingOrder,
  startTestService,
  type TestService,
} from '../harness.ts';
import { Visitor } from '../passkey.ts';

const AGENT_NAME = 'Known clear text agent';
const REQUEST_ID = 'known-clear-text-request';
const KEY_CHARS = 64;
/** A wrong key that passes the checksum is as secret as a right one: it may be valid at another service. */
const WRONG_PASSPHRASE = 'wrong-passphrase-0123456789abcdef';

let service: TestService;
let log = '';
/** All answers, except those whose purpose is to show a secret. */
let answers = '';
/** Named, so that a failure does not print one. */
const secrets = new Map<string, string>();
let firstKey = '';
let claimCode = '';

/** A text, and the encodings in which it could be stored unnoticed. */
function formsOf(secret: string): string[] {
  const bytes = [Buffer.from(secret)];
  const hex = secret.replace(/^0x/, '');
  if (/^([0-9a-f]{2}){16,}$/i.test(hex)) bytes.push(Buffer.from(hex, 'hex'));
  // The venue's secrets are base64 themselves.
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(secret)) bytes.push(Buffer.from(secret, 'base64'));
  const encoded = bytes.flatMap((value) => [
    value.toString('hex'),
    value.toString('base64').replace(/=+$/, ''),
    value.toString('base64url'),
  ]);
  return [...new Set([secret, hex, ...encoded])].map((form) => form.toLowerCase());
}

/** Names of the secrets that a text contains in any form. */
const foundIn = (text: string, wanted: ReadonlyMap<string, string> = secrets): string[] => {
  const searched = text.toLowerCase();
  return [...wanted]
    .filter(([, secret]) => formsOf(secret).some((form) => searched.includes(form)))
    .map(([name]) => name);
};

/** A call whose answer must not contain a secret. */
async function tell(...request: Parameters<typeof call> extends [unknown, ...infer Rest] ? Rest : never) {
  const answer: RawAnswer = await call(service, ...request);
  answers += `${answer.status} ${JSON.stringify([...answer.headers])} ${JSON.stringify(answer.body)}\n`;
  return answer;
}

/** Every table, every row, as text; binary columns as hex. */
async function dump(): Promise<string> {
  const sql = openPool(service.databaseUrl, { max: 1 });
  try {
    const tables = await sql`select table_schema, table_name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;
    let text = '';
    for (const { table_schema: schema, table_name: name } of tables) {
      const rows = await sql`select t::text as row from ${sql(schema)}.${sql(name)} t`;
      text += rows.map(({ row }) => `${name} ${row}\n`).join('');
    }
    return text;
  } finally {
    await sql.end();
  }
}

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' &&
  value !== null &&
  'method' in value &&
  'path' in value &&
  'permission' in value;

beforeAll(async () => {
  const logger = pino(
    { level: 'trace', base: null },
    {
      write(line: string) {
        log += line;
      },
    },
  );
  service = await startTestService({ PAPER_WORLD: 'off', LOG_LEVEL: 'debug' }, { logger });
  secrets.set('master key', service.masterKey);
  await driveAgent();
  await driveRecovery();
  await driveFaults();
  await driveEveryOperation();
});

async function driveAgent(): Promise<void> {
  const registered = await call(service, 'POST', '/agents/register', {
    body: { name: AGENT_NAME },
    headers: { 'idempotency-key': 'register', 'x-request-id': REQUEST_ID },
  });
  ({ apiKeyCode: firstKey, claimCode } = registered.body);
  secrets.set('API key', firstKey);
  const key = firstKey;
  await tell('POST', '/agents/register', {
    body: { name: AGENT_NAME },
    headers: { 'idempotency-key': 'register' },
  });
  const headers = { 'idempotency-key': 'spare' };
  const spare = await call(service, 'POST', '/agents/create-api-key', {
    key,
    body: { keyName: 'spare' },
    headers,
  });
  secrets.set('second API key', spare.body.apiKeyCode);
  await tell('POST', '/agents/create-api-key', { key, body: { keyName: 'spare' }, headers });

  for (const signatureType of [0, 2] as const) {
    const privateKey = generatePrivateKey();
    secrets.set(`private key ${signatureType}`, privateKey);
    const signer = Signer.fromPrivateKey(privateKey, { use: 'paper' });
    const venue = await createVenueCredentials({ clobUrl: `${service.url}/paper/clob`, signer });
    secrets.set(`venue apiKey ${signatureType}`, venue.apiKey);
    secrets.set(`venue secret ${signatureType}`, venue.apiSecret);
    secrets.set(`venue passphrase ${signatureType}`, venue.apiPassphrase);
    const body = credentialRequest(signer, venue, signatureType);
    const keyed = { 'idempotency-key': `wallet ${signatureType}` };
    const accepted = await tell('POST', '/wallet/credentials', { key, body, headers: keyed });
    expect(accepted.body).toMatchObject({ success: true, encryptedCredentials: true });
    await tell('POST', '/wallet/credentials', { key, body });
    await tell('POST', '/wallet/credentials', { key, body: { ...body, apiPassphrase: WRONG_PASSPHRASE } });
    await tell('POST', '/wallet/credentials', { key, body: { ...body, apiSecret: 42 } });
    await tell('POST', '/wallet/credentials', { key, body: { ...body, walletAddress: venue.apiSecret } });
    await tell('POST', '/wallet/credentials', { key, body: `{"apiSecret": "${venue.apiSecret}", ` });
    const stranger = await newAgent(service, 'Stranger');
    secrets.set(`API key of the stranger ${signatureType}`, stranger.apiKey);
    await tell('POST', '/wallet/credentials', { key: stranger.apiKey, body });

    const trader = { ...stranger, apiKey: key, signer, signatureType, funder: body.walletAddress };
    const market = await aMarket(stranger.client);
    const trade = await restingOrder(trader, market);
    await tell('POST', '/markets/trade', { key, body: trade });
    await tell('POST', '/markets/trade', { key, body: { ...trade, owner: venue.apiKey } });
    const common = { signer, signatureType, market, outcome: 'YES', side: 'BUY', worstPrice: 0.9 } as const;
    const owned = await buildMarketOrder({ ...common, amount: 20, owner: venue.apiKey });
    expect((await tell('POST', '/markets/trade', { key, body: owned })).status).toBe(201);
    const disowned = await buildMarketOrder({ ...common, amount: 20, owner: WRONG_PASSPHRASE });
    expect((await tell('POST', '/markets/trade', { key, body: disowned })).body.code).toBe('owner_mismatch');
  }
  secrets.set('wrong passphrase', WRONG_PASSPHRASE);
}

/** A code in force, one that was used, and one that the database failed under. */
async function driveRecovery(): Promise<void> {
  const owner = await ownerOf(service);
  const keep = (name: string, code: string) => {
    secrets.set(name, code);
    secrets.set(`${name}, bare`, code.replaceAll('-', ''));
  };
  const used = await owner.newRecoveryCode();
  keep('used recovery code', used);
  expect((await new Visitor(service).recover(used)).status).toBe(200);
  const word = await owner.word('/owner/recovery/undo/passkey-options');
  expect((await owner.send('POST', '/owner/recovery/undo', word)).status).toBe(200);
  const present = await owner.newRecoveryCode();
  keep('recovery code', present);
  const tried = { body: { code: present }, headers: { origin: owner.origin } };
  const sql = openPool(service.databaseUrl, { max: 1 });
  await sql`alter table recovery_codes rename to away`;
  await tell('POST', '/owner/recovery/register-options', tried);
  await sql`alter table away rename to recovery_codes`;
  await sql.end();
  await tell('POST', '/owner/recovery/register-options', tried);
  await tell('POST', '/owner/recovery/register-options', { ...tried, body: { code: `${present}0` } });
}

/** Wrong keys, keys where none belongs, and a database that fails under the request. */
async function driveFaults(): Promise<void> {
  const unknownKey = service.needs.secrets.newApiKey();
  secrets.set('an unknown key', unknownKey);
  const mistyped = `${firstKey.slice(0, 40)}${firstKey[40] === 'x' ? 'y' : 'x'}${firstKey.slice(41)}`;
  for (const key of [unknownKey, mistyped, `${firstKey} `, secrets.get('private key 0') as string])
    await tell('GET', '/agents/me', { key });
  await tell('GET', '/agents/me', { headers: { authorization: `Basic ${firstKey}` } });
  await tell('GET', '/agents/me', { headers: { 'x-api-key': firstKey } });
  await tell('POST', '/markets/trade', {
    key: firstKey,
    body: { apiKey: firstKey, order: secrets.get('private key 0') },
  });

  const sql = openPool(service.databaseUrl, { max: 1 });
  const body = {
    walletAddress: Signer.generate().address,
    apiKey: secrets.get('venue apiKey 0'),
    apiSecret: secrets.get('venue secret 0'),
    apiPassphrase: secrets.get('venue passphrase 0'),
  };
  for (const table of ['credentials', 'exchange_api_keys', 'api_keys']) {
    await sql`alter table ${sql(table)} rename to away`;
    const walletAddress = table === 'credentials' ? walletOfKey(0) : body.walletAddress;
    await tell('POST', '/wallet/credentials', { key: firstKey, body: { ...body, walletAddress } });
    await tell('POST', '/agents/create-api-key', { key: firstKey, body: { keyName: 'broken' } });
    await sql`alter table away rename to ${sql(table)}`;
  }
  await sql.end();
}

const walletOfKey = (type: 0 | 2): string =>
  Signer.fromPrivateKey(secrets.get(`private key ${type}`) as string).address;

/** Every operation, with a body that has secrets in unexpected places. */
async function driveEveryOperation(): Promise<void> {
  const operations = (Object.values(contract) as unknown[]).filter(isOperation);
  expect(operations.length).toBeGreaterThan(25);
  const bait = Object.fromEntries([...secrets].map(([name, secret]) => [name, secret]));
  for (const operation of operations) {
    const path = operation.path.replaceAll(/\{\w+\}/g, '999999');
    const body =
      operation.method === 'POST' ? { body: { ...bait, name: [bait], keyName: bait, order: bait } } : {};
    await tell(operation.method, path, { key: firstKey, ...body });
    await tell(operation.method, path, { key: secrets.get('an unknown key') as string, ...body });
  }
}

describe('the search itself', () => {
  test('finds plain text in the database, in the log, in answers', async () => {
    const known = new Map([
      ['agent name', AGENT_NAME],
      ['request id', REQUEST_ID],
    ]);
    expect(foundIn(await dump(), known)).toContain('agent name');
    expect(foundIn(log, known)).toContain('request id');
    expect(foundIn(answers, known)).toContain('agent name');
    // Failures during a request were logged with the database's message.
    expect(log).toContain('a request failed');
  });

  test('finds a secret in every encoding that it looks for', async () => {
    const sql = openPool(service.databaseUrl, { max: 1 });
    const [name, secret] = ['venue secret 0', secrets.get('venue secret 0') as string];
    await sql`create table leak (clear text, raw bytea, inner_json jsonb)`;
    for (const [clear, raw, json] of [
      [secret, null, null],
      [null, Buffer.from(secret), null],
      [null, Buffer.from(secret, 'base64'), null],
      [Buffer.from(secret).toString('base64'), null, null],
      [null, null, { deep: [{ secret }] }],
    ] as const) {
      await sql`insert into leak values (${clear}, ${raw}, ${json === null ? null : sql.json(json)})`;
      expect(foundIn(await dump())).toEqual([name]);
      await sql`delete from leak`;
    }
    await sql`drop table leak`;
    await sql.end();
  });
});

describe('after all routes were used', () => {
  test('the database contains no secret in plain text', async () => {
    expect(foundIn(await dump())).toEqual([]);
  });

  test('the log contains no secret', () => {
    expect(log.length).toBeGreaterThan(1_000);
    expect(foundIn(log)).toEqual([]);
  });

  test('no answer contains a secret, in particular no refusal', () => {
    expect(answers.split('\n').length).toBeGreaterThan(80);
    expect(foundIn(answers)).toEqual([]);
  });

  test('keys are masked, at exactly 64 characters', async () => {
    const masked = `${firstKey.slice(0, 7)}${'*'.repeat(KEY_CHARS - 11)}${firstKey.slice(-4)}`;
    expect(firstKey).toHaveLength(KEY_CHARS);
    const claim = await call(service, 'GET', `/agents/claim/${claimCode}`);
    expect(claim.body.apiKeyCode).toBe(masked);
    const page = await call(service, 'GET', `/agents/claim/${claimCode}`, {
      headers: { accept: 'text/html' },
    });
    expect(foundIn(page.body)).toEqual([]);
    const keys = await call(service, 'GET', '/agents/api-key/list', { key: firstKey });
    expect(keys.body[0].apiKeyCode).toBe(masked);
    for (const { apiKeyCode } of keys.body)
      expect(apiKeyCode).toMatch(/^bw_[0-9A-Za-z]{4}\*{53}[0-9A-Za-z]{4}$/);
    expect((await call(service, 'GET', '/agents/me', { key: firstKey })).body.apiKeyCode).toBe(masked);
  });
});
