/**
 * Challenges by which the key of a wallet proves itself. A challenge is a text that names this service, the agent, the
 * address and the purpose; its nonce carries a keyed hash over all of them and over its end, so it is good for no other agent and
 * nothing else, and nothing is stored until it is used.
 */
import { challengeText, type LinkChallenge, type ChallengePurpose as Purpose } from '@bellwether/contract';
import {
  type Address,
  bytesToHex,
  equalBytes,
  parseAddress,
  parseEd25519Signature,
  parseSolanaAddress,
  personalMessageDigest,
  type RecoverPublicKey,
  recoverAddress,
  type SolanaAddress,
  signatureTypeOf,
  toChecksumAddress,
  utf8,
  verifySolanaMessage,
} from '@bellwether/protocol';
import type { Denial } from '../domain/denial.ts';
import type { Caller } from '../domain/records.ts';
import type { Clock } from '../platform/clock.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import type { Secrets } from '../platform/secrets.ts';

export interface ChallengeNeeds {
  readonly clock: Clock;
  readonly secrets: Pick<Secrets, 'hash' | 'newId'>;
  readonly signatures: { readonly chainId: number; readonly recover: RecoverPublicKey };
  readonly publicUrl: string;
}

/** Purpose of a signature. Another purpose has other nonces and another text. */
export interface ChallengePurpose extends Purpose {
  /** Begins what the nonce's keyed hash covers. */
  readonly name: string;
}

const CHALLENGE_TTL_MS = 5 * 60_000;

const EXPIRY_DIGITS = 12;
const ID_DIGITS = 32;
const MAC_DIGITS = 32;
const NONCE = /^[0-9a-f]{76}$/;

export type ChallengedWallet =
  | { readonly kind: 'evm'; readonly address: Address }
  | { readonly kind: 'solana'; readonly address: SolanaAddress };

/** @throws Refusal invalid_solana_address; EVM addresses were checked by their schema. */
export function walletOf(text: string, path: string): ChallengedWallet {
  const evm = parseAddress(text);
  if (evm !== null) return { kind: 'evm', address: evm };
  const solana = parseSolanaAddress(text);
  if (solana !== null) return { kind: 'solana', address: solana };
  throw refusal('invalid_solana_address', `${path} is not base58 of 32 bytes.`, { path });
}

const spelled = (wallet: ChallengedWallet): string =>
  wallet.kind === 'evm' ? toChecksumAddress(wallet.address) : wallet.address;

interface Challenged {
  readonly caller: Caller;
  readonly wallet: ChallengedWallet;
  readonly purpose: ChallengePurpose;
}

/** The nonce's keyed hash: what it is good for. The agent is named by id; the owner by who it is now. */
function macOf({ secrets }: ChallengeNeeds, { caller, wallet, purpose }: Challenged, head: string): string {
  const text = `${purpose.name}\n${caller.agentId}\n${caller.userId}\n${wallet.address}\n${head}`;
  return bytesToHex(secrets.hash(text)).slice(2, 2 + MAC_DIGITS);
}

function messageOf(
  needs: ChallengeNeeds,
  { caller, wallet, purpose }: Challenged,
  nonce: string,
  expiresAt: number,
): string {
  return challengeText({
    host: new URL(needs.publicUrl).host,
    kind: wallet.kind,
    address: spelled(wallet),
    statement: purpose.statement(caller.agentId),
    uri: needs.publicUrl + purpose.path,
    chainId: wallet.kind === 'evm' ? needs.signatures.chainId : null,
    nonce,
    issuedAt: expiresAt - CHALLENGE_TTL_MS,
    expiresAt,
  });
}

export function newChallenge(needs: ChallengeNeeds, challenged: Challenged): LinkChallenge {
  const expiresAt = needs.clock.now() + CHALLENGE_TTL_MS;
  const head =
    expiresAt.toString(16).padStart(EXPIRY_DIGITS, '0') + needs.secrets.newId().replaceAll('-', '');
  const nonce = head + macOf(needs, challenged, head);
  return {
    nonce,
    message: messageOf(needs, challenged, nonce, expiresAt),
    expiresAt: new Date(expiresAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
    address: challenged.wallet.address,
  };
}

/** @returns when the challenge ends @throws Refusal link_challenge_invalid */
function requireChallenge(needs: ChallengeNeeds, challenged: Challenged, nonce: string): number {
  const refuse = (detail: string) => refusal('link_challenge_invalid', detail, { path: 'nonce' });
  const head = nonce.slice(0, EXPIRY_DIGITS + ID_DIGITS);
  const isOurs =
    NONCE.test(nonce) &&
    equalBytes(utf8(macOf(needs, challenged, head)), utf8(nonce.slice(EXPIRY_DIGITS + ID_DIGITS)));
  if (!isOurs) throw refuse('This nonce was not made for this agent, address and purpose.');
  const expiresAt = Number.parseInt(nonce.slice(0, EXPIRY_DIGITS), 16);
  if (expiresAt <= needs.clock.now()) throw refuse('The challenge has expired.');
  return expiresAt;
}

export const challengeUsed = (): Refusal =>
  refusal('link_challenge_invalid', 'This challenge has been used.', { path: 'nonce' });

function badSignature(diagnosis: NonNullable<Denial['diagnosis']>): Refusal {
  return new Refusal([
    {
      code: 'link_signature_invalid',
      detail: "The signature is not the wallet's over the challenge's message.",
      path: 'signature',
      diagnosis,
    },
  ]);
}

/** @returns the key's own address @throws Refusal link_signature_invalid */
function signerOf(
  needs: ChallengeNeeds,
  wallet: ChallengedWallet,
  message: string,
  signature: string,
): string {
  if (wallet.kind === 'solana') {
    const bytes = parseEd25519Signature(signature);
    if (bytes === null) throw badSignature({ check: 'signature_form', expected: '64 bytes' });
    if (!verifySolanaMessage(wallet.address, message, bytes))
      throw badSignature({ check: 'signer', expected: wallet.address });
    return wallet.address;
  }
  const recovered = recoverAddress(needs.signatures.recover, personalMessageDigest(message), signature);
  if (!recovered.ok)
    throw badSignature({ check: 'signature_form', reason: recovered.reason, expected: '65 bytes, low s' });
  if (signatureTypeOf(recovered.address, wallet.address) === null) {
    throw badSignature({
      check: 'signer',
      recovered: recovered.address,
      expected: `${wallet.address}, or the EOA that it is derived from`,
    });
  }
  return recovered.address;
}

/** @returns the key that signed, and when the challenge ends @throws Refusal link_challenge_invalid, link_signature_invalid */
export function provedBy(
  needs: ChallengeNeeds,
  challenged: Challenged,
  answer: { readonly nonce: string; readonly signature: string },
): { readonly signer: string; readonly expiresAt: number } {
  const expiresAt = requireChallenge(needs, challenged, answer.nonce);
  const message = messageOf(needs, challenged, answer.nonce, expiresAt);
  return { signer: signerOf(needs, challenged.wallet, message, answer.signature), expiresAt };
}
