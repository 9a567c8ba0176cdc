/**
 * A chain for tests of the fee: one wallet's collateral account, transactions that are really built, signed and read,
 * and a send whose outcome the test chooses. Landed transactions are the charges.
 */
import { randomBytes } from 'node:crypto';
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
import { ChainUnavailable } from '../src/domain/unavailable.ts';
import type { Chain, Landing, SendAnswer, TokenAccount } from '../src/venues/chain.ts';
import { buildTransfer } from '../src/venues/solana/delegated-transfer.ts';

/** Behaviour of a node with a transaction, and whether its answer arrives. */
export type Sending = 'land' | 'hold' | 'land_unanswered' | 'lose' | 'refuse';

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

const LIFE_BLOCKS = 150;

export function createFeeChain(owner: SolanaAddress, delegate: SolanaAddress): FeeChain {
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
