import { type Static, Type } from 'typebox';
import { Address, alias, EXACT, Iso, Nullable, PRINTABLE, SignatureType } from '../fields.ts';
import { operation } from '../operation.ts';

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
export type FaucetRequest = Static<typeof FaucetRequest>;
export type FaucetResponse = Static<typeof FaucetResponse>;
