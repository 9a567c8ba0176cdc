/**
 * What the sandbox chain offers to the doors in front of it. Addresses, signatures and blockhashes are base58,
 * lamports bigint, slots and heights whole numbers; errors of transactions have the JSON form that Solana's RPC gives
 * them (`"AccountInUse"`, `{"InstructionError":[0,{"Custom":1}]}`).
 */

import type { Sql, Tx } from '@bellwether/durable';

export interface ChainAccount {
  readonly lamports: bigint;
  /** The program that owns it. */
  readonly owner: string;
  readonly data: Uint8Array;
  readonly executable: boolean;
}

export interface AddressedAccount {
  readonly address: string;
  readonly account: ChainAccount;
}

/** A transaction that landed; it may have failed there, and then it cost its fee. */
export interface Executed {
  readonly signature: string;
  readonly slot: number;
  /** `null`, or why it had no effect. */
  readonly err: unknown;
  readonly logs: readonly string[];
  readonly unitsConsumed: bigint;
  readonly wire: Uint8Array;
  readonly message: Uint8Array;
}

/**
 * Statements that join the commit of a transaction. Called while that commit is put together, in order of execution.
 * It must not keep state: the commit may yet fail, and then the transaction never was. One that throws, or whose
 * statement fails, fails the whole commit.
 */
export type Witness = (executed: Executed, tx: Tx) => readonly PromiseLike<unknown>[];

/** What a node refuses before it takes a transaction, as JSON-RPC tells it. Proof that this attempt did not land. */
export interface Refusal {
  readonly kind: 'refused';
  /** −32002 preflight, −32003 signature, −32602 no transaction at all. */
  readonly code: number;
  readonly message: string;
  readonly data?: PreflightFailure;
}

export interface PreflightFailure {
  readonly err: unknown;
  readonly logs: readonly string[];
  readonly unitsConsumed: bigint;
}

export type SendOutcome = { readonly kind: 'executed'; readonly executed: Executed } | Refusal;

export interface SendOptions {
  /** Joins the statements of this one transaction's commit. */
  readonly also?: Witness;
  /** Lets a transaction that fails land nevertheless, for its fee. */
  readonly skipPreflight?: boolean;
}

/** What the parties of a transaction hold; one entry per account of the message, lookups included. */
export interface BalanceSheet {
  readonly lamports: readonly bigint[];
  readonly tokens: readonly TokenBalance[];
}

export interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly programId: string;
  readonly amount: bigint;
  readonly decimals: number;
}

export interface SimulateOptions {
  /** Not together with `replaceRecentBlockhash`. */
  readonly sigVerify: boolean;
  readonly replaceRecentBlockhash: boolean;
  /** Accounts whose state afterwards is wanted. */
  readonly accounts?: readonly string[];
}

export interface Simulated {
  readonly kind: 'simulated';
  readonly err: unknown;
  readonly logs: readonly string[];
  readonly unitsConsumed: bigint;
  readonly returnData: ReturnData | null;
  /** In the order asked for. */
  readonly accounts: readonly (ChainAccount | null)[];
  readonly fee: bigint;
  readonly pre: BalanceSheet;
  /** As `pre` when it fails. */
  readonly post: BalanceSheet;
  readonly loadedAddresses: LoadedAddresses;
  readonly replacementBlockhash: { readonly blockhash: string; readonly lastValidBlockHeight: number } | null;
}

export interface ReturnData {
  readonly programId: string;
  readonly data: Uint8Array;
}

/** What the lookup tables of a transaction point to. */
export interface LoadedAddresses {
  readonly writable: readonly string[];
  readonly readonly: readonly string[];
}

export type SimulationOutcome = Simulated | Refusal;

export interface SignatureStatus {
  readonly slot: number;
  readonly err: unknown;
  /** `null` once it is final. */
  readonly confirmations: number | null;
  readonly confirmationStatus: 'confirmed' | 'finalized';
}

/** A landed transaction as history keeps it. */
export interface LandedTransaction {
  readonly slot: number;
  /** Epoch milliseconds. */
  readonly atMs: number;
  readonly err: unknown;
  readonly meta: LandedMeta;
  readonly wire: Uint8Array;
}

export interface LandedMeta {
  readonly fee: bigint;
  readonly logs: readonly string[];
  readonly unitsConsumed: bigint;
  readonly returnData: ReturnData | null;
  readonly pre: BalanceSheet;
  readonly post: BalanceSheet;
  readonly loadedAddresses: LoadedAddresses;
}

export interface SandboxChain {
  slot(): number;
  /** Every slot has its block, so this is the slot. */
  blockHeight(): number;
  /** The newest one. `lastValidBlockHeight` is the last height at which it may be used. */
  latestBlockhash(): { readonly blockhash: string; readonly lastValidBlockHeight: number };
  isBlockhashValid(blockhash: string): boolean;
  readonly genesisHash: string;
  /** Transactions that ever landed. */
  transactionCount(): number;
  /** Those that landed after a slot, which is one of the last 300. */
  landedSince(slot: number): number;
  minimumBalanceForRentExemption(bytes: number): bigint;
  /**
   * Executes; resolves when accounts, status and the statements of every witness are durable, all in one PostgreSQL
   * transaction.
   * @throws SandboxChainUnavailable which says whether it may have landed
   */
  send(wire: Uint8Array, options?: SendOptions): Promise<SendOutcome>;
  /** Leaves no trace. @throws SandboxChainUnavailable */
  simulate(wire: Uint8Array, options: SimulateOptions): Promise<SimulationOutcome>;
  /** `null` when there is none. @throws SandboxChainUnavailable */
  account(address: string): ChainAccount | null;
  /** `null`: unknown. Without `searchHistory` the last 300 slots alone are looked through. */
  status(signature: string, searchHistory?: boolean): Promise<SignatureStatus | null>;
  /** The same for many, in their order, with at most one query. */
  statuses(
    signatures: readonly string[],
    searchHistory?: boolean,
  ): Promise<readonly (SignatureStatus | null)[]>;
  transaction(signature: string): Promise<LandedTransaction | null>;
  /**
   * A transfer from the faucet; resolves with its signature when it is durable.
   * @param allowance missing: the faucet gives what is asked for
   * @throws AirdropRefused when the allowance of the day is used up, or the amount cannot be given
   */
  airdrop(address: string, lamports: bigint, allowance?: AirdropAllowance): Promise<string>;
  /** Sets accounts as they are given (mints, funded token accounts); none with 0 lamports remains. Durable. */
  put(
    accounts: readonly AddressedAccount[],
    also?: (tx: Tx) => readonly PromiseLike<unknown>[],
  ): Promise<void>;
  /** Accounts of both token programs, those that hold nothing included. @throws SandboxChainUnavailable */
  tokenAccountsOf(owner: string, filter: TokenFilter): readonly AddressedAccount[];
  tokenAccountsByDelegate(delegate: string, filter: TokenFilter): readonly AddressedAccount[];
  /** Its statements join the commit of every transaction that lands, failed ones included. @returns ends it */
  watch(witness: Witness): () => void;
  /** Whether it can be used now; `false` while it starts again from the database. */
  isOpen(): boolean;
  /** Waits for what is on its way; everything after it is refused. */
  close(): Promise<void>;
}

/** Lamports that the faucet gives on a UTC day. */
export interface AirdropAllowance {
  /** To an address. */
  readonly perDay: bigint;
  /** To all addresses that one caller asks for; missing: the desk itself asks. */
  readonly caller?: { readonly source: string; readonly perDay: bigint };
}

export interface TokenFilter {
  readonly mint?: string;
  readonly programId?: string;
  /** No more of them are read. */
  readonly most?: number;
}

export interface ChainOptions {
  /** Where SANDBOX_CHAIN_SCHEMA has been run. */
  readonly sql: Sql;
  /** Blockhashes and the faucet's key follow from it. The same one at every start. */
  readonly seed: string;
  readonly clock: { now(): number };
  readonly log?: (message: string, details?: unknown) => void;
}

/** The chain cannot be used: its database was lost, somebody else leads, or it was closed. */
export class SandboxChainUnavailable extends Error {
  override readonly name = 'SandboxChainUnavailable';
  /** Whether what was asked for happened: `no` is proof, `unknown` is none. */
  readonly landed: 'no' | 'unknown';

  constructor(landed: 'no' | 'unknown', reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.landed = landed;
  }
}

/** The faucet does not give this. The message says why. */
export class AirdropRefused extends Error {
  override readonly name = 'AirdropRefused';
}
