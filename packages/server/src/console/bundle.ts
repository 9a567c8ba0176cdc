/**
 * The console's files as browsers get them: bundled when somebody first asks, in a process of its own, and kept in
 * memory and under a digest of their sources in `node_modules/.cache`. Where that folder cannot be written they are
 * bundled once in the life of the service (docs/decisions/console.md).
 */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export interface ConsoleFile {
  /** Digest of the content: a browser may keep what it loaded under it. */
  readonly digest: string;
  /** Its name has a digest in it, too. */
  readonly isNamedByContent: boolean;
  readonly type: string;
  readonly plain: Buffer;
  readonly brotli: Buffer;
  readonly gzip: Buffer;
}

/** By name. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

export interface ConsoleBundle {
  /** @throws {BundleFault} when the files cannot be made */
  files(): Promise<ConsoleFiles>;
}

/** Says in the log what went wrong; a visitor reads only that the console is away. */
export class BundleFault extends Error {}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const PACKAGE = here('../../../console/');
const BUILDER = fileURLToPath(new URL('./build-console.ts', import.meta.url));
/** Files that decide the bundle's content; the manifests name the exact versions of the libraries and the bundler. */
const OTHERS = [
  join(PACKAGE, 'package.json'),
  here('../../package.json'),
  here('../platform/http/static/owner.css'),
  here('../../../contract/src/canonical-json.ts'),
  here('../../../contract/src/recovery-code.ts'),
];
/** As trustworthy as the code beside it: who may write into node_modules may change the code as well. */
const CACHE = here('../../../../node_modules/.cache/bellwether-console/');

/** A hundred times what it takes: a bundler that hangs is ended. */
const BUILD_WITHIN_MS = 60_000;
const MOST_BYTES = 8 * 1024 * 1024;
/** A bundler that fails is not started again for every visitor. */
const RETRY_AFTER_MS = 10_000;

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};
/** The page names these; the first one names the rest. */
const ROOTS: readonly string[] = ['console.js', 'console.css'];

async function digestOfSources(): Promise<string> {
  const folder = join(PACKAGE, 'src');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sources = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const digest = createHash('sha256');
  for (const path of [...OTHERS, BUILDER, ...sources.sort()]) {
    digest
      .update(`${path}\0`)
      .update(await readFile(path))
      .update('\0');
  }
  return digest.digest('hex').slice(0, 32);
}

type Packed = Readonly<
  Record<string, { readonly plain: string; readonly brotli: string; readonly gzip: string }>
>;

function unpack(text: string): ConsoleFiles {
  const packed = JSON.parse(text) as Packed;
  for (const name of ROOTS) if (packed[name] === undefined) throw new BundleFault(`${name} was not made.`);
  return new Map(
    Object.entries(packed).map(([name, file]) => {
      const [plain, brotli, gzip] = [file.plain, file.brotli, file.gzip].map((part) =>
        Buffer.from(part, 'base64'),
      ) as [Buffer, Buffer, Buffer];
      const type = TYPES[extname(name)];
      if (type === undefined) throw new BundleFault(`${name} is of no type that is served.`);
      const digest = createHash('sha256').update(plain).digest('hex').slice(0, 12);
      return [name, { digest, isNamedByContent: !ROOTS.includes(name), type, plain, brotli, gzip }];
    }),
  );
}

/** The environment of the service holds its keys; the bundler gets none of it. */
async function build(): Promise<string> {
  const options = {
    timeout: BUILD_WITHIN_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MOST_BYTES,
    env: {},
  } as const;
  const { stdout } = await promisify(execFile)(process.execPath, [BUILDER], options);
  return stdout;
}

/** One whole file or none, also when the process ends meanwhile. */
async function keep(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(CACHE, { recursive: true });
    await writeFile(draft, text);
    await rename(draft, path);
    const others = (await readdir(CACHE)).map((name) => join(CACHE, name)).filter((other) => other !== path);
    await Promise.all(others.map((other) => rm(other, { force: true })));
  } catch {
    await rm(draft, { force: true }).catch(() => {});
  }
}

async function load(): Promise<ConsoleFiles> {
  const path = join(CACHE, `${await digestOfSources()}.json`);
  try {
    return unpack(await readFile(path, 'utf8'));
  } catch {
    // Not made yet, or broken: made anew.
  }
  const text = await build();
  const files = unpack(text);
  await keep(path, text);
  return files;
}

export function createConsoleBundle(now: () => number = Date.now, make = load): ConsoleBundle {
  let files: Promise<ConsoleFiles> | null = null;
  let failure: { readonly at: number; readonly error: BundleFault } | null = null;
  return {
    async files() {
      if (failure !== null && now() - failure.at < RETRY_AFTER_MS) throw failure.error;
      files ??= make();
      try {
        return await files;
      } catch (error) {
        files = null;
        failure = {
          at: now(),
          error: new BundleFault('The console could not be bundled.', { cause: error }),
        };
        throw failure.error;
      }
    },
  };
}
