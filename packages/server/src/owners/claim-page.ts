/** The claim look-up, for its two readers: a program gets the record, a person the page. */
import {
  CAP_NAMES,
  CAPS,
  type CapName,
  ERRORS,
  getClaim,
  getClaimByQuery,
  type OwnerAgent,
} from '@bellwether/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { lookUpClaim } from '../agents/index.ts';
import type { Owner } from '../domain/records.ts';
import { type Identities, sessionTokens } from '../platform/http/identify.ts';
import {
  basePathOf,
  elsewhere,
  errorPage,
  html,
  layout,
  type Markup,
  type Site,
  sendPage,
  wantsHtml,
} from '../platform/http/pages.ts';
import type { Bind } from '../platform/http/routes.ts';
import { Refusal } from '../platform/refusal.ts';
import { claimPreview } from './owned-agents.ts';
import type { OwnerNeeds } from './owners.ts';

export function bindClaims(
  bind: Bind,
  needs: OwnerNeeds & { readonly publicUrl: string },
  { ownerOf }: Pick<Identities, 'ownerOf'>,
  siteOf: () => Site,
): void {
  const showPage = async (code: string | undefined, request: FastifyRequest, reply: FastifyReply) => {
    const site = siteOf();
    const path = `/agents/claim${code === undefined ? '' : `/${encodeURIComponent(code)}`}`;
    const there = elsewhere(request, site, path);
    if (there !== null) return reply.redirect(there, 302);
    try {
      const [preview, owner] = await Promise.all([
        claimPreview(needs, code),
        ownerOf(sessionTokens(request, needs.publicUrl)),
      ]);
      return sendPage(reply, 200, claimPage(site, { ...preview, owner, claimCode: code ?? '' }));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const [{ code: refused, detail }] = error.denials;
      const text = `${detail} ${ERRORS[refused].fix}`;
      return sendPage(reply, ERRORS[refused].status, errorPage(site, ERRORS[refused].title, text));
    }
  };
  const claim = async (code: string | undefined, request: FastifyRequest, reply: FastifyReply) => {
    // One address, two readers: a shared cache must not mix them up.
    reply.header('vary', 'accept, origin').header('cache-control', 'no-store');
    return wantsHtml(request) ? showPage(code, request, reply) : lookUpClaim(needs, code);
  };
  bind(getClaim, ({ params, request, reply }) => claim(params.claimCode, request, reply));
  bind(getClaimByQuery, ({ query, request, reply }) => claim(query.claimCode, request, reply));
}

// The claim page: what the agent is, what it may do, its limits, its state; and the way to become its owner.

interface ClaimView {
  readonly agent: OwnerAgent;
  readonly claimCode: string;
  /** Who claimed it; `null` without an owner. */
  readonly ownerId: bigint | null;
  readonly owner: Owner | null;
}

/** Where real money is traded, the owner's word begins with what the owner has seen. */
const isLive = (site: Site): boolean => site.venues.some(({ backend }) => backend === 'live');

/** The limits of this page, as the claim locks them. */
const shownSafeguards = ({ settings }: OwnerAgent): string =>
  JSON.stringify(
    Object.fromEntries(
      CAP_NAMES.filter((name) => settings[name] !== null).map((name) => [
        name,
        { limit: settings[name], locked: true },
      ]),
    ),
  );

const consequences = (locks: boolean) => html`<ul>
${locks && html`<li>The limits below become ceilings with the claim: it can go below them, never above, until you change them.</li>`}
<li>You can lower and lock its limits, and pause it at any time; its API key cannot undo that.</li>
<li>Its wallets and credentials become yours. It reaches, as before, those that it registered, linked or traded with: it reads them, trades with them, unlinks them, cancels what is open on them, and charges fees to them where they allow it.</li>
<li>It does not reach the wallets of your other agents, nor do they reach its wallets, unless you grant it on your page.</li>
<li>You see its API keys there, and can revoke them.</li>
<li>It has one owner from then on. A claim cannot be repeated by somebody else.</li>
</ul>`;

const accountForms = (purpose: string): Markup => html`<div class="ways">
<form data-action="register" class="way" novalidate>
<h3>New here?</h3>
<p>Your device makes a passkey: no password, nothing to remember.</p>
<label for="owner-name">Your name</label>
<input id="owner-name" name="name" type="text" maxlength="100" autocomplete="name" required>
<button type="submit" class="primary">Create account with a passkey</button>
</form>
<div class="way">
<h3>Been here before?</h3>
<p>Use the passkey of your owner account ${purpose}.</p>
<button type="button" data-action="sign-in">Sign in with a passkey</button>
</div>
</div>`;

function claimSection({ agent, claimCode, ownerId, owner }: ClaimView, site: Site): Markup {
  const base = basePathOf(site);
  if (owner !== null && ownerId === owner.userId)
    return html`${controls(site, agent)}<p><a href="${base}/console">Open the console</a>: what it does, live.</p>`;
  if (ownerId !== null) {
    return html`<section class="card" aria-labelledby="claim">
<h2 id="claim">This agent has an owner</h2>
<p>Somebody has claimed it, and an agent has one owner.${owner === null ? ' If it was you, sign in to control it.' : ''}</p>
${owner === null && html`<p><button type="button" data-action="sign-in">Sign in with a passkey</button></p>`}
</section>`;
  }
  return html`<section class="card" aria-labelledby="claim">
<h2 id="claim">Claim this agent</h2>
<p>Claim it if you are the person answerable for what it does.</p>
${consequences(isLive(site))}
${
  owner === null
    ? accountForms('to claim this agent')
    : html`<button type="button" class="primary" data-action="claim" data-claim-code="${claimCode}"${
        isLive(site) && html` data-safeguards="${shownSafeguards(agent)}"`
      }>Claim as ${owner.name}</button>`
}
</section>`;
}

function claimPage(site: Site, view: ClaimView): Markup {
  const { agent, ownerId, owner } = view;
  return layout(site, {
    title: agent.name,
    owner,
    content: html`<section class="intro">
<p class="kicker">Trading agent</p>
<h1>${agent.name}</h1>
${stateBadges(agent, ownerId !== null)}
${selfDescription(agent)}
</section>
${claimSection(view, site)}
${permissions(site, agent)}
${limits(agent)}
<details class="card"><summary>Identification</summary><dl class="facts"><div><dt>Agent id</dt><dd class="code">${agent.agentId}</dd></div></dl></details>`,
  });
}

// Parts of pages about one agent: its state, what it may do, its limits, and the owner's controls over them.

type Settings = OwnerAgent['settings'];

const ONLINE: Readonly<Record<number, string>> = {
  1: 'Active: called within five minutes',
  2: 'Idle: called within a day',
  3: 'Offline: not called for a day',
};

const MONEY = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });
const money = (value: number | null): string => (value === null ? 'No limit' : MONEY.format(value));

/** Trading, or who paused it. */
function tradingState({ tradingPaused, pausedByOwner }: Settings): Markup {
  if (pausedByOwner) return html`<span class="badge stop">Paused by the owner</span>`;
  if (tradingPaused) return html`<span class="badge stop">Paused by the agent</span>`;
  return html`<span class="badge go">Trading allowed</span>`;
}

const stateBadges = (agent: OwnerAgent, claimed: boolean): Markup => html`<p class="badges">
${tradingState(agent.settings)}
<span class="badge">${ONLINE[agent.onlineStatus] ?? 'Unknown'}</span>
<span class="badge">${claimed ? 'Claimed' : 'Waiting for an owner'}</span>
</p>`;

/** Names and descriptions come from strangers, and are marked as their words. */
const selfDescription = ({ description }: OwnerAgent): Markup | null =>
  description === ''
    ? null
    : html`<figure class="quote"><figcaption>The agent says of itself:</figcaption><blockquote>${description}</blockquote></figure>`;

const permissions = (
  { venues }: Site,
  agent: OwnerAgent,
): Markup => html`<section class="card" aria-labelledby="may">
<h2 id="may">What it may do</h2>
<ul>
${venues.map(({ name, backend }) =>
  backend === 'paper'
    ? html`<li>Trade on <strong>${name}</strong> with <strong>simulated money</strong> (paper).</li>`
    : html`<li>Trade on <strong>${name}</strong> with <strong>real money</strong>.</li>`,
)}
<li>Place orders that it has signed with its own wallet, within the limits below.</li>
<li>Cancel its orders and redeem what it has won, always: no limit and no pause stands in the way of getting out.</li>
</ul>
<p>Bellwether never holds the private key of its wallet${agent.walletAddress === null ? ', of which it has registered none yet' : null}.</p>
${
  agent.walletAddress !== null &&
  html`<dl class="facts"><div><dt>Wallet</dt><dd class="code">${agent.walletAddress}</dd></div></dl>`
}
</section>`;

function limits({ settings, tradesToday, tradeAmountToday }: OwnerAgent): Markup {
  const used: Partial<Record<string, string>> = {
    maxTradesPerDay: `${tradesToday} used today`,
    dailyTradeAmountLimit: `${money(tradeAmountToday)} used today`,
  };
  return html`<section class="card" aria-labelledby="limits">
<h2 id="limits">Its limits</h2>
${
  !settings.tradeLimitEnabled &&
  html`<p class="message error">The caps below are switched off: only the pause holds.</p>`
}
<dl class="facts">
${CAP_NAMES.map(
  (name) =>
    html`<div><dt>${CAPS[name].label}</dt><dd>${money(settings[name])}${
      used[name] !== undefined && html` <span class="note">${used[name] ?? ''}</span>`
    }${name in settings.lockedByOwner && html` <span class="badge small">Locked</span>`}</dd></div>`,
)}
</dl>
</section>`;
}

/** The agent's own, lower setting beside its owner's ceiling. */
function lowered(settings: Settings, name: CapName): Markup | null {
  const ceiling = settings.lockedByOwner[name];
  const value = settings[name];
  if (ceiling === undefined || value === null || value >= ceiling) return null;
  return html` The agent has lowered it to ${money(value)}.`;
}

function capRow(agent: OwnerAgent, name: CapName): Markup {
  const { settings } = agent;
  const { label, hint, minimum, maximum, optional, unit } = CAPS[name];
  const ceiling = settings.lockedByOwner[name];
  const value = ceiling ?? settings[name];
  const id = `${name}-${agent.agentId}`;
  return html`<div class="row" data-safeguard="${name}">
<div class="field">
<label for="${id}">${label}</label>
<input id="${id}" name="limit" type="number" inputmode="decimal" min="${minimum}" max="${maximum}" step="${unit === 'count' ? '1' : 'any'}" value="${value === null ? '' : value}"${optional ? html` placeholder="no limit"` : html` required`} aria-describedby="${id}-hint">
<p class="hint" id="${id}-hint">${hint}${lowered(settings, name)}</p>
</div>
<label class="lock"><input type="checkbox" name="locked"${ceiling !== undefined && html` checked`}> <span>Lock<span class="hidden"> ${label}</span></span></label>
</div>`;
}

/** Exits that protect nothing although a button of the page lets trading go on; `null`: there are none. */
export function suspendedNote(site: Site, { agentId, suspendedExits }: OwnerAgent): Markup | null {
  if (suspendedExits === undefined) return null;
  const { count } = suspendedExits;
  const which = count === 1 ? '1 exit is suspended and protects' : `${count} exits are suspended and protect`;
  return html`<p>${which} nothing, also once trading goes on. <a href="${basePathOf(site)}/console/agents/${agentId}/orders">Resume on the console</a></p>`;
}

function controls(site: Site, agent: OwnerAgent): Markup {
  const { settings, agentId } = agent;
  const paused = settings.tradingPaused;
  const id = `caps-${agentId}`;
  return html`<section class="card controls" aria-labelledby="control-${agentId}" data-agent="${agentId}">
<h2 id="control-${agentId}">Your controls<span class="hidden"> of ${agent.name}</span></h2>
<div class="switch">
<p>${
    paused
      ? html`<strong>Paused.</strong> It can cancel and redeem, nothing else.`
      : html`<strong>Trading allowed.</strong> A pause holds from its next trade on.`
  }</p>
<button type="button" class="${paused ? 'go' : 'stop'}" data-action="${paused ? 'resume' : 'pause'}">${paused ? 'Resume trading' : 'Pause trading'}</button>
</div>
${suspendedNote(site, agent)}
<form data-action="safeguards" novalidate>
<p class="hint">What you save holds for the next trade. A locked limit is a ceiling: the agent can go below it, never above. A locked silence is a floor: the agent can set more, never less.</p>
${CAP_NAMES.map((name) => capRow(agent, name))}
<div class="row" data-safeguard="tradeLimitEnabled">
<div class="field check">
<input id="${id}" name="limit" type="checkbox"${settings.tradeLimitEnabled && html` checked`} aria-describedby="${id}-hint">
<label for="${id}">Limits are on</label>
<p class="hint" id="${id}-hint">Locking any limit keeps them on.</p>
</div>
<label class="lock"><input type="checkbox" name="locked"${settings.lockedByOwner.tradeLimitEnabled === true && html` checked`}> <span>Lock<span class="hidden"> that limits are on</span></span></label>
</div>
<button type="submit" class="primary">Save limits</button>
</form>
</section>`;
}
