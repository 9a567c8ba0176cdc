/** A published package's JavaScript: one module for each entry, with the packages inside; libraries stay imports. */
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { ownPackage, type Package, packagesInside } from './packages.ts';

/** The oldest Node that runs it, and browsers of the same age. */
const TARGET = ['node20', 'chrome111', 'firefox114', 'safari16.4'];

const isPath = (specifier: string): boolean => /^[./]/.test(specifier);

/** @returns the libraries that the written files import */
export async function writeJavaScript(built: Package, folder: string): Promise<ReadonlySet<string>> {
  const inside = new Set([built, ...packagesInside(built)].map(({ id }) => id));
  const bundle = await rolldown({
    input: built.entries,
    // A file of a package inside is resolved to its path after it was asked for by name.
    external: (specifier) => !isPath(specifier) && !inside.has(ownPackage(specifier) ?? ''),
    platform: 'neutral',
    transform: { target: TARGET },
    // Our libraries do nothing at import; what is not used of them is not imported.
    treeshake: { moduleSideEffects: 'no-external' },
  });
  const { output } = await bundle.write({
    dir: join(folder, 'dist'),
    format: 'esm',
    chunkFileNames: 'shared-[name].js',
    // The types beside it hold the documentation.
    comments: { jsdoc: false },
  });
  await bundle.close();
  const written = new Set(output.map(({ fileName }) => fileName));
  const imported = output.flatMap((chunk) =>
    chunk.type === 'chunk' ? [...chunk.imports, ...chunk.dynamicImports] : [],
  );
  return new Set(imported.filter((name) => !written.has(name)));
}
