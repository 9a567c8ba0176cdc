/**
 * The port `Chain` over a Solana node's JSON-RPC. Reads are at commitment `confirmed`. It never signs, and reports of a
 * transaction only what a node has proved.
 */
import { associatedTokenAddress, SOLANA_PROGRAMS, type SolanaAddress, toBase64 } from '@bellwether/protocol';
import { ChainUnavailable } from '../../domain/unavailable.ts';
import type { Chain, Landing, SendAnswer } from '../chain.ts';
import { buildTransfer } from './delegated-transfer.ts';
import {
  CHECKS,
  COMMITMENT,
  createRpc,
  mintOf,
  type Rpc,
  type RpcOptions,
  readAccount,
  readOwned,
  reasonOf,
  sendAnswerOf,
  tokenAccountOf,
  type WireStatus,
} from './rpc.ts';
import { simulate } from './simulate.ts';

/** The desk counts all money in millionths. */
const DECIMALS = 6;
const MAX_SIGNATURES_PER_CALL = 256;

type SolanaChainOptions = RpcOptions;

export function createSolanaChain(options: SolanaChainOptions): Chain {
  const rpc = createRpc(options);
  const programOf = createMintPrograms(rpc);
  const blockMs = createBlockPace(rpc, options.clock);

  const associated = async (owner: SolanaAddress, mint: SolanaAddress) => {
    const program = await programOf(mint);
    return program === null ? null : { program, address: associatedTokenAddress(owner, mint, program) };
  };

  return {
    status: rpc.status,

    async blockHeight() {
      return Number(await rpc.read('getBlockHeight', [{ commitment: COMMITMENT }], CHECKS.number));
    },

    blockMs,

    send: (wire) => send(rpc, wire),

    landings: (signatures, deep) => landings(rpc, signatures, deep),

    simulate: (wire, wallet, signed) => simulate(rpc, wire, wallet, signed),

    async lamports(wallet) {
      const { value } = await rpc.read('getBalance', [wallet, { commitment: COMMITMENT }], CHECKS.balance);
      return BigInt(value);
    },

    async tokenAccount(owner, mint) {
      const at = await associated(owner, mint);
      const account = at === null ? null : await readAccount(rpc, at.address);
      if (at === null || account === null) return null;
      const found = tokenAccountOf(at.address, account);
      // The owner may have transferred the account: then it is not theirs.
      return found?.owner === owner && found.mint === mint ? found : null;
    },

    async outcomeAccounts(owner) {
      const accounts = await readOwned(rpc, owner, SOLANA_PROGRAMS.token2022);
      return accounts.filter(({ amount }) => amount > 0n);
    },

    async tokenAddress(owner, mint) {
      return associatedTokenAddress(owner, mint, SOLANA_PROGRAMS.token);
    },

    async buildDelegatedTransfer(transfer) {
      const [destination, latest] = await Promise.all([
        associated(transfer.destination, transfer.mint),
        rpc.read('getLatestBlockhash', [{ commitment: COMMITMENT }], CHECKS.blockhash),
      ]);
      if (destination === null) throw new ChainUnavailable(`there is no mint ${transfer.mint}`);
      const { blockhash, lastValidBlockHeight } = latest.value;
      const built = await buildTransfer(transfer, {
        tokenProgram: destination.program,
        decimals: DECIMALS,
        blockhash,
        lastValidBlockHeight: BigInt(lastValidBlockHeight),
        opensDestination: (await readAccount(rpc, destination.address)) === null,
      });
      return { ...built, lastValidBlockHeight: Number(lastValidBlockHeight) };
    },
  };
}

async function send(rpc: Rpc, wire: Uint8Array): Promise<SendAnswer> {
  const options = {
    encoding: 'base64',
    skipPreflight: false,
    // The commitment of all blockhashes here; the default, finalized, does not know a new one.
    preflightCommitment: COMMITMENT,
    maxRetries: 0,
  };
  try {
    await rpc.once('sendTransaction', [toBase64(wire), options], CHECKS.text);
    return { kind: 'sent' };
  } catch (error) {
    return sendAnswerOf(error);
  }
}

/** @throws RangeError for more than 256 signatures, ChainUnavailable */
async function landings(
  rpc: Rpc,
  signatures: readonly string[],
  deep: boolean,
): Promise<ReadonlyMap<string, Landing>> {
  if (signatures.length > MAX_SIGNATURES_PER_CALL)
    throw new RangeError(`at most ${MAX_SIGNATURES_PER_CALL} signatures are asked for at once`);
  if (signatures.length === 0) return new Map();
  const { value } = await rpc.read(
    'getSignatureStatuses',
    [signatures, { searchTransactionHistory: deep }],
    CHECKS.statuses,
  );
  if (value.length !== signatures.length) throw new ChainUnavailable('the Solana RPC left signatures out');
  return new Map(signatures.map((signature, index) => [signature, landingOf(value[index] ?? null)]));
}

/** A transaction that is only processed may still be dropped with its fork. */
function landingOf(status: WireStatus): Landing {
  if (status === null) return { kind: 'unseen' };
  const { confirmationStatus, confirmations, err } = status;
  const settled =
    confirmationStatus === 'confirmed' ||
    confirmationStatus === 'finalized' ||
    // Older nodes do not send the status; a rooted transaction has no count.
    ((confirmationStatus ?? null) === null && confirmations === null);
  if (!settled) return { kind: 'unseen' };
  return err === null ? { kind: 'landed' } : { kind: 'failed', reason: reasonOf(err) };
}

/** The token program of a mint, which never changes; `null` when there is no such mint. */
function createMintPrograms(rpc: Rpc): (mint: SolanaAddress) => Promise<SolanaAddress | null> {
  const known = new Map<SolanaAddress, SolanaAddress>();
  return async (mint) => {
    const cached = known.get(mint);
    if (cached !== undefined) return cached;
    const account = await readAccount(rpc, mint);
    const found = account === null ? null : mintOf(account);
    if (account === null || found === null) return null;
    if (found.decimals !== DECIMALS)
      throw new ChainUnavailable(`the mint ${mint} has ${found.decimals} decimals instead of ${DECIMALS}`);
    const program = account.owner as SolanaAddress;
    known.set(mint, program);
    return program;
  };
}

// The duration of a block on this network: measured by the node over its last minutes, and cached for one minute. Blocks
// decide when a blockhash expires, but people and programs need a time.

const SAMPLES = 5;
const FRESH_MS = 60_000;
/** After a failure. */
const RETRY_MS = 5_000;
/** No Solana network is faster: a quote whose stated end is too early does no harm. */
const SHORTEST_BLOCK_MS = 400;
const LONGEST_BLOCK_MS = 5_000;

/** Never throws: without a measurement it assumes the shortest block. */
function createBlockPace(rpc: Rpc, clock: { now(): number }): () => Promise<number> {
  let blockMs = SHORTEST_BLOCK_MS;
  let askAgainAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;

  const ask = async (): Promise<void> => {
    try {
      const samples = await rpc.read('getRecentPerformanceSamples', [SAMPLES], CHECKS.samples);
      const slots = samples.reduce((sum, { numSlots }) => sum + Number(numSlots), 0);
      const seconds = samples.reduce((sum, { samplePeriodSecs }) => sum + samplePeriodSecs, 0);
      if (slots > 0)
        blockMs = Math.min(LONGEST_BLOCK_MS, Math.max(SHORTEST_BLOCK_MS, (seconds * 1000) / slots));
      askAgainAt = clock.now() + FRESH_MS;
    } catch {
      askAgainAt = clock.now() + RETRY_MS;
    }
  };

  return async () => {
    if (clock.now() >= askAgainAt) {
      asking ??= ask().finally(() => {
        asking = null;
      });
      await asking;
    }
    return blockMs;
  };
}
