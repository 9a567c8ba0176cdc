/**
 * What the sandbox chain offers to the doors in front of it. Addresses, signatures and blockhashes are base58,
 * lamports bigint, slots and heights whole numbers; errors of transactions have the JSON form that Solana's RPC gives
 * them (`"AccountInUse"`, `{"InstructionError":[0,{"Custom":1}]}`).
 */

import type { Sql } from '@bellwether/durable';

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

/** A statement as data, since the chain's connection lives in another thread. Values are texts; `text` casts them. */
export interface Statement {
  readonly text: string;
  readonly values: readonly (string | null)[];
}

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
  /** Join the commit of this one transaction. One that fails makes the whole commit fail. */
  readonly also?: readonly Statement[];
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

/** The chain in the thread that computes it. */
export interface LocalChain {
  slot(): number;
  /** Every slot has its block, so this is the slot. */
  blockHeight(): number;
  /** The newest one. `lastValidBlockHeight` is the last height at which it may be used. */
  latestBlockhash(): { readonly blockhash: string; readonly lastValidBlockHeight: number };
  isBlockhashValid(blockhash: string): boolean;
  genesisHash(): string;
  /** Transactions that ever landed. */
  transactionCount(): number;
  /** Those that landed after a slot, which is one of the last 300. */
  landedSince(slot: number): number;
  minimumBalanceForRentExemption(bytes: number): bigint;
  /**
   * Executes; resolves when accounts, status and all statements are durable, in one PostgreSQL transaction.
   * @throws SandboxChainUnavailable which says whether it may have landed
   */
  send(wire: Uint8Array, options?: SendOptions): Promise<SendOutcome>;
  /** Leaves no trace. @throws SandboxChainUnavailable */
  simulate(wire: Uint8Array, options: SimulateOptions): Promise<SimulationOutcome>;
  /** `null` when there is none. @throws SandboxChainUnavailable */
  account(address: string): ChainAccount | null;
  /** In the order of the mints; 0n for what is no mint. */
  tokenSupplies(mints: readonly string[]): readonly bigint[];
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
  put(accounts: readonly AddressedAccount[], also?: readonly Statement[]): Promise<void>;
  /** Accounts of both token programs, those that hold nothing included. @throws SandboxChainUnavailable */
  tokenAccountsOf(owner: string, filter: TokenFilter): readonly AddressedAccount[];
  tokenAccountsByDelegate(delegate: string, filter: TokenFilter): readonly AddressedAccount[];
}

/** What the chain's thread can be asked for. */
export interface ChainCalls extends LocalChain {
  /**
   * Answers the body of a JSON-RPC request.
   * @returns UTF-8 JSON; `null` when it held notifications alone
   */
  rpc(body: string, limits: RpcLimits): Promise<Uint8Array<ArrayBuffer> | null>;
}

/** Of one request, for all of its calls together. */
export interface RpcLimits {
  /** `desk`: the process itself asks, in its own measure, and is answered before strangers. */
  readonly caller: 'desk' | 'stranger';
  /** How many calls the body holds. */
  readonly calls: number;
  readonly airdrops: AirdropAllowance;
}

type Asynchronous<Methods> = {
  [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Promise<Awaited<Answer>>
    : never;
};

/**
 * The chain as every other thread has it. Each call rejects with SandboxChainUnavailable when the chain cannot be used,
 * and says then whether it may have landed.
 */
export interface SandboxChain extends Asynchronous<ChainCalls> {
  /** Calls back after a commit in which transactions landed. @returns ends it */
  onLanded(listener: () => void): () => void;
  /** Whether it can be used now; `false` while it starts again from the database. */
  isOpen(): boolean;
  /** Waits for what is on its way, for some seconds; everything after it is refused. */
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
  /** Where SANDBOX_CHAIN_SCHEMA has been run. The chain opens connections of its own to the same database. */
  readonly sql: Sql;
  /** Blockhashes and the faucet's key follow from it. The same one at every start. */
  readonly seed: string;
  /** Read whenever the chain is asked for something. */
  readonly clock: { now(): number };
  /**
   * A statement that joins every commit in which transactions landed. Its one value is a JSON list of
   * `LandedRow`s, in order of execution.
   */
  readonly landing?: string;
  readonly log?: (message: string, details?: unknown) => void;
}

/** What the landing statement is given of a transaction; one that failed is given, too. */
export interface LandedRow {
  /** SHA-256 of the message, hex. */
  readonly message_hash: string;
  readonly signature: string;
  readonly succeeded: boolean;
  /** Epoch milliseconds. */
  readonly at_ms: number;
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

/** More calls of strangers are waiting than the chain takes. */
export class ChainBusy extends Error {
  override readonly name = 'ChainBusy';

  constructor() {
    super('too many calls are waiting for the sandbox chain');
  }
}
