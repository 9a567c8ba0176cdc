/** Owners: their accounts and their word over their agents, as the pages' scripts call it. */
import {
  addPasskey,
  addPasskeyOptions,
  addPasskeyRegistrationOptions,
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
  listOwnerPasskeys,
  newRecoveryCode,
  passkeyRegistrationOptions,
  passkeySignInOptions,
  pauseOwnerAgent,
  recoverOwner,
  recoveryCodeOptions,
  recoveryOptions,
  registerPasskey,
  removePasskey,
  removePasskeyOptions,
  renamePasskey,
  revokeOwnerAgentKey,
  setExitRule,
  setWalletHeartbeat,
  signInWithPasskey,
  signOutOwner,
  undoRecovery,
  undoRecoveryOptions,
  updateOwnerSafeguards,
  walletHeartbeatPasskeyOptions,
} from '@bellwether/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignedInOwner } from '../domain/records.ts';
import type { Revocations } from '../platform/database/replica-watch.ts';
import { addressOf } from '../platform/http/addresses.ts';
import { sessionCookie, sessionTokens } from '../platform/http/identify.ts';
import { assetPaths, readAssets, type Site } from '../platform/http/pages.ts';
import type { RateLimits } from '../platform/http/rate-limits.ts';
import type { Bind } from '../platform/http/routes.ts';
import type { HasVenues } from '../venues/asking.ts';
import * as exits from './owned-agents.ts';
import * as agents from './owned-agents.ts';
import * as heartbeats from './owned-agents.ts';
import * as own from './owners.ts';
import * as owners from './owners.ts';
import * as recovery from './owners.ts';

interface Published {
  readonly publicUrl: string;
}

const SESSION_S = owners.SESSION_MS / 1000;

interface OwnersDoor {
  readonly announce: Revocations['announce'];
  readonly rateLimits: RateLimits;
}

export function bindOwners(
  bind: Bind,
  needs: owners.OwnerNeeds & Published,
  { announce, rateLimits }: OwnersDoor,
): void {
  const session = (reply: FastifyReply, token: string | null) =>
    reply
      .header('set-cookie', sessionCookie(token, needs.publicUrl, SESSION_S))
      .header('cache-control', 'no-store');
  const welcome = async ({ owner, token }: owners.SignedIn, request: FastifyRequest, reply: FastifyReply) => {
    await owners.signOut(needs, sessionTokens(request, needs.publicUrl));
    session(reply, token);
    return owners.sessionRecord(needs, owner);
  };

  bind(getOwnerSession, async ({ request, reply }) => {
    reply.header('cache-control', 'no-store');
    return owners.sessionRecord(
      needs,
      await owners.ownerOfSession(needs, sessionTokens(request, needs.publicUrl)),
    );
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
  bindPasskeys(bind, needs);
  const recovering = (request: FastifyRequest): recovery.RecoveryNeeds => ({
    ...needs,
    attempt: async (userId) => {
      const draw = await (userId === null
        ? rateLimits.draw('recovery', addressOf(request))
        : rateLimits.draw('recovery_of_owner', userId.toString()));
      return draw?.retryAfterS ?? 0;
    },
    warn: (facts, message) => request.log.warn(facts, message),
  });
  bind(recoveryOptions, ({ body, request, reply }) => {
    reply.header('cache-control', 'no-store');
    return recovery.beginRecovery(recovering(request), body.code);
  });
  bind(recoverOwner, async ({ body, request, reply }) =>
    welcome(await recovery.finishRecovery(recovering(request), body), request, reply),
  );

  bind(claimAgent, ({ owner, body }) => agents.claim(needs, owner, body, announce));
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
  bind(revokeOwnerAgentKey, ({ owner, params }) => agents.revokeKey(needs, owner, params, announce));
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

function bindPasskeys(bind: Bind, needs: owners.OwnerNeeds & Published): void {
  const list = (owner: SignedInOwner, request: FastifyRequest) =>
    own.listPasskeys(needs, owner, owners.hashesOf(needs, sessionTokens(request, needs.publicUrl)));

  bind(listOwnerPasskeys, ({ owner, request }) => list(owner, request));
  bind(addPasskeyOptions, ({ owner }) => own.beginAdding(needs, owner));
  bind(addPasskeyRegistrationOptions, ({ owner, body }) => own.continueAdding(needs, owner, body));
  bind(addPasskey, async ({ owner, body, request }) => {
    await own.finishAdding(needs, owner, body);
    return list(owner, request);
  });
  bind(renamePasskey, async ({ owner, params, body, request }) => {
    await own.rename(needs, owner, params.passkeyId, body.name);
    return list(owner, request);
  });
  bind(removePasskeyOptions, ({ owner, params }) => own.beginRemoving(needs, owner, params.passkeyId));
  bind(removePasskey, async ({ owner, params, body, request }) => {
    await own.remove(needs, owner, params.passkeyId, body);
    return list(owner, request);
  });
  bind(recoveryCodeOptions, ({ owner }) => own.beginRecoveryCode(needs, owner));
  bind(newRecoveryCode, ({ owner, body }) => own.newRecoveryCode(needs, owner, body));
  bind(undoRecoveryOptions, ({ owner }) => recovery.beginUndoing(needs, owner));
  bind(undoRecovery, async ({ owner, body, request }) => {
    await recovery.undo(needs, owner, body);
    return list(owner, request);
  });
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
