/** The bill of materials of a published package (CycloneDX), as npm makes it from the lock file: its libraries and theirs. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type Package, ROOT } from './packages.ts';

const MAX_BYTES = 64 * 1024 * 1024;

interface Bill {
  readonly metadata: { readonly component: Readonly<Record<string, unknown>> };
}

/** @returns the path of the file, which names the package where npm names this repository */
export function writeBillOfMaterials({ manifest }: Package, path: string): string {
  // Without --omit dev, which leaves out libraries that the tests of this repository use, too. The package has no other ones.
  const options = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'library'];
  const text = execFileSync('npm', [...options, '--package-lock-only', '-w', manifest.name], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: MAX_BYTES,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const bill = JSON.parse(text) as Bill;
  const { name, version } = manifest;
  const component = {
    ...bill.metadata.component,
    ...{ name, version, purl: `pkg:npm/${name.replace('@', '%40')}@${version}` },
  };
  writeFileSync(path, `${JSON.stringify({ ...bill, metadata: { ...bill.metadata, component } }, null, 2)}\n`);
  return path;
}
