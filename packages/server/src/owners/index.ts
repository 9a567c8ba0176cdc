/** Owners: accounts by passkey, sessions, claims, grants of wallets, their pages. */
export { bindClaims } from './claims.ts';
export { ownerJobs } from './jobs.ts';
export { listAgents, type OwnedAgentNeeds, ownedAgent, pause, pauseAll } from './owned-agents.ts';
export { type Challenge, createOwnerStore, type OwnerStore } from './owner-store.ts';
export {
  askForPasskey,
  hashToken,
  type OwnerNeeds,
  ownerOfSession,
  type PasskeyWordNeeds,
  requirePasskey,
} from './owners.ts';
export type { PasskeyOptions } from './passkeys.ts';
export { bindOwners, createSite } from './routes.ts';
export { createPasskeys } from './webauthn.ts';
