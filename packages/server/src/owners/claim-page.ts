/** The claim page: what the agent is, what it may do, its limits, its state; and the way to become its owner. */
import { CAP_NAMES, type OwnerAgent } from '@bellwether/contract';
import type { Owner } from '../domain/records.ts';
import { html, type Markup } from '../platform/http/html.ts';
import { basePathOf, layout, type Site } from '../platform/http/layout.ts';
import { controls, limits, permissions, selfDescription, stateBadges } from './agent-sections.ts';

export interface ClaimView {
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
    return html`${controls(agent)}<p><a href="${base}/console">Open the console</a>: what it does, live.</p>`;
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

export function claimPage(site: Site, view: ClaimView): Markup {
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
