/**
 * The published packages as a stranger has them: built, packed, installed by npm into an empty folder, compiled by plain tsc,
 * bundled for a browser, and trading with a running service.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createVenueCredentials, credentialRequest, Signer } from '@bellwether/sdk';
import { chromium } from 'playwright-core';
import { rolldown } from 'rolldown';
import { beforeAll, describe, expect, test } from 'vitest';
import { publishedPackages } from '../../scripts/build/packages.ts';
import { SIZE_BOUNDS } from '../../scripts/build/sizes.ts';
import { type BuiltPackage, buildPackages } from '../../scripts/build.ts';
import { CHROMIUM_ARGS, findChromium } from '../chromium.ts';
import { newAgent, startTestService, type TestService } from '../harness.ts';
import { startRegistry } from '../local-registry.ts';
import { connect, environmentFor, type Facts, runMcp } from '../mcp-client.ts';
import { dataFolder } from '../service-process.ts';
import { afterFile } from '../setup/clean-up.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** npm and compilers take their time on a busy machine. */
const PATIENCE_MS = 600_000;
const OUTSIDE = join(ROOT, 'test', 'outside');
const COMPILERS = { 'TypeScript 5': 'typescript-js', 'TypeScript 7': 'typescript' } as const;
/** A program for Node as Node's own rules have it, a page as bundlers have it. */
const RESOLUTIONS = {
  node16: { file: 'first-trade', module: 'node16', moduleResolution: 'node16' },
  bundler: { file: 'browser-trade', module: 'esnext', moduleResolution: 'bundler' },
} as const;

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** A program gets the path of this process and nothing else: npm and Node would follow what the test run has set. */
function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const child = spawn(command, args, { cwd, env: { PATH: process.env.PATH, HOME: cwd, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** The binary of a Node of this major version: this one, `NODE<major>`, or one of the system. */
async function findNode(major: number): Promise<string | null> {
  const named = process.env[`NODE${major}`];
  for (const path of named === undefined
    ? [process.execPath, '/usr/bin/node', '/usr/local/bin/node']
    : [named]) {
    if (!existsSync(path)) continue;
    const { output } = await run(path, ['--version'], ROOT);
    if (output.startsWith(`v${major}.`)) return path;
  }
  return null;
}

const NODES = [
  [24, await findNode(24)],
  [20, await findNode(20)],
] as const;
const executablePath = findChromium();

let built: readonly BuiltPackage[];
let home: string;
let service: TestService;
let pages: { readonly origin: string; readonly files: Map<string, string> };

/** Serves a page from an origin of its own. */
async function startPages() {
  const files = new Map<string, string>();
  const server = createServer((request, response) => {
    const file = files.get(request.url ?? '');
    response.writeHead(file === undefined ? 404 : 200, {
      'content-type': request.url === '/' ? 'text/html' : 'text/javascript',
    });
    response.end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterFile('services', () => server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, files };
}

beforeAll(async () => {
  pages = await startPages();
  service = await startTestService({ ALLOWED_ORIGINS: pages.origin }, { jobs: 'by timer' });
  const folder = dataFolder();
  built = await buildPackages(join(folder, 'dist'));
  home = join(folder, 'consumer');
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }');
  const registry = await startRegistry(built);
  const options = ['--registry', registry.url, '--cache', join(folder, 'cache'), '--no-audit', '--no-fund'];
  const installed = await run('npm', ['install', ...options, ...built.map(({ tarball }) => tarball)], home);
  registry.close();
  expect(installed).toMatchObject({ code: 0 });
}, PATIENCE_MS);

describe('what is packed', () => {
  test('is the SDK at least, and only what a user needs', () => {
    expect(built.map(({ name }) => name)).toContain('@bellwether/sdk');
    for (const { name, files } of built) {
      expect(files, name).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE']));
      const others = files.filter((path) => !['package.json', 'README.md', 'LICENSE'].includes(path));
      expect(others.filter((path) => !/^dist\/.*\.(js|d\.ts)$/.test(path))).toEqual([]);
      expect(others.filter((path) => /test|\.ts$/.test(path) && !path.endsWith('.d.ts'))).toEqual([]);
    }
  });

  test('says all that a registry asks for, runs nothing at install, and names nothing of this repository', () => {
    for (const { name, folder, files } of built) {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      expect(manifest).toMatchObject({
        name,
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        description: expect.any(String),
        license: 'MIT',
        type: 'module',
        engines: { node: '>=20' },
        sideEffects: false,
        files: ['dist'],
        publishConfig: { access: 'public', provenance: true },
      });
      for (const field of ['scripts', 'private', 'workspaces', 'devDependencies', 'bundleDependencies'])
        expect(manifest, name).not.toHaveProperty(field);
      const published = new Set(built.map((one) => one.name));
      for (const [library, version] of Object.entries(manifest.dependencies)) {
        const isOurs = library.startsWith('@bellwether/');
        expect(version, `${name} needs ${library}`).toMatch(/^\d+\.\d+\.\d+$/);
        if (isOurs) expect([published.has(library), version]).toEqual([true, manifest.version]);
      }
      for (const path of files) {
        const text = readFileSync(join(folder, path), 'utf8');
        expect(text, path).not.toMatch(/@bellwether\/(contract|protocol|server|durable|exchange|sandbox)\b/);
        expect(text, path).not.toContain(ROOT);
      }
    }
  });

  test('stays within its bounds', () => {
    for (const { name, tarballBytes, unpackedBytes } of built) {
      const bounds = SIZE_BOUNDS[name];
      expect(bounds, `${name} has no bounds in scripts/build/sizes.ts`).toBeDefined();
      expect(tarballBytes, name).toBeLessThanOrEqual(bounds?.tarballBytes ?? 0);
      expect(unpackedBytes, name).toBeLessThanOrEqual(bounds?.unpackedBytes ?? 0);
    }
  });
});

/** Every way into every package: what is imported, and what is run. */
const ways = publishedPackages().flatMap(({ manifest: { name, exports = {}, bin = {} } }) => [
  ...Object.keys(exports).map((subpath) => {
    const specifier = subpath === '.' ? name : `${name}/${subpath.slice(2)}`;
    return { way: specifier, args: ['--input-type=module', '--eval', `await import('${specifier}')`] };
  }),
  ...Object.keys(bin).map((command) => ({
    way: `${command} --help`,
    args: [join('node_modules', '.bin', command), '--help'],
  })),
]);

/** A Node that is missing is named in the test's title. */
const onNode = (what: string, major: number, node: string | null): string =>
  node === null ? `${what}: there is no Node ${major} here, so not tried` : `${what}, Node ${major}`;

describe('each package loads by itself', () => {
  test.for(
    NODES.flatMap(([major, node]) =>
      ways.map(({ way, args }) => ({ title: onNode(way, major, node), args, major, node })),
    ),
  )('$title', async ({ args, major, node }, { skip }) => {
    if (node === null) return skip(`no Node ${major}: set NODE${major} to its binary`);
    expect(await run(node, args, home)).toMatchObject({ code: 0 });
  });
});

/** A client of the packages, with the options of its own compiler and no others. */
async function compile(
  compiler: string,
  resolution: object,
  file: string,
): Promise<Ended & { folder: string }> {
  const folder = join(home, `${compiler}-${Object.values(resolution).join('-')}-${file}`);
  mkdirSync(join(folder), { recursive: true });
  copyFileSync(join(OUTSIDE, `${file}.ts`), join(folder, `${file}.ts`));
  const lib = file === 'browser-trade' ? ['es2022', 'dom', 'dom.iterable'] : ['es2022'];
  const types = file === 'browser-trade' ? [] : ['node'];
  const options = {
    strict: true,
    skipLibCheck: false,
    target: 'es2022',
    lib,
    types,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    outDir: join(folder, 'out'),
    ...resolution,
  };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: [`${file}.ts`] }),
  );
  const tsc = join(ROOT, 'node_modules', compiler, 'bin', 'tsc');
  return { ...(await run(process.execPath, [tsc, '-p', folder], folder)), folder };
}

const settings = Object.entries(COMPILERS).flatMap(([title, compiler]) =>
  Object.entries(RESOLUTIONS).map(
    ([name, resolution]) => [`${title}, ${name}`, compiler, resolution] as const,
  ),
);

describe('the bill of materials', () => {
  test('lists every library of the tarball in its version, and what these need', () => {
    for (const { name, folder, materials } of built) {
      const { dependencies = {}, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const bill = JSON.parse(readFileSync(materials, 'utf8'));
      expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name, version } } });
      const listed = new Set<string>();
      for (const component of bill.components) {
        listed.add(`${component.name}@${component.version}`);
        expect(component.purl).toMatch(/^pkg:npm\//);
      }
      const libraries = Object.entries(dependencies).filter(
        ([library]) => !library.startsWith('@bellwether/'),
      );
      expect(libraries.length).toBeGreaterThan(0);
      for (const [library, range] of libraries) expect([...listed]).toContain(`${library}@${range}`);
      expect(listed.size).toBeGreaterThan(libraries.length);
    }
  });
});

describe('the types compile with --strict, and without skipLibCheck', () => {
  test.each(settings)(
    '%s',
    async (_title, compiler, { file, ...resolution }) => {
      expect(await compile(compiler, resolution, file)).toMatchObject({ code: 0, output: '' });
    },
    PATIENCE_MS,
  );
});

let compiledForNode: ReturnType<typeof compile> | undefined;

/** Once: what runs on one Node runs on the other. */
function compileForNode(): ReturnType<typeof compile> {
  const { file, ...resolution } = RESOLUTIONS.node16;
  compiledForNode ??= compile('typescript', resolution, file);
  return compiledForNode;
}

describe('a compiled client trades from the tarballs', () => {
  test.for(NODES.map(([major, node]) => ({ title: onNode('both venues', major, node), major, node })))(
    '$title',
    { timeout: PATIENCE_MS },
    async ({ major, node }, { skip }) => {
      if (node === null) return skip(`no Node ${major}: set NODE${major} to its binary`);
      const { folder } = await compileForNode();
      const { code, output } = await run(node, [join(folder, 'out', 'first-trade.js')], home, {
        BELLWETHER_URL: service.url,
      });
      expect({ code, output }).toMatchObject({ code: 0 });
      expect(JSON.parse(output)).toEqual({
        node: String(major),
        status: 'live',
        sameOrder: true,
        canceled: true,
        refusal: 'max_trade_amount_exceeded',
        submitted: true,
      });
    },
  );
});

/** A newcomer's commands, each with the binary of this Node. @returns what `buy` answered */
async function tradeByCommandLine(node: string): Promise<unknown> {
  const env = {
    BELLWETHER_URL: service.url,
    BELLWETHER_HOME: join(dataFolder(), 'keys'),
    BELLWETHER_PASSPHRASE: 'a passphrase of this test',
  };
  const bellwether = async (...args: readonly string[]): Promise<string> => {
    const program = join('node_modules', '.bin', 'bellwether');
    const { code, output } = await run(node, [program, ...args], home, env);
    expect({ args, code, output }).toMatchObject({ code: 0 });
    return output;
  };
  await bellwether('init', '--json');
  const markets = JSON.parse(await bellwether('markets', '--limit', '100', '--json'));
  const market = markets.find(
    (one: { venue: string; bestAsk: string }) =>
      one.venue === 'polymarket' && Number(one.bestAsk) > 0.1 && Number(one.bestAsk) < 0.9,
  );
  return JSON.parse(await bellwether('buy', market.id, 'YES', '--amount', '5', '--yes', '--json'));
}

describe('the command line makes a first trade from the tarball, by three commands', () => {
  test.for(NODES.map(([major, node]) => ({ title: onNode('on paper', major, node), major, node })))(
    '$title',
    { timeout: PATIENCE_MS },
    async ({ major, node }, { skip }) => {
      if (node === null) return skip(`no Node ${major}: set NODE${major} to its binary`);
      expect(await tradeByCommandLine(node)).toMatchObject({ trade: { success: true, status: 'matched' } });
    },
  );
});

describe('the MCP server of the tarball', () => {
  test.for(
    NODES.map(([major, node]) => ({
      title: onNode('makes a trade for a scripted client', major, node),
      major,
      node,
    })),
  )('$title', { timeout: PATIENCE_MS }, async ({ major, node }, { skip }) => {
    if (node === null) return skip(`no Node ${major}: set NODE${major} to its binary`);
    const program = { node, main: join(home, 'node_modules', '.bin', 'bellwether-mcp') };
    const env = environmentFor(service.url);
    expect(await runMcp(['init'], env, program)).toMatchObject({ code: 0, stderr: '' });
    const model = await connect(env, { program });
    const { markets } = await model.call('search_markets', { query: '*', order: 'liquidity', limit: 50 });
    const market = markets.find(
      ({ tradable, bestAsk }: Facts) => tradable && bestAsk > 0.1 && bestAsk < 0.85,
    );
    const terms = { market: market.market, outcome: 'YES', side: 'BUY', worstPrice: 0.9, amount: 5 };
    const placed = await model.call('place_order', terms);
    expect(placed).toMatchObject({ placed: true, averagePrice: expect.any(Number) });
    expect(placed.filledSize).toBeGreaterThan(0);
    await model.close();
  });
});

async function bundle(): Promise<string> {
  copyFileSync(join(OUTSIDE, 'browser-trade.ts'), join(home, 'browser-trade.ts'));
  const warnings: string[] = [];
  const made = await rolldown({
    cwd: home,
    input: join(home, 'browser-trade.ts'),
    platform: 'browser',
    onLog: (level, log) => {
      if (level === 'warn') warnings.push(log.message);
    },
  });
  const { output } = await made.generate({ format: 'esm', minify: true, codeSplitting: false });
  await made.close();
  expect(warnings).toEqual([]);
  expect(output).toHaveLength(1);
  return output[0].code;
}

describe('in a browser', () => {
  test('the bundle needs nothing of Node and stays within its bound', async () => {
    const code = await bundle();
    expect(code).not.toMatch(/["'`]node:|\brequire\(|\bprocess\.versions/);
    expect(gzipSync(code).length).toBeLessThanOrEqual(SIZE_BOUNDS['@bellwether/sdk']?.browserGzipBytes ?? 0);
  });

  test.for([
    executablePath === null
      ? 'there is no Chromium here, so no page trades'
      : 'a page of an allowed origin trades',
  ])('%s', async (_title, { skip }) => {
    if (executablePath === null) return skip('set CHROMIUM_PATH, or install Chromium');
    const privateKey = `0x${randomBytes(32).toString('hex')}`;
    const { client, apiKey } = await newAgent(service);
    const signer = Signer.fromPrivateKey(privateKey, { use: 'paper' });
    const credentials = await createVenueCredentials({ clobUrl: `${service.url}/paper/clob`, signer });
    await client.registerCredentials(credentialRequest(signer, credentials));
    pages.files.set(
      '/',
      '<!doctype html><title>A page</title><script type="module" src="/bundle.js"></script>',
    );
    pages.files.set('/bundle.js', await bundle());
    const browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGS });
    try {
      const page = await browser.newPage();
      const failures: string[] = [];
      page.on('pageerror', (error) => failures.push(String(error)));
      await page.goto(pages.origin);
      await page.waitForFunction('globalThis.trade !== undefined');
      const reported = { baseUrl: service.url, apiKey, privateKey };
      const result = await page.evaluate(`trade(${JSON.stringify(reported)})`);
      expect(result).toEqual({
        status: 'live',
        recorded: true,
        refusal: 'market_not_found',
        registered: true,
        door: false,
        owner: false,
      });
      expect(failures).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
