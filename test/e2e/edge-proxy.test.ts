/** The caller's address behind proxies, and the privileges of programs on this machine. */
import { describe, expect, test } from 'vitest';
import { call, startTestService, type TestService } from '../harness.ts';

const LIMITED = { RATE_LIMITS: 'on', RATE_LIMIT_CLAIM_PER_MINUTE: '3', PAPER_WORLD: 'off' };

/** @returns how many of ten claim look-ups pass, which are limited per address */
async function passed(
  service: TestService,
  headersOf: (n: number) => Record<string, string>,
): Promise<number> {
  let count = 0;
  for (let n = 0; n < 10; n++) {
    const { status } = await call(service, 'GET', '/agents/claim/AAAAA-BBBBB', { headers: headersOf(n) });
    if (status === 404) count += 1;
  }
  return count;
}

const register = (service: TestService, headers: Record<string, string> = {}) =>
  call(service, 'POST', '/agents/register', { body: { name: 'x' }, headers });

describe('one proxy', () => {
  test('the left part of X-Forwarded-For is ignored: the caller can write it', async () => {
    const service = await startTestService({ ...LIMITED, TRUST_PROXY: 'on' });
    expect(await passed(service, (n) => ({ 'x-forwarded-for': `198.51.100.${n}, 203.0.113.1` }))).toBe(3);
    expect(await passed(service, (n) => ({ 'x-forwarded-for': `203.0.113.${50 + n}` }))).toBe(10);
    // One subscriber has a whole /64 of IPv6.
    expect(await passed(service, (n) => ({ 'x-forwarded-for': `2001:db8:7:7::${n}` }))).toBe(3);
    expect(await passed(service, (n) => ({ 'x-forwarded-for': `2001:db8:8:${n}::1` }))).toBe(10);
    // An invalid address does not count as a new caller.
    expect(await passed(service, (n) => ({ 'x-forwarded-for': `garbage-${n}` }))).toBe(3);
  });
});

describe('two proxies', () => {
  test('are both skipped in X-Forwarded-For', async () => {
    const service = await startTestService({ ...LIMITED, TRUST_PROXY: '2' });
    expect(await passed(service, (n) => ({ 'x-forwarded-for': `1.2.3.${n}, 203.0.113.1, 10.0.0.1` }))).toBe(
      3,
    );
    expect(await passed(service, (n) => ({ 'x-forwarded-for': `203.0.113.${50 + n}, 10.0.0.1` }))).toBe(10);
  });
});

describe('proxies by address', () => {
  test('are trusted only when the connection comes from one of them', async () => {
    const near = await startTestService({ ...LIMITED, TRUST_PROXY: '127.0.0.0/8,10.0.0.0/8' });
    expect(await passed(near, (n) => ({ 'x-forwarded-for': `1.2.3.${n}, 203.0.113.1, 10.9.9.9` }))).toBe(3);
    expect(await passed(near, (n) => ({ 'x-forwarded-for': `203.0.113.${50 + n}` }))).toBe(10);
    const far = await startTestService({ ...LIMITED, TRUST_PROXY: '10.0.0.0/8' });
    expect(await passed(far, (n) => ({ 'x-forwarded-for': `203.0.113.${n}` }))).toBe(3);
  });
});

describe('privileges of this machine', () => {
  const FORWARDING = [
    { 'x-forwarded-for': '127.0.0.1' },
    { 'x-forwarded-host': 'localhost' },
    { 'x-forwarded-proto': 'https' },
    { forwarded: 'for=127.0.0.1' },
    { 'x-real-ip': '127.0.0.1' },
    { via: '1.1 proxy' },
    { 'cf-connecting-ip': '127.0.0.1' },
    { 'true-client-ip': '127.0.0.1' },
    { 'x-client-ip': '127.0.0.1' },
    { 'x-original-forwarded-for': '127.0.0.1' },
    { 'fly-client-ip': '127.0.0.1' },
    { 'tailscale-user-login': 'a' },
  ];

  test.each(['off', 'on', '2', '127.0.0.1'])(
    'with TRUST_PROXY=%s do not apply to requests with headers of a proxy',
    async (proxies) => {
      const service = await startTestService({
        RATE_LIMITS: 'on',
        RATE_LIMIT_REGISTER_PER_HOUR: '2',
        TRUST_PROXY: proxies,
        PAPER_WORLD: 'off',
      });
      expect((await call(service, 'GET', '/metrics')).status).toBe(200);
      for (const headers of FORWARDING)
        expect((await call(service, 'GET', '/metrics', { headers })).status, JSON.stringify(headers)).toBe(
          403,
        );
      for (let i = 0; i < 4; i++) expect((await register(service)).status).toBe(200);
      const behind = await Promise.all(FORWARDING.map((headers) => register(service, headers)));
      expect(behind.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(4);
      expect(behind.some(({ status }) => status === 429)).toBe(true);
    },
  );

  test('do not apply when the service has a public host name', async () => {
    const service = await startTestService({
      RATE_LIMITS: 'on',
      RATE_LIMIT_REGISTER_PER_HOUR: '2',
      PUBLIC_URL: 'https://desk.example.com',
      PAPER_WORLD: 'off',
    });
    expect((await call(service, 'GET', '/metrics')).status).toBe(403);
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await register(service)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});
