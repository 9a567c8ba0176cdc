/**
 * The types of the published packages, by the compiler from the same sources, one file for each source file that an entry
 * reaches. Imports of the packages inside become paths, so that an installed package names nothing that is not installed
 * with it.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { ownPackage, type Package, packagesInside, ROOT } from './packages.ts';

/** Where a package's types are, below the published folder. */
export const typesOf = (id: string, entry: string): string => `dist/types/${id}/${entry}.d.ts`;

const SPECIFIER = /(\bfrom |\bimport\(|\bimport )(["'])([^"']+)\2/g;

/**
 * Where the packages of this repository are. Found through node_modules they would count as libraries, whose types the
 * compiler does not write, depending on which import it reads first.
 */
const pathsOf = (sources: readonly Package[]): Record<string, string[]> =>
  Object.fromEntries(
    sources.flatMap(({ folder, manifest: { name, exports = {} } }) =>
      Object.entries(exports).map(([subpath, file]) => [`${name}${subpath.slice(1)}`, [join(folder, file)]]),
    ),
  );

/** A compiler run for all packages at once: they share what they are made of. @returns the folder, to be removed */
export function emitDeclarations(published: readonly Package[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-types-'));
  const sources = published.flatMap((built) => [built, ...packagesInside(built)]);
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: join(ROOT, 'packages'),
      outDir: join(folder, 'types'),
      typeRoots: [join(ROOT, 'node_modules/@types')],
      paths: pathsOf(sources),
      // Types of Node 20: a newer function would be missing there.
      lib: ['es2023'],
    },
    include: [],
    files: [...new Set(sources.flatMap(({ entries }) => Object.values(entries)))],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', join(folder, 'tsconfig.json')], { stdio: 'inherit' });
  return folder;
}

/** The path of a package inside, as an import of this file. */
function pathTo(specifier: string, file: string, types: string, inside: readonly Package[]): string {
  if (specifier.startsWith('.')) return specifier.replace(/\.ts$/, '.js');
  const used = inside.find(({ id }) => id === ownPackage(specifier));
  if (used === undefined) return specifier;
  const subpath = `.${specifier.slice(used.manifest.name.length)}`;
  const entry = used.manifest.exports?.[subpath];
  if (entry === undefined) throw new Error(`${file} imports ${specifier}, which its package does not export`);
  const path = relative(
    dirname(file),
    join(types, used.id, entry.replace(/^\.\/src\//, '').replace(/\.ts$/, '.js')),
  );
  return path.startsWith('.') ? path : `./${path}`;
}

/** Writes the types that the package's entries reach. @returns the libraries that they import */
export function writeDeclarations(built: Package, emitted: string, folder: string): ReadonlySet<string> {
  const inside = packagesInside(built);
  const types = join(folder, 'dist/types');
  const libraries = new Set<string>();
  const reached = new Set(Object.keys(built.entries).map((entry) => join(folder, typesOf(built.id, entry))));
  // A set gives out what is added while it is walked.
  for (const file of reached) {
    const [id = '', ...path] = relative(types, file).split('/');
    const text = readFileSync(join(emitted, 'types', id, 'src', ...path), 'utf8');
    const written = text.replaceAll(SPECIFIER, (_, before, quote, specifier) => {
      const target = pathTo(specifier, file, types, inside);
      if (target.startsWith('.')) reached.add(join(dirname(file), target.replace(/\.js$/, '.d.ts')));
      else libraries.add(target);
      return `${before}${quote}${target}${quote}`;
    });
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, written);
  }
  return libraries;
}

export const removeEmitted = (folder: string): void => rmSync(folder, { recursive: true, force: true });
