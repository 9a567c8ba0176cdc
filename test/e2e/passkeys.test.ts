/** An owner's passkeys: a second one, names, removal; and the recovery code, as it is made. Each takes the word of a passkey. */
import { readRecoveryCode } from '@bellwether/contract';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import { ownerOf } from '../approving.ts';
import { startTestService, type TestService } from '../harness.ts';
import { Visitor } from '../passkey.ts';
import { movingClock } from '../world.ts';

let service: TestService;
const clock = movingClock();
let ada: Visitor;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
});
beforeEach(async () => {
  ada = await ownerOf(service);
});

const list = async (by = ada) => (await by.send('GET', '/owner/passkeys')).body;
const namesOf = async (by = ada) =>
  (await list(by)).passkeys.map(({ name }: { readonly name: string }) => name);
const idOf = async (name: string): Promise<string> =>
  (await list()).passkeys.find((passkey: { readonly name: string }) => passkey.name === name).passkeyId;
const removal = (id: string) => `/owner/passkeys/${id}/remove`;
const remove = async (id: string, by = ada) =>
  by.send('POST', removal(id), await by.word(`${removal(id)}/passkey-options`));
/** The same person on another device. */
function on(passkey: Visitor['passkey']): Visitor {
  const device = new Visitor(service);
  device.passkey = passkey;
  return device;
}

describe('a second passkey', () => {
  test('is added with the word of the first, and signs in to the same account', async () => {
    const first = await list();
    expect(first).toEqual({
      passkeys: [
        {
          passkeyId: expect.stringMatching(/^\d+$/),
          name: 'Passkey',
          createdAt: expect.any(String),
          lastUsedAt: expect.any(String),
          isOfThisSession: true,
          isOfRecovery: false,
        },
      ],
      recoveryCodeMadeAt: null,
    });
    expect((await ada.send('GET', '/owner/session')).body.canRecover).toBe(false);
    const telephone = on(await ada.addPasskey('Telephone'));
    expect(await namesOf()).toEqual(['Passkey', 'Telephone']);
    expect((await telephone.signIn()).body).toEqual((await ada.send('GET', '/owner/session')).body);
    expect((await telephone.send('GET', '/owner/session')).body).toMatchObject({
      name: 'Ada',
      canRecover: true,
      recovery: null,
    });
    // Each device sees which passkey is its own.
    expect((await list(telephone)).passkeys.map(({ isOfThisSession }: never) => isOfThisSession)).toEqual([
      false,
      true,
    ]);
  });

  test('the options name the passkeys of before, so that one device does not make a second one', async () => {
    const word = await ada.word('/owner/passkeys/passkey-options');
    const { body } = await ada.send('POST', '/owner/passkeys/register-options', word);
    expect(body.excludeCredentials.map(({ id }: { readonly id: string }) => id)).toEqual([
      ada.passkey.id.toString('base64url'),
    ]);
    expect(body.user.name).toBe('Ada');
  });

  test('is not added by the session alone, nor with a word for something else or of somebody else', async () => {
    const refused = async (word: unknown, code: string) => {
      const { body } = await ada.send('POST', '/owner/passkeys/register-options', word);
      expect(body.code).toBe(code);
    };
    await refused({}, 'invalid_request');
    await refused(await ada.word('/owner/passkey/sign-in-options'), 'passkey_challenge_expired');
    await refused(await ada.word('/owner/recovery-code/passkey-options'), 'passkey_challenge_expired');
    const bob = new Visitor(service);
    await bob.register('Bob');
    await refused(await bob.word('/owner/passkeys/passkey-options'), 'passkey_challenge_expired');
    const { body } = await ada.send('POST', '/owner/passkeys/passkey-options');
    await refused(bob.signature(body.challenge), 'passkey_rejected');
    // A challenge that makes an account makes no passkey of this one, and that of another owner neither.
    const thief = new Visitor(service);
    const anew = await thief.send('POST', '/owner/passkey/register-options', { name: 'Ada' });
    const registered = (challenge: string) =>
      ada.send('POST', '/owner/passkeys/register', thief.registration(challenge));
    expect((await registered(anew.body.challenge)).body.code).toBe('passkey_challenge_expired');
    const ofBob = await bob.send(
      'POST',
      '/owner/passkeys/register-options',
      await bob.word('/owner/passkeys/passkey-options'),
    );
    expect((await registered(ofBob.body.challenge)).body.code).toBe('passkey_challenge_expired');
    expect(await namesOf()).toEqual(['Passkey']);
  });

  test('a word is good once, for five minutes', async () => {
    const word = await ada.word('/owner/passkeys/passkey-options');
    const asked = () => ada.send('POST', '/owner/passkeys/register-options', word);
    expect((await asked()).status).toBe(200);
    expect((await asked()).body.code).toBe('passkey_challenge_expired');
    const late = await ada.word('/owner/passkeys/passkey-options');
    clock.advance(5 * 60_000 + 1);
    const { body } = await ada.send('POST', '/owner/passkeys/register-options', late);
    expect(body.code).toBe('passkey_challenge_expired');
  });

  test('one that is registered already is refused; so is the twenty-first', async () => {
    const again = async () => {
      const word = await ada.word('/owner/passkeys/passkey-options');
      const { body } = await ada.send('POST', '/owner/passkeys/register-options', word);
      return ada.send('POST', '/owner/passkeys/register', ada.registration(body.challenge));
    };
    expect((await again()).body.code).toBe('passkey_rejected');
    for (let i = 1; i < 20; i += 1) await ada.addPasskey(`Key ${i}`);
    await expect(ada.addPasskey('One more')).rejects.toThrow('409 passkey_limit_reached');
    expect(await namesOf()).toHaveLength(20);
  });
});

describe('names', () => {
  test('are the owner’s word; blank ones, unknown fields and other people’s passkeys are refused', async () => {
    const id = await idOf('Passkey');
    const named = (body: unknown, by = ada, of = id) => by.send('POST', `/owner/passkeys/${of}/name`, body);
    expect((await named({ name: '  Laptop ' })).body.passkeys[0].name).toBe('Laptop');
    expect((await named({ name: '   ' })).status).toBe(400);
    expect((await named({ name: 'x'.repeat(61) })).status).toBe(400);
    expect((await named({ nmae: 'Laptop' })).status).toBe(400);
    const bob = new Visitor(service);
    await bob.register('Bob');
    expect((await named({ name: 'Mine' }, bob)).body.code).toBe('passkey_not_found');
    expect((await named({ name: 'None' }, ada, '999999999')).body.code).toBe('passkey_not_found');
    expect(await namesOf()).toEqual(['Laptop']);
  });
});

describe('removal', () => {
  test('ends the passkey and its sessions, and no others', async () => {
    const telephone = on(await ada.addPasskey('Telephone'));
    await telephone.signIn();
    expect((await remove(await idOf('Telephone'))).body.passkeys).toHaveLength(1);
    expect((await telephone.send('GET', '/owner/agents')).body.code).toBe('owner_session_required');
    expect((await telephone.signIn()).body.code).toBe('passkey_rejected');
    expect((await ada.send('GET', '/owner/agents')).status).toBe(200);
  });

  test('never the last one, also when two are removed at once', async () => {
    expect((await remove(await idOf('Passkey'))).body.code).toBe('another_passkey_required');
    const telephone = on(await ada.addPasskey('Telephone'));
    await telephone.signIn();
    const [own, other] = [await idOf('Passkey'), await idOf('Telephone')];
    const [first, second] = await Promise.all([
      ada.word(`${removal(own)}/passkey-options`),
      telephone.word(`${removal(other)}/passkey-options`),
    ]);
    const answers = await Promise.all([
      ada.send('POST', removal(own), first),
      telephone.send('POST', removal(other), second),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('not by the session alone, nor with a word for another passkey, nor of another owner’s', async () => {
    await ada.addPasskey('Telephone');
    const [own, other] = [await idOf('Passkey'), await idOf('Telephone')];
    expect((await ada.send('POST', removal(other), {})).status).toBe(400);
    const word = await ada.word(`${removal(own)}/passkey-options`);
    expect((await ada.send('POST', removal(other), word)).body.code).toBe('passkey_challenge_expired');
    const bob = new Visitor(service);
    await bob.register('Bob');
    expect((await remove(other, bob)).body.code).toBe('passkey_not_found');
    expect(await namesOf()).toEqual(['Passkey', 'Telephone']);
  });

  test('sessions that do not say which passkey opened them end with any removal', async () => {
    await ada.addPasskey('Telephone');
    const pool = openPool(service.databaseUrl);
    await pool`update owner_sessions set credential_id = null`;
    await pool.end();
    const id = (await list()).passkeys.at(-1).passkeyId;
    await remove(id);
    expect((await ada.send('GET', '/owner/agents')).status).toBe(401);
  });
});

describe('the recovery code', () => {
  test('is shown once, in a form that can be printed and typed, and only its hash is kept', async () => {
    const code = await ada.newRecoveryCode();
    expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{5}-){5}[0-9A-HJKMNP-TV-Z]{5}$/);
    expect(readRecoveryCode(code)).toBe(code);
    const shown = await list();
    expect(shown.recoveryCodeMadeAt).toEqual(expect.any(String));
    expect(JSON.stringify(shown)).not.toContain(code);
    expect((await ada.send('GET', '/owner/session')).body.canRecover).toBe(true);
    const pool = openPool(service.databaseUrl);
    const rows = await pool`select c::text as row from recovery_codes c`;
    await pool.end();
    expect(JSON.stringify(rows)).not.toContain(code);
  });

  test('takes the word of a passkey for it, not the session', async () => {
    const asked = (body: unknown) => ada.send('POST', '/owner/recovery-code', body);
    expect((await asked({})).status).toBe(400);
    expect((await asked(await ada.word('/owner/passkeys/passkey-options'))).body.code).toBe(
      'passkey_challenge_expired',
    );
    const word = await ada.word('/owner/recovery-code/passkey-options');
    expect((await asked(word)).status).toBe(200);
    expect((await asked(word)).body.code).toBe('passkey_challenge_expired');
  });

  test('a new one ends the one of before', async () => {
    const former = await ada.newRecoveryCode();
    const present = await ada.newRecoveryCode();
    const asked = (code: string) =>
      new Visitor(service).send('POST', '/owner/recovery/register-options', { code });
    expect((await asked(former)).body.code).toBe('recovery_code_not_found');
    expect((await asked(present)).status).toBe(200);
  });
});
