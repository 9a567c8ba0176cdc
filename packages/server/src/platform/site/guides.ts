/** The guides, and what each problem's `type` leads to: pages for people, Markdown and JSON for programs. */
import { ERRORS, type ErrorCode } from '@bellwether/contract';
import type { FastifyInstance } from 'fastify';
import { html, type Markup } from '../http/html.ts';
import { basePathOf, readingPage, type Site, sendPage, wantsHtml } from '../http/layout.ts';
import { limitPages } from '../http/page-limit.ts';
import { sendProblem } from '../http/problem.ts';
import type { Gate, Route } from '../http/routes.ts';
import { type Guide, readGuides, renderGuide } from './guide-pages.ts';

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
