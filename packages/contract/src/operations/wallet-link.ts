import { type Static, Type } from 'typebox';
import { Address, formed, Iso, Nonce, SolanaAddress } from '../fields.ts';
import { operation } from '../operation.ts';

const AnyAddress = Type.Union([Address, SolanaAddress], {
  description:
    'an EVM address (the EOA, or a proxy, Safe or deposit wallet that it controls) or a Solana address',
});

export const LinkChallenge = Type.Object({
  nonce: Type.String({
    description: 'belongs to this agent, owner and address; taken by the link that uses it',
  }),
  message: Type.String({
    description: 'the exact text to sign: EIP-191 personal_sign with the EOA, or Ed25519 with the Solana key',
  }),
  expiresAt: Iso,
  expires_at: { ...Iso, description: 'the same as expiresAt' },
  address: Type.String({ description: 'the message spells an EVM address with its checksum' }),
});

const bothNames = {
  address: AnyAddress,
  walletAddress: Type.Optional(AnyAddress),
  wallet_address: Type.Optional(AnyAddress),
};
const SAME = { 'x-aliases': { walletAddress: 'address', wallet_address: 'address' } };

const linkFields = {
  ...bothNames,
  nonce: Nonce,
  signature: formed('^[0-9A-Za-z+/=_-]+$', 'a signature in hex, base58 or base64', {
    minLength: 1,
    maxLength: 200,
    description: 'EVM: 65 bytes as 0x hex. Solana: 64 bytes as base58, base64 or 0x hex',
  }),
};

export const LinkRequest = Type.Object(linkFields, SAME);

export const LinkResult = Type.Object({
  success: Type.Literal(true),
  walletAddress: Type.String(),
  wallet_address: Type.String({ description: 'the same as walletAddress' }),
  walletOwnership: Type.Literal('external', {
    description: 'the key stays with its owner; the service never holds it',
  }),
  message: Type.String({ description: 'what the link did, in words' }),
  moved: Type.Array(Type.String(), {
    description: 'wallets whose registration and credentials another owner had, and the caller has now',
  }),
  canceledOrders: Type.Array(Type.String(), {
    description: "orders of the former owner's agents on those wallets that were canceled",
  }),
});

export const UnlinkRequest = Type.Object({ ...bothNames, address: Type.Optional(AnyAddress) }, SAME);
export const UnlinkResult = Type.Object({ success: Type.Literal(true), message: Type.String() });

export const SolAddressRequest = Type.Object({ solAddress: SolanaAddress });
export const SolAddressResult = Type.Object({
  success: Type.Literal(true),
  solAddress: Type.String(),
  message: Type.String(),
});

const shared = { tag: 'wallet', permission: 'agent', rateClass: 'read', status: 200 } as const;

/** The text to sign for `linkWallet`; `linkSignersWallet` does both. */
export const getLinkChallenge = operation({
  ...shared,
  id: 'getLinkChallenge',
  method: 'GET',
  path: '/wallet/link/challenge',
  summary: 'The text to sign in order to link a wallet; valid for five minutes, once',
  query: Type.Object(bothNames, SAME),
  response: LinkChallenge,
  errors: ['invalid_solana_address'],
});

export const linkWallet = operation({
  ...shared,
  id: 'linkWallet',
  method: 'POST',
  path: '/wallet/link',
  summary: "Link a wallet to the caller's owner by the signed challenge",
  description:
    "The signature proves the key, so it wins over every earlier registration: when another owner has registered the wallet, or another wallet of the same EOA, wallets and credentials move to the caller's owner, and open orders that the former owner's agents have on them are canceled. When that owner has claimed these agents, their pause and locked limits, as they are then, and their use of the day go on to bind the wallets, until that owner loosens or lifts them, or the operator does. What that owner sets later binds nothing there. An EVM wallet becomes the agent's walletAddress, a Solana wallet its solAddress.",
  idempotent: true,
  body: LinkRequest,
  response: LinkResult,
  errors: [
    'invalid_solana_address',
    'link_challenge_invalid',
    'link_signature_invalid',
    'wallet_limit_reached',
  ],
});

/**
 * Deletes the wallet's stored credentials, too. Open orders stay open.
 * @param address the only wallet when left out
 */
export const unlinkWallet = operation({
  ...shared,
  id: 'unlinkWallet',
  method: 'POST',
  path: '/wallet/unlink',
  summary:
    'Take a wallet that the agent reaches from its owner, and forget its credentials; when none is named the own wallet of the agent, or the only one',
  description:
    'The wallet and its stored venue credentials are deleted; with an EOA those of its proxy, Safe and deposit wallets too. New trades for it are refused with credentials_not_registered. Open orders stay open, belong to their agents as before and can be canceled; paper money stays with the wallet and is not credited again.',
  idempotent: true,
  body: UnlinkRequest,
  bodyOptional: true,
  response: UnlinkResult,
  errors: ['invalid_solana_address', 'wallet_not_found', 'wallet_required'],
});

export const updateSolAddress = operation({
  ...shared,
  id: 'updateSolAddress',
  method: 'POST',
  path: '/wallet/update-sol-address',
  summary: "Set the agent's Solana address for venue B, without proof",
  description:
    "It names the wallet that quotes are made for. It proves nothing: only a linked wallet counts as the owner's.",
  idempotent: true,
  body: SolAddressRequest,
  response: SolAddressResult,
  errors: ['invalid_solana_address'],
});

export type LinkChallenge = Static<typeof LinkChallenge>;
export type LinkRequest = Static<typeof LinkRequest>;
export type LinkResult = Static<typeof LinkResult>;
export type UnlinkRequest = Static<typeof UnlinkRequest>;
export type UnlinkResult = Static<typeof UnlinkResult>;
export type SolAddressRequest = Static<typeof SolAddressRequest>;
export type SolAddressResult = Static<typeof SolAddressResult>;
