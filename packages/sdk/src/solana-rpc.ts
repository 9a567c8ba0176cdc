/** The few questions to a Solana JSON-RPC node that a delegation needs. Reads are asked with commitment `confirmed`. */
import { parseBase64Strict } from '@bellwether/protocol';
import type { Fetch } from './transport.ts';

const TIMEOUT_MS = 10_000;

/** The node answered with an error, or not at all (`code` 0). The address may hold a key and is not quoted. */
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

/** `null`: there is none at this address. */
export type ChainAccount = {
  readonly lamports: bigint;
  /** The program that it belongs to. */
  readonly owner: string;
  readonly executable: boolean;
  readonly data: Uint8Array;
} | null;

interface WireAccount {
  readonly lamports: number;
  readonly owner: string;
  readonly executable: boolean;
  readonly data: readonly [base64: string, encoding: string];
}

export interface SimulationAnswer {
  /** `null`: it would succeed. */
  readonly err: unknown;
  readonly accounts: readonly ChainAccount[];
}

export type SignatureStatus = 'unseen' | 'confirmed' | { readonly failed: unknown };

export class SolanaRpc {
  readonly #url: string;
  readonly #fetch: Fetch;

  constructor(url: string, send: Fetch = fetch) {
    this.#url = url;
    this.#fetch = send;
  }

  /** @throws SolanaRpcError */
  async latestBlockhash(): Promise<LatestBlockhash> {
    const { value } = await this.#call<{ value: LatestBlockhash }>('getLatestBlockhash', [
      { commitment: 'confirmed' },
    ]);
    return value;
  }

  /** @throws SolanaRpcError */
  blockHeight(): Promise<number> {
    return this.#call('getBlockHeight', [{ commitment: 'confirmed' }]);
  }

  /** The same bytes may be sent again and again. @throws SolanaRpcError when the node refuses it */
  send(base64: string): Promise<string> {
    const options = { encoding: 'base64', preflightCommitment: 'confirmed', maxRetries: 0 };
    return this.#call('sendTransaction', [base64, options]);
  }

  /** @throws SolanaRpcError */
  async status(signature: string): Promise<SignatureStatus> {
    interface Item {
      readonly err: unknown;
      readonly confirmationStatus?: string | null;
    }
    const { value } = await this.#call<{ value: (Item | null)[] }>('getSignatureStatuses', [
      [signature],
      { searchTransactionHistory: true },
    ]);
    const item = value[0];
    if (item === null || item === undefined) return 'unseen';
    if (item.err !== null) return { failed: item.err };
    return item.confirmationStatus === 'confirmed' || item.confirmationStatus === 'finalized'
      ? 'confirmed'
      : 'unseen';
  }

  /** In the order asked for; at most 100. @throws SolanaRpcError */
  async accounts(addresses: readonly string[]): Promise<readonly ChainAccount[]> {
    const options = { encoding: 'base64', commitment: 'confirmed' };
    const { value } = await this.#call<{ value: (WireAccount | null)[] }>('getMultipleAccounts', [
      addresses,
      options,
    ]);
    return accountsOf(value, addresses.length);
  }

  /** What some accounts would be after an unsigned transaction. @throws SolanaRpcError */
  async simulate(base64: string, addresses: readonly string[]): Promise<SimulationAnswer> {
    const { value } = await this.#call<{ value: { err: unknown; accounts: (WireAccount | null)[] | null } }>(
      'simulateTransaction',
      [
        base64,
        {
          encoding: 'base64',
          commitment: 'confirmed',
          sigVerify: false,
          replaceRecentBlockhash: false,
          accounts: { encoding: 'base64', addresses },
        },
      ],
    );
    if (value.err !== null) return { err: value.err, accounts: [] };
    return { err: null, accounts: accountsOf(value.accounts ?? [], addresses.length) };
  }

  async #call<T>(method: string, params: readonly unknown[]): Promise<T> {
    let answer: { result?: T; error?: { code?: number; message?: string } };
    try {
      const response = await this.#fetch(this.#url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      answer = (await response.json()) as typeof answer;
    } catch {
      // What fetch throws may quote the address.
      throw new SolanaRpcError(0, `${method}: no readable answer from the Solana node`);
    }
    if (answer.error !== undefined)
      throw new SolanaRpcError(answer.error.code ?? 0, `${method}: ${answer.error.message ?? 'refused'}`);
    if (answer.result === undefined)
      throw new SolanaRpcError(0, `${method}: no readable answer from the Solana node`);
    return answer.result;
  }
}

function accountsOf(wire: readonly (WireAccount | null)[], count: number): readonly ChainAccount[] {
  if (wire.length !== count) throw new SolanaRpcError(0, 'the Solana node left accounts out');
  return wire.map((account) => {
    if (account === null) return null;
    const data = parseBase64Strict(account.data[0]);
    if (data === null) throw new SolanaRpcError(0, 'the Solana node gave an account that cannot be read');
    return {
      lamports: BigInt(account.lamports),
      owner: account.owner,
      executable: account.executable,
      data,
    };
  });
}
