/**
 * The API reference page. Its library is four megabytes of script that takes longer to load than the rest of the
 * service together, so it is loaded when somebody first looks, in an application of its own behind the route.
 */
import Fastify, { type FastifyInstance } from 'fastify';

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
      configuration: { url: `${basePath}/openapi.json`, title: 'Bellwether API' },
    });
    await inner.ready();
    return inner;
  };

  for (const path of [routePrefix, `${routePrefix}/*`]) {
    app.get(path, { schema: { hide: true } }, async (request, reply) => {
      page ??= load();
      const answer = await (await page).inject({ method: 'GET', url: request.url });
      const { location } = answer.headers;
      if (typeof location === 'string') reply.header('location', location);
      return reply
        .code(answer.statusCode)
        .type(String(answer.headers['content-type'] ?? 'text/html; charset=utf-8'))
        .send(answer.rawPayload);
    });
  }
}
