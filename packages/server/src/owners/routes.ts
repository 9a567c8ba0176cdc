/** Owners: their accounts and their word over their agents, as the pages' scripts call it. */
import {
  claimAgent,
  exitRulePasskeyOptions,
  getOwnerSession,
  grantOwnerAgentWallet,
  liftOperatorWallet,
  liftOwnerWallet,
  listLeftWallets,
  listOwnerAgentKeys,
  listOwnerAgents,
  listOwnerAgentWallets,
  passkeyRegistrationOptions,
  passkeySignInOptions,
  pauseOwnerAgent,
  registerPasskey,
  revokeOwnerAgentKey,
  setExitRule,
  setWalletHeartbeat,
  signInWithPasskey,
  signOutOwner,
  updateOwnerSafeguards,
  walletHeartbeatPasskeyOptions,
} from '@bellwether/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { assetPaths, readAssets } from '../platform/http/assets.ts';
import { sessionCookie, sessionTokens } from '../platform/http/identify.ts';
import type { Site } from '../platform/http/layout.ts';
import type { Bind } from '../platform/http/routes.ts';
import type { HasVenues } from '../venues/asking.ts';
import * as exits from './exit-rule.ts';
import * as agents from './owned-agents.ts';
import * as owners from './owners.ts';
import * as heartbeats from './wallet-heartbeat.ts';

interface Published {
  readonly publicUrl: string;
}

const SESSION_S = owners.SESSION_MS / 1000;

export function bindOwners(
  bind: Bind,
  needs: owners.OwnerNeeds &
    agents.OwnedAgentNeeds &
    exits.ExitRuleNeeds &
    heartbeats.HeartbeatNeeds &
    Published,
  forgetKey: (keyId: bigint) => Promise<void>,
): void {
  const session = (reply: FastifyReply, token: string | null) =>
    reply
      .header('set-cookie', sessionCookie(token, needs.publicUrl, SESSION_S))
      .header('cache-control', 'no-store');
  const welcome = async ({ owner, token }: owners.SignedIn, request: FastifyRequest, reply: FastifyReply) => {
    await owners.signOut(needs, sessionTokens(request, needs.publicUrl));
    session(reply, token);
    return owners.sessionRecord(owner);
  };

  bind(getOwnerSession, async ({ request, reply }) => {
    reply.header('cache-control', 'no-store');
    return owners.sessionRecord(await owners.ownerOfSession(needs, sessionTokens(request, needs.publicUrl)));
  });
  bind(passkeyRegistrationOptions, ({ body }) => owners.beginRegistration(needs, body.name));
  bind(passkeySignInOptions, () => owners.beginSignIn(needs));
  bind(registerPasskey, async ({ body, request, reply }) =>
    welcome(await owners.finishRegistration(needs, body), request, reply),
  );
  bind(signInWithPasskey, async ({ body, request, reply }) =>
    welcome(await owners.finishSignIn(needs, body), request, reply),
  );
  bind(signOutOwner, async ({ request, reply }) => {
    await owners.signOut(needs, sessionTokens(request, needs.publicUrl));
    session(reply, null);
    return owners.SIGNED_OUT;
  });

  bind(claimAgent, ({ owner, body }) => agents.claim(needs, owner, body, forgetKey));
  bind(listOwnerAgents, ({ owner }) => agents.listAgents(needs, owner));
  bind(updateOwnerSafeguards, ({ owner, params, body }) =>
    agents.setSafeguards(needs, owner, params.agentId, body),
  );
  bind(pauseOwnerAgent, ({ owner, params, body }) => agents.pause(needs, owner, params.agentId, body.paused));
  bind(exitRulePasskeyOptions, ({ owner, params, body }) =>
    exits.beginExitRule(needs, owner, params.agentId, body),
  );
  bind(setExitRule, ({ owner, params, body }) => exits.setExitRule(needs, owner, params.agentId, body));
  bind(listOwnerAgentKeys, ({ owner, params }) => agents.listKeys(needs, owner, params.agentId));
  bind(revokeOwnerAgentKey, ({ owner, params }) => agents.revokeKey(needs, owner, params, forgetKey));
  bind(listOwnerAgentWallets, ({ owner, params }) => agents.listWallets(needs, owner, params.agentId));
  bind(grantOwnerAgentWallet, ({ owner, params, body }) =>
    agents.grantWallet(needs, owner, params.agentId, body),
  );
  bind(walletHeartbeatPasskeyOptions, ({ owner, body }) => heartbeats.beginHeartbeat(needs, owner, body));
  bind(setWalletHeartbeat, ({ owner, body }) => heartbeats.setHeartbeat(needs, owner, body));
  bind(listLeftWallets, ({ owner }) => agents.leftWallets(needs, owner));
  bind(liftOwnerWallet, ({ owner, body }) => agents.liftLocks(needs, owner, body));
  bind(liftOperatorWallet, ({ body }) => agents.liftLocks(needs, null, body));
}

/** Parts that pages are made with; the public URL may be known only once the service listens. */
export function createSite(needs: HasVenues & Published): () => Site {
  const assets = assetPaths(readAssets());
  return () => ({
    publicUrl: needs.publicUrl,
    assets,
    venues: [...needs.venues.values()].map(({ id, backend }) => ({ name: id, backend })),
  });
}
