/**
 * A process of its own that makes the console's script and style sheet out of `packages/console` and prints them as JSON:
 * the bundler's work must not hold up the trades of the service (docs/decisions/console.md).
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { rolldown } from 'rolldown';

const MAIN = fileURLToPath(new URL('../../../console/src/main.tsx', import.meta.url));
/** The owner's other pages have it too: the console looks like them. */
const OWN_STYLE = fileURLToPath(new URL('../platform/http/static/owner.css', import.meta.url));
const PLOT_STYLE = fileURLToPath(
  new URL('uPlot.min.css', import.meta.resolve('uplot/dist/uPlot.esm.js', import.meta.url)),
);

const compress = { brotli: promisify(brotliCompress), gzip: promisify(gzip) };

/** By file name: the script, and what it loads only where a view needs it, named by its content. */
async function scripts(): Promise<readonly (readonly [string, string])[]> {
  const bundle = await rolldown({
    input: { console: MAIN },
    platform: 'browser',
    tsconfig: false,
    transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  });
  const { output } = await bundle.generate({
    format: 'es',
    minify: true,
    sourcemap: false,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  await bundle.close();
  return output.map((file) => {
    if (file.type !== 'chunk') throw new Error(`The bundler made ${file.fileName}, which is no script.`);
    return [file.fileName, file.code] as const;
  });
}

const style = (): string =>
  [PLOT_STYLE, OWN_STYLE, join(dirname(MAIN), 'console.css')]
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');

async function packed(text: string) {
  const plain = Buffer.from(text);
  const [brotli, zipped] = await Promise.all([compress.brotli(plain), compress.gzip(plain, { level: 9 })]);
  return Object.fromEntries(
    Object.entries({ plain, brotli, gzip: zipped }).map(([name, bytes]) => [name, bytes.toString('base64')]),
  );
}

const files = [...(await scripts()), ['console.css', style()] as const];
const made = await Promise.all(files.map(async ([name, text]) => [name, await packed(text)] as const));
process.stdout.write(JSON.stringify(Object.fromEntries(made)));
