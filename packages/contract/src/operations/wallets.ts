/**
 * An agent's wallets: linked and unlinked by a text that they sign, their credentials at the venue, and paper money.
 * There are two such texts, written here field by field. The service writes them and checks the signature over them; a
 * client reads them before it signs, because a signature can be used for everything else that a text says. The fields
 * and their order are those of "sign in with Ethereum" (EIP-4361).
 */
import { type Static, Type } from 'typebox';
import {
  Address,
  alias,
  EXACT,
  formed,
  Iso,
  Nonce,
  Nullable,
  PRINTABLE,
  SignatureType,
  SolanaAddress,
} from '../fields.ts';
import { operation } from '../operation.ts';

/** The purpose of a signature. */
export interface ChallengePurpose {
  /** Where the signature is sent. */
  readonly path: string;
  /** Sentence that the signer agrees to. */
  readonly statement: (agentId: string) => string;
}

export const CHALLENGE_PURPOSES = {
  link: {
    path: '/wallet/link',
    statement: (agentId) =>
      `Link this wallet to the owner of the trading agent ${agentId}. Venue credentials registered for it come along. Nothing is traded or transferred.`,
  },
  paperCredentials: {
    path: '/wallet/credentials/paper',
    statement: (agentId) =>
      `Make credentials of this wallet for simulated money only, for the trading agent ${agentId}. No real venue accepts them. Nothing is traded or transferred.`,
  },
} as const satisfies Readonly<Record<string, ChallengePurpose>>;

export interface ChallengeFields {
  /** Host of the service, with its port where it has one. */
  readonly host: string;
  readonly kind: 'evm' | 'solana';
  /** As it is shown: an EVM address with its checksum. */
  readonly address: string;
  readonly statement: string;
  readonly uri: string;
  /** `null` for Solana. */
  readonly chainId: number | null;
  readonly nonce: string;
  /** Epoch milliseconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

const CHAINS = { evm: 'Ethereum', solana: 'Solana' } as const;

/**
 * @example
 * const message = challengeText(fields);
 */
export const challengeText = (fields: ChallengeFields): string =>
  [
    `${fields.host} wants you to sign in with your ${CHAINS[fields.kind]} account:`,
    fields.address,
    '',
    fields.statement,
    '',
    `URI: ${fields.uri}`,
    'Version: 1',
    ...(fields.chainId === null ? [] : [`Chain ID: ${fields.chainId}`]),
    `Nonce: ${fields.nonce}`,
    `Issued At: ${new Date(fields.issuedAt).toISOString()}`,
    `Expiration Time: ${new Date(fields.expiresAt).toISOString()}`,
  ].join('\n');

const TEXT =
  /^(?<host>[^\s/]{1,255}) wants you to sign in with your (?<chain>Ethereum|Solana) account:\n(?<address>[0-9A-Za-z]{32,44})\n\n(?<statement>[^\n]{1,500})\n\nURI: (?<uri>\S{1,1000})\nVersion: 1\n(Chain ID: (?<chainId>\d{1,15})\n)?Nonce: (?<nonce>[0-9A-Za-z]{8,200})\nIssued At: (?<issued>\S{20,30})\nExpiration Time: (?<expires>\S{20,30})$/;

/**
 * @returns `null` for any other text, also one with something more in it
 * @example
 * const fields = readChallenge(received);
 * if (fields?.host !== 'desk.example') throw new Error('another service asks');
 */
export function readChallenge(text: string): ChallengeFields | null {
  const found = TEXT.exec(text)?.groups;
  if (found === undefined) return null;
  const kind = found.chain === CHAINS.evm ? 'evm' : 'solana';
  const fields: ChallengeFields = {
    host: found.host!,
    kind,
    address: found.address!,
    statement: found.statement!,
    uri: found.uri!,
    chainId: found.chainId === undefined ? null : Number(found.chainId),
    nonce: found.nonce!,
    issuedAt: Date.parse(found.issued!),
    expiresAt: Date.parse(found.expires!),
  };
  const isWhole =
    (kind === 'evm') === (fields.chainId !== null) &&
    Number.isFinite(fields.issuedAt) &&
    Number.isFinite(fields.expiresAt);
  // Written again it is the same text: nothing was read past.
  return isWhole && challengeText(fields) === text ? fields : null;
}

// Linking a wallet, and unlinking it.

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
const SAME_ADDRESS = { 'x-aliases': { walletAddress: 'address', wallet_address: 'address' } };

const linkFields = {
  ...bothNames,
  nonce: Nonce,
  signature: formed('^[0-9A-Za-z+/=_-]+$', 'a signature in hex, base58 or base64', {
    minLength: 1,
    maxLength: 200,
    description: 'EVM: 65 bytes as 0x hex. Solana: 64 bytes as base58, base64 or 0x hex',
  }),
};

export const LinkRequest = Type.Object(linkFields, SAME_ADDRESS);

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

export const UnlinkRequest = Type.Object({ ...bothNames, address: Type.Optional(AnyAddress) }, SAME_ADDRESS);
export const UnlinkResult = Type.Object({ success: Type.Literal(true), message: Type.String() });

export const SolAddressRequest = Type.Object({ solAddress: SolanaAddress });
export const SolAddressResult = Type.Object({
  success: Type.Literal(true),
  solAddress: Type.String(),
  message: Type.String(),
});

const ofLink = { tag: 'wallet', permission: 'agent', rateClass: 'read', status: 200 } as const;

/** The text to sign for `linkWallet`; `linkSignersWallet` does both. */
export const getLinkChallenge = operation({
  ...ofLink,
  id: 'getLinkChallenge',
  method: 'GET',
  path: '/wallet/link/challenge',
  summary: 'The text to sign in order to link a wallet; valid for five minutes, once',
  query: Type.Object(bothNames, SAME_ADDRESS),
  response: LinkChallenge,
  errors: ['invalid_solana_address'],
});

export const linkWallet = operation({
  ...ofLink,
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
  ...ofLink,
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
  ...ofLink,
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

// Credentials at the venue, and paper money.

const secret = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 256,
    pattern: PRINTABLE,
    description: `${description}; stored encrypted, never returned`,
  });

/** Interface 2.4. */
const otherName = (name: string) =>
  Type.Optional(Type.String({ ...Address, description: `the same as ${name}` }));

const credentialFields = {
  walletAddress: Address,
  address: otherName('walletAddress'),
  apiKey: secret('venue credential key'),
  apiSecret: secret('venue credential secret'),
  apiPassphrase: secret('venue credential passphrase'),
  signatureType: Type.Optional(SignatureType),
  polyAddress: Type.Optional(Address),
};

export const CredentialRequest = Type.Object(credentialFields, alias('address', 'walletAddress'));

export const CredentialResult = Type.Object({
  success: Type.Boolean(),
  hasCredentials: Type.Boolean(),
  walletAddress: Type.String(),
  signatureType: SignatureType,
  encryptedCredentials: Type.Boolean(),
  registeredAt: Iso,
});

export const CredentialCheck = Type.Object({
  hasCredentials: Type.Boolean(),
  walletAddress: Nullable(Type.String()),
  signatureType: Nullable(SignatureType),
  heartbeat: Type.Boolean({
    description:
      "the owner has the desk send the venue's heartbeat for this wallet's key: when it ends, the venue cancels every open order of the key",
  }),
});

export const registerCredentials = operation({
  id: 'registerCredentials',
  method: 'POST',
  path: '/wallet/credentials',
  summary: 'Register or rotate the venue credentials of a wallet',
  tag: 'wallet',
  permission: 'agent',
  rateClass: 'read',
  idempotent: true,
  body: CredentialRequest,
  status: 200,
  response: CredentialResult,
  errors: [
    'venue_credentials_invalid',
    'wallet_owner_mismatch',
    'wallet_already_registered',
    'wallet_limit_reached',
    'service_unavailable',
  ],
});

export const checkCredentials = operation({
  id: 'checkCredentials',
  method: 'GET',
  path: '/wallet/credentials/check',
  summary: 'Is a wallet registered? Not revalidated with the venue',
  tag: 'wallet',
  permission: 'agent',
  rateClass: 'read',
  query: Type.Object(
    { walletAddress: Type.Optional(Address), address: otherName('walletAddress') },
    alias('address', 'walletAddress'),
  ),
  status: 200,
  response: CredentialCheck,
  errors: [],
});

const challengeFields = { address: Address, walletAddress: otherName('address') };
const SAME_WALLET = alias('walletAddress', 'address');

export const PaperCredentialRequest = Type.Object(
  {
    ...challengeFields,
    nonce: Nonce,
    signature: formed('^0x[a-fA-F0-9]{130}$', 'a signature of 65 bytes: 0x and 130 hex digits', {
      description: "EIP-191 personal_sign of the challenge's message with the EOA: 65 bytes",
    }),
    signatureType: Type.Optional(SignatureType),
  },
  SAME_WALLET,
);

/** The text to sign for `createPaperCredentials`. */
export const getCredentialChallenge = operation({
  id: 'getCredentialChallenge',
  method: 'GET',
  path: '/wallet/credentials/challenge',
  summary: 'The text to sign for credentials on paper; valid for five minutes, once',
  description:
    "A text of this service, never the venue's: a signature of it makes no key of a real venue. POST the signature to /wallet/credentials/paper.",
  tag: 'wallet',
  permission: 'agent',
  rateClass: 'read',
  query: Type.Object(challengeFields, SAME_WALLET),
  status: 200,
  response: LinkChallenge,
  errors: ['paper_only'],
});

/** Makes and registers credentials for a venue on paper, without the venue's own protocol. */
export const createPaperCredentials = operation({
  id: 'createPaperCredentials',
  method: 'POST',
  path: '/wallet/credentials/paper',
  summary: 'Make and register credentials on paper by the signed challenge',
  description:
    'They are stored as POST /wallet/credentials stores them, and never shown. For a proxy, Safe or deposit wallet the EOA signs.',
  tag: 'wallet',
  permission: 'agent',
  rateClass: 'read',
  idempotent: true,
  body: PaperCredentialRequest,
  status: 200,
  response: CredentialResult,
  errors: [
    'paper_only',
    'link_challenge_invalid',
    'link_signature_invalid',
    'wallet_owner_mismatch',
    'wallet_already_registered',
    'wallet_limit_reached',
    'service_unavailable',
  ],
});

export const FaucetRequest = Type.Object(
  {
    address: Address,
    walletAddress: otherName('address'),
    amount: Type.Number({
      exclusiveMinimum: 0,
      maximum: 1e12,
      ...EXACT,
      description: 'collateral to credit, at most 6 decimals',
    }),
  },
  alias('walletAddress', 'address'),
);

export const FaucetResponse = Type.Object({
  address: Type.String(),
  amount: Type.Number(),
  balance: Type.Number({ description: 'free collateral afterwards' }),
  allowanceLeft: Type.Number(),
});

export const faucet = operation({
  id: 'faucet',
  method: 'POST',
  path: '/paper/faucet',
  summary: 'Credit paper collateral to an address, within an allowance per address and UTC day',
  tag: 'paper',
  permission: 'public',
  rateClass: 'register',
  idempotent: true,
  body: FaucetRequest,
  status: 200,
  response: FaucetResponse,
  errors: ['faucet_allowance_exceeded', 'paper_only', 'service_unavailable'],
});

export type CredentialRequest = Static<typeof CredentialRequest>;
export type CredentialResult = Static<typeof CredentialResult>;
export type CredentialCheck = Static<typeof CredentialCheck>;
export type PaperCredentialRequest = Static<typeof PaperCredentialRequest>;
export type FaucetRequest = Static<typeof FaucetRequest>;
export type FaucetResponse = Static<typeof FaucetResponse>;
