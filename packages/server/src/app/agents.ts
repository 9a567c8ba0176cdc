/** Registration, keys, the agent's own record. */
import {
  type AgentRecord,
  type ApiKeyRecord,
  LIMITS,
  type Me,
  type RegisterResponse,
} from '@bellwether/contract';
import { type Micro, microToNumber } from '@bellwether/contract/decimals';
import type { WalletAddress } from '../domain/addresses.ts';
import type { AgentRow, Caller, KeyRow } from '../ports/stores.ts';
import type { Deps } from './deps.ts';
import { holdings, positionRecords } from './positions.ts';
import { refusal } from './refusal.ts';
import { settingsRecord } from './settings.ts';
import { currentBalance, venueRecord } from './venues.ts';

const ACTIVE_WITHIN_MS = 5 * 60_000;
const IDLE_WITHIN_MS = 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
const KEY_CHARS = 64;

const PREFIX_CHARS = 7;
const SUFFIX_CHARS = 4;

export const maskKey = (key: Pick<KeyRow, 'prefix' | 'suffix'>): string =>
  key.prefix + '*'.repeat(KEY_CHARS - PREFIX_CHARS - SUFFIX_CHARS) + key.suffix;

const partsOf = (apiKey: string) => ({
  prefix: apiKey.slice(0, PREFIX_CHARS),
  suffix: apiKey.slice(-SUFFIX_CHARS),
});

export const onlineStatus = (lastCalledAt: number, now: number): number => {
  const age = now - lastCalledAt;
  return age <= ACTIVE_WITHIN_MS ? 1 : age <= IDLE_WITHIN_MS ? 2 : 3;
};

export function keyRecord(key: KeyRow, apiKeyCode = maskKey(key)): ApiKeyRecord {
  return {
    id: key.id.toString(),
    keyName: key.name,
    apiKeyCode,
    status: key.status,
    createType: key.createType,
    createdAt: String(key.createdAt),
    lastCalledAt: String(key.lastCalledAt),
  };
}

const agentRecord = (row: AgentRow, now: number): AgentRecord => ({
  ...keyRecord(row.key),
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
  deps: Deps,
  request: { name: string; description?: string },
): Promise<RegisterResponse> {
  const agentId = deps.secrets.newId();
  const apiKey = deps.secrets.newApiKey();
  const claimCode = deps.secrets.newClaimCode();
  const { prefix, suffix } = partsOf(apiKey);
  await deps.agents.register({
    agentId,
    name: request.name,
    description: request.description ?? '',
    claimCode,
    keyHash: deps.secrets.hash(apiKey),
    keyPrefix: prefix,
    keySuffix: suffix,
    at: deps.clock.now(),
  });
  return {
    agentId,
    agentName: request.name,
    apiKeyCode: apiKey,
    claimCode,
    claimUrl: `${deps.publicUrl}/agents/claim/${claimCode}`,
    simulationBalance: microToNumber(deps.simulationBalance),
  };
}

/** @throws Refusal claim_code_required, claim_code_not_found */
export async function agentByClaimCode(deps: Deps, claimCode: string | undefined): Promise<AgentRow> {
  const code = claimCode?.trim().toUpperCase() ?? '';
  if (code === '') throw refusal('claim_code_required');
  // Control characters and the like are in no code, and must not reach the database.
  const row = /^[0-9A-Z-]{1,20}$/.test(code) ? await deps.agents.byClaimCode(code) : null;
  if (row === null) throw refusal('claim_code_not_found');
  return row;
}

export async function lookUpClaim(deps: Deps, claimCode: string | undefined): Promise<AgentRecord> {
  const row = await agentByClaimCode(deps, claimCode);
  return { ...agentRecord(row, deps.clock.now()), claimCode: row.claimCode };
}

export async function createApiKey(deps: Deps, caller: Caller, keyName: string): Promise<ApiKeyRecord> {
  const apiKey = deps.secrets.newApiKey();
  const { prefix, suffix } = partsOf(apiKey);
  const hash = deps.secrets.hash(apiKey);
  const key = await deps.agents.addKey(
    caller,
    { hash, prefix, suffix, name: keyName, at: deps.clock.now() },
    { active: LIMITS.activeKeysPerAgent, revokedKept: LIMITS.revokedKeysKept },
  );
  if (key === null)
    throw refusal(
      'api_key_limit_reached',
      `This agent has ${LIMITS.activeKeysPerAgent} active keys already.`,
    );
  return keyRecord(key, apiKey);
}

export const listApiKeys = async (deps: Deps, caller: Caller): Promise<ApiKeyRecord[]> =>
  (await deps.agents.keys(caller.agentId)).map((key) => keyRecord(key));

/** @param forget makes this replica, and every other, drop what it remembers of the key; resolves when all have */
export async function revokeApiKey(
  deps: Deps,
  { agentId }: Pick<Caller, 'agentId'>,
  { keyId, force }: { readonly keyId: string; readonly force: boolean },
  forget: (keyId: bigint) => Promise<void>,
): Promise<ApiKeyRecord> {
  const id = BigInt(keyId);
  const outcome = await deps.agents.revokeKey(agentId, id, force, deps.clock.now());
  if (outcome === 'missing') throw refusal('api_key_not_found');
  if (outcome === 'last') {
    throw refusal(
      'last_active_key',
      'This is the last active key of the agent; without it nobody can act for the agent.',
    );
  }
  await forget(id);
  return keyRecord(outcome);
}

/** What the wallets have on the default venue. @throws Refusal service_unavailable */
const accountOf = async ({ venues }: Deps, wallets: readonly WalletAddress[]): Promise<Micro> =>
  (await currentBalance(venues.default, wallets)).total;

export async function me(deps: Deps, caller: Caller): Promise<Me> {
  const now = deps.clock.now();
  const [wallets, { proved }] = await Promise.all([
    deps.wallets.wallets(caller),
    deps.wallets.solanaWallets(caller),
  ]);
  const [row, settings, open, { held }, results, tradesCounted, balance] = await Promise.all([
    deps.agents.byId(caller.agentId),
    deps.agents.settings(caller.agentId),
    deps.orders.open(caller.agentId, { limit: 1, offset: 0 }),
    holdings(deps, [...wallets, ...proved]),
    deps.positions.results([...wallets, ...proved], { except: [] }),
    deps.orders.countsOfDay(caller.agentId, now),
    wallets.length === 0 ? deps.simulationBalance : accountOf(deps, wallets),
  ]);
  if (row === null) throw new Error('the calling agent has no row');
  const positions = positionRecords(held);
  const unrealized = positions.reduce((sum, position) => sum + position.unrealizedPnl, 0);
  const resetsAt = new Date((Math.floor(now / DAY_MS) + 1) * DAY_MS).toISOString();
  const record = agentRecord({ ...row, lastCalledAt: now }, now);
  return {
    ...record,
    agentId: row.agentId,
    name: row.name,
    description: row.description,
    claimed: row.claimed,
    venues: [...deps.venues.values()].map(venueRecord),
    simulationBalance: microToNumber(balance),
    tradesToday: settings.usage.trades,
    maxTradesPerDay: settings.maxTradesPerDay,
    tradesRemaining: Math.max(0, settings.maxTradesPerDay - settings.usage.trades),
    quotaResetsAt: resetsAt,
    tradesCounted,
    openOrderCount: open.total,
    currentPositionCount: positions.length,
    totalPnl: round6(microToNumber(results.realized - results.fees) + unrealized),
    winRate: results.closed === 0 ? null : round6(results.won / results.closed),
    settings: settingsRecord(settings),
  };
}

/** Sums of exact micro amounts as JSON numbers: cuts the noise of the last binary digits. */
const round6 = (value: number): number => Math.round(value * 1e6) / 1e6;
