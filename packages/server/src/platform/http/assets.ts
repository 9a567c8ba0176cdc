/**
 * Our script, our style sheet, and the browser's half of the passkey library out of its package. Addresses carry a
 * digest of the content, so browsers may keep them for good.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { errorPage, type Site, sendPage } from './layout.ts';
import { limitPages } from './page-limit.ts';
import type { Gate, Route } from './routes.ts';

export interface Asset {
  readonly type: string;
  readonly content: Buffer;
}

const STATIC = join(import.meta.dirname, 'static');
const PASSKEY_LIBRARY = fileURLToPath(
  new URL('../dist/bundle/index.umd.min.js', import.meta.resolve('@simplewebauthn/browser')),
);

/** Their path under the pages' base path. */
const PATH = '/owner/assets';
const A_YEAR_S = 365 * 24 * 3600;
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
      `${PATH}/${name}?v=${createHash('sha256').update(content).digest('hex').slice(0, 12)}`,
    ]),
  );

/** @returns its route, for the table of methods */
export function serveAssets(app: FastifyInstance, gate: Gate, siteOf: () => Site): readonly Route[] {
  const assets = readAssets();
  app.get<{ Params: { file: string } }>(
    `${PATH}/:file`,
    { schema: { hide: true }, onRequest: limitPages(gate) },
    async (request, reply) => {
      const asset = assets.get(request.params.file);
      if (asset === undefined)
        return sendPage(reply, 404, errorPage(siteOf(), 'Not found', 'There is no such file.'));
      return reply
        .type(asset.type)
        .header('cache-control', `public, max-age=${A_YEAR_S}, immutable`)
        .header('x-content-type-options', 'nosniff')
        .send(asset.content);
    },
  );
  return [{ path: `${PATH}/{file}`, method: 'GET' }];
}
