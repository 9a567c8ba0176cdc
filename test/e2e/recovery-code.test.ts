/**
 * Recovery: a printed code makes a new passkey, once, and begins a day in which the owner can only read, pause, cancel and decline,
 * and in which a passkey of before can undo it.
 */

import type { Operation } from '@bellwether/contract';
import * as contract from '@bellwether/contract';
import { pino } from 'pino';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ownerOf } from '../approving.ts';
import {
  aMarket,
  newTrader,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { Visitor } from '../passkey.ts';
import { movingClock } from '../world.ts';

const HOUR_MS = 3_600_000;

let service: TestService;
let log = '';
const clock = movingClock();
let agent: Trader;
/** Has lost nothing. */
let ada: Visitor;
let code: string;
/** Typed the code: Ada without her passkeys, or a thief. */
let finder: Visitor;

beforeAll(async () => {
  const write = (line: string) => {
    log += line;
  };
  const logger = pino({ level: 'warn' }, { write });
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock, logger });
});
beforeEach(async () => {
  agent = await newTrader(service);
  ada = await ownerOf(service, agent);
  code = await ada.newRecoveryCode();
  finder = new Visitor(service);
});

const sessionOf = async (who: Visitor) => (await who.send('GET', '/owner/session')).body;
const begin = (typed: string, by = finder) =>
  by.send('POST', '/owner/recovery/register-options', { code: typed });
const undo = async (by: Visitor) =>
  by.send('POST', '/owner/recovery/undo', await by.word('/owner/recovery/undo/passkey-options'));
const pause = (by: Visitor, paused: boolean) =>
  by.send('POST', `/owner/agents/${agent.agentId}/pause`, { paused });

describe('the code', () => {
  test('makes a new passkey and signs in with it, and every session is told', async () => {
    const recovered = await finder.recover(code.toLowerCase().replaceAll('-', ' '));
    const { userId } = await sessionOf(ada);
    expect(recovered).toMatchObject({ status: 200, body: { signedIn: true, userId, name: 'Ada' } });
    const told = recovered.body.recovery;
    expect(Date.parse(told.endsAt) - Date.parse(told.beganAt)).toBe(24 * HOUR_MS);
    for (const who of [ada, finder]) expect((await sessionOf(who)).recovery).toEqual(told);
    const { body } = await ada.send('GET', '/owner/passkeys');
    expect(body).toMatchObject({
      passkeys: [
        { name: 'Passkey', isOfRecovery: false },
        { name: 'Passkey of the recovery', isOfRecovery: true },
      ],
      recoveryCodeMadeAt: null,
    });
    // The new passkey signs in elsewhere, too.
    const elsewhere = new Visitor(service);
    elsewhere.passkey = finder.passkey;
    expect((await elsewhere.signIn()).body.recovery).toEqual(told);
  });

  test('works once, also when it is used twice at the same moment', async () => {
    const devices = [new Visitor(service), new Visitor(service), new Visitor(service)];
    const begun = await Promise.all(devices.map((device) => begin(code, device)));
    const answers = await Promise.all(
      devices.map((device, i) =>
        device.send('POST', '/owner/recovery', { code, ...device.registration(begun[i]?.body.challenge) }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    expect(answers.map(({ body }) => body.code).filter(Boolean)).toEqual([
      'recovery_code_not_found',
      'recovery_code_not_found',
    ]);
    expect((await ada.send('GET', '/owner/passkeys')).body.passkeys).toHaveLength(2);
    expect((await begin(code)).body.code).toBe('recovery_code_not_found');
  });

  test('one answer for a code that never was, was used, or ended', async () => {
    const never = contract.makeRecoveryCode(new Uint8Array(28).fill(9));
    const ended = code;
    code = await ada.newRecoveryCode();
    await finder.recover(code);
    const answers = await Promise.all([never, ended, code].map((each) => begin(each)));
    const words = answers.map(({ status, body: { code: refused, detail, fix } }) => [
      status,
      refused,
      detail,
      fix,
    ]);
    expect(words[0]?.slice(0, 2)).toEqual([404, 'recovery_code_not_found']);
    expect(new Set(words.map((each) => JSON.stringify(each))).size).toBe(1);
  });

  test('that is misspelt is named as such, and tells nothing of the code', async () => {
    const misspelt = `${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}`;
    const { status, body } = await begin(misspelt);
    expect([status, body.code, body.errors[0].path]).toEqual([400, 'recovery_code_invalid', 'code']);
    expect(JSON.stringify(body)).not.toContain(misspelt);
    expect((await begin(code)).status).toBe(200);
  });

  test('needs the challenge that was made for it: not that of another code, of a sign-up, or an old one', async () => {
    const bob = new Visitor(service);
    await bob.register('Bob');
    const codeOfBob = await bob.newRecoveryCode();
    const use = async (challenge: string) =>
      (await finder.send('POST', '/owner/recovery', { code, ...finder.registration(challenge) })).body.code;
    expect(await use((await begin(codeOfBob)).body.challenge)).toBe('passkey_challenge_expired');
    const anew = await finder.send('POST', '/owner/passkey/register-options', { name: 'Ada' });
    expect(await use(anew.body.challenge)).toBe('passkey_challenge_expired');
    const old = await begin(code);
    clock.advance(5 * 60_000 + 1);
    expect(await use(old.body.challenge)).toBe('passkey_challenge_expired');
    // Nothing of that has used it.
    expect((await finder.recover(code)).status).toBe(200);
  });

  test('a passkey that is registered already is not made again, and the code stays', async () => {
    const { body } = await begin(code);
    const again = { code, ...ada.registration(body.challenge) };
    expect((await finder.send('POST', '/owner/recovery', again)).body.code).toBe('passkey_rejected');
    expect((await finder.recover(code)).status).toBe(200);
  });

  test('is taken from our own pages only', async () => {
    const answer = await finder.send(
      'POST',
      '/owner/recovery/register-options',
      { code },
      { origin: 'https://evil.example' },
    );
    expect(answer.body.code).toBe('origin_not_allowed');
  });
});

/** What an owner can do on that day, besides reading. */
const OPEN = [
  'cancelOwnerAgentOrder',
  'cancelOwnerAgentOrders',
  'cancelOwnerOrders',
  'declineAllTrades',
  'declineTrade',
  'undoRecovery',
  'undoRecoveryOptions',
];
const OPEN_TO_PAUSE = ['pauseOwner', 'pauseOwnerAgent'];

const OPERATIONS = (Object.values(contract) as readonly unknown[]).filter(
  (value): value is Operation =>
    typeof value === 'object' && value !== null && 'rateClass' in value && 'permission' in value,
);

describe('the day after', () => {
  test('every route of owners is open by name, reads, or is refused', async () => {
    await finder.recover(code);
    const owners = OPERATIONS.filter(({ permission }) => permission === 'owner');
    expect(owners.length).toBeGreaterThan(50);
    const refused: string[] = [];
    for (const { id, method, path, produces } of owners) {
      if (produces !== undefined) continue;
      const target = path.replaceAll(/\{\w+\}/g, agent.agentId);
      for (const who of [ada, finder]) {
        const { status, body } = await who.send(
          method,
          target,
          method === 'GET' ? undefined : { paused: false },
        );
        if (body.code !== 'during_recovery_not_allowed') continue;
        expect(status).toBe(400);
        expect(body.detail).toContain((await sessionOf(ada)).recovery.endsAt);
        refused.push(id);
      }
    }
    const changes = owners.filter(({ method }) => method !== 'GET').map(({ id }) => id);
    const closed = changes.filter((id) => !OPEN.includes(id));
    expect([...new Set(refused)].sort()).toEqual([...closed].sort());
    expect(closed).toEqual(expect.arrayContaining([...OPEN_TO_PAUSE, 'claimAgent', 'approveTrade']));
    // Refused in the session of before and in that of the recovery.
    expect(refused).toHaveLength(2 * closed.length);
  });

  test('pausing works, resuming does not; so without scripts', async () => {
    await finder.recover(code);
    for (const who of [ada, finder]) {
      expect((await pause(who, true)).status).toBe(200);
      expect((await pause(who, false)).body.code).toBe('during_recovery_not_allowed');
      expect((await who.send('POST', '/owner/pause', { paused: true })).status).toBe(200);
      expect((await who.send('POST', '/owner/pause', { paused: false })).body.code).toBe(
        'during_recovery_not_allowed',
      );
      expect((await who.send('POST', '/owner/pause', {})).status).toBe(400);
      const page = await fetch(`${service.needs.publicUrl}/console/pause`, {
        headers: { cookie: who.cookie ?? '', accept: 'text/html' },
      });
      const [, token = ''] = /name="token" value="([^"]+)"/.exec(await page.text()) ?? [];
      const form = (paused: string) =>
        fetch(`${service.needs.publicUrl}/console/pause`, {
          method: 'POST',
          redirect: 'manual',
          headers: { cookie: who.cookie ?? '', origin: who.origin },
          body: new URLSearchParams({ token, agent: agent.agentId, paused }),
        });
      expect([(await form('no')).status, (await form('yes')).status]).toEqual([400, 303]);
    }
    expect((await agent.client.getSettings()).tradingPaused).toBe(true);
  });

  test('cancelling and declining work, and the agent goes on within its limits', async () => {
    const market = await aMarket(agent.client);
    await finder.recover(code);
    await agent.client.placeTrade(await restingOrder(agent, market));
    const canceled = await finder.send('POST', '/owner/orders/cancel', {});
    expect(canceled.body).toMatchObject({ totalCanceled: 1 });
    await agent.client.updateSettings({ approvalAbove: 0 });
    const refused = await agent.client
      .placeTrade(await restingOrder(agent, market))
      .catch((error: unknown) => error as { readonly approvalId: string });
    const approval = `/owner/approvals/${(refused as { readonly approvalId: string }).approvalId}`;
    const begun = await ada.send('POST', `${approval}/passkey-options`);
    expect(begun.body.code).toBe('during_recovery_not_allowed');
    expect((await ada.send('POST', `${approval}/decline`, {})).body.status).toBe('declined');
  });

  test('a word that was asked for before it approves nothing on it', async () => {
    const word = await ada.word('/owner/recovery-code/passkey-options');
    await finder.recover(code);
    expect((await ada.send('POST', '/owner/recovery-code', word)).body.code).toBe(
      'during_recovery_not_allowed',
    );
  });

  test('ends after 24 hours; then the new passkey is like the others', async () => {
    await finder.recover(code);
    clock.advance(24 * HOUR_MS - 60_000);
    await Promise.all([ada.signIn(), finder.signIn()]);
    expect((await finder.send('POST', '/owner/recovery-code/passkey-options')).body.code).toBe(
      'during_recovery_not_allowed',
    );
    clock.advance(60_000);
    for (const who of [ada, finder]) expect((await sessionOf(who)).recovery).toBeNull();
    expect((await undo(ada)).body.code).toBe('recovery_not_found');
    const { body } = await finder.send('GET', '/owner/passkeys');
    const path = `/owner/passkeys/${body.passkeys[0].passkeyId}/remove`;
    const removed = await finder.send('POST', path, await finder.word(`${path}/passkey-options`));
    expect(removed.body.passkeys).toMatchObject([{ name: 'Passkey of the recovery', isOfRecovery: false }]);
    expect((await ada.send('GET', '/owner/agents')).status).toBe(401);
    expect((await pause(finder, false)).status).toBe(200);
  });

  test('another owner goes on as before', async () => {
    const bob = new Visitor(service);
    await bob.register('Bob');
    await finder.recover(code);
    expect(await bob.newRecoveryCode()).toEqual(expect.any(String));
    expect((await undo(bob)).body.code).toBe('recovery_not_found');
    expect((await sessionOf(finder)).recovery).not.toBeNull();
  });
});

describe('undoing it', () => {
  test('with a passkey of before ends the new passkey, its sessions and the day; the code stays used', async () => {
    await finder.recover(code);
    const undone = await undo(ada);
    expect(undone.body.passkeys).toMatchObject([{ name: 'Passkey', isOfThisSession: true }]);
    expect((await finder.send('GET', '/owner/agents')).body.code).toBe('owner_session_required');
    expect((await finder.signIn()).body.code).toBe('passkey_rejected');
    expect((await sessionOf(ada)).recovery).toBeNull();
    expect((await pause(ada, false)).status).toBe(200);
    expect((await begin(code)).body.code).toBe('recovery_code_not_found');
    expect(await ada.newRecoveryCode()).not.toBe(code);
  });

  test('not with the passkey of the recovery, a session alone, or a word for something else', async () => {
    await finder.recover(code);
    expect((await undo(finder)).body.code).toBe('passkey_rejected');
    expect((await ada.send('POST', '/owner/recovery/undo', {})).status).toBe(400);
    const word = await ada.word('/owner/passkey/sign-in-options');
    expect((await ada.send('POST', '/owner/recovery/undo', word)).body.code).toBe(
      'passkey_challenge_expired',
    );
    expect((await sessionOf(finder)).recovery).not.toBeNull();
  });

  test('by any passkey of before, from a browser that was signed out', async () => {
    const telephone = new Visitor(service);
    telephone.passkey = await ada.addPasskey('Telephone');
    await finder.recover(code);
    expect((await telephone.signIn()).body.recovery).not.toBeNull();
    expect((await undo(telephone)).status).toBe(200);
  });
});

test('the owner’s stream ends when a recovery begins, so that open pages read of it', async () => {
  const stream = await fetch(`${service.url}/owner/events`, { headers: { cookie: ada.cookie ?? '' } });
  expect(stream.status).toBe(200);
  await finder.recover(code);
  expect(await stream.text()).toContain('agents_changed');
});

test('the operator’s log says that a code was used, and by which account', async () => {
  log = '';
  await finder.recover(code);
  const { userId, recovery } = await sessionOf(ada);
  const lines = log.split('\n').filter((line) => line.includes('recovery code was used'));
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ userId, until: recovery.endsAt }]);
});

test('attempts are limited by address, and by the owner whose code begins alike; misspelt codes are none', async () => {
  const limited = await startTestService({
    PAPER_WORLD: 'off',
    RATE_LIMITS: 'on',
    RATE_LIMIT_RECOVERY_PER_HOUR: '2',
    TRUST_PROXY: 'on',
  });
  const guesser = new Visitor(limited);
  const guess = (typed: string, from: string) =>
    guesser.send('POST', '/owner/recovery/register-options', { code: typed }, { 'x-forwarded-for': from });
  const wrong = contract.makeRecoveryCode(new Uint8Array(28).fill(5));
  const codes = async (typed: string, from: string) => (await guess(typed, from)).body.code;
  for (let i = 0; i < 5; i += 1)
    expect(await codes(`${wrong}0`, '203.0.113.250')).toBe('recovery_code_invalid');
  expect(await codes(wrong, '203.0.113.250')).toBe('recovery_code_not_found');
  expect(await codes(wrong, '203.0.113.250')).toBe('recovery_code_not_found');
  const third = await guess(wrong, '203.0.113.250');
  expect([third.status, third.body.code]).toEqual([429, 'rate_limited']);
  expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(60);
  // A crowd that knows nothing of any code keeps no one out.
  const [bob, eve] = [new Visitor(limited), new Visitor(limited)];
  await Promise.all([bob.register('Bob'), eve.register('Eve')]);
  const own = await bob.newRecoveryCode();
  for (let i = 0; i < 50; i += 1) {
    const random = contract.makeRecoveryCode(Uint8Array.from({ length: 28 }, (_, at) => (at * 7 + i) % 32));
    for (const typed of [random, wrong])
      expect(await codes(typed, `203.0.113.${i + 1}`)).toBe('recovery_code_not_found');
  }
  expect((await guess(own, '203.0.113.99')).status).toBe(200);
  // One that has read a part of it has as many guesses as one address, and then the right one helps as little.
  const characters = [...own.replaceAll('-', '')].map((char) =>
    '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(char),
  );
  const alike = contract.makeRecoveryCode(
    Uint8Array.from({ length: 28 }, (_, at) =>
      at < 27 ? (characters[at] as number) : ((characters[at] as number) + 1) % 32,
    ),
  );
  expect(await codes(alike, '203.0.113.100')).toBe('recovery_code_not_found');
  for (const [typed, from] of [
    [alike, '203.0.113.101'],
    [own, '203.0.113.102'],
  ] as const)
    expect(await codes(typed, from)).toBe('rate_limited');
  // Nor is another owner kept out by that.
  expect((await guess(await eve.newRecoveryCode(), '203.0.113.102')).status).toBe(200);
});
