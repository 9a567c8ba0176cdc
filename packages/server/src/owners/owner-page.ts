/** The owner's page: sign in, and every agent that was claimed, with its controls. */
import type { LeftWallet } from '@bellwether/contract';
import type { Owner } from '../domain/records.ts';
import { html, type Markup } from '../platform/http/html.ts';
import { basePathOf, layout, type Site } from '../platform/http/layout.ts';
import { controls, selfDescription, stateBadges } from './agent-sections.ts';
import { accountForms } from './claim-page.ts';
import { type AgentDetail, keysSection, leftSection, walletsSection } from './wallet-sections.ts';

export const signInPage = (site: Site): Markup =>
  layout(site, {
    title: 'Sign in',
    owner: null,
    content: html`<section class="intro"><h1>Your agents</h1><p>Sign in to see the agents that you have claimed, to limit them, and to stop them.</p></section>
<section class="card">${accountForms('to see your agents')}</section>`,
  });

export const ownerPage = (
  site: Site,
  owner: Owner,
  agents: readonly AgentDetail[],
  left: readonly LeftWallet[],
): Markup =>
  layout(site, {
    title: 'Your agents',
    owner,
    content: html`<section class="intro"><h1>Your agents</h1><p><a href="${basePathOf(site)}/console">Open the console</a>: what they do, live.</p></section>
${leftSection(left)}
${
  agents.length === 0 &&
  html`<section class="card"><p>You have claimed no agent yet. Open the claim link that your agent gave you: its address ends in a code like 7K2QD-M9XTR.</p></section>`
}
${agents.map(
  ({ agent, ...detail }) => html`<article class="agent" aria-label="${agent.name}">
<h2>${agent.name}</h2>
${stateBadges(agent, true)}
${selfDescription(agent)}
<p class="note">Today: ${agent.tradesToday} trades, ${agent.tradeAmountToday} collateral.</p>
${controls(agent, 'h3')}
${walletsSection({ agent, ...detail })}
${keysSection({ agent, ...detail })}
</article>`,
)}`,
  });
