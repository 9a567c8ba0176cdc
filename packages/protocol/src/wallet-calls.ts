/**
 * Calls of the venue's contracts, as data for the owner of a wallet to sign: collateral into full sets and back, NO shares of a
 * question into YES shares of the others, resolved tokens into collateral, and what has to be approved before. They are made
 * of a person's intent and of addresses that are pinned here; nothing is sent. Addresses and selectors: wire reference 5.1,
 * 5.6 and 6.4; tests compare the encoding with a library's.
 */
import {
  type Address,
  addressToBytes,
  addressWord,
  domainSeparator,
  hashText,
  parseAddress,
  personalMessageDigest,
  SIGNATURE_BYTES,
  toChecksumAddress,
  typedDataDigest,
  ZERO_ADDRESS,
} from './accounts.ts';
import { bytesToHex, concatBytes, hexToBytes, parseHex, uint256, utf8 } from './bytes.ts';
import { keccak256 } from './keccak.ts';
import { POLYGON_EXCHANGES, type SignatureType } from './order.ts';
import { eventIdOf, parsePositionId, positionIds } from './token-ids.ts';
import {
  controlsWallet,
  DEPOSIT_DOMAIN_NAME,
  DEPOSIT_DOMAIN_VERSION,
  DEPOSIT_FACTORY,
  PROXY_FACTORY,
  signatureTypeOf,
} from './wallets.ts';

export const PUSD = '0xc011a7e12a19f7b1f670d46f03b03f3342e82dfb' as Address;
export const CONDITIONAL_TOKENS = '0x4d97dcd97ec945f40cf65f87097ace5ea0476045' as Address;
/** Redeems for pUSD. The conditional tokens themselves would redeem pUSD for nothing, without an error. */
export const CTF_COLLATERAL_ADAPTER = '0xada100db00ca00073811820692005400218fce1f' as Address;
export const NEG_RISK_COLLATERAL_ADAPTER = '0xada2005600dec949baf300f4c6120000bdb6eaab' as Address;
/**
 * The adapter of the venue's first version. The relayer refuses calls of it since July 2026, and approvals of it are
 * reported to be asked for all the same before BUYs in neg-risk markets (August and September 2026).
 */
export const OLDER_NEG_RISK_ADAPTER = '0xd91e80cf2e7be2e162c6513ced06f1dd0da35296' as Address;

/** Contract of Protocol V2: holds its positions. */
export const POSITION_MANAGER = '0x006f54f7f9a22e0000cc2ab60031000000ae9fef' as Address;
/** Contract of Protocol V2: splits, merges and redeems its caller's positions. */
export const POSITION_ROUTER = '0x12121212006e4cd160d18e3f00711da5c3372600' as Address;

/** `split(bytes31,uint256)` and `merge(bytes31,uint256)` */
const SETS_OF_ROUTER = { split: '0x82d3b9f1', merge: '0x5b63685e' } as const;
/** `convert(bytes29,uint16,uint256)` */
const CONVERT_POSITION = '0x9380f1c8';
/** `redeem(bytes31,uint256,uint256)` */
const REDEEM_POSITION = '0xd217a3cc';
/** `splitPosition(address,bytes32,bytes32,uint256[],uint256)` and `mergePositions(address,bytes32,bytes32,uint256[],uint256)` */
const SETS_OF_ADAPTER = { split: '0x72ce4275', merge: '0x9e7212ad' } as const;
/** `convertPositions(bytes32,uint256,uint256)` */
const CONVERT = '0xc64748c4';
/** `redeemPositions(address,bytes32,bytes32,uint256[])` */
const REDEEM = '0x01b7037c';
/** `setApprovalForAll(address,bool)` */
const APPROVE_TOKENS = '0xa22cb465';
/** `approve(address,uint256)` */
const APPROVE_COLLATERAL = '0x095ea7b3';

const MAX_UINT256 = 2n ** 256n - 1n;
const ZERO_WORD = new Uint8Array(32);
const OUTCOMES = 2n;
const CONDITION = /^0x[0-9a-f]{64}$/i;
const QUESTION_BYTES = 32;

/** A call that a wallet makes, without any of the chain's own money. */
export interface ContractCall {
  readonly to: Address;
  readonly data: `0x${string}`;
}

/** A market as its contracts know it. Its id alone says whether it is one of Protocol V2. */
export interface ContractMarket {
  /** 32 bytes, as this code base keeps it. */
  readonly conditionId: string;
  readonly negRisk: boolean;
}

const encoded = (selector: string, ...words: readonly Uint8Array[]): `0x${string}` =>
  bytesToHex(concatBytes(hexToBytes(selector), ...words));

const isOfV2 = ({ conditionId }: Pick<ContractMarket, 'conditionId'>): boolean =>
  positionIds(conditionId) !== null;

/** @throws RangeError */
function conditionBytes(conditionId: string): Uint8Array {
  if (!CONDITION.test(conditionId)) throw new RangeError('a condition id is 0x and 64 hex digits');
  return hexToBytes(conditionId);
}

/** @throws RangeError */
function amountWord(amount: bigint): Uint8Array {
  if (amount <= 0n) throw new RangeError('an amount is more than zero');
  return uint256(amount);
}

/**
 * The contract that moves a wallet's collateral and tokens when it splits, merges, converts or redeems: the one that both approvals
 * are for.
 * @example
 * const spender = positionContract({ conditionId, negRisk: false });
 */
export const positionContract = (market: ContractMarket): Address => {
  if (isOfV2(market)) return POSITION_ROUTER;
  return market.negRisk ? NEG_RISK_COLLATERAL_ADAPTER : CTF_COLLATERAL_ADAPTER;
};

/**
 * Takes so much pUSD of the caller, and gives it as many YES and NO shares.
 * @throws RangeError
 * @example
 * const { to, data } = splitCall({ conditionId, negRisk: false }, 5_000_000n);
 */
export const splitCall = (market: ContractMarket, amount: bigint): ContractCall =>
  setsCall('split', market, amount);

/**
 * Takes so many YES and NO shares of the caller, and gives it as much pUSD.
 * @throws RangeError
 * @example
 * const { to, data } = mergeCall({ conditionId, negRisk: false }, 5_000_000n);
 */
export const mergeCall = (market: ContractMarket, amount: bigint): ContractCall =>
  setsCall('merge', market, amount);

function setsCall(kind: 'split' | 'merge', market: ContractMarket, amount: bigint): ContractCall {
  const to = positionContract(market);
  const condition = conditionBytes(market.conditionId);
  if (isOfV2(market)) return { to, data: encoded(SETS_OF_ROUTER[kind], condition, amountWord(amount)) };
  // The list stands after the five words of the arguments.
  const head = [addressWord(PUSD), ZERO_WORD, condition, uint256(5n * 32n), amountWord(amount)];
  return { to, data: encoded(SETS_OF_ADAPTER[kind], ...head, ...INDEX_SETS) };
}

/** A list of both outcomes, each as a set of one. */
const INDEX_SETS: readonly Uint8Array[] = [uint256(OUTCOMES), uint256(1n), uint256(2n)];

/**
 * The condition of a question among those that exclude each other, in the venue's first contracts: by it a question is proved to be
 * the market's own.
 * @throws RangeError
 * @example
 * const questionId = `0x${'5f'.repeat(32)}`;
 * const isItsQuestion = negRiskConditionId(questionId) === conditionId;
 */
export function negRiskConditionId(questionId: string): `0x${string}` {
  const question = parseHex(questionId);
  if (question?.length !== QUESTION_BYTES) throw new RangeError('a question id is 0x and 64 hex digits');
  return bytesToHex(
    keccak256(concatBytes(addressToBytes(OLDER_NEG_RISK_ADAPTER), question, uint256(OUTCOMES))),
  );
}

/**
 * Takes so many NO shares of the caller in this market, and gives it as many YES shares of every other question of the event.
 * @param questionId of the market, which its event and its place there follow from; markets of Protocol V2 need none
 * @throws RangeError also for a question that is not the market's, and for a market that excludes no others
 * @example
 * const questionId = `0x${'5f'.repeat(32)}`;
 * const { to, data } = convertCall({ conditionId, negRisk: true }, 5_000_000n, questionId);
 */
export function convertCall(
  market: ContractMarket,
  amount: bigint,
  questionId: string | null = null,
): ContractCall {
  const to = positionContract(market);
  if (isOfV2(market)) {
    const position = parsePositionId(BigInt(market.conditionId));
    const event = eventIdOf(market.conditionId);
    if (position?.module !== 2 || event === null) throw new RangeError(NOT_EXCLUSIVE);
    return {
      to,
      data: encoded(CONVERT_POSITION, hexToBytes(event), uint256(BigInt(position.index)), amountWord(amount)),
    };
  }
  if (!market.negRisk) throw new RangeError(NOT_EXCLUSIVE);
  if (questionId === null) throw new RangeError('converting needs the question id of the market');
  if (negRiskConditionId(questionId) !== market.conditionId.toLowerCase())
    throw new RangeError('this question id is not the one of the market');
  // An event is the question ids of its markets without their last byte, which counts them.
  const eventBytes = hexToBytes(questionId);
  const index = eventBytes[QUESTION_BYTES - 1]!;
  eventBytes[QUESTION_BYTES - 1] = 0;
  return { to, data: encoded(CONVERT, eventBytes, uint256(1n << BigInt(index)), amountWord(amount)) };
}

const NOT_EXCLUSIVE = 'only a market whose outcome excludes others (neg-risk) can be converted';

/**
 * Burns everything that the caller holds of both outcomes, and pays pUSD.
 * @example
 * const { to, data } = redeemCall(conditionId, false);
 */
export const redeemCall = (conditionId: string, negRisk: boolean): ContractCall => ({
  to: negRisk ? NEG_RISK_COLLATERAL_ADAPTER : CTF_COLLATERAL_ADAPTER,
  data: encoded(
    REDEEM,
    addressWord(PUSD),
    ZERO_WORD,
    conditionBytes(conditionId),
    uint256(4n * 32n),
    ...INDEX_SETS,
  ),
});

/**
 * Burns an amount of one position of the caller, and pays pUSD. A condition of 31 bytes is filled up as its id here is.
 * @example
 * const { to, data } = redeemPositionCall(conditionId, { outcome: 0, amount: 5_000_000n });
 */
export const redeemPositionCall = (
  conditionId: string,
  { outcome, amount }: { readonly outcome: 0 | 1; readonly amount: bigint },
): ContractCall => ({
  to: POSITION_ROUTER,
  data: encoded(REDEEM_POSITION, conditionBytes(conditionId), uint256(BigInt(outcome)), amountWord(amount)),
});

/**
 * Approvals of a wallet: once before it can trade, and before it can redeem.
 * @example
 * for (const { to, data, spender } of approvalCalls()) console.log(spender, to, data);
 */
export function approvalCalls(): readonly (ContractCall & {
  readonly spender: Address;
  readonly asset: 'collateral' | 'tokens';
})[] {
  const spenders = [
    POLYGON_EXCHANGES.v2,
    POLYGON_EXCHANGES.v2NegRisk,
    CTF_COLLATERAL_ADAPTER,
    NEG_RISK_COLLATERAL_ADAPTER,
    POLYGON_EXCHANGES.v3,
    POSITION_ROUTER,
  ];
  const ofV2: readonly Address[] = [POLYGON_EXCHANGES.v3, POSITION_ROUTER];
  return spenders.flatMap((spender) => [
    {
      asset: 'collateral' as const,
      spender,
      to: PUSD,
      data: encoded(APPROVE_COLLATERAL, addressWord(spender), uint256(MAX_UINT256)),
    },
    {
      asset: 'tokens' as const,
      spender,
      // Approvals of one protocol's tokens do not count for the other's.
      to: ofV2.includes(spender) ? POSITION_MANAGER : CONDITIONAL_TOKENS,
      data: encoded(APPROVE_TOKENS, addressWord(spender), uint256(1n)),
    },
  ]);
}

/**
 * The approval of the older adapter, for an amount and no more. It is no part of {@link approvalCalls}: a contract that the
 * venue has retired may move money only where the wallet's owner expressly wants it to.
 * @example
 * const { to, data } = olderAdapterApprovalCall(25_000_000n);
 */
export const olderAdapterApprovalCall = (amount: bigint): ContractCall => ({
  to: PUSD,
  data: encoded(APPROVE_COLLATERAL, addressWord(OLDER_NEG_RISK_ADAPTER), uint256(amount)),
});

// How the owner of a wallet makes the wallet call contracts: the transactions that the owner's key signs and sends itself, and pays the
// network for. Several calls of a contract wallet are one transaction, so that an approval and what needs it happen together or
// not at all. Tests compare the encoding with a library's and with the venue's own client.

/** Makes a Safe call several contracts. It is the only contract that a wallet ever calls as a delegate. */
export const SAFE_MULTISEND = '0xa238cbeb142c10ef7ad8442c6d1f9e89e07e7761' as Address;

/** `proxy((uint8,address,uint256,bytes)[])` */
const PROXY = '0x34ee9791';
/** `execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)` */
const SAFE_EXECUTE = '0x6a761202';
/** `multiSend(bytes)` */
const MULTISEND = '0x8d80ff0a';

const WORD = 32n;
const PROXY_CALL_KIND = 1n;
const PARTS_OF_PROXY_CALL = 4n;
const PARTS_OF_EXECUTION = 10n;

/** A wallet and the key that controls it. */
export interface WalletOwner {
  readonly eoa: Address;
  readonly wallet: Address;
  readonly type: SignatureType;
}

/** A transaction for the owner to sign: `from` pays the network and is the wallet itself, or its owner. */
export interface OwnerCall extends ContractCall {
  readonly from: Address;
}

/** A call of a Safe. `delegate` only with {@link SAFE_MULTISEND}. */
export interface SafeCall extends ContractCall {
  readonly operation: 'call' | 'delegate';
}

/**
 * The wallet of a key, with its type; `null`: it is none of the key's.
 * @example
 * const safe = ownerOf(owner, deriveSafeWallet(owner));
 */
export function ownerOf(eoa: Address, wallet: string): WalletOwner | null {
  const address = parseAddress(wallet);
  const type = address === null ? null : signatureTypeOf(eoa, address);
  return address === null || type === null ? null : { eoa, wallet: address, type };
}

/** Length, then the bytes filled up to whole words. */
const dynamicBytes = (bytes: Uint8Array): Uint8Array =>
  concatBytes(uint256(BigInt(bytes.length)), bytes, new Uint8Array((32 - (bytes.length % 32)) % 32));

/**
 * The transactions of an owner that make its wallet call. A deposit wallet takes no transaction of its owner: it executes what the
 * owner signs as a batch and the relayer delivers, so that its calls stay as they are, `from` the wallet.
 * @throws RangeError without a call
 * @example
 * const safe = { eoa: owner, wallet: deriveSafeWallet(owner), type: 2 as const };
 * const transactions = ownerCalls(safe, [redeemCall(conditionId, false)]);
 */
export function ownerCalls({ eoa, wallet, type }: WalletOwner, calls: readonly ContractCall[]): OwnerCall[] {
  if (calls.length === 0) throw new RangeError('there is no call to make');
  if (type === 1) return [{ from: eoa, to: PROXY_FACTORY, data: proxyData(calls) }];
  if (type === 2) return [{ from: eoa, to: wallet, data: executionOf(eoa, safeCall(calls)) }];
  return calls.map((call) => ({ from: wallet, ...call }));
}

/**
 * Data of the call of the factory that makes its caller's proxy wallet call.
 * @example
 * const data = proxyData([splitCall({ conditionId, negRisk: false }, 5_000_000n)]);
 */
export function proxyData(calls: readonly ContractCall[]): `0x${string}` {
  const encodedCalls = calls.map(({ to, data }) =>
    concatBytes(
      uint256(PROXY_CALL_KIND),
      addressWord(to),
      ZERO_WORD,
      uint256(PARTS_OF_PROXY_CALL * WORD),
      dynamicBytes(hexToBytes(data)),
    ),
  );
  let offset = BigInt(calls.length) * WORD;
  const offsets = encodedCalls.map(({ length }) => {
    const word = uint256(offset);
    offset += BigInt(length);
    return word;
  });
  return encoded(PROXY, uint256(WORD), uint256(BigInt(calls.length)), ...offsets, ...encodedCalls);
}

/**
 * One call of a Safe: the call itself, or several through the pinned multisend.
 * @throws RangeError without a call
 * @example
 * const { to, data, operation } = safeCall([...approvalCalls(), redeemCall(conditionId, false)]);
 */
export function safeCall(calls: readonly ContractCall[]): SafeCall {
  const [only, ...others] = calls;
  if (only === undefined) throw new RangeError('there is no call to make');
  if (others.length === 0) return { to: only.to, data: only.data, operation: 'call' };
  const packed = calls.map(({ to, data }) => {
    const bytes = hexToBytes(data);
    // The operation (0: call), the target, no value, the length, the data.
    return concatBytes(Uint8Array.of(0), addressToBytes(to), ZERO_WORD, uint256(BigInt(bytes.length)), bytes);
  });
  return {
    to: SAFE_MULTISEND,
    data: encoded(MULTISEND, uint256(WORD), dynamicBytes(concatBytes(...packed))),
    operation: 'delegate',
  };
}

/** A Safe takes its only owner's own transaction as that owner's approval: no signature over a nonce is needed. */
function executionOf(eoa: Address, { to, data, operation }: SafeCall): `0x${string}` {
  const inner = dynamicBytes(hexToBytes(data));
  const approvedBySender = concatBytes(addressWord(eoa), ZERO_WORD, Uint8Array.of(1));
  const head = PARTS_OF_EXECUTION * WORD;
  return encoded(
    SAFE_EXECUTE,
    addressWord(to),
    ZERO_WORD,
    uint256(head),
    uint256(operation === 'call' ? 0n : 1n),
    // Gas, price, token and receiver of a refund: there is none.
    ...new Array<Uint8Array>(5).fill(ZERO_WORD),
    uint256(head + BigInt(inner.length)),
    inner,
    dynamicBytes(approvedBySender),
  );
}

// Requests to the venue's relayer, which makes a wallet's calls and pays the network: what the owner's key signs, and the body that is
// posted then. Three kinds of wallets have three forms. Fees and refunds are zero, their tokens and receivers the zero address, no call
// carries value, and none is made as a delegate but the pinned multisend: these are no parameters. Wire reference 5.7; tests
// compare the bodies with those of the venue's own client.

export const RELAY_HUB = '0xd216153c06e857cd7f72665e0af1d7d82172f494' as Address;

/** The most that the relayer grants the batch of a deposit wallet, from the time of its signature. */
export const RELAY_DEADLINE_MOST_S = 300;
/** Gas that a proxy wallet's calls may use: what the venue's client takes where it cannot estimate. */
const PROXY_GAS_LIMIT = 10_000_000n;

const SAFE_TX_TYPE =
  'SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce)';
const SAFE_DOMAIN_TYPE = 'EIP712Domain(uint256 chainId,address verifyingContract)';
const CALL_TYPE = 'Call(address target,uint256 value,bytes data)';
const BATCH_TYPE = `Batch(address wallet,uint256 nonce,uint256 deadline,Call[] calls)${CALL_TYPE}`;

/** A Safe knows by it that the digest was signed as a personal message. */
const SAFE_V_SHIFT = 4;

/** Terms that the relayer gives, and the time until which the request counts. */
export type RelayTerms =
  | {
      readonly type: 'PROXY';
      /** Of the owner, at the relay hub. */
      readonly nonce: bigint;
      /** The relayer's account that may deliver the request, and no other. */
      readonly relay: Address;
    }
  | { readonly type: 'SAFE'; readonly nonce: bigint }
  | { readonly type: 'WALLET'; readonly nonce: bigint; readonly deadlineS: number };

export type RelayType = RelayTerms['type'];

/** The body of `POST /submit`, as the venue's client writes it, without the signature. */
export type UnsignedRelayBody = Readonly<Record<string, unknown>> & {
  readonly type: RelayType;
  readonly from: string;
  readonly to: string;
  readonly nonce: string;
};

export interface RelayRequest {
  readonly body: UnsignedRelayBody;
  /** 32 bytes: what the owner's key signs. */
  readonly digest: Uint8Array;
}

/** The form of requests of a wallet; `null`: an EOA sends its transactions itself. */
export const RELAY_TYPES = { 0: null, 1: 'PROXY', 2: 'SAFE', 3: 'WALLET' } as const;

/**
 * @throws RangeError for a wallet that is not the owner's, for terms of another form, and without a call
 * @example
 * const safe = { eoa: owner, wallet: deriveSafeWallet(owner), type: 2 as const };
 * const { digest, body } = relayRequest(safe, [redeemCall(conditionId, false)], { type: 'SAFE', nonce: 7n });
 */
export function relayRequest(
  owner: WalletOwner,
  calls: readonly ContractCall[],
  terms: RelayTerms,
  chainId = 137,
): RelayRequest {
  if (RELAY_TYPES[owner.type] !== terms.type)
    throw new RangeError(`a wallet of type ${owner.type} is not relayed as ${terms.type}`);
  if (!controlsWallet(owner.eoa, owner.type, owner.wallet))
    throw new RangeError(`${owner.wallet} is no wallet of type ${owner.type} of ${owner.eoa}`);
  if (calls.length === 0) throw new RangeError('there is no call to make');
  switch (terms.type) {
    case 'PROXY':
      return proxyRequest(owner, calls, terms);
    case 'SAFE':
      return safeRequest(owner, calls, { nonce: terms.nonce, chainId });
    case 'WALLET':
      return batchRequest(owner, calls, { ...terms, chainId });
  }
}

/**
 * The body with the owner's signature in the form that its wallet takes.
 * @throws RangeError for what is no signature of 65 bytes
 * @example
 * const safe = { eoa: owner, wallet: deriveSafeWallet(owner), type: 2 as const };
 * const request = relayRequest(safe, [redeemCall(conditionId, false)], { type: 'SAFE', nonce: 7n });
 * const body = signedRelayBody(request, bytesToHex(signDigest(request.digest, secretKey)));
 */
export function signedRelayBody(
  { body }: Pick<RelayRequest, 'body'>,
  signature: string,
): UnsignedRelayBody & { readonly signature: string } {
  const bytes = parseHex(signature);
  if (bytes?.length !== SIGNATURE_BYTES) throw new RangeError('a signature has 65 bytes');
  const packed = bytes.slice();
  const v = packed[SIGNATURE_BYTES - 1]!;
  // Contracts take 27 and 28 alone.
  const whole = v < 27 ? v + 27 : v;
  packed[SIGNATURE_BYTES - 1] = body.type === 'SAFE' ? whole + SAFE_V_SHIFT : whole;
  return { ...body, signature: bytesToHex(packed) };
}

function proxyRequest(
  { eoa, wallet }: WalletOwner,
  calls: readonly ContractCall[],
  { nonce, relay }: Extract<RelayTerms, { readonly type: 'PROXY' }>,
): RelayRequest {
  const data = proxyData(calls);
  const hash = keccak256(
    concatBytes(
      utf8('rlx:'),
      ...[addressToBytes(eoa), addressToBytes(PROXY_FACTORY), hexToBytes(data)],
      // The relayer's fee and the price of gas: nothing.
      ...[ZERO_WORD, ZERO_WORD, uint256(PROXY_GAS_LIMIT), uint256(nonce)],
      ...[addressToBytes(RELAY_HUB), addressToBytes(relay)],
    ),
  );
  return {
    digest: personalMessageDigest(hash),
    body: {
      type: 'PROXY',
      from: toChecksumAddress(eoa),
      to: toChecksumAddress(PROXY_FACTORY),
      proxyWallet: toChecksumAddress(wallet),
      data,
      nonce: nonce.toString(),
      signatureParams: {
        gasPrice: '0',
        gasLimit: PROXY_GAS_LIMIT.toString(),
        relayerFee: '0',
        relayHub: toChecksumAddress(RELAY_HUB),
        relay: toChecksumAddress(relay),
      },
      metadata: '',
    },
  };
}

function safeRequest(
  { eoa, wallet }: WalletOwner,
  calls: readonly ContractCall[],
  { nonce, chainId }: { readonly nonce: bigint; readonly chainId: number },
): RelayRequest {
  const { to, data, operation } = safeCall(calls);
  const delegate = operation === 'delegate' ? 1n : 0n;
  const separator = keccak256(
    concatBytes(hashText(SAFE_DOMAIN_TYPE), uint256(BigInt(chainId)), addressWord(wallet)),
  );
  const struct = keccak256(
    concatBytes(
      hashText(SAFE_TX_TYPE),
      ...[addressWord(to), ZERO_WORD, keccak256(hexToBytes(data)), uint256(delegate)],
      // Gas of the call, base gas, gas price, gas token, receiver of a refund.
      ...new Array<Uint8Array>(5).fill(ZERO_WORD),
      uint256(nonce),
    ),
  );
  return {
    digest: personalMessageDigest(typedDataDigest(separator, struct)),
    body: {
      type: 'SAFE',
      from: toChecksumAddress(eoa),
      to: toChecksumAddress(to),
      proxyWallet: toChecksumAddress(wallet),
      data,
      nonce: nonce.toString(),
      signatureParams: {
        gasPrice: '0',
        operation: delegate.toString(),
        safeTxnGas: '0',
        baseGas: '0',
        gasToken: ZERO_ADDRESS,
        refundReceiver: ZERO_ADDRESS,
      },
      metadata: '',
    },
  };
}

function batchRequest(
  { eoa, wallet }: WalletOwner,
  calls: readonly ContractCall[],
  {
    nonce,
    deadlineS,
    chainId,
  }: { readonly nonce: bigint; readonly deadlineS: number; readonly chainId: number },
): RelayRequest {
  const callHash = hashText(CALL_TYPE);
  const hashes = calls.map(({ to, data }) =>
    keccak256(concatBytes(callHash, addressWord(to), ZERO_WORD, keccak256(hexToBytes(data)))),
  );
  const struct = keccak256(
    concatBytes(
      ...[hashText(BATCH_TYPE), addressWord(wallet), uint256(nonce), uint256(BigInt(deadlineS))],
      keccak256(concatBytes(...hashes)),
    ),
  );
  const separator = domainSeparator({
    name: DEPOSIT_DOMAIN_NAME,
    version: DEPOSIT_DOMAIN_VERSION,
    chainId,
    verifyingContract: wallet,
  });
  return {
    digest: typedDataDigest(separator, struct),
    body: {
      type: 'WALLET',
      from: toChecksumAddress(eoa),
      to: toChecksumAddress(DEPOSIT_FACTORY),
      nonce: nonce.toString(),
      depositWalletParams: {
        depositWallet: toChecksumAddress(wallet),
        deadline: String(deadlineS),
        calls: calls.map(({ to, data }) => ({ target: toChecksumAddress(to), value: '0', data })),
      },
    },
  };
}
