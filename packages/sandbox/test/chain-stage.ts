/** A chain on a separate database, for the tests of the chain. */
import type { Sql } from '@bellwether/durable';
import { readTransaction, transactionId } from '@bellwether/protocol';
import { beforeEach, onTestFinished } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import type { SandboxChain } from '../src/solana/chain-interface.ts';
import { readToken } from '../src/solana/token-accounts.ts';
import { migrated, openTestChain, TestClock } from './chain-fixtures.ts';

export let sql: Sql;

export let clock: TestClock;

/** Set by tests, and reset before each test. */
export const stage = {} as {
  chain: SandboxChain;
};

export const open = async (landing?: string): Promise<SandboxChain> => {
  const opened = await openTestChain(sql, clock, landing === undefined ? {} : { landing });
  onTestFinished(() => opened.close());
  return opened;
};

export const amountAt = async (of: SandboxChain, address: string): Promise<bigint | null> => {
  const account = await of.account(address);
  const token = account === null ? null : readToken(account);
  return token?.kind === 'account' ? token.amount : null;
};

export const idOf = (wire: Uint8Array): string => transactionId(readTransaction(wire));

/** Call it at the top of a test file. */
export function useStage(): void {
  beforeEach(async () => {
    sql = await migrated(await openDeskDatabase());
    clock = new TestClock();
    stage.chain = await open();
  });
}
