/** A wallet, a chain and a signing provider made by hand, for the tests of the fee charge. */
import { randomBytes, randomUUID } from 'node:crypto';
import { type SolanaAddress, USDC_MINT } from '@bellwether/protocol';
import { beforeAll, beforeEach } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import type { Caller } from '../src/domain/records.ts';
import { type ChargeFeeNeeds, chargeFee } from '../src/fees/charge-fee.ts';
import type { DelegationNeeds } from '../src/fees/delegation.ts';
import type { FollowFeesNeeds } from '../src/fees/fee-fate.ts';
import { createLocalSigning } from '../src/fees/signing/local.ts';
import type { SigningAnswer, SigningProvider } from '../src/fees/signing-provider.ts';
import { createFeeStore } from '../src/fees/store.ts';
import type { Sql } from '../src/platform/database/connection.ts';
import type { Refusal } from '../src/platform/refusal.ts';
import type { Chain } from '../src/venues/chain.ts';
import { createWalletStore } from '../src/wallets/store.ts';
import { createFeeChain, type FeeChain } from './fee-chain.ts';

export const SECOND = 1_000;

/** Beyond the last block that could include a transaction, plus the margin. */
export const DEAD_BLOCKS = 150 + 32 + 1;

export let sql: Sql;

export const address = (): SolanaAddress => createLocalSigning(randomBytes(32)).address;

export let wallet: SolanaAddress;

export let chain: FeeChain;

export let signing: SigningProvider;

export let signs: string[];

/** Settings of a test, reset before each test. */
export const stage = {} as {
  /** The provider's answer when it does not sign. */
  providerSays: SigningAnswer | null;
  caller: Caller;
  now: number;
};

type FeeNeeds = ChargeFeeNeeds & DelegationNeeds & FollowFeesNeeds;
export let needs: FeeNeeds;

export async function newCaller(): Promise<Caller> {
  const [owner] = await sql`insert into owners (created_at) values (now()) returning user_id`;
  const agentId = randomUUID();
  await sql`insert into agents (agent_id, user_id, name, description, claim_code, created_at)
    values (${agentId}, ${owner?.user_id}, 'agent', '', ${randomUUID()}, now())`;
  return { agentId, userId: owner?.user_id, keyId: 1n };
}

export const note = (whose: Caller, what: string) =>
  sql`select note_agent_wallets(${whose.agentId}::uuid, array[${what}::text], ${what}, now())`;

export const link = async (whose: Caller, what: string) => {
  await sql`insert into linked_wallets (address, user_id, kind, signer, linked_at)
    values (${what}, ${whose.userId}, 'solana', ${what}, now())
    on conflict (address) do update set user_id = excluded.user_id`;
  await note(whose, what);
};

export const quotingOn = (node: Chain): ChargeFeeNeeds['venues'] =>
  new Map([
    ['kalshi', { id: 'kalshi', quotes: { collateralMint: USDC_MINT, chain: node } }],
  ]) as unknown as ChargeFeeNeeds['venues'];

export const charge = (
  body: Record<string, unknown> = {},
  key: string | null = null,
  over: Partial<ChargeFeeNeeds> = {},
) =>
  chargeFee(
    { ...needs, ...over },
    stage.caller,
    { amount: '0.25', fromAddress: wallet, ...body },
    { key, requestId: 'r' },
  );

export const refused = async (promise: Promise<unknown>): Promise<Refusal> => {
  const answer = await promise.catch((error: unknown) => error);
  if ((answer as Error).name !== 'Refusal') throw answer;
  return answer as Refusal;
};

export const codeOf = async (promise: Promise<unknown>) => (await refused(promise)).denials[0].code;

export const rows = () =>
  sql`select * from fee_charges where agent_id = ${stage.caller.agentId} order by created_at`;

export const total = () => [...chain.landed.values()].reduce((sum, amount) => sum + amount, 0n);

/** For the top of a test file. */
export function useStage(): void {
  beforeAll(async () => {
    sql = await openDeskDatabase();
  });
  beforeEach(async () => {
    await sql`truncate fee_charges`;
    stage.caller = await newCaller();
    wallet = address();
    await link(stage.caller, wallet);
    const local = createLocalSigning(randomBytes(32));
    signs = [];
    stage.providerSays = null;
    signing = {
      ...local,
      async sign(request) {
        signs.push(request.externalId);
        return stage.providerSays ?? local.sign(request);
      },
    };
    chain = createFeeChain(wallet, signing.address);
    stage.now = Date.UTC(2026, 10, 21);
    needs = {
      clock: { now: () => stage.now },
      secrets: { newId: () => randomUUID() },
      wallets: createWalletStore(sql),
      fees: createFeeStore(sql),
      signing,
      feeWallet: address(),
      maxFeeCharge: 100_000_000n,
      paperRpcUrl: 'http://localhost/paper/solana',
      agents: { byId: async () => ({ solAddress: wallet }) },
      venues: quotingOn(chain.chain),
    } as unknown as FeeNeeds;
  });
}
