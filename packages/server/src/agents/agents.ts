/** Registration, keys, the agent's own record. */
import { type AgentRecord, type ApiKeyRecord, LIMITS, type RegisterResponse } from '@bellwether/contract';
import { type Micro, microToNumber } from '@bellwether/contract/decimals';
import type { Caller } from '../domain/records.ts';
import type { Clock } from '../platform/clock.ts';
import type { Revocations } from '../platform/database/replica-watch.ts';
import type { Authenticator } from '../platform/http/identify.ts';
import { refusal } from '../platform/refusal.ts';
import type { Job } from '../platform/scheduler.ts';
import type { Secrets } from '../platform/secrets.ts';
import type { AgentRow, AgentStore, KeyRow } from './store.ts';

export interface AgentNeeds {
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly agents: AgentStore;
}

const ACTIVE_WITHIN_MS = 5 * 60_000;
const IDLE_WITHIN_MS = 24 * 3_600_000;
export const DAY_MS = 24 * 3_600_000;
const KEY_CHARS = 64;

const PREFIX_CHARS = 7;
const SUFFIX_CHARS = 4;

const maskKey = (key: Pick<KeyRow, 'prefix' | 'suffix'>): string =>
  key.prefix + '*'.repeat(KEY_CHARS - PREFIX_CHARS - SUFFIX_CHARS) + key.suffix;

const partsOf = (apiKey: string) => ({
  prefix: apiKey.slice(0, PREFIX_CHARS),
  suffix: apiKey.slice(-SUFFIX_CHARS),
});

export const STATUS_WORDS = { 1: 'active', 2: 'idle', 3: 'offline' } as const;

export const onlineStatus = (lastCalledAt: number, now: number): keyof typeof STATUS_WORDS => {
  const age = now - lastCalledAt;
  return age <= ACTIVE_WITHIN_MS ? 1 : age <= IDLE_WITHIN_MS ? 2 : 3;
};

/** @param askedAt when the key asks about itself: its calls are written down later */
export function keyRecord(key: KeyRow, askedAt = 0): ApiKeyRecord {
  const calledAt = Math.max(askedAt, key.lastCalledAt);
  // A key is made with the time of its making in this column. The registration is the first call of its key.
  const isCalled = key.createType === 2 || askedAt > 0 || calledAt > key.createdAt;
  return {
    id: key.id.toString(),
    keyName: key.name,
    apiKeyCode: maskKey(key),
    status: key.status,
    createType: key.createType,
    createdAt: String(key.createdAt),
    lastCalledAt: isCalled ? String(calledAt) : null,
  };
}

export const agentRecord = (row: AgentRow, now: number): AgentRecord => ({
  ...keyRecord(row.key),
  lastCalledAt: String(row.lastCalledAt),
  userId: row.userId.toString(),
  claimCode: row.claimed ? null : row.claimCode,
  agentName: row.name,
  agentCode: row.agentId,
  agentDescription: row.description,
  onlineStatus: onlineStatus(row.lastCalledAt, now),
  walletAddress: row.walletAddress,
  solAddress: row.solAddress,
});

export async function register(
  needs: AgentNeeds & { readonly publicUrl: string; readonly simulationBalance: Micro },
  request: { name: string; description?: string },
): Promise<RegisterResponse> {
  const agentId = needs.secrets.newId();
  const apiKey = needs.secrets.newApiKey();
  const claimCode = needs.secrets.newClaimCode();
  const { prefix, suffix } = partsOf(apiKey);
  await needs.agents.register({
    agentId,
    name: request.name,
    description: request.description ?? '',
    claimCode,
    keyHash: needs.secrets.hash(apiKey),
    keyPrefix: prefix,
    keySuffix: suffix,
    at: needs.clock.now(),
  });
  return {
    agentId,
    agentName: request.name,
    apiKeyCode: apiKey,
    claimCode,
    claimUrl: `${needs.publicUrl}/agents/claim/${claimCode}`,
    simulationBalance: microToNumber(needs.simulationBalance),
  };
}

const CLAIM_CODE = /^[0-9A-Z]{5}-[0-9A-Z]{5}$/;

/** As people type one: without its hyphen, in small letters, and with the letters that Crockford's base32 reads as digits. */
function readClaimCode(typed: string): string {
  const digits = typed.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  return digits.length <= 5 ? digits : `${digits.slice(0, 5)}-${digits.slice(5)}`;
}

/** @throws Refusal claim_code_required, claim_code_not_found */
export async function agentByClaimCode(needs: AgentNeeds, claimCode: string | undefined): Promise<AgentRow> {
  const code = readClaimCode(claimCode ?? '');
  if (code === '') throw refusal('claim_code_required');
  // Control characters and the like are in no code, and must not reach the database.
  const row = CLAIM_CODE.test(code) ? await needs.agents.byClaimCode(code) : null;
  if (row === null) throw refusal('claim_code_not_found');
  return row;
}

export async function lookUpClaim(needs: AgentNeeds, claimCode: string | undefined): Promise<AgentRecord> {
  const row = await agentByClaimCode(needs, claimCode);
  return { ...agentRecord(row, needs.clock.now()), claimCode: row.claimCode };
}

export async function createApiKey(
  needs: AgentNeeds,
  caller: Caller,
  keyName: string,
): Promise<ApiKeyRecord> {
  const apiKey = needs.secrets.newApiKey();
  const { prefix, suffix } = partsOf(apiKey);
  const hash = needs.secrets.hash(apiKey);
  const key = await needs.agents.addKey(
    caller,
    { hash, prefix, suffix, name: keyName, at: needs.clock.now() },
    { active: LIMITS.activeKeysPerAgent, revokedKept: LIMITS.revokedKeysKept },
  );
  if (key === null)
    throw refusal(
      'api_key_limit_reached',
      `This agent has ${LIMITS.activeKeysPerAgent} active keys already.`,
    );
  return { ...keyRecord(key), apiKeyCode: apiKey };
}

export const listApiKeys = async (needs: AgentNeeds, caller: Caller): Promise<ApiKeyRecord[]> =>
  (await needs.agents.keys(caller.agentId)).map((key) =>
    keyRecord(key, key.id === caller.keyId ? needs.clock.now() : 0),
  );

/** @param announce makes every replica drop what it remembers of the key; resolves when all have */
export async function revokeApiKey(
  needs: AgentNeeds,
  { agentId, keyId: asking }: Pick<Caller, 'agentId'> & Partial<Caller>,
  { keyId, force }: { readonly keyId: string; readonly force: boolean },
  announce: Revocations['announce'],
): Promise<ApiKeyRecord> {
  const id = BigInt(keyId);
  const outcome = await needs.agents.revokeKey(agentId, id, force, needs.clock.now());
  if (outcome === 'missing') throw refusal('api_key_not_found');
  if (outcome === 'last') {
    throw refusal(
      'last_active_key',
      'This is the last active key of the agent; without it no program can act for the agent.',
    );
  }
  await announce(id, 'revoked');
  return keyRecord(outcome, asking === id ? needs.clock.now() : 0);
}

/** Writes when each agent called last: from memory, because a write for each request would cost a trip. */
export async function touchAgents({
  authenticator,
  agents,
}: Pick<AgentNeeds, 'agents'> & {
  readonly authenticator: Pick<Authenticator, 'drainCalls'>;
}): Promise<void> {
  const calls = authenticator.drainCalls();
  if (calls.size > 0) await agents.touch(calls);
}

export const agentJobs = (needs: Parameters<typeof touchAgents>[0]): readonly Job[] => [
  { name: 'touch', everyMs: 5_000, run: () => touchAgents(needs) },
];
