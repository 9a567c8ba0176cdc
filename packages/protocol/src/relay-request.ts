/**
 * Requests to the venue's relayer, which makes a wallet's calls and pays the network: what the owner's key signs, and the body that is
 * posted then. Three kinds of wallets have three forms. Fees and refunds are zero, their tokens and receivers the zero address, no call
 * carries value, and none is made as a delegate but the pinned multisend: these are no parameters. Wire reference 5.7; tests
 * compare the bodies with those of the venue's own client.
 */
import { type Address, addressToBytes, toChecksumAddress, ZERO_ADDRESS } from './address.ts';
import { bytesToHex, concatBytes, hexToBytes, parseHex, uint256, utf8 } from './bytes.ts';
import type { ContractCall } from './contract-calls.ts';
import { DEPOSIT_DOMAIN_NAME, DEPOSIT_DOMAIN_VERSION } from './deposit-signature.ts';
import { addressWord, domainSeparator, hashText, typedDataDigest } from './eip712.ts';
import { keccak256 } from './keccak.ts';
import { personalMessageDigest } from './personal-message.ts';
import { SIGNATURE_BYTES } from './signature.ts';
import { proxyData, safeCall, type WalletOwner } from './wallet-calls.ts';
import { controlsWallet, DEPOSIT_FACTORY, PROXY_FACTORY } from './wallets.ts';

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

const ZERO_WORD = new Uint8Array(32);
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
