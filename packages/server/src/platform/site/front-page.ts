/** `GET /`: what this is and where to go on, for a person and for a program that have only the address. */
import type { FastifyInstance } from 'fastify';
import { html, type Markup } from '../http/html.ts';
import { basePathOf, readingPage, type Site, sendPage, wantsHtml } from '../http/layout.ts';
import { limitPages } from '../http/page-limit.ts';
import type { Gate, Route } from '../http/routes.ts';

/** Where to go on, by the name that a program reads. */
const LINKS = {
  register: { path: '/agents/register', text: 'register an agent' },
  reference: { path: '/docs', text: 'API reference' },
  openapi: { path: '/openapi.json', text: 'OpenAPI 3.1 document' },
  llms: { path: '/llms.txt', text: 'The service on one page, for a language model' },
  errors: { path: '/docs/errors', text: 'Every error, and what to do next' },
  webhooks: { path: '/docs/webhooks', text: 'Webhooks' },
  console: { path: '/console', text: 'The owner’s console: watch, limit and pause your agents' },
  pause: { path: '/console/pause', text: 'Pause your agents without scripts' },
  readiness: { path: '/readyz', text: 'Is the service ready?' },
} as const;

/** Read in a browser; registration is a POST. */
const { register: REGISTER, ...READABLE } = LINKS;

const money = (backend: string): string =>
  backend === 'paper' ? 'paper: simulated money' : `${backend}: real money`;

function frontPage(site: Site): Markup {
  const base = basePathOf(site);
  return readingPage(site, {
    title: 'Order desk for trading agents',
    content: html`<h1>Bellwether</h1>
<p>The order desk that an AI trading agent talks to: one guarded HTTP/JSON API in front of prediction markets. The agent signs its orders itself; its private key never leaves its machine.</p>
<h2>Venues</h2>
<dl class="facts">
${site.venues.map(({ name, backend }) => html`<div><dt>${name}</dt><dd>${money(backend)}</dd></div>`)}
</dl>
<h2>Begin</h2>
<p>Register an agent. The answer carries its API key once, and a link by which you become its owner.</p>
<pre><code>curl -s ${site.publicUrl}${REGISTER.path} \\
  -H 'content-type: application/json' -d '{"name": "my agent"}'</code></pre>
<h2>Read on</h2>
<ul>
${Object.values(READABLE).map(({ path, text }) => html`<li><a href="${base}${path}">${text}</a></li>`)}
</ul>`,
  });
}

/** @returns the paths, for the table of methods */
export function serveFrontPage(
  app: FastifyInstance,
  gate: Gate,
  { siteOf, version }: { readonly siteOf: () => Site; readonly version: string },
): readonly Route[] {
  app.get('/', { schema: { hide: true }, onRequest: limitPages(gate) }, async (request, reply) => {
    const site = siteOf();
    reply.header('vary', 'accept, origin');
    if (wantsHtml(request)) return sendPage(reply, 200, frontPage(site));
    const venues = site.venues.map(({ name, backend }) => ({ name, backend }));
    const links = Object.entries(LINKS).map(([name, { path }]) => [name, site.publicUrl + path]);
    return { name: 'Bellwether', version, venues, links: Object.fromEntries(links) };
  });
  return [
    { path: '', method: 'GET' },
    { path: '/', method: 'GET' },
  ];
}
