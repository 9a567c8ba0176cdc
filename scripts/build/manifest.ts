/**
 * The package.json that is published. It is derived: inside the repository a package exports its sources, and what it
 * depends on are names of the workspace.
 */
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { typesOf } from './declarations.ts';
import { ownPackage, type Package, packagesInside, ROOT } from './packages.ts';

interface RootManifest {
  readonly license: string;
  readonly engines: { readonly node: string };
}

const root = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as RootManifest;

/** `@scope/name/file.js` → `@scope/name`. */
const libraryOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** The exact versions that this repository was tested with; its own packages are of one release. @throws Error for an import that no package declares */
function dependenciesOf(built: Package, imported: Iterable<string>): Readonly<Record<string, string>> {
  const declared = Object.assign(
    {},
    ...[...packagesInside(built), built].map(({ manifest }) => manifest.dependencies),
  ) as Readonly<Record<string, string>>;
  const names = new Set([...imported].filter((specifier) => !isBuiltin(specifier)).map(libraryOf));
  return Object.fromEntries(
    [...names].sort().map((name) => {
      const version = declared[name];
      if (version === undefined)
        throw new Error(`${built.manifest.name} imports ${name} and does not declare it`);
      return [name, ownPackage(name) === null ? version : built.manifest.version];
    }),
  );
}

/**
 * The repository is known where a release is made: provenance compares it with the one that runs the release. Elsewhere the
 * field is left out, because any text in it would be a guess.
 */
function repositoryOf(id: string): { readonly repository?: Readonly<Record<string, string>> } {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, CI_PROJECT_URL } = process.env;
  const url = GITHUB_REPOSITORY === undefined ? CI_PROJECT_URL : `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`;
  return url === undefined
    ? {}
    : { repository: { type: 'git', url: `git+${url}.git`, directory: `packages/${id}` } };
}

const entryOf = (file: string): string => file.replace(/^\.\/src\//, '').replace(/\.ts$/, '');

export function publishedManifest(
  built: Package,
  imported: Iterable<string>,
): Readonly<Record<string, unknown>> {
  const { id, manifest } = built;
  const { name, version, description, keywords, exports = {}, bin, publishConfig } = manifest;
  const main = exports['.'];
  return {
    name,
    version,
    description,
    keywords,
    license: root.license,
    ...repositoryOf(id),
    type: 'module',
    engines: { node: root.engines.node },
    sideEffects: false,
    ...(main === undefined
      ? {}
      : { main: `./dist/${entryOf(main)}.js`, types: `./${typesOf(id, entryOf(main))}` }),
    exports: {
      ...Object.fromEntries(
        Object.entries(exports).map(([subpath, file]) => [
          subpath,
          { types: `./${typesOf(id, entryOf(file))}`, default: `./dist/${entryOf(file)}.js` },
        ]),
      ),
      './package.json': './package.json',
    },
    ...(bin === undefined
      ? {}
      : {
          bin: Object.fromEntries(
            Object.entries(bin).map(([command, file]) => [command, `dist/${entryOf(file)}.js`]),
          ),
        }),
    files: ['dist'],
    dependencies: dependenciesOf(built, imported),
    publishConfig,
  };
}
