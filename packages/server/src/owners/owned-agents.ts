/** Acts of an owner on agents: claims them, sees them, lowers and locks their safeguards, pauses and resumes. */
import {
  type ApiKeyRecord,
  CAP_NAMES,
  type LeftWallet,
  type LiftRequest,
  type LiftResult,
  type OwnerAgent,
  type OwnerSafeguards,
  type OwnerWallet,
  type PasskeySignIn,
  type Settings,
  type SettingsUpdate,
  type WalletHeartbeat,
} from '@bellwether/contract';
import { microToNumber } from '@bellwether/contract/decimals';
import {
  type AgentRow,
  agentByClaimCode,
  keyRecord,
  lockedByOwner,
  onlineStatus,
  ownersPause,
  parseSettings,
  revokeApiKey,
  type SettingsChange,
  type SettingsRow,
  settingsRecord,
  suspendedExits,
} from '../agents/index.ts';
import type { Denial } from '../domain/denial.ts';
import { type Owner, parseWallet } from '../domain/records.ts';
import { type Caps, capsLocked, type OwnerLocks, type Safeguards } from '../domain/safeguards.ts';
import type { Revocations } from '../platform/database/replica-watch.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import { heartbeatOf, venueOf } from '../venues/asking.ts';
import { credentialIdentity } from '../wallets/index.ts';
import type { Challenge, Reseal } from './owner-store.ts';
import { askForPasskey, type OwnerNeeds, requirePasskey } from './owners.ts';
import type { PasskeyOptions } from './passkeys.ts';

const RETRY_S = 1;

async function ownerAgent(needs: OwnerNeeds, row: AgentRow): Promise<OwnerAgent> {
  const settings = await needs.agents.settings(row.agentId);
  return {
    agentId: row.agentId,
    name: row.name,
    description: row.description,
    onlineStatus: onlineStatus(row.lastCalledAt, needs.clock.now()),
    walletAddress: row.walletAddress,
    claimedAt: row.claimedAt === null ? null : new Date(row.claimedAt).toISOString(),
    tradesToday: settings.usage.trades,
    tradeAmountToday: microToNumber(settings.usage.amount),
    settings: settingsRecord(settings),
    ...(await suspendedExits(needs, row.agentId)),
  };
}

/** For the claim page, which shows an agent to everyone with its code. */
export async function claimPreview(
  needs: OwnerNeeds,
  claimCode: string | undefined,
): Promise<{ readonly agent: OwnerAgent; readonly ownerId: bigint | null }> {
  const row = await agentByClaimCode(needs, claimCode);
  return { agent: await ownerAgent(needs, row), ownerId: row.claimed ? row.userId : null };
}

export async function listAgents(needs: OwnerNeeds, owner: Owner): Promise<OwnerAgent[]> {
  const ids = await needs.owners.agentIds(owner.userId);
  const rows = await Promise.all(ids.map((id) => needs.agents.byId(id)));
  return Promise.all(rows.filter((row) => row !== null).map((row) => ownerAgent(needs, row)));
}

/** @param announce makes every replica drop what it remembers of a key, and with it the agent's former owner */
export async function claim(
  needs: OwnerNeeds,
  owner: Owner,
  { claimCode, safeguards }: { readonly claimCode: string; readonly safeguards?: OwnerSafeguards },
  announce: Revocations['announce'],
): Promise<OwnerAgent> {
  const { agentId } = await agentByClaimCode(needs, claimCode);
  const isLive = [...needs.venues.values()].some(({ backend }) => backend === 'live');
  const shown = safeguards === undefined ? null : parseChange(safeguards);
  const settings = (current: SettingsRow): SettingsChange => {
    if (shown === null && !isLive) return {};
    const decided = decideOwnerChange(current.locks, shown ?? presentCaps(current));
    if (isDenied(decided)) throw refused(decided);
    return { ...withLower(decided.limits, current), locks: decided.locks };
  };
  const reseal: Reseal = (wallet, sealed, from, to) =>
    needs.secrets.seal(
      needs.secrets.open(sealed, credentialIdentity(from, wallet)),
      credentialIdentity(to, wallet),
    );
  const outcome = await needs.owners.claim(agentId, owner.userId, needs.clock.now(), { reseal, settings });
  if (outcome === 'busy')
    throw refusal('service_unavailable', 'The agent is busy trading.', { retryAfterS: RETRY_S });
  if (outcome !== 'taken') {
    const keys = await needs.agents.keys(agentId);
    await Promise.all(keys.map(({ id }) => announce(id, 'reauthorised')));
    await needs.owners.adopt(agentId, outcome.from, owner.userId, reseal);
  }
  const row = await needs.agents.byId(agentId);
  // Claimed by the same person before: the page was sent twice.
  if (row?.userId !== owner.userId)
    throw refusal('agent_already_claimed', 'Another owner has claimed this agent.');
  return ownerAgent(needs, row);
}

/** @throws Refusal agent_not_found, for other people's agents too */
export async function ownedAgent(
  needs: Pick<OwnerNeeds, 'agents'>,
  owner: Owner,
  agentId: string,
): Promise<AgentRow> {
  const row = await needs.agents.byId(agentId);
  if (row === null || !row.claimed || row.userId !== owner.userId) throw refusal('agent_not_found');
  return row;
}

async function changeSettings(
  needs: OwnerNeeds,
  owner: Owner,
  agentId: string,
  decide: (current: SettingsRow) => SettingsChange,
): Promise<OwnerAgent> {
  const row = await ownedAgent(needs, owner, agentId);
  await needs.agents.updateSettings(row.agentId, decide, needs.clock.now());
  return ownerAgent(needs, row);
}

/** All or none; an agent whose claim is under way belongs to its owner only once that has ended. */
export async function pauseAll(needs: OwnerNeeds, owner: Owner, isPaused: boolean): Promise<OwnerAgent[]> {
  await needs.owners.pauseAll(owner.userId, isPaused, needs.clock.now());
  return listAgents(needs, owner);
}

export async function setSafeguards(
  needs: OwnerNeeds,
  owner: Owner,
  agentId: string,
  asked: OwnerSafeguards,
): Promise<OwnerAgent> {
  const parsed = parseChange(asked);
  return changeSettings(needs, owner, agentId, (current) => {
    const decided = decideOwnerChange(current.locks, parsed);
    if (isDenied(decided)) throw refused(decided);
    return { ...decided.limits, locks: decided.locks };
  });
}

export const pause = (
  needs: OwnerNeeds,
  owner: Owner,
  agentId: string,
  paused: boolean,
): Promise<OwnerAgent> => changeSettings(needs, owner, agentId, () => ownersPause(paused));

export const listKeys = async (needs: OwnerNeeds, owner: Owner, agentId: string): Promise<ApiKeyRecord[]> =>
  (await needs.agents.keys((await ownedAgent(needs, owner, agentId)).agentId)).map((key) => keyRecord(key));

/** The last key, too: an agent without one can do nothing, which may be what its owner wants. */
export async function revokeKey(
  needs: OwnerNeeds,
  owner: Owner,
  { agentId, keyId }: { readonly agentId: string; readonly keyId: string },
  announce: Revocations['announce'],
): Promise<ApiKeyRecord> {
  const row = await ownedAgent(needs, owner, agentId);
  return revokeApiKey(needs, row, { keyId, force: true }, announce);
}

export async function listWallets(needs: OwnerNeeds, owner: Owner, agentId: string): Promise<OwnerWallet[]> {
  const row = await ownedAgent(needs, owner, agentId);
  const [grants, heartbeats] = await Promise.all([
    needs.owners.walletGrants(owner.userId, row.agentId),
    needs.heartbeats.ofOwner(owner.userId),
  ]);
  return grants.map((wallet) => {
    const { walletAddress } = wallet;
    const on = heartbeats.get(walletAddress);
    return {
      ...wallet,
      venue: venueOf(needs, null, walletAddress).id,
      heartbeat: on === undefined ? null : heartbeatOf(needs, walletAddress, on),
    };
  });
}

export async function grantWallet(
  needs: OwnerNeeds,
  owner: Owner,
  agentId: string,
  { walletAddress: asked, granted }: { readonly walletAddress: string; readonly granted: boolean },
): Promise<OwnerWallet[]> {
  const row = await ownedAgent(needs, owner, agentId);
  const walletAddress = parseWallet(asked);
  const grant = { userId: owner.userId, agentId: row.agentId };
  const isOwners =
    walletAddress !== null &&
    (await needs.owners.grantWallet({ ...grant, walletAddress }, granted, needs.clock.now()));
  if (!isOwners) throw notYourWallet('This is none of your wallets.');
  return listWallets(needs, owner, row.agentId);
}

const notYourWallet = (detail: string): Refusal =>
  refusal('wallet_not_found', detail, { path: 'walletAddress' });

export async function leftWallets(needs: OwnerNeeds, owner: Owner): Promise<LeftWallet[]> {
  const keys = await needs.owners.leftKeys(owner.userId);
  return Promise.all(
    keys.map(async ({ signer, wallets, leftAt, agentIds }) => ({
      walletAddress: signer,
      wallets: [...wallets],
      leftAt: new Date(leftAt).toISOString(),
      agents: await Promise.all(
        agentIds.map(async (agentId) => {
          const [row, settings] = await Promise.all([
            needs.agents.byId(agentId),
            needs.owners.settingsTakenAlong(signer, agentId),
          ]);
          return {
            agentId,
            name: row?.name ?? '',
            paused: settings.ownerPaused,
            lockedByOwner: lockedByOwner(settings),
          };
        }),
      ),
    })),
  );
}

/** @param owner `null`: the operator, whose word goes over every owner's */
export async function liftLocks(
  needs: OwnerNeeds,
  owner: Owner | null,
  { walletAddress }: LiftRequest,
): Promise<LiftResult> {
  const wallet = parseWallet(walletAddress);
  const agents = wallet === null ? [] : await needs.owners.lift(owner?.userId ?? null, wallet);
  if (agents.length === 0) throw notYourWallet('No locks of a former owner bind this wallet.');
  return { success: true, walletAddress, agents: [...agents] };
}

/** Figures as the domain counts them, with the agent's own rules for what a figure may be. */
function parseChange(asked: OwnerSafeguards): OwnerChange {
  const limits = Object.fromEntries(
    CAP_NAMES.filter((name) => asked[name] !== undefined).map((name) => [name, asked[name]?.limit]),
  ) as SettingsUpdate;
  const parsed: Record<string, unknown> = { ...parseSettings(limits) };
  const entries = Object.entries(asked).map(([name, { limit, locked }]) => [
    name,
    { limit: name in parsed ? parsed[name] : limit, locked },
  ]);
  return Object.fromEntries(entries) as OwnerChange;
}

/** Every cap as it is now, as a ceiling. */
const presentCaps = (current: SettingsRow): OwnerChange =>
  Object.fromEntries(
    CAP_NAMES.filter((name) => current[name] !== null).map((name) => [
      name,
      { limit: current[name], locked: true },
    ]),
  );

/** The agent may have raised its limits since the page was made, which the ceilings undo, or lowered them, which stays. */
function withLower(limits: Decided['limits'], current: SettingsRow): Decided['limits'] {
  const lower = CAP_NAMES.filter((name) => {
    const [asked, own] = [limits[name], current[name]];
    return asked !== undefined && own !== null && (asked === null || own < asked);
  });
  return { ...limits, ...Object.fromEntries(lower.map((name) => [name, current[name]])) };
}

const isDenied = (decided: Decided | readonly Denial[]): decided is readonly Denial[] =>
  Array.isArray(decided);

function refused([first, ...rest]: readonly Denial[]): Error {
  return first === undefined ? new Error('a refusal needs a reason') : new Refusal([first, ...rest]);
}

// The changes that an owner makes on the page: a limit per safeguard, and whether it is locked. The owner's limit
// replaces the agent's at once.

export type OwnerChange = {
  readonly [N in keyof Caps]?: { readonly limit: Caps[N]; readonly locked: boolean };
} & { readonly tradeLimitEnabled?: { readonly limit: boolean; readonly locked: boolean } };

interface Decided {
  readonly limits: Partial<Pick<Safeguards, keyof Caps | 'tradeLimitEnabled'>>;
  readonly locks: Partial<OwnerLocks>;
}

const invalid = (path: string, detail: string): Denial => ({ code: 'invalid_request', path, detail });

/** @returns what changes, or why it cannot */
export function decideOwnerChange(locks: OwnerLocks, change: OwnerChange): Decided | readonly Denial[] {
  const denials: Denial[] = [];
  const limits: Record<string, unknown> = {};
  const newLocks: Record<string, unknown> = {};
  for (const name of CAP_NAMES) {
    const asked = change[name];
    if (asked === undefined) continue;
    if (asked.locked && asked.limit === null) {
      denials.push(invalid(`${name}.locked`, `${name} cannot be locked at "none": name a limit.`));
    }
    limits[name] = asked.limit;
    newLocks[name] = asked.locked ? asked.limit : null;
  }
  const caps = change.tradeLimitEnabled;
  if (caps !== undefined) {
    limits.tradeLimitEnabled = caps.limit;
    newLocks.tradeLimitEnabled = caps.locked;
  }
  const after = { ...locks, ...newLocks } as OwnerLocks;
  if (capsLocked(after)) {
    if (caps?.limit === false) {
      denials.push(
        invalid(
          'tradeLimitEnabled.limit',
          'The caps cannot be switched off while one of them is locked: unlock first.',
        ),
      );
    }
    // The agent may have switched them off before its owner locked one.
    limits.tradeLimitEnabled = true;
  }
  return denials.length > 0 ? denials : { limits, locks: newLocks };
}

// How caps bind exits: only the owner changes it, by a passkey's answer to a challenge that was made for this agent and these values
// alone. A session that was stolen cannot let a hijacked agent sell everything.

type ExitRule = Pick<Settings, 'capsBindExits' | 'exitDistancePercent'>;

const exitRulePurpose = (
  agentId: string,
  { capsBindExits, exitDistancePercent }: ExitRule,
  { userId }: Owner,
): Challenge['purpose'] => `exit rule ${agentId} ${capsBindExits} ${exitDistancePercent} by ${userId}`;

export async function beginExitRule(
  needs: OwnerNeeds,
  owner: Owner,
  agentId: string,
  rule: ExitRule,
): Promise<PasskeyOptions> {
  const agent = await ownedAgent(needs, owner, agentId);
  return askForPasskey(needs, exitRulePurpose(agent.agentId, rule, owner));
}

/** @throws Refusal agent_not_found, passkey_challenge_expired, passkey_rejected */
export async function setExitRule(
  needs: OwnerNeeds,
  owner: Owner,
  agentId: string,
  { response, capsBindExits, exitDistancePercent }: ExitRule & PasskeySignIn,
): Promise<OwnerAgent> {
  const agent = await ownedAgent(needs, owner, agentId);
  const rule = { capsBindExits, exitDistancePercent };
  await requirePasskey(needs, owner, response, exitRulePurpose(agent.agentId, rule, owner));
  return changeSettings(needs, owner, agentId, () => rule);
}

// The owner's word that a venue may cancel everything of a wallet's key once the desk is dead or the wallet's agents are silent. It takes
// the passkey, both ways: heartbeats that end cancel what others placed with the key, too.

interface Asked {
  readonly walletAddress: string;
  readonly on: boolean;
}

const heartbeatPurpose = ({ walletAddress, on }: Asked, { userId }: Owner): Challenge['purpose'] =>
  `heartbeat ${walletAddress} ${on} by ${userId}`;

/** @throws Refusal wallet_not_found */
async function ownWallet({ heartbeats }: OwnerNeeds, { userId }: Owner, asked: string) {
  const wallet = parseWallet(asked);
  if (wallet === null || !(await heartbeats.ofOwner(userId)).has(wallet))
    throw notYourWallet('No wallet of yours with this address has credentials here.');
  return wallet;
}

export async function beginHeartbeat(
  needs: OwnerNeeds,
  owner: Owner,
  { walletAddress, on }: Asked,
): Promise<PasskeyOptions> {
  const wallet = await ownWallet(needs, owner, walletAddress);
  return askForPasskey(needs, heartbeatPurpose({ walletAddress: wallet, on }, owner));
}

/** @throws Refusal wallet_not_found, passkey_challenge_expired, passkey_rejected */
export async function setHeartbeat(
  needs: OwnerNeeds,
  owner: Owner,
  { response, walletAddress, on }: Asked & PasskeySignIn,
): Promise<WalletHeartbeat & { readonly walletAddress: string }> {
  const wallet = await ownWallet(needs, owner, walletAddress);
  await requirePasskey(needs, owner, response, heartbeatPurpose({ walletAddress: wallet, on }, owner));
  if (!(await needs.heartbeats.set(owner.userId, wallet, on, needs.clock.now())))
    throw notYourWallet('The wallet has left you meanwhile.');
  return { walletAddress: wallet, ...heartbeatOf(needs, wallet, on) };
}
