/** The bounds of the published packages. */
import { SIZE_BOUNDS } from '../build/sizes.ts';
import { table } from './markdown.ts';

const kilobytes = (bytes: number | undefined): string => (bytes === undefined ? '–' : `${bytes / 1000} kB`);

export const sizesTable = (): string =>
  table(
    ['Package', 'Tarball', 'Unpacked', 'In a page that trades, with all it needs, gzipped'],
    Object.entries(SIZE_BOUNDS).map(([name, { tarballBytes, unpackedBytes, browserGzipBytes }]) => [
      `\`${name}\``,
      `at most ${kilobytes(tarballBytes)}`,
      `at most ${kilobytes(unpackedBytes)}`,
      kilobytes(browserGzipBytes),
    ]),
  );
