/**
 * Reads the effects of a Solana message's instructions from the message alone. It decodes the few instructions that an
 * order, a fee or a delegation is made of; anything else is `unknown`, which a signer must treat as the worst case.
 * It only reads; what is acceptable is decided further down.
 */
import {
  associatedTokenAddress,
  isSigner,
  paperEscrowAddress,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  type SolanaInstruction,
  type SolanaTransaction,
} from './solana.ts';

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

// Whether a transaction stays within the terms of a quote, decided from its bytes alone; the service's description
// of it does not count. The wallet may lose at most `maxInput` of the input mint and `maxLamports`; it grants no rights, closes,
// burns and mints nothing, and its proceeds go to its own accounts. Tokens leave it for the order alone: into the opening of an
// order in the venue's program, or into a paper chain's escrow; SOL leaves it as fees and as rent of its own accounts alone.
// An undecidable instruction is an overreach. Nothing here calls a chain; an opaque program also needs a simulation.

export interface QuoteTerms {
  /** Who pays and signs. */
  readonly wallet: SolanaAddress;
  readonly inputMint: SolanaAddress;
  readonly outputMint: SolanaAddress;
  /** In atoms of the input mint, over all instructions. */
  readonly maxInput: bigint;
  /** In atoms of the output mint: what the opening of the order has to name at least. */
  readonly minOutput: bigint;
  /** The wallet that receives when it is another one; `null`: the paying one. */
  readonly destination: SolanaAddress | null;
  /** Network fee, priority fee and rent together. */
  readonly maxLamports: bigint;
  readonly collateralMint: SolanaAddress;
}

export type OverreachCode =
  /** The wallet's signature is not required: this transaction is not the wallet's order. */
  | 'wallet_does_not_sign'
  | 'instruction_not_known'
  /** An account that must be known comes from a lookup table. */
  | 'account_not_decidable'
  | 'wrong_mint'
  /** No instruction opens an order: signing it could only lose something. */
  | 'no_order'
  /** A limit or a price of the network that is named twice. */
  | 'named_twice'
  /** The opening names less in return than the quote's least. */
  | 'promises_less'
  /** Tokens or SOL for an account that no rule of the order names. */
  | 'sends_elsewhere'
  | 'input_exceeded'
  | 'lamports_exceeded'
  | 'gives_rights_away'
  | 'changes_account'
  | 'receives_elsewhere';

export interface Overreach {
  readonly code: OverreachCode;
  /** A sentence, without a full stop. */
  readonly detail: string;
  /** With `instruction_not_known`: the program of the instruction. */
  readonly program?: SolanaAddress;
}

/** Rent of 170 bytes, the size of a Token-2022 account here, with the 128 bytes that every account is charged for. */
const TOKEN_ACCOUNT_RENT = 2_074_080n;
/** Rent of the 344 bytes in which DFlow's program keeps an order. */
const ORDER_ACCOUNT_RENT = 3_285_120n;

/** Effects of the order itself, as its transaction says them. */
export interface OrderEffects {
  /** Atoms of the input mint that leave the wallet. */
  readonly takes: bigint;
  /** Atoms of the output mint that the opening names; `null`: the transaction names none, as on a paper chain. */
  readonly promises: bigint | null;
  readonly overreaches: readonly Overreach[];
}

class OverreachCheck {
  readonly found: Overreach[] = [];
  readonly #tx: SolanaTransaction;
  readonly #terms: QuoteTerms;
  #input = 0n;
  #lamports = 0n;
  #rent = 0n;
  #openings = 0;
  #promises: bigint | null = null;

  constructor(tx: SolanaTransaction, terms: QuoteTerms) {
    this.#tx = tx;
    this.#terms = terms;
  }

  run(): OrderEffects {
    const { wallet, maxInput, maxLamports, minOutput } = this.#terms;
    const effects = effectsOf(this.#tx);
    if (!isSigner(this.#tx, this.#tx.accountKeys.indexOf(wallet)))
      this.#find('wallet_does_not_sign', 'the wallet is no signer of the transaction');
    if (this.#tx.accountKeys[0] === wallet) this.#lamports += networkFee(this.#tx);
    for (const effect of effects) this.#effect(effect);
    for (const kind of ['compute_limit', 'compute_price'] as const)
      if (effects.filter((effect) => effect.kind === kind).length > 1)
        this.#find('named_twice', `it names the ${kind.replace('_', ' ')} twice`);
    // An instruction that cannot be read may open the order, and is a finding itself.
    if (this.#openings === 0 && !effects.some(({ kind }) => kind === 'unknown'))
      this.#find('no_order', 'it opens no order');
    if (this.#promises !== null && this.#promises < minOutput)
      this.#find(
        'promises_less',
        `it promises ${this.#promises} atoms in return, the quote says at least ${minOutput}`,
      );
    if (this.#input > maxInput)
      this.#find('input_exceeded', `it takes ${this.#input} atoms, the quote says at most ${maxInput}`);
    if (this.#lamports > maxLamports)
      this.#find(
        'lamports_exceeded',
        `it costs up to ${this.#lamports} lamports, allowed are ${maxLamports}`,
      );
    return {
      takes: this.#input,
      promises: this.#promises,
      overreaches: this.found,
    };
  }

  #find(code: OverreachCode, detail: string): void {
    this.found.push({ code, detail });
  }

  #notKnown({ program }: Effect, detail: string): void {
    this.found.push({ code: 'instruction_not_known', detail, program });
  }

  #effect(effect: Effect): void {
    const where = `instruction ${effect.index + 1}`;
    switch (effect.kind) {
      case 'harmless':
      case 'compute_limit':
      case 'compute_price':
        return;
      case 'transfer':
        this.#transfer(effect, where);
        return;
      case 'open_order':
        this.#openOrder(effect, where);
        return;
      case 'create_account':
        this.#createAccount(effect, where);
        return;
      case 'system_transfer':
        this.#systemTransfer(effect, where);
        return;
      case 'approve':
      case 'set_authority':
        this.#find('gives_rights_away', `${where} gives somebody rights over an account`);
        return;
      case 'revoke':
      case 'close_account':
      case 'burn':
      case 'mint':
        this.#find('changes_account', `${where} is of the kind ${effect.kind}`);
        return;
      case 'unknown':
        this.#notKnown(effect, `${where} of ${effect.program}: ${effect.reason}`);
        return;
    }
  }

  #decided(where: string, ...accounts: readonly SolanaAccount[]): boolean {
    if (!accounts.includes(null)) return true;
    this.#find('account_not_decidable', `${where} uses an account out of a lookup table`);
    return false;
  }

  #transfer(effect: Effect & { kind: 'transfer' }, where: string): void {
    const { source, destination, authority, mint, amount, program } = effect;
    if (!this.#decided(where, source, destination, authority)) return;
    if (mint === null) {
      this.#decided(where, mint);
      return;
    }
    const { wallet, inputMint } = this.#terms;
    if (!isSigner(this.#tx, this.#tx.accountKeys.indexOf(authority!))) {
      this.#notKnown(effect, `${where} is authorised by an account that does not sign`);
      return;
    }
    // Another signer may be a delegate of the wallet, so the wallet's own accounts count under every authority.
    const own = [inputMint, this.#terms.outputMint].some(
      (each) => source === associatedTokenAddress(wallet, each, program),
    );
    if (authority !== wallet && !own) return;
    const isInput =
      mint === undefined ? source === associatedTokenAddress(wallet, inputMint, program) : mint === inputMint;
    if (!isInput) {
      this.#find('wrong_mint', `${where} takes tokens that the quote does not sell`);
      return;
    }
    this.#input += amount;
    if (destination === paperEscrowAddress(inputMint)) this.#openings += 1;
    else if (!this.#accountsOf(wallet, inputMint).includes(destination!))
      this.#find(
        'sends_elsewhere',
        `${where} sends the input to ${destination}, which is no part of an order`,
      );
  }

  #openOrder(effect: Effect & { kind: 'open_order' }, where: string): void {
    const { user, source, collateralMint, fillRecipient, refundRecipient, amount, quotedOut } = effect;
    if (!this.#decided(where, user, source, collateralMint, fillRecipient, refundRecipient)) return;
    const { wallet, inputMint, outputMint, destination } = this.#terms;
    if (user !== wallet || !this.#accountsOf(wallet, inputMint).includes(source!))
      this.#find('wrong_mint', `${where} does not take the order's input out of the wallet's own account`);
    if (collateralMint !== this.#terms.collateralMint)
      this.#find('wrong_mint', `${where} settles in ${collateralMint}`);
    if (!this.#mayReceive(destination ?? wallet, outputMint, fillRecipient!))
      this.#find('receives_elsewhere', `${where} lets ${fillRecipient} receive the fill`);
    if (!this.#mayReceive(wallet, inputMint, refundRecipient!))
      this.#find('receives_elsewhere', `${where} lets ${refundRecipient} receive what is not filled`);
    this.#input += amount;
    this.#lamports += ORDER_ACCOUNT_RENT;
    this.#openings += 1;
    this.#promises = (this.#promises ?? 0n) + quotedOut;
  }

  #createAccount(effect: Effect & { kind: 'create_account' }, where: string): void {
    const { payer, account, owner, mint, tokenProgram } = effect;
    if (!this.#decided(where, payer, account, owner, mint, tokenProgram)) return;
    const { wallet, inputMint, outputMint, destination, collateralMint } = this.#terms;
    if (payer !== wallet) return;
    this.#lamports += TOKEN_ACCOUNT_RENT;
    const receives =
      (tokenProgram === SOLANA_PROGRAMS.token || tokenProgram === SOLANA_PROGRAMS.token2022) &&
      (owner === wallet || owner === destination) &&
      [inputMint, outputMint, collateralMint].includes(mint!) &&
      account === associatedTokenAddress(owner!, mint!, tokenProgram!);
    if (!receives)
      this.#find('receives_elsewhere', `${where} lets the wallet pay for an account of ${owner}`);
  }

  #systemTransfer(effect: Effect & { kind: 'system_transfer' }, where: string): void {
    const { source, destination, lamports } = effect;
    if (!this.#decided(where, source, destination)) return;
    const { wallet, inputMint, outputMint } = this.#terms;
    if (source !== wallet) return;
    this.#lamports += lamports;
    this.#rent += lamports;
    const own = [inputMint, outputMint].flatMap((mint) => this.#accountsOf(wallet, mint));
    if (destination === wallet) return;
    if (!own.includes(destination!))
      this.#find('sends_elsewhere', `${where} sends ${lamports} lamports to ${destination}`);
    else if (this.#rent > 2n * TOKEN_ACCOUNT_RENT)
      this.#find('lamports_exceeded', `${where} sends more than the rent of the wallet's own accounts`);
  }

  /** The order's program names either the wallet or its token account. */
  #mayReceive(owner: SolanaAddress, mint: SolanaAddress, recipient: SolanaAddress): boolean {
    return recipient === owner || this.#accountsOf(owner, mint).includes(recipient);
  }

  #accountsOf(owner: SolanaAddress, mint: SolanaAddress): readonly SolanaAddress[] {
    return [SOLANA_PROGRAMS.token, SOLANA_PROGRAMS.token2022].map((tokenProgram) =>
      associatedTokenAddress(owner, mint, tokenProgram),
    );
  }
}

/**
 * Judges what the transaction takes and promises, and where it goes beyond the terms. A few milliseconds.
 * @example
 * const effects = orderEffects(parseTransaction(base64), terms);
 */
export const orderEffects = (tx: SolanaTransaction, terms: QuoteTerms): OrderEffects =>
  new OverreachCheck(tx, terms).run();

/**
 * Where the transaction goes beyond the terms. An empty list means that it can take at most `maxInput` of the input
 * mint and `maxLamports` from the wallet, both for this order alone.
 * @example
 * const found = overreaches(parseTransaction(base64), terms);
 * if (found.length > 0) throw new Error('it may do more than was agreed');
 */
export const overreaches = (tx: SolanaTransaction, terms: QuoteTerms): readonly Overreach[] =>
  orderEffects(tx, terms).overreaches;
