/** The methods of the JSON-RPC: the node, its blocks and fees; accounts; transactions and the faucet. */
import {
  concatBytes,
  MAX_TRANSACTION_BYTES,
  MalformedTransaction,
  parseBase64Strict,
  readTransaction,
  toBase58,
} from '@bellwether/protocol';
import {
  AirdropRefused,
  type LocalChain,
  type NodeRefusal,
  type SignatureStatus,
  type Simulated,
  type TokenFilter,
} from '../chain-interface.ts';
import { feeOf } from '../execution.ts';
import { RECENT_SLOTS, SLOT_MS } from '../slots.ts';
import { readToken, TOKEN_PROGRAMS } from '../token-accounts.ts';
import {
  accountJson,
  accountViewOf,
  innerJson,
  keysOf,
  landedJson,
  resultJson,
  returnDataJson,
  sheetJson,
  TRANSACTION_ENCODINGS,
  uiTokenAmount,
} from './records.ts';
import {
  API_VERSION,
  asAddress,
  asSignature,
  atSlot,
  decimalsIn,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  invalidParam,
  type MethodContext,
  type Methods,
  type Options,
  type Params,
  PREFLIGHT_FAILED,
  RpcError,
  SIGNATURE_FAILED,
} from './requests.ts';

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

// Methods that read accounts, mainly token accounts.

const MAX_ACCOUNTS_PER_CALL = 100;

export const ACCOUNT_METHODS: Methods = {
  getBalance: (params, { chain }) => {
    const address = params.address(0);
    params.options(1, chain.slot());
    return atSlot(chain, chain.account(address)?.lamports ?? 0n);
  },
  getAccountInfo: (params, context) => {
    const { chain } = context;
    const address = params.address(0);
    const view = accountViewOf(params.options(1, chain.slot()));
    return atSlot(chain, accountJson(chain.account(address), view, context));
  },
  getMultipleAccounts: (params, context) => {
    const { chain } = context;
    const addresses = params.list(0, MAX_ACCOUNTS_PER_CALL).map(asAddress);
    const view = accountViewOf(params.options(1, chain.slot()), 'base64');
    return atSlot(
      chain,
      addresses.map((address) => accountJson(chain.account(address), view, context)),
    );
  },
  getTokenAccountBalance: (params, { chain }) => {
    params.options(1, chain.slot());
    const account = chain.account(params.address(0));
    if (account === null) throw invalidParam('could not find account');
    const token = readToken(account);
    if (token?.kind !== 'account') throw invalidParam('not a Token account');
    const { amount, mint } = token;
    return atSlot(chain, uiTokenAmount(amount, decimalsIn(chain)(mint)));
  },
  getTokenAccountsByOwner: (params, context) => {
    const { chain } = context;
    const { mostTokenAccounts: most } = context.budget;
    const owner = params.address(0);
    const filter = filterOf(chain, params.options(1, chain.slot()));
    const view = accountViewOf(params.options(2, chain.slot()));
    const found = chain.tokenAccountsOf(owner, { ...filter, most: most + 1 });
    if (found.length > most)
      throw invalidParam(`${owner} has more than ${most} such token accounts; name a mint`);
    return atSlot(
      chain,
      found.map(({ address, account }) => ({
        pubkey: address,
        account: accountJson(account, view, context),
      })),
    );
  },
};

function filterOf(chain: LocalChain, options: Options): TokenFilter {
  const [mint, programId] = [options.address('mint'), options.address('programId')];
  if ((mint === undefined) === (programId === undefined))
    throw invalidParam('the filter must have either mint or programId');
  if (mint !== undefined) {
    if (chain.account(mint) === null) throw invalidParam('could not find mint');
    return { mint };
  }
  if (programId === undefined || !TOKEN_PROGRAMS.has(programId))
    throw invalidParam('unrecognized Token program id');
  return { programId };
}

// Methods that send, simulate and look up transactions, and the faucet.

const WIRE_ENCODINGS = ['base58', 'base64'] as const;
const MAX_STATUSES = 256;
const MAX_SIMULATED_ACCOUNTS = 64;
const MAX_AIRDROP_LAMPORTS = 5_000_000_000n;
/** 1232 bytes never need more digits. */
const MAX_BASE58_CHARS = 1683;

export const TRANSACTION_METHODS: Methods = {
  sendTransaction,
  simulateTransaction,
  getSignatureStatuses: async (params, { chain }) => {
    const signatures = params.list(0, MAX_STATUSES).map(asSignature);
    const searchHistory = params.options(1, chain.slot()).flag('searchTransactionHistory');
    const statuses = await chain.statuses(signatures, searchHistory);
    return atSlot(chain, statuses.map(statusJson));
  },
  getTransaction: async (params, { chain }) => {
    const options = params.options(1, chain.slot());
    const encoding = options.choice('encoding', TRANSACTION_ENCODINGS, 'json');
    const newest = options.whole('maxSupportedTransactionVersion');
    const landed = await chain.transaction(params.signature(0));
    if (landed === null) return null;
    const { slot, atMs } = landed;
    return { slot, blockTime: Math.floor(atMs / 1000), ...landedJson(landed, { encoding, newest }) };
  },
  requestAirdrop: async (params, { chain, airdrops }) => {
    const [address, lamports] = [params.address(0), params.whole(1)];
    params.options(2, chain.slot());
    if (lamports === 0n || lamports > MAX_AIRDROP_LAMPORTS)
      throw invalidParam(`the faucet gives between 1 and ${MAX_AIRDROP_LAMPORTS} lamports at a time`);
    try {
      return await chain.airdrop(address, lamports, airdrops);
    } catch (error) {
      if (!(error instanceof AirdropRefused)) throw error;
      throw new RpcError(INTERNAL_ERROR, `airdrop request failed: ${error.message}`);
    }
  },
};

async function sendTransaction(params: Params, { chain }: MethodContext): Promise<unknown> {
  const text = params.text(0);
  const options = params.options(1, chain.slot());
  const skipPreflight = options.flag('skipPreflight');
  const wire = await wireOf(text, options);
  const outcome = await chain.send(wire, { skipPreflight });
  if (outcome.kind === 'executed') return outcome.executed.signature;
  // Without preflight a node accepts a transaction that can never land, and reports nothing.
  if (skipPreflight && (outcome.code === PREFLIGHT_FAILED || outcome.code === SIGNATURE_FAILED))
    return toBase58(readTransaction(wire).signatures[0]!);
  throw refusalError(outcome);
}

async function simulateTransaction(params: Params, context: MethodContext): Promise<unknown> {
  const { chain } = context;
  const text = params.text(0);
  const options = params.options(1, chain.slot());
  const wanted = options.nested('accounts');
  const addresses = wanted?.list('addresses', MAX_SIMULATED_ACCOUNTS).map(asAddress) ?? [];
  const wire = await wireOf(text, options);
  const showsInner = options.flag('innerInstructions');
  const outcome = await chain.simulate(wire, {
    sigVerify: options.flag('sigVerify'),
    replaceRecentBlockhash: options.flag('replaceRecentBlockhash'),
    accounts: addresses,
  });
  if (outcome.kind === 'refused') throw refusalError(outcome);
  const accounts =
    wanted === undefined
      ? null
      : outcome.accounts.map((account) => accountJson(account, accountViewOf(wanted, 'base64'), context));
  const inner = showsInner
    ? innerJson(outcome, keysOf(readTransaction(wire), outcome.loadedAddresses), 'jsonParsed')
    : null;
  return atSlot(chain, simulationJson(outcome, accounts, inner));
}

/** Base58 is the protocol's default for historical reasons. */
async function wireOf(text: string, options: Options): Promise<Uint8Array> {
  const encoding = options.choice('encoding', WIRE_ENCODINGS, 'base58');
  if (encoding === 'base58' && text.length > MAX_BASE58_CHARS) throw tooLarge(encoding);
  const wire = encoding === 'base64' ? parseBase64Strict(text) : await bytesOfBase58(text);
  if (wire === null)
    throw new RpcError(
      INVALID_PARAMS,
      `invalid ${encoding} encoding; pass {"encoding":"base64"} with canonical base64`,
    );
  if (wire.length > MAX_TRANSACTION_BYTES) throw tooLarge(encoding);
  return wire;
}

const tooLarge = (encoding: string): RpcError =>
  new RpcError(
    INVALID_PARAMS,
    `${encoding} encoded transaction too large: at most ${MAX_TRANSACTION_BYTES} bytes raw`,
  );

async function bytesOfBase58(text: string): Promise<Uint8Array | null> {
  const { getBase58Encoder } = await import('@solana/kit');
  try {
    return new Uint8Array(getBase58Encoder().encode(text));
  } catch {
    return null;
  }
}

function refusalError({ code, message, data }: NodeRefusal): RpcError {
  if (data === undefined) return new RpcError(code, message);
  return new RpcError(code, message, {
    accounts: null,
    err: data.err,
    innerInstructions: null,
    logs: data.logs,
    replacementBlockhash: null,
    returnData: null,
    unitsConsumed: data.unitsConsumed,
  });
}

const simulationJson = (outcome: Simulated, accounts: unknown, inner: unknown): object => ({
  accounts,
  err: outcome.err,
  fee: outcome.fee,
  innerInstructions: inner,
  loadedAddresses: outcome.loadedAddresses,
  logs: outcome.logs,
  ...sheetJson('pre', outcome.pre),
  ...sheetJson('post', outcome.post),
  replacementBlockhash: outcome.replacementBlockhash,
  returnData: returnDataJson(outcome.returnData),
  unitsConsumed: outcome.unitsConsumed,
});

const statusJson = (status: SignatureStatus | null): unknown =>
  status === null ? null : { ...status, status: resultJson(status.err) };
