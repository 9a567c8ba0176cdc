/** Methods about past blocks and transactions, and the schedule of a chain that has one node. */
import { readTransaction, SOLANA_PROGRAMS, toBase58 } from '@bellwether/protocol';
import { statusOf } from '../status-cache.ts';
import type { LandedTransaction } from '../types.ts';
import { SLOTS_IN_EPOCH } from './cluster-methods.ts';
import type { MethodContext, Methods } from './methods.ts';
import { asAddress, type Params } from './params.ts';
import { blockCleanedUp, blockNotAvailable, INVALID_PARAMS, invalidParam, RpcError } from './rpc-error.ts';
import { keysOf, landedJson, resultJson, sheetJson, TRANSACTION_ENCODINGS } from './transaction-json.ts';

const MAX_SIGNATURES = 1_000;
const MAX_BLOCKS = 100_000;
/** More transactions than one slot has at any rate that the machine reaches. */
const MAX_TRANSACTIONS_OF_BLOCK = 5_000;
const DETAILS = ['full', 'accounts', 'signatures', 'none'] as const;
/** Slots of which a node remembers the fees. */
const FEE_SLOTS = 150;
const MAX_FEE_ADDRESSES = 128;

export const LEDGER_METHODS: Methods = {
  getSignaturesForAddress,
  getBlock,
  getBlocks: (params, { chain }) => {
    const newest = chain.slot();
    const start = Number(params.whole(0));
    const hasNoEnd = params.isOptions(1);
    const end = Number((hasNoEnd ? undefined : params.maybeWhole(1)) ?? BigInt(newest));
    params.options(hasNoEnd ? 1 : 2, newest);
    return slotsBetween(start, Math.min(end, newest));
  },
  getBlocksWithLimit: (params, { chain }) => {
    const newest = chain.slot();
    const [start, most] = [Number(params.whole(0)), Number(params.whole(1))];
    params.options(2, newest);
    if (most > MAX_BLOCKS) throw invalidParam(`Limit too large; max ${MAX_BLOCKS}`);
    return slotsBetween(start, Math.min(start + most - 1, newest));
  },
  getBlockTime: (params, { chain }) => {
    const slot = Number(params.whole(0));
    if (slot > chain.slot()) throw blockNotAvailable(slot);
    return Math.floor(chain.timeOf(slot) / 1000);
  },
  getFirstAvailableBlock: (_params, { chain }) => chain.archive.firstSlot(),
  minimumLedgerSlot: (_params, { chain }) => chain.archive.firstSlot(),
  // Blocks are never full here: no fee beyond the base fee is ever needed.
  getRecentPrioritizationFees: (params, { chain }) => {
    if (params.has(0)) params.list(0, MAX_FEE_ADDRESSES).forEach(asAddress);
    const newest = chain.slot();
    const oldest = Math.max(0, newest - FEE_SLOTS + 1);
    return Array.from({ length: newest - oldest + 1 }, (_, nth) => ({
      slot: oldest + nth,
      prioritizationFee: 0,
    }));
  },
  getEpochSchedule: () => ({
    slotsPerEpoch: SLOTS_IN_EPOCH,
    leaderScheduleSlotOffset: SLOTS_IN_EPOCH,
    warmup: false,
    firstNormalEpoch: 0,
    firstNormalSlot: 0,
  }),
  // One node decides alone: there are no votes.
  getVoteAccounts: () => ({ current: [], delinquent: [] }),
};

/** Every slot has its block. */
function slotsBetween(first: number, last: number): readonly number[] {
  if (last - first >= MAX_BLOCKS) throw invalidParam(`Slot range too large; max ${MAX_BLOCKS}`);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, nth) => first + nth);
}

async function getSignaturesForAddress(params: Params, { chain }: MethodContext): Promise<unknown> {
  const address = params.address(0);
  const options = params.options(1, chain.slot());
  const most = Number(options.whole('limit') ?? BigInt(MAX_SIGNATURES));
  if (most < 1 || most > MAX_SIGNATURES) throw invalidParam(`Invalid limit; max ${MAX_SIGNATURES}`);
  const [before, until] = [options.signature('before'), options.signature('until')];
  const landed = await chain.archive.landedWith(address, {
    most,
    ...(before === undefined ? {} : { before }),
    ...(until === undefined ? {} : { until }),
  });
  const newest = chain.slot();
  return landed.map((one) => ({
    signature: signatureOf(one),
    slot: one.slot,
    err: one.err,
    memo: memoOf(one),
    blockTime: Math.floor(one.atMs / 1000),
    confirmationStatus: statusOf(one, newest).confirmationStatus,
  }));
}

const signatureOf = ({ wire }: LandedTransaction): string => toBase58(readTransaction(wire).signatures[0]!);

/** As nodes write it: the length in bytes before each memo. */
function memoOf({ wire }: LandedTransaction): string | null {
  const memos = readTransaction(wire).instructions.filter(({ program }) => program === SOLANA_PROGRAMS.memo);
  if (memos.length === 0) return null;
  return memos.map(({ data }) => `[${data.length}] ${Buffer.from(data).toString('utf8')}`).join('; ');
}

async function getBlock(params: Params, { chain }: MethodContext): Promise<unknown> {
  const slot = Number(params.whole(0));
  const options = params.options(1, chain.slot());
  const details = options.choice('transactionDetails', DETAILS, 'full');
  const encoding = options.choice('encoding', TRANSACTION_ENCODINGS, 'json');
  const newest = options.whole('maxSupportedTransactionVersion');
  if (slot > chain.slot()) throw blockNotAvailable(slot);
  const first = await chain.archive.firstSlot();
  if (slot < first) throw blockCleanedUp(slot, first);
  const landed = details === 'none' ? [] : await chain.archive.landedIn(slot, MAX_TRANSACTIONS_OF_BLOCK + 1);
  if (landed.length > MAX_TRANSACTIONS_OF_BLOCK)
    throw new RpcError(
      INVALID_PARAMS,
      `Invalid param: the block has more than ${MAX_TRANSACTIONS_OF_BLOCK} transactions`,
    );
  return {
    blockHeight: slot,
    blockTime: Math.floor(chain.timeOf(slot) / 1000),
    blockhash: chain.blockhashOf(slot),
    parentSlot: Math.max(0, slot - 1),
    previousBlockhash: chain.blockhashOf(Math.max(0, slot - 1)),
    ...(details === 'full'
      ? { transactions: landed.map((one) => landedJson(one, { encoding, newest })) }
      : {}),
    ...(details === 'accounts' ? { transactions: landed.map(accountsOf) } : {}),
    ...(details === 'signatures' ? { signatures: landed.map(signatureOf) } : {}),
    ...(options.flagOr('rewards', true) ? { rewards: [] } : {}),
  };
}

function accountsOf({ wire, meta, err }: LandedTransaction): object {
  const tx = readTransaction(wire);
  return {
    version: tx.version,
    transaction: { accountKeys: keysOf(tx, meta.loadedAddresses), signatures: tx.signatures.map(toBase58) },
    meta: {
      ...{ err, status: resultJson(err), fee: meta.fee },
      ...sheetJson('pre', meta.pre),
      ...sheetJson('post', meta.post),
    },
  };
}
