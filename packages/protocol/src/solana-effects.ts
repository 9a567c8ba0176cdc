/**
 * Reads the effects of a Solana message's instructions from the message alone. It decodes the few instructions that an
 * order, a fee or a delegation is made of; anything else is `unknown`, which a signer must treat as the worst case.
 * It only reads; `solana-overreach.ts` decides what is acceptable.
 */

import type { SolanaAddress } from './solana.ts';
import { SOLANA_PROGRAMS } from './solana-accounts.ts';
import type { SolanaInstruction, SolanaTransaction } from './solana-transaction.ts';

/** `null`: it comes from a lookup table, whose contents the message does not hold. */
export type SolanaAccount = SolanaAddress | null;

export type Effect = {
  /** Position among the message's instructions. */
  readonly index: number;
  readonly program: SolanaAddress;
} & (
  | {
      readonly kind: 'transfer';
      readonly source: SolanaAccount;
      readonly destination: SolanaAccount;
      readonly authority: SolanaAccount;
      readonly amount: bigint;
      /** `undefined`: an unchecked transfer, which does not name it. */
      readonly mint: SolanaAccount | undefined;
    }
  | {
      readonly kind: 'approve';
      readonly source: SolanaAccount;
      readonly delegate: SolanaAccount;
      readonly owner: SolanaAccount;
      readonly amount: bigint;
      readonly mint: SolanaAccount | undefined;
    }
  | {
      readonly kind: 'revoke' | 'set_authority' | 'close_account' | 'burn' | 'mint';
      /** The token account, or the mint. */
      readonly account: SolanaAccount;
      readonly authority: SolanaAccount;
    }
  /** An associated token account; `payer` pays its rent unless it is there already. */
  | {
      readonly kind: 'create_account';
      readonly payer: SolanaAccount;
      readonly account: SolanaAccount;
      readonly owner: SolanaAccount;
      readonly mint: SolanaAccount;
      readonly tokenProgram: SolanaAccount;
    }
  /** Lamports to an account, which the transfer may create. */
  | {
      readonly kind: 'system_transfer';
      readonly source: SolanaAccount;
      readonly destination: SolanaAccount;
      readonly lamports: bigint;
    }
  /** DFlow's prediction markets take the input into escrow; the fill follows in another transaction. */
  | {
      readonly kind: 'open_order';
      readonly user: SolanaAccount;
      readonly source: SolanaAccount;
      readonly collateralMint: SolanaAccount;
      readonly fillRecipient: SolanaAccount;
      readonly refundRecipient: SolanaAccount;
      readonly amount: bigint;
      readonly quotedOut: bigint;
    }
  | { readonly kind: 'compute_limit'; readonly units: bigint }
  | { readonly kind: 'compute_price'; readonly microLamports: bigint }
  /** Moves nothing and grants no right. */
  | { readonly kind: 'harmless' }
  | { readonly kind: 'unknown'; readonly reason: string }
);

type Decoded = Effect extends infer E ? (E extends Effect ? Omit<E, 'index' | 'program'> : never) : never;
type Decoder = (data: DataView, account: (position: number) => SolanaAccount, count: number) => Decoded;

const unknown = (reason: string): Decoded => ({ kind: 'unknown', reason });
const HARMLESS: Decoded = { kind: 'harmless' };
const u64 = (data: DataView, offset: number): bigint => data.getBigUint64(offset, true);

function computeBudget(data: DataView): Decoded {
  const kind = data.byteLength === 0 ? -1 : data.getUint8(0);
  if (kind === 2 && data.byteLength === 5)
    return { kind: 'compute_limit', units: BigInt(data.getUint32(1, true)) };
  if (kind === 3 && data.byteLength === 9) return { kind: 'compute_price', microLamports: u64(data, 1) };
  // Heap size, and the limit of loaded account data.
  if ((kind === 1 || kind === 4) && data.byteLength === 5) return HARMLESS;
  return unknown('a compute budget instruction that is not known');
}

const system: Decoder = (data, account, count) => {
  const kind = data.byteLength < 4 ? -1 : data.getUint32(0, true);
  if (kind === 0 && data.byteLength === 52 && count === 2)
    return {
      kind: 'system_transfer',
      source: account(0),
      destination: account(1),
      lamports: u64(data, 4),
    };
  if (kind === 2 && data.byteLength === 12 && count === 2)
    return {
      kind: 'system_transfer',
      source: account(0),
      destination: account(1),
      lamports: u64(data, 4),
    };
  if (kind === 4) return unknown('advances a nonce, so that the transaction would never expire');
  return unknown(`system instruction ${kind}`);
};

/** Instructions of the token programs that only read, or write to accounts not yet in use. */
const HARMLESS_TOKEN_INSTRUCTIONS: ReadonlySet<number> = new Set([
  1,
  16,
  18, // initialise an account
  17, // sync native lamports
  21, // size of an account
  22, // make its owner immutable
  23,
  24, // convert amounts
]);

interface TokenShape {
  readonly bytes: number;
  readonly accounts: number;
  readonly effect: (data: DataView, account: (position: number) => SolanaAccount) => Decoded;
}

const AMOUNT_BYTES = 9;
const CHECKED_BYTES = 10;

/** More accounts than this mean several owners or a transfer hook: the effect is `unknown`. */
const TOKEN_INSTRUCTIONS: Readonly<Record<number, TokenShape>> = {
  3: {
    bytes: AMOUNT_BYTES,
    accounts: 3,
    effect: (data, account) => ({
      kind: 'transfer',
      source: account(0),
      destination: account(1),
      authority: account(2),
      amount: u64(data, 1),
      mint: undefined,
    }),
  },
  4: {
    bytes: AMOUNT_BYTES,
    accounts: 3,
    effect: (data, account) => ({
      kind: 'approve',
      source: account(0),
      delegate: account(1),
      owner: account(2),
      amount: u64(data, 1),
      mint: undefined,
    }),
  },
  5: {
    bytes: 1,
    accounts: 2,
    effect: (_, account) => ({ kind: 'revoke', account: account(0), authority: account(1) }),
  },
  7: {
    bytes: AMOUNT_BYTES,
    accounts: 3,
    effect: (_, account) => ({ kind: 'mint', account: account(1), authority: account(2) }),
  },
  8: {
    bytes: AMOUNT_BYTES,
    accounts: 3,
    effect: (_, account) => ({ kind: 'burn', account: account(0), authority: account(2) }),
  },
  9: {
    bytes: 1,
    accounts: 3,
    effect: (_, account) => ({ kind: 'close_account', account: account(0), authority: account(2) }),
  },
  12: {
    bytes: CHECKED_BYTES,
    accounts: 4,
    effect: (data, account) => ({
      kind: 'transfer',
      source: account(0),
      mint: account(1),
      destination: account(2),
      authority: account(3),
      amount: u64(data, 1),
    }),
  },
  13: {
    bytes: CHECKED_BYTES,
    accounts: 4,
    effect: (data, account) => ({
      kind: 'approve',
      source: account(0),
      mint: account(1),
      delegate: account(2),
      owner: account(3),
      amount: u64(data, 1),
    }),
  },
  14: {
    bytes: CHECKED_BYTES,
    accounts: 3,
    effect: (_, account) => ({ kind: 'mint', account: account(1), authority: account(2) }),
  },
  15: {
    bytes: CHECKED_BYTES,
    accounts: 3,
    effect: (_, account) => ({ kind: 'burn', account: account(0), authority: account(2) }),
  },
};

const SET_AUTHORITY = 6;

const token: Decoder = (data, account, count) => {
  const kind = data.byteLength === 0 ? -1 : data.getUint8(0);
  if (HARMLESS_TOKEN_INSTRUCTIONS.has(kind)) return HARMLESS;
  // Its length depends on whether there is a new authority.
  if (kind === SET_AUTHORITY && count >= 2)
    return { kind: 'set_authority', account: account(0), authority: account(1) };
  const shape = TOKEN_INSTRUCTIONS[kind];
  if (shape !== undefined && data.byteLength === shape.bytes && count === shape.accounts)
    return shape.effect(data, account);
  return unknown(kind === 0xff ? 'a batch of token instructions' : `token instruction ${kind}`);
};

const associatedToken: Decoder = (data, account, count) => {
  const known = data.byteLength === 0 || (data.byteLength === 1 && data.getUint8(0) <= 1);
  // The program's first version takes a seventh account, the rent sysvar.
  if (!known || count < 6 || count > 7) return unknown('an associated token account instruction');
  return {
    kind: 'create_account',
    payer: account(0),
    account: account(1),
    owner: account(2),
    mint: account(3),
    tokenProgram: account(5),
  };
};

const OPEN_ORDER = { first: 0x40, bytes: 80, accounts: 11, amountAt: 24, quotedAt: 32 } as const;

const dflowMarkets: Decoder = (data, account, count) => {
  const known =
    data.byteLength === OPEN_ORDER.bytes &&
    count === OPEN_ORDER.accounts &&
    data.getUint8(0) === OPEN_ORDER.first;
  if (!known) return unknown('not the opening of an order');
  return {
    kind: 'open_order',
    collateralMint: account(4),
    source: account(5),
    user: account(6),
    fillRecipient: account(7),
    refundRecipient: account(8),
    amount: u64(data, OPEN_ORDER.amountAt),
    quotedOut: u64(data, OPEN_ORDER.quotedAt),
  };
};

const DECODERS: ReadonlyMap<SolanaAddress, Decoder> = new Map<SolanaAddress, Decoder>([
  [SOLANA_PROGRAMS.computeBudget, computeBudget],
  [SOLANA_PROGRAMS.system, system],
  [SOLANA_PROGRAMS.token, token],
  [SOLANA_PROGRAMS.token2022, token],
  [SOLANA_PROGRAMS.associatedToken, associatedToken],
  [SOLANA_PROGRAMS.memo, () => HARMLESS],
  [SOLANA_PROGRAMS.dflowMarkets, dflowMarkets],
]);

function decode(tx: SolanaTransaction, instruction: SolanaInstruction): Decoded {
  const decoder = DECODERS.get(instruction.program);
  if (decoder === undefined) return unknown('a program that is not known');
  const { buffer, byteOffset, byteLength } = instruction.data;
  return decoder(
    new DataView(buffer, byteOffset, byteLength),
    (position) => tx.accountKeys[instruction.accounts[position]!] ?? null,
    instruction.accounts.length,
  );
}

/**
 * One effect for every instruction, in order.
 * @example
 * for (const effect of effectsOf(parseTransaction(base64))) console.log(effect.kind);
 */
export const effectsOf = (tx: SolanaTransaction): readonly Effect[] =>
  tx.instructions.map((instruction, index) => ({
    index,
    program: instruction.program,
    ...decode(tx, instruction),
  }));

const LAMPORTS_PER_SIGNATURE = 5000n;
const MICRO = 1_000_000n;
/** Compute units that the chain grants when no limit is set. */
const DEFAULT_UNITS_PER_INSTRUCTION = 200_000n;
const MAX_UNITS = 1_400_000n;

/**
 * Lamports that the fee payer is charged at most: signatures and priority.
 * @example
 * const lamports = networkFee(parseTransaction(base64));
 */
export function networkFee(tx: SolanaTransaction): bigint {
  const effects = effectsOf(tx);
  const limit = effects.find((effect) => effect.kind === 'compute_limit')?.units;
  const asked = limit ?? DEFAULT_UNITS_PER_INSTRUCTION * BigInt(effects.length);
  const units = asked < MAX_UNITS ? asked : MAX_UNITS;
  const price = effects.find((effect) => effect.kind === 'compute_price')?.microLamports ?? 0n;
  const priority = (units * price + MICRO - 1n) / MICRO;
  return LAMPORTS_PER_SIGNATURE * BigInt(tx.requiredSignatures) + priority;
}
