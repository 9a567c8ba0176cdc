/** Methods that send, simulate and look up transactions, and the faucet. */
import { MAX_TRANSACTION_BYTES, parseBase64Strict, readTransaction, toBase58 } from '@bellwether/protocol';
import { AirdropRefused, type Refusal, type SignatureStatus, type Simulated } from '../types.ts';
import { accountJson, accountViewOf } from './account-json.ts';
import { atSlot, type MethodContext, type Methods } from './methods.ts';
import { asAddress, asSignature, type Options, type Params } from './params.ts';
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  invalidParam,
  PREFLIGHT_FAILED,
  RpcError,
  SIGNATURE_FAILED,
} from './rpc-error.ts';
import {
  innerJson,
  keysOf,
  landedJson,
  resultJson,
  returnDataJson,
  sheetJson,
  TRANSACTION_ENCODINGS,
} from './transaction-json.ts';

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

function refusalError({ code, message, data }: Refusal): RpcError {
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
