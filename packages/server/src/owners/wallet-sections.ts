/** Parts of the owner's page about keys and wallets: who may use what, and what left. */
import type { ApiKeyRecord, LeftWallet, OwnerAgent, OwnerWallet } from '@bellwether/contract';
import { html, type Markup } from '../platform/http/html.ts';

/** An agent with what its owner's page tells of it. */
export interface AgentDetail {
  readonly agent: OwnerAgent;
  readonly keys: readonly ApiKeyRecord[];
  readonly wallets: readonly OwnerWallet[];
}

const ACTIVE = 1;

const day = (epochMs: string): string => new Date(Number(epochMs)).toISOString().slice(0, 10);

export const keysSection = ({
  agent,
  keys,
}: AgentDetail): Markup => html`<section class="card" aria-labelledby="keys-${agent.agentId}" data-agent="${agent.agentId}">
<h3 id="keys-${agent.agentId}">API keys<span class="hidden"> of ${agent.name}</span></h3>
<ul class="plain">
${keys.map(
  (
    key,
  ) => html`<li class="switch"><p><strong>${key.keyName}</strong> <span class="code">${key.apiKeyCode.slice(0, 7)}…${key.apiKeyCode.slice(-4)}</span> <span class="note">made ${day(key.createdAt)}, ${key.lastCalledAt === null ? 'never used' : `last used ${day(key.lastCalledAt)}`}</span></p>
${
  key.status === ACTIVE
    ? html`<button type="button" class="stop" data-action="revoke-key" data-key="${key.id}">Revoke<span class="hidden"> ${key.keyName}</span></button>`
    : html`<span class="badge small">Revoked</span>`
}</li>`,
)}
</ul>
</section>`;

function walletRow({ walletAddress, venue, isOwn, granted }: OwnerWallet): Markup {
  const button = granted
    ? html`<button type="button" data-action="take-back" data-wallet="${walletAddress}">Take back<span class="hidden"> ${walletAddress}</span></button>`
    : html`<button type="button" data-action="grant" data-wallet="${walletAddress}">Grant<span class="hidden"> ${walletAddress}</span></button>`;
  const why = isOwn ? 'its own' : granted ? 'granted by you' : 'out of its reach';
  return html`<li class="switch"><p><span class="code">${walletAddress}</span> <span class="note">${venue}, ${why}</span></p>${(!isOwn || granted) && button}</li>`;
}

export const walletsSection = ({
  agent,
  wallets,
}: AgentDetail): Markup => html`<section class="card" aria-labelledby="wallets-${agent.agentId}" data-agent="${agent.agentId}">
<h3 id="wallets-${agent.agentId}">Wallets<span class="hidden"> of ${agent.name}</span></h3>
<p class="hint">It reads, trades with, unlinks and charges the wallets that it registered, linked or traded with, and those that you grant it.</p>
${wallets.length === 0 ? html`<p>You have no wallets yet.</p>` : html`<ul class="plain">${wallets.map(walletRow)}</ul>`}
</section>`;

function bindings({ agents }: LeftWallet): Markup {
  return html`<ul>${agents.map(({ name, paused, lockedByOwner }) => {
    const locks = Object.entries(lockedByOwner)
      .filter(([key]) => key !== 'tradeLimitEnabled')
      .map(([key, limit]) => `${key} ${limit}`);
    const parts = [...(paused ? ['paused'] : []), ...locks];
    return html`<li>${name}: ${parts.length === 0 ? 'nothing is locked or paused' : parts.join(', ')}</li>`;
  })}</ul>`;
}

export const leftSection = (left: readonly LeftWallet[]): Markup | null =>
  left.length === 0
    ? null
    : html`<section class="card" aria-labelledby="left">
<h2 id="left">Wallets that left</h2>
<p>Your agents had these wallets, and somebody else’s agents use them now: the key’s holder linked or registered them anew. What you have locked or paused for the agents below still binds these wallets, with what the day has used of it.</p>
<ul class="plain">
${left.map(
  (
    wallet,
  ) => html`<li><div class="switch"><p><span class="code">${wallet.walletAddress}</span> <span class="note">since ${wallet.leftAt.slice(0, 10)}</span></p>
<button type="button" data-action="lift" data-wallet="${wallet.walletAddress}">Set free<span class="hidden"> ${wallet.walletAddress}</span></button></div>
${bindings(wallet)}</li>`,
)}
</ul>
</section>`;
