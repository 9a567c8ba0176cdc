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

async function script(): Promise<string> {
  const bundle = await rolldown({
    input: MAIN,
    platform: 'browser',
    tsconfig: false,
    transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  });
  const { output } = await bundle.generate({ format: 'iife', minify: true, sourcemap: false });
  await bundle.close();
  if (output.length !== 1) throw new Error(`The bundler made ${output.length} files instead of one.`);
  return output[0].code;
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

const [js, css] = await Promise.all([packed(await script()), packed(style())]);
process.stdout.write(JSON.stringify({ 'console.js': js, 'console.css': css }));
