/** Facts that a program knows without the desk: tokens of venue B, passphrases worth the name, and who may change limits. */
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { USDC_MINT } from '@bellwether/protocol';
import {
  createKeys,
  deskPlace,
  findMint,
  KnownMints,
  keysOfEnvironment,
  markedKeys,
  readKeys,
  rememberPurchase,
  requirePerson,
} from '@bellwether/sdk/keystore';
import { expect, onTestFinished, test } from 'vitest';

const newPlace = (url = 'http://127.0.0.1:9') =>
  deskPlace({ BELLWETHER_HOME: mkdtempSync(join(tmpdir(), 'bellwether-person-')) }, url);
const KEYS = {
  apiKey: 'bw_x',
  evm: [{ privateKey: `0x${'17'.repeat(32)}`, venue: 'polymarket', signatureType: 0 as const }],
  solana: null,
};
const CHEAP = { cost: 2 ** 14 };
const YES = 'CA7FMbzNTfeR7jkLzF113bBJupKwq98cixaQtc3b3frb';
const NO = 'D7ibW7tu2kvzfbDS78gF5i9UZTye7pqTP63yxYd43No3';

async function venue(answer: unknown): Promise<string> {
  const server = createServer((_, response) => response.end(JSON.stringify(answer)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each([
  '        ',
  'aaaaaaaaaaaa',
  '\t\t\t\t\t\t\t\t\t',
  'a b c d',
  '\u200b\u200b\u200b\u200b\u200b\u200b\u200b\u200b',
])('a passphrase of blanks or of one character is refused: %j', async (passphrase) => {
  await expect(createKeys(newPlace(), KEYS, passphrase, CHEAP)).rejects.toMatchObject({
    code: 'passphrase_too_short',
  });
});

test('keys carry what they are for, and those of an earlier release carry nothing', async () => {
  const place = newPlace();
  await createKeys(place, markedKeys(KEYS, 'paper'), 'correct horse', CHEAP);
  expect((await readKeys(place, 'correct horse')).evm[0]?.use).toBe('paper');
  const older = newPlace();
  await createKeys(older, KEYS, 'correct horse', CHEAP);
  expect((await readKeys(older, 'correct horse')).evm[0]).not.toHaveProperty('use');
  const env = { BELLWETHER_API_KEY: 'bw_x', BELLWETHER_PRIVATE_KEY: KEYS.evm[0]!.privateKey };
  expect(keysOfEnvironment({ ...env, BELLWETHER_KEY_USE: 'live' })?.evm[0]?.use).toBe('live');
  expect(() => keysOfEnvironment({ ...env, BELLWETHER_KEY_USE: 'Paper' })).toThrow(/neither paper nor live/);
});

test('a token is known from the venue itself, then from a purchase, and from a person above all', async () => {
  const accounts = { [USDC_MINT]: { yesMint: YES, noMint: NO } };
  const env = { BELLWETHER_DFLOW_METADATA: await venue({ ticker: 'KXTEST', accounts }) };
  const place = newPlace();
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

test('without a terminal no caller is a person, with any environment', async () => {
  const place = newPlace();
  await createKeys(place, KEYS, 'correct horse', CHEAP);
  await expect(requirePerson(place, 'The spending limit is set', undefined)).rejects.toMatchObject({
    code: 'person_required',
  });
});
