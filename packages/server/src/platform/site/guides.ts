/** The guides, and what each problem's `type` leads to: pages for people, Markdown and JSON for programs. */

import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ERRORS, type ErrorCode } from '@bellwether/contract';
import type { FastifyInstance } from 'fastify';
import {
  basePathOf,
  html,
  limitPages,
  type Markup,
  readingPage,
  type Site,
  sendPage,
  wantsHtml,
} from '../http/pages.ts';
import { sendProblem } from '../http/problem.ts';
import type { Gate, Route } from '../http/routes.ts';

const isCode = (text: string): text is ErrorCode => Object.hasOwn(ERRORS, text);

const errorPage = (site: Site, code: ErrorCode): Markup =>
  readingPage(site, {
    title: ERRORS[code].title,
    content: html`<h1>${ERRORS[code].title}</h1>
<p><code>${code}</code>, HTTP status ${ERRORS[code].status}</p>
<p>${ERRORS[code].fix}</p>
<p>An answer can carry a <code>fix</code> of its own that fits its case better. <a href="${basePathOf(site)}/docs/errors">All errors</a></p>`,
  });

/** @returns the paths, for the table of methods */
export function serveGuides(app: FastifyInstance, gate: Gate, siteOf: () => Site): readonly Route[] {
  const guides = readGuides();
  const pages = new Map<string, Promise<Markup>>();
  const options = { schema: { hide: true }, onRequest: limitPages(gate) };
  const pageOf = (guide: Guide): Promise<Markup> => {
    const page = pages.get(guide.name) ?? renderGuide(guide, guides, `${basePathOf(siteOf())}/docs`);
    pages.set(guide.name, page);
    return page;
  };

  for (const guide of guides.values()) {
    app.get(`/docs/${guide.name}`, options, async (request, reply) => {
      reply.header('vary', 'accept, origin');
      if (!wantsHtml(request)) return reply.type('text/markdown; charset=utf-8').send(guide.markdown);
      const content = await pageOf(guide);
      return sendPage(reply, 200, readingPage(siteOf(), { title: guide.title, content }));
    });
  }
  // As a reader of the folder would ask for it; links there are relative to its index.
  app.get('/docs/decisions', options, (_request, reply) =>
    reply.redirect(`${basePathOf(siteOf())}/docs/decisions/README`, 302),
  );
  app.get<{ Params: { code: string } }>('/docs/errors/:code', options, async (request, reply) => {
    const { code } = request.params;
    if (!isCode(code)) return sendProblem(request, reply, 'route_not_found');
    reply.header('vary', 'accept, origin');
    if (wantsHtml(request)) return sendPage(reply, 200, errorPage(siteOf(), code));
    return { code, ...ERRORS[code] };
  });
  const served = [...guides.keys()].map((name) => `/docs/${name}`);
  return [...served, '/docs/decisions', '/docs/errors/{code}'].map((path) => ({
    path,
    method: 'GET',
  }));
}

// The Markdown pages of the documentation folder, as they are and as pages. They are files of this release, so they
// are trusted; a visitor chooses among them by name and never names a file.

const ROOT = join(import.meta.dirname, '../../../../..');
const FOLDER = join(ROOT, 'docs');
const EXTENSION = '.md';
/** Beside the folder. */
const FURTHER = ['SECURITY'];

interface Guide {
  /** Path under /docs, without an extension: `errors`, `decisions/README`. */
  readonly name: string;
  readonly title: string;
  readonly markdown: string;
}

function readGuides(): ReadonlyMap<string, Guide> {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith(EXTENSION),
  );
  const inFolder = files.map((file) => guideOf(file.slice(0, -EXTENSION.length), FOLDER));
  const all = [...inFolder, ...FURTHER.map((name) => guideOf(name, ROOT))];
  return new Map(all.map((guide) => [guide.name, guide]));
}

function guideOf(name: string, folder: string): Guide {
  const markdown = readFileSync(join(folder, name + EXTENSION), 'utf8');
  return { name, title: /^# (.+)$/m.exec(markdown)?.[1] ?? name, markdown };
}

/** As GitHub makes anchors of headings, so that links work in both places. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** Where a link of a guide leads under /docs; `null` when its target is not served. */
function target(guide: Guide, href: string, guides: ReadonlyMap<string, Guide>): string | null {
  const [path = '', anchor] = href.split('#', 2);
  const inRepository = FURTHER.includes(guide.name)
    ? path
    : posix.join('docs', posix.dirname(guide.name), path);
  const name = inRepository.replace(/\.md$/, '').replace(/^docs\//, '');
  if (!guides.has(name)) return null;
  return anchor === undefined ? name : `${name}#${anchor}`;
}

/** @param root address of /docs, with the base path */
async function renderGuide(guide: Guide, guides: ReadonlyMap<string, Guide>, root: string): Promise<Markup> {
  // Loaded when a person first reads a guide: a service that only trades never needs it.
  const { Marked } = await import('marked');
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      // The guides are written without HTML: what looks like a tag is a placeholder, such as <API key>.
      html({ text }) {
        return text.startsWith('<!--') ? '' : html`${text}`.markup;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        if (/^(https?:|#)/.test(href)) return `<a href="${href}">${text}</a>`;
        const served = target(guide, href, guides);
        return served === null ? text : `<a href="${root}/${served}">${text}</a>`;
      },
    },
  });
  return { markup: await marked.parse(guide.markdown) };
}

// `GET /`: what this is and where to go on, for a person and for a program that have only the address.

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
