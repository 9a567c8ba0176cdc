/**
 * Makes what is published: for each package a folder under dist/ with its JavaScript, its types, a package.json, a README
 * and the licence, its tarball as `npm publish` would send it, and beside that its bill of materials.
 *
 *   npm run build                       into dist/
 *   node scripts/build.ts <folder>      into another folder
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeBillOfMaterials } from './build/bill-of-materials.ts';
import { emitDeclarations, removeEmitted, writeDeclarations } from './build/declarations.ts';
import { writeJavaScript } from './build/javascript.ts';
import { publishedManifest } from './build/manifest.ts';
import { type Package, publishedPackages, ROOT } from './build/packages.ts';

export interface BuiltPackage {
  readonly name: string;
  /** With the package.json. */
  readonly folder: string;
  readonly tarball: string;
  readonly tarballBytes: number;
  readonly unpackedBytes: number;
  /** Paths in the tarball. */
  readonly files: readonly string[];
  /** File of the bill of materials, beside the tarball. */
  readonly materials: string;
}

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** No script of a package runs. */
function pack(folder: string, into: string): Packed {
  const options = ['pack', '--json', '--ignore-scripts', '--pack-destination', into];
  const answer = JSON.parse(
    execFileSync('npm', options, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  return (Array.isArray(answer) ? answer[0] : Object.values(answer)[0]) as Packed;
}

async function buildPackage(built: Package, emitted: string, into: string): Promise<BuiltPackage> {
  const folder = join(into, built.id);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const imported = new Set(await writeJavaScript(built, folder));
  // No file imports a program.
  if (built.manifest.exports !== undefined)
    for (const library of writeDeclarations(built, emitted, folder)) imported.add(library);
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify(publishedManifest(built, imported), null, 2)}\n`,
  );
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  const readme = join(built.folder, 'README.md');
  if (!existsSync(readme)) throw new Error(`${built.manifest.name} has no README.md`);
  copyFileSync(readme, join(folder, 'README.md'));
  const { filename, size, unpackedSize, files } = pack(folder, into);
  return {
    name: built.manifest.name,
    folder,
    tarball: join(into, filename),
    tarballBytes: size,
    unpackedBytes: unpackedSize,
    files: files.map(({ path }) => path),
    materials: writeBillOfMaterials(built, join(into, `${filename.replace(/\.tgz$/, '')}.cdx.json`)),
  };
}

export async function buildPackages(into: string): Promise<readonly BuiltPackage[]> {
  const published = publishedPackages();
  mkdirSync(into, { recursive: true });
  const emitted = emitDeclarations(published);
  try {
    const built: BuiltPackage[] = [];
    for (const one of published) built.push(await buildPackage(one, emitted, into));
    return built;
  } finally {
    removeEmitted(emitted);
  }
}

if (import.meta.main) {
  const built = await buildPackages(resolve(process.argv[2] ?? join(ROOT, 'dist')));
  console.table(
    built.map(({ name, tarball, tarballBytes, unpackedBytes }) => ({
      package: name,
      'tarball, bytes': tarballBytes,
      'unpacked, bytes': unpackedBytes,
      tarball,
    })),
  );
}
