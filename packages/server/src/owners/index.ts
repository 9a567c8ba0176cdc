/** Owners: accounts by passkey, sessions, claims, grants of wallets, their pages. */
export { bindClaims, suspendedNote } from './claim-page.ts';
export { listAgents, ownedAgent, pause, pauseAll } from './owned-agents.ts';
export { type Challenge, createOwnerStore, type OwnerStore } from './owner-store.ts';
export {
  askForPasskey,
  hashToken,
  type OwnerNeeds,
  ownerJobs,
  ownerOfSession,
  requirePasskey,
} from './owners.ts';
export { createPasskeys, type PasskeyOptions } from './passkeys.ts';
export { bindOwners, createSite } from './routes.ts';
