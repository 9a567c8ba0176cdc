/** The few questions to a Solana node that quotes and delegations need. Reads are asked with commitment `confirmed`. */
import { parseBase64Strict } from '@bellwether/protocol';
import type {
  Address,
  Base64EncodedDataResponse,
  Base64EncodedWireTransaction,
  Commitment,
  Rpc,
  RpcTransport,
  Signature,
  SolanaRpcApi,
} from '@solana/kit';
import type { Fetch } from './transport.ts';

const TIMEOUT_MS = 10_000;
const COMMITMENT: Commitment = 'confirmed';

/** The node answered with an error, or not at all (`code` 0). The node's URL may hold a key and is not quoted. */
export class SolanaRpcError extends Error {
  override readonly name = 'SolanaRpcError';
  /** JSON-RPC's, or 0. */
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface LatestBlockhash {
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
}

/** `null`: no account at this address. */
export type ChainAccount = {
  readonly lamports: bigint;
  /** The program that it belongs to. */
  readonly owner: string;
  readonly executable: boolean;
  readonly data: Uint8Array;
} | null;

export interface SimulationAnswer {
  /** The node's error as JSON; `null`: it would succeed. */
  readonly err: string | null;
  readonly accounts: readonly ChainAccount[];
}

export type SignatureStatus = 'unseen' | 'confirmed' | { readonly failed: string };

type Ask<T> = (rpc: Rpc<SolanaRpcApi>) => { send(options: { abortSignal: AbortSignal }): Promise<T> };

export class SolanaRpc {
  readonly #transport: RpcTransport;

  constructor(url: string, send: Fetch = fetch) {
    this.#transport = async <T>({ payload, signal }: Parameters<RpcTransport>[0]): Promise<T> => {
      const response = await send(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: toJson(payload),
        ...(signal === undefined ? {} : { signal }),
      });
      const answer = (await response.json()) as { error?: { code?: number; message?: string } };
      // Kit fails on errors without the details that it expects, which some nodes leave out.
      if (answer.error !== undefined)
        throw new SolanaRpcError(
          answer.error.code ?? 0,
          `${methodOf(payload)}: ${answer.error.message ?? 'refused'}`,
        );
      return answer as T;
    };
  }

  /** @throws SolanaRpcError */
  async latestBlockhash(): Promise<LatestBlockhash> {
    const { value } = await this.#ask((rpc) => rpc.getLatestBlockhash({ commitment: COMMITMENT }));
    return { blockhash: value.blockhash, lastValidBlockHeight: Number(value.lastValidBlockHeight) };
  }

  /** @throws SolanaRpcError */
  async blockHeight(): Promise<number> {
    return Number(await this.#ask((rpc) => rpc.getBlockHeight({ commitment: COMMITMENT })));
  }

  /** The same bytes may be sent again and again. @throws SolanaRpcError when the node refuses it */
  async send(base64: string): Promise<void> {
    await this.#ask((rpc) =>
      rpc.sendTransaction(base64 as Base64EncodedWireTransaction, {
        encoding: 'base64',
        preflightCommitment: COMMITMENT,
        maxRetries: 0n,
      }),
    );
  }

  /** @throws SolanaRpcError */
  async status(signature: string): Promise<SignatureStatus> {
    const { value } = await this.#ask((rpc) =>
      rpc.getSignatureStatuses([signature as Signature], { searchTransactionHistory: true }),
    );
    const item = value[0];
    if (item === null || item === undefined) return 'unseen';
    if (item.err !== null) return { failed: toJson(item.err) };
    return item.confirmationStatus === 'confirmed' || item.confirmationStatus === 'finalized'
      ? 'confirmed'
      : 'unseen';
  }

  /** In the order asked for; at most 100. @throws SolanaRpcError */
  async accounts(addresses: readonly string[]): Promise<readonly ChainAccount[]> {
    const { value } = await this.#ask((rpc) =>
      rpc.getMultipleAccounts(addresses as readonly Address[], {
        encoding: 'base64',
        commitment: COMMITMENT,
      }),
    );
    return accountsOf(value, addresses.length);
  }

  /** Reads some accounts as they would be after an unsigned transaction. @throws SolanaRpcError */
  async simulate(base64: string, addresses: readonly string[]): Promise<SimulationAnswer> {
    const { value } = await this.#ask((rpc) =>
      rpc.simulateTransaction(base64 as Base64EncodedWireTransaction, {
        encoding: 'base64',
        commitment: COMMITMENT,
        sigVerify: false,
        replaceRecentBlockhash: false,
        accounts: { encoding: 'base64', addresses: addresses as readonly Address[] },
      }),
    );
    if (value.err !== null) return { err: toJson(value.err), accounts: [] };
    return { err: null, accounts: accountsOf(value.accounts ?? [], addresses.length) };
  }

  async #ask<T>(ask: Ask<T>): Promise<T> {
    const { createSolanaRpcFromTransport } = await import('@solana/kit');
    const rpc = createSolanaRpcFromTransport(this.#transport) as Rpc<SolanaRpcApi>;
    let answer: T;
    try {
      answer = await ask(rpc).send({ abortSignal: AbortSignal.timeout(TIMEOUT_MS) });
    } catch (error) {
      // Anything else may quote the URL.
      throw error instanceof SolanaRpcError ? error : unreadable();
    }
    if (answer === undefined) throw unreadable();
    return answer;
  }
}

const unreadable = (): SolanaRpcError => new SolanaRpcError(0, 'no readable answer from the Solana node');

/** Kit reads and writes integers as bigint; on the wire they are numbers. */
const toJson = (value: unknown): string =>
  JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? Number(item) : item));

const methodOf = (payload: unknown): string => (payload as { readonly method: string }).method;

interface WireAccount {
  readonly lamports: bigint;
  readonly owner: string;
  readonly executable: boolean;
  readonly data: Base64EncodedDataResponse;
}

function accountsOf(wire: readonly (WireAccount | null)[], count: number): readonly ChainAccount[] {
  if (wire.length !== count) throw new SolanaRpcError(0, 'the Solana node left accounts out');
  return wire.map((account) => {
    if (account === null) return null;
    const data = parseBase64Strict(account.data[0]);
    if (data === null) throw new SolanaRpcError(0, 'the Solana node gave an account that cannot be read');
    const { lamports, owner, executable } = account;
    return { lamports, owner, executable, data };
  });
}
