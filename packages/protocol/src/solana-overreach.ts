/**
 * Whether a transaction stays within the terms of a quote, decided from its bytes alone; the service's description
 * of it does not count. The wallet may lose at most `maxInput` of the input mint and `maxLamports`; it grants no rights, closes,
 * burns and mints nothing, and its proceeds go to its own accounts. What cannot be decided is an overreach.
 * This module makes no calls to a chain; an opaque program also needs a simulation.
 */
import type { SolanaAddress } from './solana.ts';
import { associatedTokenAddress, SOLANA_PROGRAMS } from './solana-accounts.ts';
import { type Effect, effectsOf, networkFee, type SolanaAccount } from './solana-effects.ts';
import { isSigner, type SolanaTransaction } from './solana-transaction.ts';

export interface QuoteTerms {
  /** Who pays and signs. */
  readonly wallet: SolanaAddress;
  readonly inputMint: SolanaAddress;
  readonly outputMint: SolanaAddress;
  /** In atoms of the input mint, over all instructions. */
  readonly maxInput: bigint;
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

class OverreachCheck {
  readonly found: Overreach[] = [];
  readonly #tx: SolanaTransaction;
  readonly #terms: QuoteTerms;
  #input = 0n;
  #lamports = 0n;

  constructor(tx: SolanaTransaction, terms: QuoteTerms) {
    this.#tx = tx;
    this.#terms = terms;
  }

  run(): readonly Overreach[] {
    const { wallet, maxInput, maxLamports } = this.#terms;
    if (!isSigner(this.#tx, this.#tx.accountKeys.indexOf(wallet)))
      this.#find('wallet_does_not_sign', 'the wallet is no signer of the transaction');
    if (this.#tx.accountKeys[0] === wallet) this.#lamports += networkFee(this.#tx);
    for (const effect of effectsOf(this.#tx)) this.#effect(effect);
    if (this.#input > maxInput)
      this.#find('input_exceeded', `it takes ${this.#input} atoms, the quote says at most ${maxInput}`);
    if (this.#lamports > maxLamports)
      this.#find(
        'lamports_exceeded',
        `it costs up to ${this.#lamports} lamports, allowed are ${maxLamports}`,
      );
    return this.found;
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
    if (isInput) this.#input += amount;
    else this.#find('wrong_mint', `${where} takes tokens that the quote does not sell`);
  }

  #openOrder(effect: Effect & { kind: 'open_order' }, where: string): void {
    const { user, source, collateralMint, fillRecipient, refundRecipient, amount } = effect;
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
    if (!this.#decided(where, effect.source, effect.destination)) return;
    if (effect.source === this.#terms.wallet) this.#lamports += effect.lamports;
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
 * Where the transaction goes beyond the terms. An empty list means that it can take at most `maxInput` of the input
 * mint and `maxLamports` from the wallet. A few milliseconds.
 */
export const overreaches = (tx: SolanaTransaction, terms: QuoteTerms): readonly Overreach[] =>
  new OverreachCheck(tx, terms).run();
