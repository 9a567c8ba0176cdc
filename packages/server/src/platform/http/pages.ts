/** Pages for people: markup, the frame around every page, our script and style sheet, and how often they may be read. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Owner } from '../../domain/records.ts';
import { addressOf } from './addresses.ts';
import { sendProblem } from './problem.ts';
import type { Gate, Route } from './routes.ts';

/** Markup by template: every value that is put into one is escaped, unless a template made it. */
export interface Markup {
  readonly markup: string;
}

type MarkupPart = string | number | Markup | null | false | readonly MarkupPart[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

function render(part: MarkupPart): string {
  if (part === null || part === false) return '';
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return 'markup' in part ? part.markup : part.map(render).join('');
}

export const html = (texts: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup => ({
  markup: texts.map((text, i) => text + (i < parts.length ? render(parts[i] as MarkupPart) : '')).join(''),
});

// Frame around the content of every page. No inline script or style: the policy that pages are sent with forbids it.

/** Facts about the service that pages need. */
export interface Site {
  readonly publicUrl: string;
  /** Asset addresses by name. */
  readonly assets: ReadonlyMap<string, string>;
  readonly venues: readonly { readonly name: string; readonly backend: string }[];
}

/** Path prefix of the public URL, without a slash at its end. */
export const basePathOf = ({ publicUrl }: Pick<Site, 'publicUrl'>): string =>
  new URL(publicUrl).pathname.replace(/\/+$/, '');

const policyFor = (forms: "'none'" | "'self'"): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    `form-action ${forms}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
const POLICY = policyFor("'none'");
const FORM_POLICY = policyFor("'self'");

export const wantsHtml = (request: FastifyRequest): boolean =>
  /\btext\/html\b/.test(request.headers.accept ?? '');

export const sendPage = (reply: FastifyReply, status: number, page: Markup): FastifyReply =>
  send(reply, status, page, POLICY);

/** A page whose forms the browser itself sends. */
export const sendForms = (reply: FastifyReply, page: Markup): FastifyReply =>
  send(reply, 200, page, FORM_POLICY);

function send(reply: FastifyReply, status: number, page: Markup, policy: string): FastifyReply {
  return (
    reply
      .code(status)
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('content-security-policy', policy)
      .header('x-content-type-options', 'nosniff')
      // The address of a claim page holds the claim code.
      .header('referrer-policy', 'same-origin')
      .serializer((text: string) => text)
      .send(page.markup)
  );
}

/** Marks a visitor who was sent here. */
export const MOVED = 'moved';

/**
 * Passkeys belong to one host, so pages are shown under the public URL alone. Where to go instead; `null` when the
 * visitor is there, or was sent here before: a proxy that hides the host must not make a circle.
 */
export function elsewhere(request: FastifyRequest, site: Site, path: string): string | null {
  const { host } = new URL(site.publicUrl);
  if (request.host === host || (request.query as Record<string, unknown>)[MOVED] !== undefined) return null;
  return `${site.publicUrl}${path}?${MOVED}=1`;
}

const asset = (site: Site, name: string): string => `${basePathOf(site)}${site.assets.get(name) ?? ''}`;

interface Frame {
  readonly title: string;
  readonly scripts: Markup | null;
  readonly body: Markup;
}

const frame = (site: Site, { title, scripts, body }: Frame): Markup => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Bellwether</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${asset(site, 'owner.css')}">
${scripts}
</head>
${body}
</html>
`;

/** A page on which no script runs. */
export function readingPage(
  site: Site,
  { title, content }: { readonly title: string; readonly content: Markup },
): Markup {
  const body = html`<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top"><a class="brand" href="${basePathOf(site)}/">Bellwether</a></header>
<main id="content" class="reading">
${content}
</main>
</body>`;
  return frame(site, { title, scripts: null, body });
}

export function layout(
  site: Site,
  options: { readonly title: string; readonly owner: Owner | null; readonly content: Markup },
): Markup {
  const base = basePathOf(site);
  const { title, owner, content } = options;
  const scripts = html`<script src="${asset(site, 'passkeys.js')}" defer></script>
<script src="${asset(site, 'owner.js')}" defer></script>`;
  const body = html`<body data-base="${base}" data-signed-in="${owner === null ? 'no' : 'yes'}">
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<a class="brand" href="${base}/console">Bellwether</a>
${
  owner !== null &&
  html`<p class="who">Signed in as <strong>${owner.name}</strong> <button type="button" class="quiet" data-action="sign-out">Sign out</button></p>`
}
</header>
<main id="content">
<p id="message" class="message" role="status" aria-live="polite" tabindex="-1" hidden></p>
<noscript><p class="message error">Passkeys need JavaScript. Please allow it for this page.</p></noscript>
${content}
</main>
</body>`;
  return frame(site, { title, scripts, body });
}

export const errorPage = (site: Site, title: string, text: string): Markup =>
  layout(site, {
    title,
    owner: null,
    content: html`<section class="card"><h1>${title}</h1><p>${text}</p></section>`,
  });

// Pages need no key, so their readers are limited by address.

export const limitPages =
  ({ rateLimits }: Pick<Gate, 'rateLimits'>) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const draw = await rateLimits.draw('read', addressOf(request));
    if (draw === null || draw.allowed) return undefined;
    return sendProblem(request, reply, 'rate_limited', { retryAfterS: draw.retryAfterS });
  };

// Our script, our style sheet, and the browser's half of the passkey library out of its package. Addresses carry a
// digest of the content, so browsers may keep them for good.

interface Asset {
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
