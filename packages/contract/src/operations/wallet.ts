import { type Static, Type } from 'typebox';
import { Address, alias, EXACT, formed, Iso, Nonce, Nullable, PRINTABLE, SignatureType } from '../fields.ts';
import { operation } from '../operation.ts';
import { LinkChallenge } from './wallet-link.ts';

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
const SAME = alias('walletAddress', 'address');

export const PaperCredentialRequest = Type.Object(
  {
    ...challengeFields,
    nonce: Nonce,
    signature: formed('^0x[a-fA-F0-9]{130}$', 'a signature of 65 bytes: 0x and 130 hex digits', {
      description: "EIP-191 personal_sign of the challenge's message with the EOA: 65 bytes",
    }),
    signatureType: Type.Optional(SignatureType),
  },
  SAME,
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
  query: Type.Object(challengeFields, SAME),
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
