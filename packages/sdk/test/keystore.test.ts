import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { inspect } from 'node:util';
import { USDC_MINT } from '@bellwether/protocol';
import {
  changeKeys,
  createKeys,
  type DeskKeys,
  deskPlace,
  findMint,
  findPassphrase,
  KeystoreError,
  KnownMints,
  keysOfEnvironment,
  loadKeys,
  markedKeys,
  readKeys,
  rememberPurchase,
  requirePerson,
  type Terminal,
} from '@bellwether/sdk/keystore';
import { afterEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/setup/clean-up.ts';
import { sendJson, standIn } from '../../../test/stand-in.ts';

const URL_OF_DESK = 'http://127.0.0.1:8080';
const PASSPHRASE = 'correct horse battery staple';
const PRIVATE_KEY = `0x${'1f'.repeat(32)}`;
const KEYS: DeskKeys = {
  apiKey: 'bw_secret_of_the_agent',
  evm: [{ privateKey: PRIVATE_KEY, venue: 'polymarket', signatureType: 0 }],
  solana: { secretKey: '4'.repeat(44), venue: 'kalshi' },
};
/** The least that a file may ask: tests derive many keys. */
const CHEAP = { cost: 2 ** 14 };

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

const newPlace = (url = URL_OF_DESK) => deskPlace({ BELLWETHER_HOME: temporaryFolder() }, url);
async function placeWithKeys() {
  const place = newPlace();
  await createKeys(place, KEYS, PASSPHRASE, CHEAP);
  return place;
}

/** The error's code; it says what to do next and shows no secret. */
async function faultOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof KeystoreError)) throw error;
    expect(error.fix.length).toBeGreaterThan(10);
    for (const secret of [PASSPHRASE, PRIVATE_KEY, KEYS.apiKey, KEYS.solana?.secretKey])
      expect(inspect(error)).not.toContain(secret);
    return error.code;
  }
  throw new Error('nothing was thrown');
}

/** A program of another process that uses the keystore. */
function runElsewhere(code: string): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: join(import.meta.dirname, '..'),
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => child.once('close', () => resolve(output.trim())));
}

describe('the file', () => {
  test('gives the keys back, is for this user alone, and shows none of them', async () => {
    const place = await placeWithKeys();
    expect(await readKeys(place, PASSPHRASE)).toEqual(KEYS);
    expect(statSync(place.keys).mode & 0o777).toBe(0o600);
    const text = readFileSync(place.keys, 'utf8');
    for (const secret of [KEYS.apiKey, PRIVATE_KEY.slice(2), KEYS.solana?.secretKey])
      expect(text).not.toContain(secret);
    expect(inspect(await readKeys(place, PASSPHRASE))).toBe(
      'DeskKeys(an API key, EVM keys: 1, Solana key: yes)',
    );
    expect(readdirSync(place.folder)).toEqual([place.keys.slice(place.folder.length + 1)]);
  });

  test('is one for each desk, however its address is spelt', () => {
    const folder = temporaryFolder();
    const at = (url: string) => deskPlace({ BELLWETHER_HOME: folder }, url).keys;
    expect(at('http://127.0.0.1:8080/')).toBe(at('HTTP://127.0.0.1:8080'));
    expect(new Set(['http://a.example', 'https://a.example', 'https://a.example/b'].map(at)).size).toBe(3);
  });

  test.each([
    'desk.example',
    'http://user:secret@desk.example',
    'http://desk.example/?key=1',
    'ftp://desk.example',
  ])('is not made for the address %s', async (url) => {
    expect(await faultOf(() => newPlace(url))).toBe('url_invalid');
  });

  test('does not replace keys that are there', async () => {
    const place = await placeWithKeys();
    const before = readFileSync(place.keys, 'utf8');
    expect(await faultOf(() => createKeys(place, KEYS, PASSPHRASE, CHEAP))).toBe('keystore_exists');
    expect(readFileSync(place.keys, 'utf8')).toBe(before);
  });
});

test('keys carry what they are for, and those of an earlier release carry nothing', async () => {
  const place = newPlace();
  await createKeys(place, markedKeys(KEYS, 'paper'), PASSPHRASE, CHEAP);
  expect((await readKeys(place, PASSPHRASE)).evm[0]?.use).toBe('paper');
  expect((await readKeys(await placeWithKeys(), PASSPHRASE)).evm[0]).not.toHaveProperty('use');
  const env = { BELLWETHER_API_KEY: 'bw_x', BELLWETHER_PRIVATE_KEY: PRIVATE_KEY };
  expect(keysOfEnvironment({ ...env, BELLWETHER_KEY_USE: 'live' })?.evm[0]?.use).toBe('live');
  expect(() => keysOfEnvironment({ ...env, BELLWETHER_KEY_USE: 'Paper' })).toThrow(/neither paper nor live/);
});

describe('what is refused', () => {
  const faults: Record<string, (place: ReturnType<typeof deskPlace>) => void> = {
    keystore_version: (place) => rewrite(place.keys, (file) => ({ ...file, version: 2 })),
    keystore_damaged: (place) =>
      rewrite(place.keys, (file) => ({ ...file, sealed: `AAAA${file.sealed?.slice(4)}` })),
    keystore_permissions: (place) => chmodSync(place.keys, 0o640),
  };
  const rewrite = (path: string, change: (file: Record<string, string>) => object) =>
    writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')))));

  test.each(Object.keys(faults))('%s', async (fault) => {
    const place = await placeWithKeys();
    faults[fault]?.(place);
    expect(await faultOf(() => readKeys(place, PASSPHRASE))).toBe(fault);
  });

  test('a wrong passphrase, a short one, no keys, and a folder that others can open', async () => {
    const place = await placeWithKeys();
    expect(await faultOf(() => readKeys(place, 'another passphrase'))).toBe('passphrase_wrong');
    expect(await faultOf(() => createKeys(newPlace(), KEYS, 'short', CHEAP))).toBe('passphrase_too_short');
    expect(await faultOf(() => readKeys(newPlace(), PASSPHRASE))).toBe('keystore_missing');
    chmodSync(place.folder, 0o755);
    expect(await faultOf(() => readKeys(place, PASSPHRASE))).toBe('keystore_permissions');
  });

  test.each([
    '        ',
    'aaaaaaaaaaaa',
    '\t\t\t\t\t\t\t\t\t',
    'a b c d',
    '\u200b\u200b\u200b\u200b\u200b\u200b\u200b\u200b',
  ])('a passphrase of blanks or of one character: %j', async (passphrase) => {
    expect(await faultOf(() => createKeys(newPlace(), KEYS, passphrase, CHEAP))).toBe('passphrase_too_short');
  });

  test('a file that is not JSON, one of another program, and one that would take all memory', async () => {
    const place = await placeWithKeys();
    const good = JSON.parse(readFileSync(place.keys, 'utf8'));
    const costly = { ...good, kdf: { ...good.kdf, cost: 2 ** 30 } };
    for (const text of ['{', '{}', 'null', JSON.stringify(costly)]) {
      writeFileSync(place.keys, text);
      expect(await faultOf(() => readKeys(place, PASSPHRASE))).toBe('keystore_damaged');
    }
  });

  test('a header that somebody changed with care: it is sealed with the keys', async () => {
    const place = await placeWithKeys();
    const other = newPlace('http://attacker.example');
    const file = { ...JSON.parse(readFileSync(place.keys, 'utf8')), desk: other.url };
    const { format, version, desk, kdf, cipher, sealed, tag } = file;
    const header = [format, version, desk, kdf.name, kdf.cost, kdf.salt, cipher.name, cipher.nonce];
    const checksum = createHash('sha256').update(JSON.stringify(header)).update(sealed).update(tag);
    writeFileSync(other.keys, JSON.stringify({ ...file, checksum: checksum.digest('hex') }), { mode: 0o600 });
    expect(await faultOf(() => readKeys(other, PASSPHRASE))).toBe('passphrase_wrong');
  });
});

describe('two writers', () => {
  const changeElsewhere = (folder: string, key: string) =>
    runElsewhere(`
      const { changeKeys, deskPlace } = await import('@bellwether/sdk/keystore');
      const place = deskPlace({ BELLWETHER_HOME: ${JSON.stringify(folder)} }, '${URL_OF_DESK}');
      await changeKeys(place, '${PASSPHRASE}', (keys) => ({ ...keys, evm: [...keys.evm, { ...keys.evm[0], privateKey: '${key}' }] }), { cost: 2 ** 14, waitMs: 120_000 });
    `);

  test('in two processes lose no change', async () => {
    const place = await placeWithKeys();
    const added = ['2a', '3b', '4c'].map((byte) => `0x${byte.repeat(32)}`);
    expect(await Promise.all(added.map((key) => changeElsewhere(place.folder, key)))).toEqual(['', '', '']);
    const { evm } = await readKeys(place, PASSPHRASE);
    expect(evm.map(({ privateKey }) => privateKey).sort()).toEqual([PRIVATE_KEY, ...added]);
  });

  const lockWith = (place: { keys: string }, holder: object) =>
    writeFileSync(`${place.keys}.lock`, JSON.stringify({ began: null, token: 'f'.repeat(32), ...holder }), {
      mode: 0o600,
    });
  const change = (place: ReturnType<typeof deskPlace>) =>
    changeKeys(place, PASSPHRASE, (keys) => ({ ...keys, solana: null }), { ...CHEAP, waitMs: 100 });

  test('of which one is dead: its lock is taken over', async () => {
    const place = await placeWithKeys();
    const dead = spawn(process.execPath, ['--version']);
    await new Promise((resolve) => dead.once('close', resolve));
    lockWith(place, { pid: dead.pid });
    expect((await change(place)).solana).toBeNull();
    expect(readdirSync(place.folder)).toHaveLength(1);
  });

  test('of which one is frozen: it may go on at any moment, so its lock stays', async () => {
    const place = await placeWithKeys();
    const frozen = spawn(process.execPath, ['--eval', 'setTimeout(() => {}, 120_000)']);
    children.push(frozen);
    frozen.kill('SIGSTOP');
    lockWith(place, { pid: frozen.pid });
    expect(await faultOf(() => change(place))).toBe('keystore_busy');
    expect(await readKeys(place, PASSPHRASE)).toEqual(KEYS);
  });

  test.runIf(process.platform === 'linux')(
    'of which one is dead and its number is in use again',
    async () => {
      const place = await placeWithKeys();
      lockWith(place, { pid: process.pid, began: '1' });
      expect((await change(place)).solana).toBeNull();
    },
  );
});

describe('keys of the environment', () => {
  test('come before the keystore', async () => {
    const env = {
      BELLWETHER_HOME: temporaryFolder(),
      BELLWETHER_API_KEY: 'bw_1',
      BELLWETHER_PRIVATE_KEY: PRIVATE_KEY,
    };
    expect(await loadKeys({ env })).toMatchObject({
      from: 'environment',
      place: { url: URL_OF_DESK },
      keys: { apiKey: 'bw_1', evm: [{ privateKey: PRIVATE_KEY, signatureType: 0 }], solana: null },
    });
  });

  test.each([
    [{ BELLWETHER_PRIVATE_KEY: PRIVATE_KEY }, 'keys_incomplete'],
    [{ BELLWETHER_API_KEY: 'bw_1', BELLWETHER_PRIVATE_KEY: 'not a key' }, 'keys_invalid'],
    [{ BELLWETHER_API_KEY: 'bw_1', BELLWETHER_SIGNATURE_TYPE: '7' }, 'keys_invalid'],
    [{}, 'keystore_missing'],
  ])('%j', async (given, fault) => {
    const env = { BELLWETHER_HOME: temporaryFolder(), ...given };
    expect(await faultOf(() => loadKeys({ env }))).toBe(fault);
  });
});

describe('the passphrase', () => {
  function terminal(): Terminal & { readonly screen: string[]; readonly type: (text: string) => void } {
    const screen: string[] = [];
    const input = new PassThrough() as unknown as NodeJS.ReadStream;
    let isRaw = false;
    const setRawMode = (mode: boolean) => {
      isRaw = mode;
      return input;
    };
    Object.defineProperties(input, { setRawMode: { value: setRawMode }, isRaw: { get: () => isRaw } });
    const output = new PassThrough();
    output.on('data', (chunk) => screen.push(String(chunk)));
    return { input, output, screen, type: (text) => (input as unknown as PassThrough).write(text) };
  }

  test('of a file that only this user can read', async () => {
    const path = join(temporaryFolder(), 'passphrase');
    writeFileSync(path, `${PASSPHRASE}\n`, { mode: 0o600 });
    const env = { BELLWETHER_PASSPHRASE_FILE: path };
    expect(await findPassphrase({ env })).toBe(PASSPHRASE);
    chmodSync(path, 0o644);
    expect(await faultOf(() => findPassphrase({ env }))).toBe('keystore_permissions');
  });

  test('is asked for without showing it, and twice when it is new', async () => {
    const asked = terminal();
    const found = findPassphrase({ env: {}, terminal: asked, isNew: true });
    asked.type('correct horsd\u007fe\r');
    await expect.poll(() => asked.screen.join('')).toContain('again');
    asked.type('correct horse\n');
    expect(await found).toBe('correct horse');
    expect(asked.screen.join('')).not.toContain('horse');
    expect(asked.input.isRaw).toBe(false);
  });

  test('is missing where no person can be asked, and on Ctrl-C', async () => {
    expect(await faultOf(() => findPassphrase({ env: {} }))).toBe('passphrase_missing');
    const asked = terminal();
    const found = faultOf(() => findPassphrase({ env: {}, terminal: asked }));
    asked.type('corr\u0003');
    expect(await found).toBe('passphrase_missing');
  });
});

test('a token is known from the venue itself, then from a purchase, and from a person above all', async () => {
  const [YES, NO] = [
    'CA7FMbzNTfeR7jkLzF113bBJupKwq98cixaQtc3b3frb',
    'D7ibW7tu2kvzfbDS78gF5i9UZTye7pqTP63yxYd43No3',
  ];
  const accounts = { [USDC_MINT]: { yesMint: YES, noMint: NO } };
  const venue = await standIn((_, response) => sendJson(response, { ticker: 'KXTEST', accounts }));
  const env = { BELLWETHER_DFLOW_METADATA: venue };
  const place = newPlace('http://127.0.0.1:9');
  const ask = { ticker: 'KXTEST', side: 'NO' } as const;
  expect(await findMint(place, ask, env)).toBe(NO);
  expect(await findMint(place, { ...ask, ticker: 'KXOTHER' }, env)).toBeUndefined();
  rememberPurchase(place, { ...ask, mint: NO });
  const gone = { BELLWETHER_DFLOW_METADATA: 'http://127.0.0.1:9/venue' };
  await expect(findMint(place, { ...ask, side: 'YES' }, gone)).rejects.toMatchObject({
    code: 'environment_invalid',
  });
  expect(await findMint(place, ask, gone)).toBe(NO);
  new KnownMints(place).remember({ ...ask, mint: YES, source: 'person' });
  expect(await findMint(place, ask, env)).toBe(YES);
  expect(
    await findMint(newPlace('http://127.0.0.1:10'), ask, { BELLWETHER_DFLOW_METADATA: 'http://127.0.0.1:9' }),
  ).toBeUndefined();
});

test('tokens of a market of venue A are those that a person said last, whatever else the file says', () => {
  const conditionId = `0x${'aB'.repeat(32)}`;
  const market = { conditionId, clobTokenIds: ['11', '22'] };
  const place = newPlace();
  const mints = new KnownMints(place);
  const say = (side: 'YES' | 'NO', mint: string, ticker = conditionId) =>
    mints.remember({ ticker, side, mint, source: 'person' });
  expect(mints.tokensOf(market)).toBeUndefined();
  say('YES', '22');
  expect(mints.tokensOf(market)).toEqual(['22', '11']);
  expect(mints.tokensOf({ ...market, clobTokenIds: ['22', '11'] })).toEqual(['22', '11']);
  say('NO', '22', conditionId.toLowerCase());
  expect(mints.tokensOf(market)).toEqual(['11', '22']);
  say('YES', '22');
  expect(new KnownMints(place).tokensOf(market)).toEqual(['22', '11']);
  // A desk that says other tokens, or none.
  for (const clobTokenIds of [['11', '33'], []])
    expect(mints.tokensOf({ conditionId, clobTokenIds })).toEqual(['22', '']);
  expect(mints.tokensOf({ ...market, conditionId: 'KXTEST' })).toBeUndefined();
  // A market of venue B that a desk calls like the condition.
  rememberPurchase(place, { ticker: conditionId.toLowerCase(), side: 'YES', mint: `1${'2'.repeat(40)}` });
  expect(mints.tokensOf(market)).toEqual(['22', '11']);
});

test('without a terminal no caller is a person, with any environment', async () => {
  const place = await placeWithKeys();
  await expect(requirePerson(place, 'The spending limit is set', undefined)).rejects.toMatchObject({
    code: 'person_required',
  });
});
