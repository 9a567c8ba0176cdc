/** The console: one page for all its views, which a script draws; its files; nothing of it needs a session to load. */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { ERRORS, type OwnerAgent, pauseOwner } from '@bellwether/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SignedInOwner } from '../domain/records.ts';
import { listAgents, type OwnerNeeds, pause, pauseAll, suspendedNote } from '../owners/index.ts';
import { refusedInRecovery, sessionTokens } from '../platform/http/identify.ts';
import {
  basePathOf,
  elsewhere,
  errorPage,
  html,
  limitPages,
  type Markup,
  readingPage,
  type Site,
  sendForms,
  sendPage,
} from '../platform/http/pages.ts';
import { acceptedEncoding, type Gate, type Route } from '../platform/http/routes.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import { BundleFault, type ConsoleBundle, type ConsoleFile, type ConsoleFiles } from './bundle.ts';

const ASSETS = '/console/assets';
const A_YEAR_S = 365 * 24 * 3600;
const RETRY_AFTER_S = 10;

const AGENT = '/owner/agents/:agentId';
const EXITS = '/owner/exits?agentId=:agentId&limit=100';
const WAITING = '/owner/approvals?limit=100&status=waiting';

/**
 * The views that have an address; the script knows the same ones. With what each shows first, in the script's own words: read together with
 * the script instead of after it.
 */
const VIEWS: Readonly<Record<string, readonly string[]>> = {
  '/console': ['/owner/home', '/owner/equity?interval=1d'],
  '/console/agents/:agentId': [AGENT, `${AGENT}/equity?interval=1d`],
  '/console/agents/:agentId/positions': [AGENT, `${AGENT}/positions`, `${EXITS}&status=open`],
  '/console/agents/:agentId/exits': [AGENT, `${EXITS}&status=open`, EXITS],
  '/console/agents/:agentId/orders': [AGENT, `${AGENT}/orders/open`],
  '/console/agents/:agentId/decisions': [AGENT, `${AGENT}/decisions?limit=100`],
  '/console/agents/:agentId/limits': [AGENT, '/owner/safeguards'],
  '/console/agents/:agentId/keys': [AGENT, `${AGENT}/keys`, `${AGENT}/wallets`, `${AGENT}/webhooks`],
  '/console/agents/:agentId/orders/:orderId': [
    `${AGENT}/orders/:orderId`,
    `${AGENT}/orders/:orderId/receipt`,
  ],
  '/console/markets/:marketId': ['/owner/agents'],
  '/console/approvals': ['/owner/approvals?limit=100'],
  '/console/sign-in': ['/owner/passkeys'],
  '/console/operator': [],
};

const firstReads = (view: readonly string[], params: Readonly<Record<string, string>>): readonly string[] =>
  ['/owner/session', WAITING, ...view].map((path) =>
    path.replaceAll(/:(\w+)/g, (_all, name: string) => encodeURIComponent(params[name] ?? '')),
  );

const addressOf = (site: Site, files: ConsoleFiles, name: string): string =>
  `${basePathOf(site)}${ASSETS}/${name}?v=${files.get(name)?.digest ?? ''}`;

const shell = (site: Site, files: ConsoleFiles, reads: readonly string[]): Markup => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Console · Bellwether</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${addressOf(site, files, 'console.css')}">
<script type="module" src="${addressOf(site, files, 'console.js')}"></script>
${reads.map((path) => html`<link rel="preload" as="fetch" crossorigin href="${basePathOf(site)}${path}">\n`)}
</head>
<body data-base="${basePathOf(site)}">
<noscript><p>The console needs JavaScript. Please allow it for this page, or <a href="${basePathOf(site)}/console/pause">pause your agents without it</a>.</p></noscript>
<div id="console"></div>
</body>
</html>
`;

function sendFile(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile): FastifyReply {
  const encoding = acceptedEncoding(request);
  if (encoding !== null) reply.header('content-encoding', encoding);
  // During an upgrade the page may come from another release than its files: those must not be kept under its address.
  const isAsked = file.isNamedByContent || (request.query as Record<string, unknown>).v === file.digest;
  return reply
    .type(file.type)
    .header('vary', 'accept-encoding, origin')
    .header('cache-control', isAsked ? `public, max-age=${A_YEAR_S}, immutable` : 'no-store')
    .header('x-content-type-options', 'nosniff')
    .send(encoding === null ? file.plain : encoding === 'br' ? file.brotli : file.gzip);
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
  for (const [path, view] of Object.entries(VIEWS)) {
    app.get(
      path,
      options,
      withFiles((files, request, reply) => {
        const site = siteOf();
        const [asked = ''] = request.url.slice(basePathOf(site).length).split('?');
        const there = elsewhere(request, site, asked);
        if (there !== null) return reply.redirect(there, 302);
        // Without a session there is nothing to read yet.
        const isKnown = sessionTokens(request, site.publicUrl).length > 0;
        const reads = isKnown ? firstReads(view, request.params as Record<string, string>) : [];
        return sendPage(reply, 200, shell(site, files, reads));
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
  return ['/owner', ...Object.keys(VIEWS), `${ASSETS}/:file`].map((path) => ({
    path: path.replaceAll(/:(\w+)/g, '{$1}'),
    method: 'GET' as const,
  }));
}

// Pauses and resumes agents without scripts, while a session lives: for a browser that blocks them, or a day on which the
// console does not load. Each form carries a token that only the session's holder can compute.

const PATH = '/console/pause';
const EVERYONE = 'all';
/** An id, a word and a token take some 150 bytes. */
const FORM_BYTES = 2_048;

/** A session that holds: its owner, and the token that its forms carry. */
interface Session {
  readonly owner: SignedInOwner;
  readonly formToken: string;
}

/** The session's own secret is the key, so nothing needs to be stored, and no other session's form is accepted. */
const formTokenOf = (sessionToken: string): string =>
  createHmac('sha256', sessionToken).update('pause form').digest('base64url');

/** Looks at each cookie alone: a cookie that a neighbour planted must not decide which token is right. */
async function sessionOf(request: FastifyRequest, gate: Gate): Promise<Session | null> {
  for (const token of sessionTokens(request, gate.publicUrl())) {
    const owner = await gate.ownerOf([token]);
    if (owner !== null) return { owner, formToken: formTokenOf(token) };
  }
  return null;
}

/** Compares in constant time. */
function isToken(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

interface FormOptions {
  readonly site: Site;
  readonly formToken: string;
  readonly target: string;
  readonly name: string;
  readonly isPaused: boolean;
}

const form = ({
  site,
  formToken,
  target,
  name,
  isPaused,
}: FormOptions): Markup => html`<form method="post" action="${basePathOf(site)}${PATH}">
<input type="hidden" name="token" value="${formToken}">
<input type="hidden" name="agent" value="${target}">
<input type="hidden" name="paused" value="${isPaused ? 'no' : 'yes'}">
<button type="submit" class="${isPaused ? 'go' : 'stop'}">${isPaused ? 'Resume' : 'Pause'}<span class="hidden"> ${name}</span></button>
</form>`;

function stateOf({ tradingPaused, pausedByOwner }: OwnerAgent['settings']): Markup {
  if (pausedByOwner) return html`<span class="badge stop">Paused by you</span>`;
  if (tradingPaused) return html`<span class="badge stop">Paused by the agent</span>`;
  return html`<span class="badge go">Trading allowed</span>`;
}

const INTRO = html`<p>This page needs no scripts. A pause holds from the agent’s next trade on; cancels and redeems go through. Orders that rest on a book stay there and may fill: the console and the agent can cancel them.</p>`;

function agentsPage(
  site: Site,
  { owner, formToken }: Session,
  agents: readonly OwnerAgent[],
  note: string | undefined,
): Markup {
  const all = { site, formToken, target: EVERYONE };
  return readingPage(site, {
    title: 'Pause your agents',
    content: html`<section class="intro"><h1>Pause your agents</h1>
<p>Signed in as <strong>${owner.name}</strong>. <a href="${basePathOf(site)}/console">Open the console</a></p>
${INTRO}</section>
${note !== undefined && html`<p class="message" role="status">${note}</p>`}
${agents.length === 0 && html`<section class="card"><p>You have claimed no agent yet.</p></section>`}
${
  agents.length > 1 &&
  html`<section class="card switch" aria-label="All agents"><h2>All agents</h2>
${form({ ...all, name: 'all agents', isPaused: false })}${form({ ...all, name: 'all agents', isPaused: true })}</section>`
}
${agents.map(
  (agent) => html`<section class="card switch" aria-label="${agent.name}">
<div><h2>${agent.name}</h2><p class="badges">${stateOf(agent.settings)}</p>${suspendedNote(site, agent)}</div>
${form({ site, formToken, target: agent.agentId, name: agent.name, isPaused: agent.settings.tradingPaused })}
</section>`,
)}`,
  });
}

const signedOutPage = (site: Site): Markup =>
  readingPage(site, {
    title: 'Pause your agents',
    content: html`<section class="intro"><h1>Pause your agents</h1>${INTRO}</section>
<section class="card"><p>You are not signed in here. Signing in uses a passkey, which needs JavaScript: allow it once and <a href="${basePathOf(site)}/console">sign in on the console</a>.</p>
<p>If you are signed in and a link elsewhere led you here, your browser kept the session back: <a href="${basePathOf(site)}${PATH}">load this page again</a>.</p>
<p>Without a session the operator can stop all trading of the service.</p></section>`,
  });

const NOTES: Readonly<Record<string, string>> = {
  paused: 'Trading is paused.',
  resumed: 'Trading is allowed again.',
};

/** @returns its routes, for the table of methods */
export function servePausePage(
  app: FastifyInstance,
  needs: OwnerNeeds,
  gate: Gate,
  siteOf: () => Site,
): readonly Route[] {
  const options = { schema: { hide: true }, onRequest: limitPages(gate) };
  const fail = (reply: FastifyReply, status: number, title: string, text: string) =>
    sendPage(reply, status, errorPage(siteOf(), title, text));

  app.get(PATH, options, async (request, reply) => {
    const site = siteOf();
    const there = elsewhere(request, site, PATH);
    if (there !== null) return reply.redirect(there, 302);
    const session = await sessionOf(request, gate);
    if (session === null) return sendPage(reply, 200, signedOutPage(site));
    const { done = '' } = request.query as { readonly done?: string };
    const agents = await listAgents(needs, session.owner);
    return sendForms(reply, agentsPage(site, session, agents, NOTES[done]));
  });

  app.register(async (scope) => {
    const type = 'application/x-www-form-urlencoded';
    scope.addContentTypeParser(type, { parseAs: 'string', bodyLimit: FORM_BYTES }, (_request, body, done) =>
      done(null, new URLSearchParams(body as string)),
    );
    scope.post(PATH, options, async (request, reply) => {
      const session = await sessionOf(request, gate);
      if (session === null)
        return fail(
          reply,
          401,
          'Not signed in',
          'Your session has ended. Sign in on the console, then pause.',
        );
      const fields = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
      const [token, agent, paused] = ['token', 'agent', 'paused'].map((name) => fields.get(name) ?? '');
      if (!isToken(token ?? '', session.formToken))
        return fail(
          reply,
          403,
          'Nothing was changed',
          `This form does not belong to your present session. Open ${PATH} again and repeat it there.`,
        );
      if ((paused !== 'yes' && paused !== 'no') || agent === undefined || agent === '')
        return fail(
          reply,
          400,
          'Nothing was changed',
          `The form is incomplete. Open ${PATH} again and repeat it there.`,
        );
      const isPaused = paused === 'yes';
      try {
        const closed = refusedInRecovery(pauseOwner, session.owner, { paused: isPaused });
        if (closed !== null) throw closed;
        if (agent === EVERYONE) await pauseAll(needs, session.owner, isPaused);
        else if ((await listAgents(needs, session.owner)).some(({ agentId }) => agentId === agent))
          await pause(needs, session.owner, agent, isPaused);
        else throw refusal('agent_not_found');
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const [{ code, detail }] = error.denials;
        return fail(reply, ERRORS[code].status, ERRORS[code].title, `${detail} ${ERRORS[code].fix}`);
      }
      return reply.redirect(`${basePathOf(siteOf())}${PATH}?done=${isPaused ? 'paused' : 'resumed'}`, 303);
    });
  });
  return [
    { path: PATH, method: 'GET' },
    { path: PATH, method: 'POST' },
  ];
}
