/**
 * The sandbox chain's interface for its doors. Addresses, signatures and blockhashes are base58, lamports bigint, slots
 * and heights whole numbers; errors of transactions have the JSON form of Solana's RPC (`"AccountInUse"`,
 * `{"InstructionError":[0,{"Custom":1}]}`).
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

/** A transaction that landed; when it failed on the chain, only its fee was paid. */
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

/** A node's refusal before it accepts a transaction, in JSON-RPC's terms. Proof that this attempt did not land. */
export interface NodeRefusal {
  readonly kind: 'refused';
  /** −32002 preflight, −32003 signature, −32602 not a transaction. */
  readonly code: number;
  readonly message: string;
  readonly data?: PreflightFailure;
}

interface PreflightFailure {
  readonly err: unknown;
  readonly logs: readonly string[];
  readonly unitsConsumed: bigint;
}

export type SendOutcome = { readonly kind: 'executed'; readonly executed: Executed } | NodeRefusal;

export interface SendOptions {
  /** Added to the commit of this transaction. A failing statement fails the whole commit. */
  readonly also?: readonly Statement[];
  /** Lets a failing transaction land, for its fee. */
  readonly skipPreflight?: boolean;
}

/** Balances of a transaction's accounts; one entry per account of the message, lookups included. */
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
  /** Accounts whose resulting state is requested. */
  readonly accounts?: readonly string[];
}

export interface Simulated {
  readonly kind: 'simulated';
  readonly err: unknown;
  readonly logs: readonly string[];
  readonly unitsConsumed: bigint;
  readonly returnData: ReturnData | null;
  readonly inner: readonly InnerInstructions[];
  /** In the requested order. */
  readonly accounts: readonly (ChainAccount | null)[];
  readonly fee: bigint;
  readonly pre: BalanceSheet;
  /** Equal to `pre` when it fails. */
  readonly post: BalanceSheet;
  readonly loadedAddresses: LoadedAddresses;
  readonly replacementBlockhash: { readonly blockhash: string; readonly lastValidBlockHeight: number } | null;
}

export interface ReturnData {
  readonly programId: string;
  readonly data: Uint8Array;
}

/** The calls that programs made for an instruction of the message. Indices are the message's, lookups included. */
export interface InnerInstructions {
  readonly index: number;
  readonly instructions: readonly {
    readonly program: number;
    readonly accounts: readonly number[];
    readonly data: Uint8Array;
    readonly stackHeight: number;
  }[];
}

/** Addresses that a transaction loads from lookup tables. */
export interface LoadedAddresses {
  readonly writable: readonly string[];
  readonly readonly: readonly string[];
}

export type SimulationOutcome = Simulated | NodeRefusal;

export interface SignatureStatus {
  readonly slot: number;
  readonly err: unknown;
  /** `null` once it is final. */
  readonly confirmations: number | null;
  readonly confirmationStatus: 'confirmed' | 'finalized';
}

/** A landed transaction as stored in the history. */
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
  readonly inner: readonly InnerInstructions[];
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
  /** Transactions that landed after a slot, which must be one of the last 300. */
  landedSince(slot: number): number;
  minimumBalanceForRentExemption(bytes: number): bigint;
  /**
   * Executes; resolves when accounts, status and all statements are durable, in one PostgreSQL transaction.
   * @throws SandboxChainUnavailable which states whether it may have landed
   */
  send(wire: Uint8Array, options?: SendOptions): Promise<SendOutcome>;
  /** Leaves no trace. @throws SandboxChainUnavailable */
  simulate(wire: Uint8Array, options: SimulateOptions): Promise<SimulationOutcome>;
  /** `null` when there is none. @throws SandboxChainUnavailable */
  account(address: string): ChainAccount | null;
  /** In the order of the mints; 0n for an account that is not a mint. */
  tokenSupplies(mints: readonly string[]): readonly bigint[];
  /** `null`: unknown. Without `searchHistory` only the last 300 slots are searched. */
  status(signature: string, searchHistory?: boolean): Promise<SignatureStatus | null>;
  /** The same for many, in their order, with at most one query. */
  statuses(
    signatures: readonly string[],
    searchHistory?: boolean,
  ): Promise<readonly (SignatureStatus | null)[]>;
  transaction(signature: string): Promise<LandedTransaction | null>;
  /**
   * A transfer from the faucet; resolves with its signature when it is durable.
   * @param allowance missing: unlimited
   * @throws AirdropRefused when the allowance of the day is used up, or the amount is invalid
   */
  airdrop(address: string, lamports: bigint, allowance?: AirdropAllowance): Promise<string>;
  /** Writes accounts durably (mints, funded token accounts); an account with 0 lamports is deleted. */
  put(accounts: readonly AddressedAccount[], also?: readonly Statement[]): Promise<void>;
  /** Accounts of both token programs, empty ones included. @throws SandboxChainUnavailable */
  tokenAccountsOf(owner: string, filter: TokenFilter): readonly AddressedAccount[];
}

/** The calls of the chain's thread. */
export interface ChainCalls extends LocalChain {
  /**
   * Answers the body of a JSON-RPC request.
   * @returns UTF-8 JSON; `null` when it contains only notifications
   */
  rpc(body: string, limits: RpcLimits): Promise<Uint8Array<ArrayBuffer> | null>;
  /** The same for one call of the desk, without text in between. Never rejects with a fault of the call itself. */
  ask(method: string, params: readonly unknown[]): Promise<RpcAnswer>;
}

/** Answer of one JSON-RPC call. Integers may be bigint, as in the answers of `rpc` they may exceed 2^53. */
export type RpcAnswer = { readonly result: unknown } | { readonly error: RpcFault };

export interface RpcFault {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface LatestBlock {
  /** Also the height of the block. */
  readonly slot: number;
  readonly blockhash: string;
  /** The last height at which the blockhash may be used. */
  readonly lastValidBlockHeight: number;
}

/** Limits of one request, for all of its calls together. */
export interface RpcLimits {
  /** `desk`: the process itself, without a budget, answered before `external` callers. */
  readonly caller: 'desk' | 'external';
  /** Number of calls in the body. */
  readonly calls: number;
  readonly airdrops: AirdropAllowance;
}

type Asynchronous<Methods> = {
  [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Promise<Awaited<Answer>>
    : never;
};

/**
 * The chain's interface in every other thread. Each call rejects with SandboxChainUnavailable when the chain cannot be
 * used; the error states whether the call may have landed.
 */
export interface SandboxChain extends Asynchronous<ChainCalls> {
  /** Calls back after a commit in which transactions landed. @returns removes the listener */
  onLanded(listener: () => void): () => void;
  /** The newest block, without asking the thread. @throws SandboxChainUnavailable */
  blocks(): LatestBlock;
  /** Whether it can be used; `false` while it restarts from the database. */
  isOpen(): boolean;
  /** Refuses new calls, and waits some seconds for running ones. */
  close(): Promise<void>;
}

/** Lamports that the faucet gives on a UTC day. */
export interface AirdropAllowance {
  /** To an address. */
  readonly perDay: bigint;
  /** To all addresses of one caller; missing: the desk itself asks. */
  readonly caller?: { readonly source: string; readonly perDay: bigint };
}

export interface TokenFilter {
  readonly mint?: string;
  readonly programId?: string;
  /** Most accounts that are read. */
  readonly most?: number;
}

export interface ChainOptions {
  /** A database with SANDBOX_CHAIN_SCHEMA. The chain opens separate connections to it. */
  readonly sql: Sql;
  /** Blockhashes and the faucet's key derive from it. Must be the same at every start. */
  readonly seed: string;
  /** Read at every call of the chain. */
  readonly clock: { now(): number };
  /**
   * A statement in every commit in which transactions landed. Its only value is a JSON list of `LandedRow`s, in order
   * of execution.
   */
  readonly landing?: string;
  readonly log?: (message: string, details?: unknown) => void;
}

/** A transaction, failed ones included, as the landing statement receives it. */
export interface LandedRow {
  /** SHA-256 of the message, hex. */
  readonly message_hash: string;
  readonly signature: string;
  readonly succeeded: boolean;
  /** Epoch milliseconds. */
  readonly at_ms: number;
}

/** The chain cannot be used: its database was lost, another process leads, or it was closed. */
export class SandboxChainUnavailable extends Error {
  override readonly name = 'SandboxChainUnavailable';
  /** Whether the call took effect: `no` is proof, `unknown` is not. */
  readonly landed: 'no' | 'unknown';

  constructor(landed: 'no' | 'unknown', reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.landed = landed;
  }
}

/** The faucet refuses this request. The message gives the reason. */
export class AirdropRefused extends Error {
  override readonly name = 'AirdropRefused';
}

/** The queue of external calls is full. */
export class ChainBusy extends Error {
  override readonly name = 'ChainBusy';

  constructor() {
    super('too many calls are waiting for the sandbox chain');
  }
}
