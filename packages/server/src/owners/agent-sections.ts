/** Parts of pages about one agent: its state, what it may do, its limits, and the owner's controls over them. */
import { CAP_NAMES, CAPS, type CapName, type OwnerAgent } from '@bellwether/contract';
import { html, type Markup } from '../platform/http/html.ts';
import type { Site } from '../platform/http/layout.ts';

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

export const stateBadges = (agent: OwnerAgent, claimed: boolean): Markup => html`<p class="badges">
${tradingState(agent.settings)}
<span class="badge">${ONLINE[agent.onlineStatus] ?? 'Unknown'}</span>
<span class="badge">${claimed ? 'Claimed' : 'Waiting for an owner'}</span>
</p>`;

/** Names and descriptions come from strangers, and are marked as their words. */
export const selfDescription = ({ description }: OwnerAgent): Markup | null =>
  description === ''
    ? null
    : html`<figure class="quote"><figcaption>The agent says of itself:</figcaption><blockquote>${description}</blockquote></figure>`;

export const permissions = (
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

export function limits({ settings, tradesToday, tradeAmountToday }: OwnerAgent): Markup {
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

export function controls(agent: OwnerAgent): Markup {
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
