/** What the documentation says about the code is what the code says; and the README's own code runs. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ERRORS } from '@bellwether/contract';
import { describe, expect, test } from 'vitest';
import { generateDocs, migrateForDocs, OPERATIONS } from '../scripts/generate-docs.ts';
import { startTestService } from './harness.ts';
import { openTestDatabase } from './postgres.ts';

const ROOT = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const PAGES = [
  'README.md',
  'CHANGELOG.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`),
];

/** Answered by the service itself, apart from its operations. */
const OF_THE_SERVICE = /^GET \/(healthz|readyz|openapi\.json|docs|metrics|llms\.txt)$|\/paper\/clob(\/|$)/;
const PATTERNS = OPERATIONS.map(
  ({ method, path }) => new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
);
const isServed = (route: string): boolean =>
  OF_THE_SERVICE.test(route) || PATTERNS.some((pattern) => pattern.test(route));

/** `POST /markets/trade`, with or without a query behind it. */
const routesIn = (text: string): string[] =>
  [...text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/[\w/{}.-]*[\w}])/g)].map(
    ([, method, path]) => `${method} ${path}`,
  );

/** The paths that curl is shown to ask for. */
const curlPaths = (text: string): string[] =>
  [...text.matchAll(/curl [^|\n]*?https?:\/\/[\w.:]+(\/[\w/.-]*)/g)].map(([, path]) => path ?? '');

describe('the documentation', () => {
  test('generated parts are what the code says now: node scripts/generate-docs.ts', async () => {
    const sql = await openTestDatabase();
    await migrateForDocs(sql);
    const docs = await generateDocs(sql);
    expect(docs.size).toBe(3);
    for (const [path, content] of docs) expect(read(path), `${path} is stale`).toBe(content);
  });

  test('every operation was found', () => {
    expect(OPERATIONS.length).toBeGreaterThan(20);
    expect(isServed('POST /markets/trade')).toBe(true);
    expect(isServed('GET /markets/orders/0x00')).toBe(true);
    expect(isServed('POST /markets/borrow')).toBe(false);
  });

  test('the README names no route that does not exist', () => {
    const readme = read('README.md');
    const routes = routesIn(readme);
    expect(routes.length).toBeGreaterThan(OPERATIONS.length);
    expect(routes.filter((route) => !isServed(route))).toEqual([]);
    const paths = curlPaths(readme);
    expect(paths).toContain('/agents/register');
    expect(paths.filter((path) => !isServed(`GET ${path}`) && !isServed(`POST ${path}`))).toEqual([]);
  });

  test.each(PAGES)('links of %s lead somewhere', (page) => {
    const broken = [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)(?:#[\w-]+)?\)/g)]
      .map(([, target]) => target ?? '')
      .filter((target) => !existsSync(join(ROOT, dirname(page), target)));
    expect(broken).toEqual([]);
  });

  test('code paths named in the pages exist', () => {
    const named = PAGES.flatMap((page) =>
      [...read(page).matchAll(/`((?:packages|examples|scripts|test|bench)\/[\w./-]+)`/g)].map(
        ([, path]) => path ?? '',
      ),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test('the README and the architecture name only registered codes', () => {
    const known = new Set(Object.keys(ERRORS));
    const headings = [...read('README.md').matchAll(/^\*\*[45]\d\d `([a-z_]+)`/gm)].map(
      ([, code]) => code ?? '',
    );
    expect(headings.length).toBeGreaterThan(2);
    expect(headings.filter((code) => !known.has(code))).toEqual([]);
  });

  test('the README’s programs run against a service', async () => {
    const programs = [...read('README.md').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
      ([, code]) => code ?? '',
    );
    const service = await startTestService();
    const run = async (program = ''): Promise<string> => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--input-type=module-typescript', '--eval', program],
        { cwd: ROOT, env: { PATH: process.env.PATH, BELLWETHER_URL: service.url } },
      );
      return stdout;
    };
    const [onA, onB] = [await run(programs[0]), await run(programs[1])];
    expect(onA).toMatch(/^live 0x[0-9a-f]{64}\ntrue\n/);
    expect(onA).toMatch(/canceled: \[\s*'0x/);
    expect(onB).toMatch(/^filled \d+ 0\.\d+\n$/);
    expect(programs).toHaveLength(2);
  });
});
