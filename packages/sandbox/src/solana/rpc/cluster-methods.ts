/** Methods about the node, its blocks and transaction fees. */
import { concatBytes, MalformedTransaction, parseBase64Strict, readTransaction } from '@bellwether/protocol';
import { RECENT_SLOTS, SLOT_MS } from '../block-clock.ts';
import { feeOf } from '../fee.ts';
import { API_VERSION, atSlot, type MethodContext, type Methods } from './methods.ts';
import { asAddress, type Params } from './params.ts';
import { INVALID_PARAMS, invalidParam, RpcError } from './rpc-error.ts';

const SLOTS_IN_EPOCH = 432_000;
const SAMPLE_S = 60;
const SLOTS_PER_SAMPLE = (SAMPLE_S * 1000) / SLOT_MS;
const MAX_SAMPLES = 720n;
/** Slots of which a node remembers the fees. */
const FEE_SLOTS = 150;
const MAX_FEE_ADDRESSES = 128;
const SIGNATURE_BYTES = 64;
const VERSION_FLAG = 0x80;
const MAX_ACCOUNT_BYTES = 10n * 1024n * 1024n;

export const CLUSTER_METHODS: Methods = {
  getHealth: () => 'ok',
  getVersion: () => ({ 'solana-core': `${API_VERSION}-bellwether-sandbox`, 'feature-set': 0 }),
  getGenesisHash: (_params, { chain }) => chain.genesisHash(),
  getSlot: (params, { chain }) => {
    params.options(0, chain.slot());
    return chain.slot();
  },
  getBlockHeight: (params, { chain }) => {
    params.options(0, chain.slot());
    return chain.blockHeight();
  },
  getLatestBlockhash: (params, { chain }) => {
    params.options(0, chain.slot());
    return atSlot(chain, chain.latestBlockhash());
  },
  isBlockhashValid: (params, { chain }) => {
    params.options(1, chain.slot());
    return atSlot(chain, chain.isBlockhashValid(params.address(0)));
  },
  getEpochInfo: (params, { chain }) => {
    const slot = chain.slot();
    params.options(0, slot);
    return {
      absoluteSlot: slot,
      blockHeight: slot,
      epoch: Math.floor(slot / SLOTS_IN_EPOCH),
      slotIndex: slot % SLOTS_IN_EPOCH,
      slotsInEpoch: SLOTS_IN_EPOCH,
      transactionCount: chain.transactionCount(),
    };
  },
  // Every slot has its block here, and all slots have the same length.
  getRecentPerformanceSamples: (params, { chain }) => {
    const [slot, wanted] = [chain.slot(), params.maybeWhole(0) ?? MAX_SAMPLES];
    if (wanted > MAX_SAMPLES) throw invalidParam(`Invalid limit; max ${MAX_SAMPLES}`);
    const counted = Math.min(Number(wanted), Math.floor(Math.min(slot, RECENT_SLOTS) / SLOTS_PER_SAMPLE));
    return Array.from({ length: counted }, (_, nth) => {
      const last = slot - nth * SLOTS_PER_SAMPLE;
      const landed = chain.landedSince(last - SLOTS_PER_SAMPLE) - chain.landedSince(last);
      return {
        slot: last,
        numSlots: SLOTS_PER_SAMPLE,
        numTransactions: landed,
        numNonVoteTransactions: landed,
        samplePeriodSecs: SAMPLE_S,
      };
    });
  },
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
  getFeeForMessage,
  getMinimumBalanceForRentExemption: (params, { chain }) => {
    const bytes = params.whole(0);
    if (bytes > MAX_ACCOUNT_BYTES) throw invalidParam('an account has at most 10485760 bytes');
    return chain.minimumBalanceForRentExemption(Number(bytes));
  },
};

/** `null` once the message's blockhash is dead. */
function getFeeForMessage(params: Params, { chain }: MethodContext): unknown {
  params.options(1, chain.slot());
  const message = parseBase64Strict(params.text(0));
  if (message === null) throw invalidParam('the message must be base64');
  const required = message[0] === VERSION_FLAG ? message[1] : message[0];
  // Parsed as a transaction without its signatures.
  const signatures = new Uint8Array(1 + SIGNATURE_BYTES * ((required ?? 0) & 0x7f));
  signatures[0] = (required ?? 0) & 0x7f;
  try {
    const tx = readTransaction(concatBytes(signatures, message));
    return atSlot(chain, chain.isBlockhashValid(tx.recentBlockhash) ? feeOf(tx) : null);
  } catch (error) {
    if (!(error instanceof MalformedTransaction)) throw error;
    throw new RpcError(INVALID_PARAMS, `failed to deserialize the message: ${error.message}`);
  }
}
