/**
 * Our script, our style sheet, and the browser's half of the passkey library out of its package. Addresses carry a
 * digest of the content, so browsers may keep them for good.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Asset {
  readonly type: string;
  readonly content: Buffer;
}

const STATIC = join(import.meta.dirname, 'static');
const PASSKEY_LIBRARY = fileURLToPath(
  new URL('../dist/bundle/index.umd.min.js', import.meta.resolve('@simplewebauthn/browser')),
);

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** Read once, when the service starts. */
export function readAssets(): ReadonlyMap<string, Asset> {
  return new Map([
    ['owner.css', { type: STYLE, content: readFileSync(join(STATIC, 'owner.css')) }],
    ['owner.js', { type: SCRIPT, content: readFileSync(join(STATIC, 'owner.js')) }],
    ['passkeys.js', { type: SCRIPT, content: readFileSync(PASSKEY_LIBRARY) }],
  ]);
}

/** Each asset's address under the pages' base path. */
export const assetPaths = (assets: ReadonlyMap<string, Asset>): ReadonlyMap<string, string> =>
  new Map(
    [...assets].map(([name, { content }]) => [
      name,
      `/owner/assets/${name}?v=${createHash('sha256').update(content).digest('hex').slice(0, 12)}`,
    ]),
  );
