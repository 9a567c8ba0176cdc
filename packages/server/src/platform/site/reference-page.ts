/**
 * Parts of the API reference page beside its library. The library comes with buttons that send the document, or
 * the data of the person who presses them, to its maker's services: they are switched off, and the policy lets the page load from and call
 * us alone.
 */
import type { FastifyReply } from 'fastify';

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

export const REFERENCE_PAGE = `<!doctype html>
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

export const REFERENCE_START = `Scalar.createApiReference('#app', ${JSON.stringify(SETTINGS)});\n`;

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
export const guardReference = (reply: FastifyReply): FastifyReply =>
  reply
    .header('content-security-policy', POLICY)
    .header('x-frame-options', 'DENY')
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer');
