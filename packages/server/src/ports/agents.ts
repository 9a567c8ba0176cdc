/** Agents, their keys and settings. */

import type { Micro } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import type { OwnerLocks } from '../domain/locks.ts';
import type { Caller } from '../domain/records.ts';
import type { Safeguards, Usage } from '../domain/safeguards.ts';

export interface KeyRow {
  readonly id: bigint;
  readonly name: string;
  /** First 7 and last 4 characters. */
  readonly prefix: string;
  readonly suffix: string;
  readonly status: 1 | 2;
  readonly createType: 1 | 2;
  readonly createdAt: number;
  readonly lastCalledAt: number;
}

export interface AgentRow {
  readonly agentId: string;
  readonly userId: bigint;
  readonly name: string;
  readonly description: string;
  readonly claimCode: string;
  readonly claimed: boolean;
  readonly claimedAt: number | null;
  readonly walletAddress: Address | null;
  readonly solAddress: string | null;
  readonly createdAt: number;
  /** The key of the registration. */
  readonly key: KeyRow;
  /** The latest call with any of its keys. */
  readonly lastCalledAt: number;
}

export interface SettingsRow extends Safeguards {
  readonly locks: OwnerLocks;
  readonly autoRedeemEnabled: boolean;
  readonly riskControlEnabled: boolean;
  readonly takeProfitPercent: number | null;
  readonly stopLossPercent: number | null;
  readonly updatedAt: number;
}

/** The settings to change; only the owner sets `locks`. */
export type SettingsChange = Partial<Omit<SettingsRow, 'updatedAt' | 'locks'>> & {
  readonly locks?: Partial<OwnerLocks>;
};

export interface AgentStore {
  register(agent: {
    readonly agentId: string;
    readonly name: string;
    readonly description: string;
    readonly claimCode: string;
    readonly keyHash: Uint8Array;
    readonly keyPrefix: string;
    readonly keySuffix: string;
    readonly at: number;
  }): Promise<void>;
  /** Active keys only. */
  callerByKeyHash(hash: Uint8Array): Promise<Caller | null>;
  byClaimCode(code: string): Promise<AgentRow | null>;
  byId(agentId: string): Promise<AgentRow | null>;
  /** Deletes the oldest revoked keys. @returns `null` when the agent has the maximum number of active keys. */
  addKey(
    caller: Caller,
    key: { hash: Uint8Array; prefix: string; suffix: string; name: string; at: number },
    limits: { active: number; revokedKept: number },
  ): Promise<KeyRow | null>;
  keys(agentId: string): Promise<readonly KeyRow[]>;
  /** `last`: it is the agent's last active key and `force` was not given. */
  revokeKey(agentId: string, keyId: bigint, force: boolean, at: number): Promise<KeyRow | 'missing' | 'last'>;
  touch(calls: ReadonlyMap<bigint, number>): Promise<void>;
  settings(agentId: string): Promise<SettingsRow & { readonly usage: Usage; readonly realizedToday: Micro }>;
  /**
   * Locks the agent's row, so the change applies to every trade assessed after it. `decide` receives the locked row;
   * when it throws, nothing changes.
   */
  updateSettings(
    agentId: string,
    decide: (current: SettingsRow) => SettingsChange,
    at: number,
  ): Promise<SettingsRow>;
}

/** The safeguards, and what is used of them today. */
export type Limits = SettingsRow & { readonly usage: Usage; readonly realizedToday: Micro };
