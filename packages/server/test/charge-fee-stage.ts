/**
 * A wallet, a signing provider and a chain for the tests of the fee charge. The chain has the wallet's collateral account,
 * transactions that are really built, signed and read, and a send whose outcome the test chooses.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import {
  associatedTokenAddress,
  effectsOf,
  readTransaction,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  signatureFaults,
  toBase58,
  transactionId,
  USDC_MINT,
} from '@bellwether/protocol';
import { beforeAll, beforeEach } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import type { Caller } from '../src/domain/records.ts';
import { ChainUnavailable } from '../src/domain/unavailable.ts';
import { chargeFee, type FeeNeeds } from '../src/fees/charge-fee.ts';
import {
  createLocalSigning,
  type SigningAnswer,
  type SigningProvider,
} from '../src/fees/signing-provider.ts';
import { createFeeStore } from '../src/fees/store.ts';
import type { Sql } from '../src/platform/database/connection.ts';
import type { Refusal } from '../src/platform/refusal.ts';
import type { Chain, Landing, SendAnswer, TokenAccount } from '../src/venues/chain.ts';
import { buildTransfer } from '../src/venues/solana/delegated-transfer.ts';
import { createWalletStore } from '../src/wallets/store.ts';

export const SECOND = 1_000;

const LIFE_BLOCKS = 150;

/** Beyond the last block that could include a transaction, plus the margin. */
export const DEAD_BLOCKS = LIFE_BLOCKS + 32 + 1;

/** Behaviour of a node with a transaction, and whether its answer arrives. */
type Sending = 'land' | 'hold' | 'land_unanswered' | 'lose' | 'refuse';

export interface FeeChain {
  readonly chain: Chain;
  /** `null`: no account. */
  account: TokenAccount | null;
  height: number;
  /** The chain does not answer. */
  isDown: boolean;
  /** One per send; the last one repeats. */
  sendings: Sending[];
  readonly sent: string[];
  /** Charged amounts by signature. */
  readonly landed: Map<string, bigint>;
  readonly failed: Set<string>;
}

function createFeeChain(owner: SolanaAddress, delegate: SolanaAddress): FeeChain {
  const lastHeights = new Map<string, number>();
  const address = associatedTokenAddress(owner, USDC_MINT, SOLANA_PROGRAMS.token);
  const up = (): void => {
    if (world.isDown) throw new ChainUnavailable('no answer');
  };

  function land(wire: Uint8Array): boolean {
    const tx = readTransaction(wire);
    if (signatureFaults(tx).length > 0) throw new Error('a node would not take this signature');
    const id = transactionId(tx);
    if (world.landed.has(id)) return true;
    if (world.height > (lastHeights.get(tx.recentBlockhash) ?? 0)) return false;
    const transfers = effectsOf(tx).filter((effect) => effect.kind === 'transfer');
    const [transfer] = transfers;
    const { account } = world;
    if (transfer === undefined || transfers.length > 1 || account === null)
      throw new Error('not one transfer');
    if (transfer.source !== address || transfer.authority !== delegate) throw new Error('another transfer');
    const { amount } = transfer;
    if (account.delegate !== delegate || amount > account.delegatedAmount || amount > account.amount)
      return false;
    world.account = {
      ...account,
      amount: account.amount - amount,
      delegatedAmount: account.delegatedAmount - amount,
    };
    world.landed.set(id, amount);
    return true;
  }

  function send(wire: Uint8Array): SendAnswer {
    world.sent.push(transactionId(readTransaction(wire)));
    if (world.isDown) return { kind: 'unknown' };
    const [how = 'land'] = world.sendings;
    if (world.sendings.length > 1) world.sendings.shift();
    if (how === 'refuse') return { kind: 'refused', reason: 'instruction 0: Custom 1' };
    if (how === 'hold') return { kind: 'sent' };
    if (how === 'lose') return { kind: 'unknown' };
    const isLanded = land(wire);
    return how === 'land' && isLanded ? { kind: 'sent' } : { kind: 'unknown' };
  }

  const world: FeeChain = {
    account: {
      address,
      mint: USDC_MINT,
      owner,
      amount: 100_000_000n,
      delegate,
      delegatedAmount: 10_000_000n,
      frozen: false,
    },
    height: 1_000,
    isDown: false,
    sendings: ['land'],
    sent: [],
    landed: new Map(),
    failed: new Set(),
    chain: {
      status: () => 'ready',
      blockMs: async () => 400,
      async blockHeight() {
        up();
        return world.height;
      },
      send: async (wire) => send(wire),
      async landings(signatures) {
        up();
        const landingOf = (signature: string): Landing => {
          if (world.landed.has(signature)) return { kind: 'landed' };
          if (world.failed.has(signature)) return { kind: 'failed', reason: 'Custom 4' };
          return { kind: 'unseen' };
        };
        return new Map(signatures.map((signature) => [signature, landingOf(signature)]));
      },
      async tokenAccount(of) {
        up();
        return of === owner ? world.account : null;
      },
      tokenAddress: async (of, mint) => associatedTokenAddress(of, mint, SOLANA_PROGRAMS.token),
      async buildDelegatedTransfer(transfer) {
        up();
        const blockhash = toBase58(randomBytes(32));
        const lastValidBlockHeight = world.height + LIFE_BLOCKS;
        lastHeights.set(blockhash, lastValidBlockHeight);
        const built = await buildTransfer(transfer, {
          tokenProgram: SOLANA_PROGRAMS.token,
          decimals: 6,
          blockhash,
          lastValidBlockHeight: BigInt(lastValidBlockHeight),
          opensDestination: true,
        });
        return { ...built, lastValidBlockHeight };
      },
      simulate: unexpected,
      lamports: unexpected,
      outcomeAccounts: unexpected,
    },
  };
  return world;
}

const unexpected = (): Promise<never> => Promise.reject(new Error('the fee does not ask for this'));

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

export const quotingOn = (node: Chain): FeeNeeds['venues'] =>
  new Map([
    ['kalshi', { id: 'kalshi', quotes: { collateralMint: USDC_MINT, chain: node } }],
  ]) as unknown as FeeNeeds['venues'];

export const charge = (
  body: Record<string, unknown> = {},
  key: string | null = null,
  over: Partial<FeeNeeds> = {},
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
