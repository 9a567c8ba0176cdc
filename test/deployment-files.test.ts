/** The files that run the service elsewhere name only what exists: no container engine or systemd is needed to know. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ENVIRONMENT, readConfig } from '../packages/server/src/config.ts';
import { call, startTestService } from './harness.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const known = new Set(Object.keys(ENVIRONMENT.properties));
const manifest = JSON.parse(read('package.json'));
const dockerfile = read('Dockerfile');
const linesOf = (name: string): string[] =>
  [...dockerfile.matchAll(new RegExp(`^${name} (.*)$`, 'gm'))].map((match) => match[1] ?? '');
const compose = parse(read('compose.yaml'), { merge: true });
const caddyfile = read('examples/proxy/Caddyfile');
const unit = read('examples/systemd/bellwether.service');
const settings = Object.fromEntries(
  read('examples/systemd/bellwether.env')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(/=(.*)/s).slice(0, 2)),
) as Record<string, string>;
const replicas = Object.entries(compose.services).filter(([name]) => name.startsWith('desk-')) as [
  string,
  Desk,
][];
const STOP_S = 10;

interface Desk {
  readonly environment: Record<string, string>;
  readonly stop_grace_period: string;
}

/** As the engine fills them in. */
const filledIn = (environment: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value
        .replace(/\$\{MASTER_KEY:.*?\}/, 'ab'.repeat(32))
        .replace(/\$\{\w+:-(.*?)\}/, '$1')
        .replace(/\$\{.*?\}/, 'secret'),
    ]),
  );

describe('the image', () => {
  test('has the Node that the project depends on, and what it copies and starts exists', () => {
    for (const from of linesOf('FROM')) expect(from).toContain(`node:${manifest.dependencies.node}-`);
    const copied = linesOf('COPY').filter((line) => !line.startsWith('--from'));
    for (const path of copied.flatMap((line) => line.split(' ').slice(0, -1)))
      expect({ path, exists: existsSync(join(ROOT, path)) }).toEqual({ path, exists: true });
    const [, program] = JSON.parse(linesOf('CMD')[0] ?? '[]') as string[];
    expect(existsSync(join(ROOT, program ?? '?'))).toBe(true);
    expect(linesOf('USER')).toEqual(['node']);
    const set = Object.fromEntries((linesOf('ENV')[0] ?? '').split(' ').map((pair) => pair.split('=')));
    expect(Object.keys(set).filter((name) => name !== 'NODE_ENV' && !known.has(name))).toEqual([]);
    expect(linesOf('EXPOSE')).toEqual([set.PORT]);
    expect(dockerfile).toContain(`http://127.0.0.1:${set.PORT}/healthz`);
  });

  test('and the proxy ask paths that answer', async () => {
    const service = await startTestService({ PAPER_WORLD: 'off' });
    expect((await call(service, 'GET', '/healthz')).status).toBe(200);
    const asked = /health_uri (\S+)/.exec(caddyfile)?.[1] ?? '';
    expect((await call(service, 'GET', asked)).status).toBe(200);
  });
});

describe('compose.yaml', () => {
  test('pins its images, and what it mounts exists', () => {
    for (const { image, volumes = [] } of Object.values(compose.services) as {
      image?: string;
      volumes?: string[];
    }[]) {
      if (image !== undefined) expect(image).toMatch(/^[a-z]+:\d+\.\d+/);
      for (const from of volumes.map((volume) => volume.split(':')[0] ?? ''))
        expect(from.startsWith('./') ? existsSync(join(ROOT, from)) : from in compose.volumes).toBe(true);
    }
  });

  test.each(replicas)('%s has settings that the service accepts, and time to drain', (name, desk) => {
    const environment = filledIn(desk.environment);
    expect(Object.keys(environment).filter((variable) => !known.has(variable))).toEqual([]);
    const config = readConfig({ HOST: '0.0.0.0', PORT: '8080', ...environment });
    expect(config.replicaUrl).toBe(`http://${name}:${config.port}`);
    expect(config.trustProxy).toBe(1);
    expect(Number.parseInt(desk.stop_grace_period, 10) * 1000).toBeGreaterThan(
      config.drainMs + STOP_S * 1000,
    );
    const interval = Number(/health_interval (\d+)s/.exec(caddyfile)?.[1]);
    expect(config.drainMs).toBeGreaterThan(2 * interval * 1000);
  });

  test('the proxy sends to these replicas and to no other', () => {
    expect(replicas.length).toBe(2);
    const upstreams = /reverse_proxy (.*) \{/.exec(caddyfile)?.[1]?.split(' ');
    expect(upstreams).toEqual(replicas.map(([name]) => `${name}:8080`));
  });
});

describe('the unit of systemd', () => {
  test('starts what exists, with settings that the service accepts, and time to drain', () => {
    const value = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
    const [node = '', program = ''] = value('ExecStart').split(' ');
    expect(node).toBe(`${value('WorkingDirectory')}/node_modules/.bin/node`);
    expect(existsSync(join(ROOT, 'node_modules/.bin/node'))).toBe(true);
    expect(existsSync(join(ROOT, program))).toBe(true);
    expect(Object.keys(settings).filter((name) => !known.has(name))).toEqual([]);
    const config = readConfig(settings);
    expect(config.dataDir).toBe(`/var/lib/${value('StateDirectory')}`);
    expect(Number(value('TimeoutStopSec')) * 1000).toBeGreaterThan(config.drainMs + STOP_S * 1000);
  });
});

test('every command of docs/operations.md exists', () => {
  const page = read('docs/operations.md');
  const named = [...page.matchAll(/npm run ([a-z:-]+)/g)].map((match) => match[1] ?? '');
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !(name in manifest.scripts))).toEqual([]);
  const files = [...page.matchAll(/`((?:examples|Dockerfile|compose)[\w./-]*)`/g)].map(
    (match) => match[1] ?? '',
  );
  expect(files.length).toBeGreaterThan(3);
  for (const file of files)
    expect({ file, exists: existsSync(join(ROOT, file)) }).toEqual({ file, exists: true });
});
