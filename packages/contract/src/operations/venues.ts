/** The venues of a service, and how their messages are signed. */
import { type Static, Type } from 'typebox';
import { ExchangeV3, Nullable, PRINTABLE } from '../fields.ts';
import { operation } from '../operation.ts';
import { VenueInfo } from './agents.ts';
import { TypedDataRecord } from './prepare-trade.ts';

export const VenueRecord = Type.Object({
  ...VenueInfo.properties,
  capabilities: Type.Array(Type.String(), {
    description: 'signedOrders, quotes, cancel, redemption, history, paper',
  }),
  wallets: Type.String({ description: 'the family of its wallets: evm or solana' }),
  signingUrl: Type.String({ description: 'GET: how its messages are signed' }),
});

const Domain = Type.Object({
  name: Type.String(),
  version: Type.String(),
  chainId: Type.Integer(),
  verifyingContract: Type.Optional(Type.String()),
});
const Field = Type.Object({ name: Type.String(), type: Type.String() });

const OrderExample = Type.Object({
  name: Type.String(),
  orderVersion: Type.Integer(),
  exchangeVersion: Type.Optional(ExchangeV3),
  negRisk: Nullable(Type.Boolean({ description: 'null: of no effect' })),
  signatureType: Type.Integer(),
  typedData: TypedDataRecord,
  orderId: Type.String({ description: 'EIP-712 digest of the order' }),
  digest: Type.String({ description: 'of typedData: what the key signs' }),
  signature: Type.String({ description: 'what order.signature is' }),
});

/** How orders are made and signed. */
export const OrderSigning = Type.Object({
  chainId: Type.Integer(),
  orderProfile: Type.String({
    description: 'interface: version 2 has 12 fields; polymarket: 11. Orders for ExchangeV3 have 11 in both',
  }),
  domains: Type.Array(
    Type.Object({
      orderVersion: Type.Integer(),
      exchangeVersion: Type.Optional(ExchangeV3),
      negRisk: Nullable(Type.Boolean({ description: 'null: the contract takes orders of all its markets' })),
      domain: Domain,
      separator: Type.String(),
    }),
  ),
  structs: Type.Array(
    Type.Object({
      orderVersions: Type.Array(Type.Integer()),
      exchangeVersion: Type.Optional(ExchangeV3),
      type: Type.String(),
      typeHash: Type.String(),
      fields: Type.Array(Field),
    }),
  ),
  signatureTypes: Type.Array(
    Type.Object({
      value: Type.Integer(),
      wallet: Type.String(),
      maker: Type.String(),
      signer: Type.String(),
    }),
  ),
  factories: Type.Object({ proxy: Type.String(), safe: Type.String(), deposit: Type.String() }),
  rules: Type.Object({
    amounts: Type.Array(Type.String()),
    gtdMinLeadS: Type.Integer(),
    builder: Type.Optional(
      Type.Object(
        { code: Type.String(), feeBps: Type.Integer() },
        {
          description:
            'the one builder code that orders may carry beside none, and the most that limits and approvals count for it, in hundredths of a percent. Absent: orders carry none',
        },
      ),
    ),
  }),
  wrapped: Type.Object(
    {
      type: Type.String({ description: "the order's type text follows it" }),
      name: Type.String(),
      version: Type.String(),
      layout: Type.Array(Type.String()),
    },
    { description: 'ERC-7739 signatures of deposit wallets' },
  ),
  salt: Type.Object({
    rule: Type.String(),
    example: Type.Object({
      agentId: Type.String(),
      clientOrderId: Type.String(),
      salt: Type.Integer(),
    }),
  }),
  authentication: Type.Object(
    {
      l1: Type.Object({
        type: Type.String(),
        message: Type.String(),
        headers: Type.Array(Type.String()),
        typedData: TypedDataRecord,
        digest: Type.String(),
        signature: Type.String(),
      }),
      l2: Type.Object({
        algorithm: Type.String(),
        headers: Type.Array(Type.String()),
        example: Type.Object({
          secret: Type.String(),
          timestamp: Type.String(),
          method: Type.String(),
          path: Type.String(),
          body: Type.String(),
          signature: Type.String(),
        }),
      }),
    },
    { description: "the venue's own: of its doors, not of this service's routes" },
  ),
  exampleKey: Type.String({ description: 'a key that everybody knows: never send it anything of value' }),
  exampleWallets: Type.Object({
    eoa: Type.String(),
    proxy: Type.String(),
    safe: Type.String(),
    deposit: Type.Object({ beacon: Type.String(), uups: Type.String() }),
  }),
  examples: Type.Array(OrderExample),
});

/** Parts of a quoted transaction, and how to check it. */
export const TransactionSigning = Type.Object({
  format: Type.String(),
  collateralMint: Type.String(),
  signer: Type.String(),
  programs: Type.Array(
    Type.Object({
      name: Type.String(),
      address: Type.String(),
      purpose: Type.String(),
      check: Type.String(),
    }),
  ),
  checks: Type.Array(Type.String()),
  signature: Type.String(),
});

export const SigningGuide = Type.Object({
  venue: Type.String(),
  backend: Type.String(),
  orders: Nullable(OrderSigning),
  transactions: Nullable(TransactionSigning),
});

const shared = { tag: 'markets', permission: 'public', rateClass: 'search', status: 200 } as const;

export const listVenues = operation({
  ...shared,
  id: 'listVenues',
  method: 'GET',
  path: '/venues',
  summary: 'The venues of this service, and what each can do',
  response: Type.Array(VenueRecord),
  errors: [],
});

/** Domains, structs, contracts, rules and worked examples: everything that a signer needs. */
export const getVenueSigning = operation({
  ...shared,
  id: 'getVenueSigning',
  method: 'GET',
  path: '/venues/{id}/signing',
  summary: 'How the messages of a venue are signed, with worked examples',
  description:
    'Made by the code that verifies. Each example has a key that everybody knows, the typed data, its digest and the signature: reproduce one before you sign with a key of your own. The same for people: /docs/signing.',
  params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 50, pattern: PRINTABLE }) }),
  response: SigningGuide,
  errors: ['venue_not_found'],
});

export type VenueRecord = Static<typeof VenueRecord>;
export type OrderSigning = Static<typeof OrderSigning>;
export type TransactionSigning = Static<typeof TransactionSigning>;
export type SigningGuide = Static<typeof SigningGuide>;
