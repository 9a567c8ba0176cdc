/** Pages for a visitor who only knows the address: the front page, the guides, the errors. */
import { ERRORS } from '@bellwether/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { call, sharedTestService, startTestService, type TestService } from '../harness.ts';

const PERSON = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

let service: TestService;
beforeAll(async () => {
  service = await sharedTestService();
});

describe('the front page', () => {
  test('a person gets a page that explains the service, its money and the next steps', async () => {
    const { status, headers, body } = await call(service, 'GET', '/', { headers: PERSON });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/html');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(body).toContain('<h1>Bellwether</h1>');
    expect(body).toMatch(/polymarket[\s\S]*paper[\s\S]*kalshi[\s\S]*paper/);
    expect(body).toContain('/agents/register');
    for (const path of ['/docs', '/docs/errors', '/docs/webhooks', '/llms.txt', '/openapi.json', '/console'])
      expect(body).toContain(`href="${path}"`);
  });

  test('a program gets the addresses that it needs next, and each one answers', async () => {
    const { status, body } = await call(service, 'GET', '/');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'Bellwether',
      version: expect.any(String),
      venues: expect.any(Array),
    });
    const { openapi, llms, reference, errors, webhooks, readiness, register } = body.links;
    expect(register).toBe(`${service.url}/agents/register`.replace('127.0.0.1', 'localhost'));
    for (const link of [openapi, llms, reference, errors, webhooks, readiness])
      expect((await fetch(link)).status, link).toBe(200);
  });

  test('other methods are refused', async () => {
    const { status, headers } = await call(service, 'POST', '/');
    expect(status).toBe(405);
    expect(headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('guides', () => {
  test('the security page and the decisions are served, and their links lead on', async () => {
    const security = await call(service, 'GET', '/docs/SECURITY', { headers: PERSON });
    expect(security.status).toBe(200);
    expect(security.body).toMatch(/href="\/docs\/[a-z]/);
    const decisions = await call(service, 'GET', '/docs/decisions', { headers: PERSON });
    expect(decisions.status).toBe(200);
    expect(decisions.body).toContain('href="/docs/decisions/edge"');
    const { body } = await call(service, 'GET', '/openapi.json');
    expect(body.info.description).toMatch(
      /## First steps[\s\S]*\/agents\/register[\s\S]*\/venueb\/agent\/quote/,
    );
  });

  test('a person gets the errors as an HTML page with anchors, links and tables', async () => {
    const { status, headers, body } = await call(service, 'GET', '/docs/errors', { headers: PERSON });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/html');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(body).toContain('<code>insufficient_balance</code>');
    expect(body).toContain('Bearer &lt;API key&gt;');
    expect(body).not.toContain('&lt;!--');
    expect(body).toContain('<table>');
    expect(body).toContain('href="/docs/architecture#the-order-of-refusal"');
    const target = await call(service, 'GET', '/docs/architecture', { headers: PERSON });
    expect(target.body).toContain('id="the-order-of-refusal"');
  });

  test('a program gets the same text as Markdown', async () => {
    const { status, headers, body } = await call(service, 'GET', '/docs/webhooks');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/markdown');
    expect(body).toMatch(/^# Webhooks\n/);
  });

  test('every link between guides leads to a page that answers', async () => {
    const links = new Set<string>();
    for (const page of [
      'errors',
      'webhooks',
      'architecture',
      'routes',
      'limits',
      'configuration',
      'decisions/README',
    ]) {
      const { body } = await call(service, 'GET', `/docs/${page}`, { headers: PERSON });
      for (const [, link] of (body as string).matchAll(/href="(\/docs\/[^"#]+)/g)) links.add(link as string);
    }
    expect(links.size).toBeGreaterThan(10);
    for (const link of links) expect((await call(service, 'GET', link)).status, link).toBe(200);
  });

  test('an unknown guide is a 404, and so is a path out of the folder', async () => {
    for (const path of [
      '/docs/errors/no_such_code',
      '/docs/..%2fpackage.json',
      '/docs/decisions/%2e%2e/%2e%2e/README',
    ])
      expect((await call(service, 'GET', path)).status, path).toBe(404);
  });
});

describe('the `type` of a problem', () => {
  test('is a URL that answers: one error for a program, a page for a person', async () => {
    const refused = await call(service, 'GET', '/agents/me');
    expect(refused.body.type).toMatch(/^http:\/\/localhost:\d+\/docs\/errors\/unauthorized$/);
    const answer = await fetch(refused.body.type);
    expect(await answer.json()).toMatchObject({
      code: 'unauthorized',
      status: 401,
      fix: ERRORS.unauthorized.fix,
    });
    const page = await fetch(refused.body.type, { headers: PERSON });
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(await page.text()).toContain(ERRORS.unauthorized.title);
  });

  test('every code has its page', async () => {
    for (const code of Object.keys(ERRORS))
      expect((await call(service, 'GET', `/docs/errors/${code}`)).body.code).toBe(code);
  });

  test('works under a base path, too', async () => {
    const { url } = await startTestService({ BASE_PATH: '/desk' });
    const { type } = (await call({ url }, 'GET', '/agents/me')).body;
    expect(type).toContain('/desk/docs/errors/unauthorized');
    expect((await fetch(type)).status).toBe(200);
    expect((await call({ url }, 'GET', '')).body.name).toBe('Bellwether');
    expect((await call({ url }, 'GET', '/docs/errors', { headers: PERSON })).body).toContain(
      'href="/desk/docs/architecture#the-order-of-refusal"',
    );
  });
});
