/**
 * A registry of npm packages on this machine: what `npm ci` has put into node_modules, and the tarballs that a build made.
 * So npm itself resolves, unpacks and checks an installation as it does anywhere, without a network.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}
interface Version {
  readonly manifest: Manifest;
  tarball(): Buffer;
}

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const manifestIn = (folder: string): Manifest => readJson(join(folder, 'package.json'));
const { overrides } = readJson(join(ROOT, 'package.json'));

/** Of the registry's packages only the version that is installed here is there; what a dependency is overridden with, it needs. */
const withOverrides = (manifest: Manifest): Manifest =>
  typeof overrides[manifest.name] === 'object'
    ? { ...manifest, dependencies: { ...manifest.dependencies, ...overrides[manifest.name] } }
    : manifest;

/** npm unpacks below any first folder, compressed or not; nested packages are packages of their own. */
const packFolder = (folder: string): Buffer =>
  execFileSync('tar', ['-cf', '-', '--exclude', 'node_modules', '-C', dirname(folder), basename(folder)], {
    maxBuffer: 1 << 28,
  });

/** Every version of a package that is installed here. */
function installed(name: string): Version[] {
  const lock = readJson(join(ROOT, 'package-lock.json'));
  return Object.keys(lock.packages)
    .filter((path) => path.endsWith(`node_modules/${name}`) && lock.packages[path].link !== true)
    .map((path) => join(ROOT, path))
    .filter((folder) => existsSync(folder))
    .map((folder) => ({ manifest: withOverrides(manifestIn(folder)), tarball: () => packFolder(folder) }));
}

const integrityOf = (tarball: Buffer): string =>
  `sha512-${createHash('sha512').update(tarball).digest('base64')}`;

export interface LocalRegistry {
  readonly url: string;
  /** Names that npm asked for. */
  readonly asked: ReadonlySet<string>;
  close(): void;
}

/** @param built the published packages: their folder, and their tarball as it would be sent */
export async function startRegistry(
  built: readonly { readonly name: string; readonly folder: string; readonly tarball: string }[],
): Promise<LocalRegistry> {
  const asked = new Set<string>();
  const tarballs = new Map<string, Buffer>();
  let url = '';
  const versionsOf = (name: string): Version[] => {
    const own = built.find((one) => one.name === name);
    return own === undefined
      ? installed(name)
      : [{ manifest: manifestIn(own.folder), tarball: () => readFileSync(own.tarball) }];
  };
  const packument = (name: string): unknown => {
    const versions = versionsOf(name).map(({ manifest, tarball }) => {
      const path = `/-/${encodeURIComponent(name)}/${manifest.version}.tgz`;
      const bytes = tarballs.get(path) ?? tarball();
      tarballs.set(path, bytes);
      return { ...manifest, dist: { tarball: url + path, integrity: integrityOf(bytes) } };
    });
    if (versions.length === 0) return null;
    return {
      name,
      'dist-tags': { latest: versions[0]?.version },
      versions: Object.fromEntries(versions.map((one) => [one.version, one])),
    };
  };
  const server: Server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] as string;
    const tarball = tarballs.get(path);
    if (tarball !== undefined) {
      response.end(tarball);
      return;
    }
    const name = decodeURIComponent(path.slice(1));
    asked.add(name);
    const answer = packument(name);
    response.writeHead(answer === null ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { error: 'not found' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
