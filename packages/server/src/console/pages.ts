/** The console: one page for all its views, which a script draws; its files; nothing of it needs a session to load. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html, type Markup } from '../platform/http/html.ts';
import { basePathOf, elsewhere, errorPage, type Site, sendPage } from '../platform/http/layout.ts';
import { limitPages } from '../platform/http/page-limit.ts';
import type { Gate, Route } from '../platform/http/routes.ts';
import { BundleFault, type ConsoleBundle, type ConsoleFile, type ConsoleFiles } from './bundle.ts';

const ASSETS = '/console/assets';
const A_YEAR_S = 365 * 24 * 3600;
const RETRY_AFTER_S = 10;

/** The views that have an address; the script reads the same ones. */
const VIEWS = [
  '/console',
  '/console/agents/:agentId',
  '/console/agents/:agentId/orders',
  '/console/agents/:agentId/decisions',
  '/console/agents/:agentId/access',
  '/console/agents/:agentId/orders/:orderId',
  '/console/markets/:marketId',
  '/console/approvals',
  '/console/sign-in',
  '/console/operator',
];

const addressOf = (site: Site, files: ConsoleFiles, name: string): string =>
  `${basePathOf(site)}${ASSETS}/${name}?v=${files.get(name)?.digest ?? ''}`;

const shell = (site: Site, files: ConsoleFiles): Markup => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Console · Bellwether</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${addressOf(site, files, 'console.css')}">
<script src="${addressOf(site, files, 'console.js')}" defer></script>
</head>
<body data-base="${basePathOf(site)}">
<noscript><p>The console needs JavaScript. Please allow it for this page, or <a href="${basePathOf(site)}/console/pause">pause your agents without it</a>.</p></noscript>
<div id="console"></div>
</body>
</html>
`;

/** The smallest form that the browser takes. */
function encoded(file: ConsoleFile, accepted: string): readonly [Buffer, string | null] {
  if (/\bbr\b/.test(accepted)) return [file.brotli, 'br'];
  return /\bgzip\b/.test(accepted) ? [file.gzip, 'gzip'] : [file.plain, null];
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile): FastifyReply {
  const [content, encoding] = encoded(file, String(request.headers['accept-encoding'] ?? ''));
  if (encoding !== null) reply.header('content-encoding', encoding);
  // During an upgrade the page may come from another release than its files: those must not be kept under its address.
  const isAsked = (request.query as Record<string, unknown>).v === file.digest;
  return reply
    .type(file.type)
    .header('vary', 'accept-encoding, origin')
    .header('cache-control', isAsked ? `public, max-age=${A_YEAR_S}, immutable` : 'no-store')
    .header('x-content-type-options', 'nosniff')
    .send(content);
}

/** @returns the paths, for the table of methods */
export function serveConsole(
  app: FastifyInstance,
  gate: Gate,
  siteOf: () => Site,
  bundle: ConsoleBundle,
): readonly Route[] {
  const options = { schema: { hide: true }, onRequest: limitPages(gate) };
  const unavailable = (request: FastifyRequest, reply: FastifyReply, error: BundleFault) => {
    request.log.error({ err: error.cause }, error.message);
    const text =
      'The service could not prepare the console’s files; trading goes on, and /console/pause still pauses agents. Try again in a minute, or tell the operator: the log says why.';
    return sendPage(
      reply.header('retry-after', RETRY_AFTER_S),
      503,
      errorPage(siteOf(), 'The console is away', text),
    );
  };
  const withFiles =
    (answer: (files: ConsoleFiles, request: FastifyRequest, reply: FastifyReply) => FastifyReply) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      try {
        return answer(await bundle.files(), request, reply);
      } catch (error) {
        if (error instanceof BundleFault) return unavailable(request, reply, error);
        throw error;
      }
    };

  // Where the owner's page was before the console.
  app.get('/owner', options, (_request, reply) => reply.redirect(`${basePathOf(siteOf())}/console`, 302));
  for (const path of VIEWS) {
    app.get(
      path,
      options,
      withFiles((files, request, reply) => {
        const site = siteOf();
        const [asked = ''] = request.url.slice(basePathOf(site).length).split('?');
        const there = elsewhere(request, site, asked);
        return there === null ? sendPage(reply, 200, shell(site, files)) : reply.redirect(there, 302);
      }),
    );
  }
  app.get<{ Params: { file: string } }>(
    `${ASSETS}/:file`,
    options,
    withFiles((files, request, reply) => {
      const file = files.get((request.params as { file: string }).file);
      return file === undefined
        ? sendPage(reply, 404, errorPage(siteOf(), 'Not found', 'There is no such file.'))
        : sendFile(request, reply, file);
    }),
  );
  return ['/owner', ...VIEWS, `${ASSETS}/:file`].map((path) => ({
    path: path.replaceAll(/:(\w+)/g, '{$1}'),
    method: 'GET' as const,
  }));
}
