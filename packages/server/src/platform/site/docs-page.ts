/**
 * The API reference page. Its library is four megabytes of script that takes longer to load than the rest of the
 * service together, so it is loaded when somebody first looks, in an application of its own behind the route.
 */
import Fastify, { type FastifyInstance } from 'fastify';
import { sendProblem } from '../http/problem.ts';
import { guardReference, REFERENCE_PAGE, REFERENCE_START } from './reference-page.ts';

type Prefix = `/${string}`;

/** @param basePath where the service lies: '' or '/…' */
export function bindDocs(app: FastifyInstance, basePath: string): void {
  const routePrefix = `${basePath}/docs` as Prefix;
  let page: Promise<FastifyInstance> | undefined;

  const load = async (): Promise<FastifyInstance> => {
    const { default: scalar } = await import('@scalar/fastify-api-reference');
    const inner = Fastify();
    await inner.register(scalar, {
      routePrefix,
      configuration: { url: `${basePath}/openapi.json` },
    });
    await inner.ready();
    return inner;
  };

  app.get(`${routePrefix}/`, { schema: { hide: true } }, (_request, reply) =>
    guardReference(reply).type('text/html; charset=utf-8').send(REFERENCE_PAGE),
  );
  app.get(`${routePrefix}/js/start.js`, { schema: { hide: true } }, (_request, reply) =>
    guardReference(reply).type('application/javascript; charset=utf-8').send(REFERENCE_START),
  );
  for (const path of [routePrefix, `${routePrefix}/*`]) {
    app.get(path, { schema: { hide: true } }, async (request, reply) => {
      page ??= load();
      const answer = await (await page).inject({ method: 'GET', url: request.url });
      if (answer.statusCode === 404) return sendProblem(request, guardReference(reply), 'route_not_found');
      const { location } = answer.headers;
      if (typeof location === 'string') reply.header('location', location);
      return guardReference(reply)
        .code(answer.statusCode)
        .type(String(answer.headers['content-type'] ?? 'text/html; charset=utf-8'))
        .send(answer.rawPayload);
    });
  }
}
