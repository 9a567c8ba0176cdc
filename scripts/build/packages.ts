/**
 * Which packages are published, from their package.json: those with `publishConfig`. The other packages of this
 * repository are not on any registry, so what a published package uses of them goes into it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');
const SCOPE = '@bellwether/';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly exports?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly publishConfig?: Readonly<Record<string, unknown>>;
}

export interface Package {
  /** The folder's name under packages/. */
  readonly id: string;
  readonly folder: string;
  readonly manifest: Manifest;
  /** Entry points that others import or run: the name of the file without `.ts`, and its path. */
  readonly entries: Readonly<Record<string, string>>;
}

/** `./src/main.ts` → `main`. @throws Error for what would have no place in the published package */
function entryName(file: string): string {
  const name = /^\.\/src\/(.+)\.ts$/.exec(file)?.[1];
  if (name === undefined) throw new Error(`"${file}" is not a TypeScript file under ./src`);
  return name;
}

function packageOf(id: string): Package {
  const folder = join(ROOT, 'packages', id);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const files = [...Object.values(manifest.exports ?? {}), ...Object.values(manifest.bin ?? {})];
  const entries = Object.fromEntries(files.map((file) => [entryName(file), join(folder, file)]));
  return { id, folder, manifest, entries };
}

const all = (): readonly Package[] => readdirSync(join(ROOT, 'packages')).sort().map(packageOf);

/** Packages that are published and have something to import or to run. */
export const publishedPackages = (): readonly Package[] =>
  all().filter(({ manifest, entries }) => manifest.publishConfig && Object.keys(entries).length > 0);

/** The package of this repository that an import names; `null` for a library's. */
export const ownPackage = (specifier: string): string | null =>
  specifier.startsWith(SCOPE) ? (specifier.slice(SCOPE.length).split('/', 1)[0] as string) : null;

/** Packages whose code goes into this one: those of the repository that it uses and that are not published. */
export function packagesInside({ manifest }: Package): readonly Package[] {
  const direct = Object.keys(manifest.dependencies ?? {})
    .map(ownPackage)
    .filter((id) => id !== null)
    .map(packageOf)
    .filter((used) => used.manifest.publishConfig === undefined);
  const found = new Map(
    direct.flatMap((used) => [used, ...packagesInside(used)]).map((used) => [used.id, used]),
  );
  return [...found.values()];
}
