/**
 * Whether a transaction stays within the terms of a quote, decided from its bytes alone; the service's description
 * of it does not count. The wallet may lose at most `maxInput` of the input mint and `maxLamports`; it grants no rights, closes,
 * burns and mints nothing, and its proceeds go to its own accounts. Tokens leave it for the order alone: into the opening of an
 * order in the venue's program, or into a paper chain's escrow; SOL leaves it as fees and as rent of its own accounts alone.
 * An undecidable instruction is an overreach. This module makes no calls to a chain; an opaque program also needs a simulation.
 */
import type { SolanaAddress } from './solana.ts';
import { associatedTokenAddress, paperEscrowAddress, SOLANA_PROGRAMS } from './solana-accounts.ts';
import { type Effect, effectsOf, networkFee, type SolanaAccount } from './solana-effects.ts';
import { isSigner, type SolanaTransaction } from './solana-transaction.ts';

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
