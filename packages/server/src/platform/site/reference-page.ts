/**
 * Parts of the API reference page beside its library. The library comes with buttons that send the document, or
 * the data of the person who presses them, to its maker's services: they are switched off, and the policy lets the page load from and call
 * us alone.
 */
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { sendProblem } from '../http/problem.ts';

/** As the browser sees it from the page: right with anything in front of the service. */
const DOCUMENT = '../openapi.json';

const SETTINGS = {
  _integration: 'fastify',
  url: DOCUMENT,
  title: 'Bellwether API',
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  telemetry: false,
  // The maker's server of fonts.
  withDefaultFonts: false,
  // Keys that were typed in to try a route stay in the page.
  persistAuth: false,
};

const REFERENCE_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Bellwether API</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="app"></div>
<noscript><p>This page needs JavaScript; <a href="${DOCUMENT}">the OpenAPI document</a> does not.</p></noscript>
<script src="js/scalar.js"></script>
<script src="js/start.js"></script>
</body>
</html>
`;

const REFERENCE_START = `Scalar.createApiReference('#app', ${JSON.stringify(SETTINGS)});\n`;

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The library writes its styles into the page.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** For everything under the page's path. */
const guardReference = (reply: FastifyReply): FastifyReply =>
  reply
    .header('content-security-policy', POLICY)
    .header('x-frame-options', 'DENY')
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer');

// The API reference page. Its library is four megabytes of script that takes longer to load than the rest of the
// service together, so it is loaded when somebody first looks, in an application of its own behind the route.

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
