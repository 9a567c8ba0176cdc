/** The documentation agrees with the code, and the programs that it shows run. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ERRORS } from '@bellwether/contract';
import { describe, expect, test } from 'vitest';
import { anchorOf } from '../packages/server/src/platform/site/guides.ts';
import { OPERATIONS } from '../scripts/docs/operations.ts';
import { generateDocs, migrateForDocs } from '../scripts/generate-docs.ts';
import { startTestService, withTurns } from './harness.ts';
import { openTestDatabase } from './postgres.ts';

const ROOT = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const README_LINES_MAX = 200;

/** Written by hand, for users. */
const GUIDES = [
  'README.md',
  ...['routes', 'configuration', 'limits', 'troubleshooting', 'sdk'].map((name) => `docs/${name}.md`),
];
const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`),
];

const repeated = <T>(items: readonly T[]): T[] =>
  items.filter((item, index) => items.indexOf(item) !== index);

/** Tables as rows of cells, without what tells no reader what a row is about: addresses, hashes and signatures. */
const tablesOf = (page: string): string[][][] =>
  [...page.matchAll(/(?:^\|.*\n)+/gm)].map(([text]) =>
    text
      .trim()
      .split('\n')
      .map((row) => row.slice(1, -1).split(/(?<!\\)\|/))
      .map((cells) => cells.map((cell) => cell.replaceAll(/`0x[0-9a-f]{16,}`/g, '').trim())),
  );

/** Pages that are made, wholly or in part, by scripts/generate-docs.ts. */
const GENERATED = PAGES.filter((path) => /<!-- (Made by scripts|generated:)/.test(read(path)));

/** Routes of the service that are not operations. */
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

/** The paths in the curl examples. */
const curlPaths = (text: string): string[] =>
  [...text.matchAll(/curl [^|\n]*?https?:\/\/[\w.:]+(\/[\w/.-]*)/g)].map(([, path]) => path ?? '');

const headingAnchors = (markdown: string): string[] =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading ?? ''));

describe('the documentation', () => {
  test.for(PAGES)('the calls of %s go to the port that a service takes by default', (page) => {
    const ports = [...read(page).matchAll(/curl [^|\n]*?https?:\/\/(?:localhost|127\.0\.0\.1):(\d+)/g)];
    for (const [, port] of ports) expect(port).toBe('8080');
  });

  test('generated parts match the code: node scripts/generate-docs.ts', async () => {
    const sql = await openTestDatabase();
    await migrateForDocs(sql);
    const docs = await generateDocs(sql);
    expect([...docs.keys()].sort()).toEqual([...GENERATED].sort());
    for (const [path, content] of docs) expect(read(path), `${path} is stale`).toBe(content);
  });

  test.for([...GENERATED])(
    'a row of a table of %s says what it is about, and no other says the same',
    (path) => {
      const tables = tablesOf(read(path));
      expect(tables.length).toBeGreaterThan(0);
      for (const [head = [], , ...rows] of tables) {
        expect(head.filter((label) => label === '')).toEqual([]);
        expect(rows.filter(([label]) => label === '')).toEqual([]);
        expect(repeated(rows.map((row) => row.join(' | ')))).toEqual([]);
      }
    },
  );

  test('each class of rate limits says which calls draw on it, each order struct who signs it', () => {
    const [limits = []] = tablesOf(read('docs/limits.md'));
    const calls = limits.map((row) => row[limits[0]?.indexOf('Calls') ?? 0]);
    expect(calls.length).toBeGreaterThan(10);
    expect(repeated(calls)).toEqual([]);
    const page = read('docs/signing.md');
    expect(repeated(page.match(/^- .+$/gm) ?? [])).toEqual([]);
  });

  test('the list of operations is not empty', () => {
    expect(OPERATIONS.length).toBeGreaterThan(20);
    expect(isServed('POST /markets/trade')).toBe(true);
    expect(isServed('GET /markets/orders/0x00')).toBe(true);
    expect(isServed('POST /markets/borrow')).toBe(false);
  });

  test('the README and the guides name no route that does not exist', () => {
    const text = GUIDES.map(read).join('\n');
    const routes = routesIn(text);
    expect(routes.length).toBeGreaterThan(OPERATIONS.length);
    expect(routes.filter((route) => !isServed(route))).toEqual([]);
    const paths = curlPaths(text);
    expect(paths).toContain('/agents/register');
    expect(paths.filter((path) => !isServed(`GET ${path}`) && !isServed(`POST ${path}`))).toEqual([]);
  });

  test.each(PAGES)('links of %s have targets', (page) => {
    const broken = [...read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)]
      .map(([, link]) => link ?? '')
      .filter((link) => {
        const [path = '', anchor] = link.split('#', 2);
        const target = path === '' ? page : join(dirname(page), path);
        if (!existsSync(join(ROOT, target))) return true;
        return anchor !== undefined && !headingAnchors(read(target)).includes(anchor);
      });
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

  test('CONTRIBUTING.md lists as many files as its headings say, within the limit', () => {
    const sections = read('CONTRIBUTING.md').split(/^#+ /m);
    const counted = sections.flatMap((section) => {
      const [, what, files] = /^(.+): (\d) files\n/.exec(section) ?? [];
      return what === undefined
        ? []
        : [{ what, files: Number(files), listed: section.match(/^\d\. /gm)?.length }];
    });
    expect(counted).toEqual([
      { what: 'An endpoint of an existing resource', files: 4, listed: 4 },
      { what: 'A safeguard', files: 5, listed: 5 },
      { what: 'An error code', files: 3, listed: 3 },
    ]);
  });

  test('the README fits on a few screens', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(README_LINES_MAX);
  });

  test('a release has one version, and says what its users feel', () => {
    const { version } = JSON.parse(read('package.json'));
    for (const name of readdirSync(join(ROOT, 'packages')))
      expect([name, JSON.parse(read(`packages/${name}/package.json`)).version]).toEqual([name, version]);
    expect(read('README.md')).toContain(`\nBellwether ${version} is ready `);
    expect(/^## (.+)$/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version);
  });

  test('the troubleshooting page names only registered codes', () => {
    const known = new Set(Object.keys(ERRORS));
    const headings = [...read('docs/troubleshooting.md').matchAll(/^\*\*[45]\d\d `([a-z_]+)`/gm)].map(
      ([, code]) => code ?? '',
    );
    expect(headings.length).toBeGreaterThan(2);
    expect(headings.filter((code) => !known.has(code))).toEqual([]);
  });

  test('the programs of the READMEs and of the SDK’s page run against a service', async () => {
    const programs = ['README.md', 'docs/sdk.md', 'packages/sdk/README.md']
      .flatMap((page) => [...read(page).matchAll(/^```ts\n([\s\S]*?)^```$/gm)])
      .map(([, code]) => code ?? '');
    const service = await startTestService();
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const run = async (program = ''): Promise<string> => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--input-type=module-typescript', '--eval', program],
        { cwd: ROOT, env: { PATH, NODE_COMPILE_CACHE, BELLWETHER_URL: service.url } },
      );
      return stdout;
    };
    const onA = await run(programs[0]);
    const onB = await withTurns(service, ['follow'], run(programs[1]));
    const link = await run(programs[2]);
    const packed = await run(programs[3]);
    expect(onA).toMatch(/^live 0x[0-9a-f]{64}\ntrue\n/);
    expect(onA).toMatch(/canceled: \[\s*'0x/);
    expect(onB).toMatch(/^filled \d+ 0\.\d+\n$/);
    expect(link).toMatch(
      /^https:\/\/dflow\.net\/proof\?wallet=\w+&signature=\w+&timestamp=\d{13}&redirect_uri=/,
    );
    expect(packed).toMatch(/^live 0x[0-9a-f]{64}\n$/);
    expect(programs).toHaveLength(4);
  });
});
