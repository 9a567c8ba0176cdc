/** Facts that a stranger needs about a venue before it signs anything for it. Nothing here depends on who asks. */
import type { OrderSigning, SigningGuide, TransactionSigning, VenueRecord } from '@bellwether/contract';
import { orderSigningGuide, SOLANA_PROGRAMS, USDC_MINT } from '@bellwether/protocol';
import { refusal } from '../platform/refusal.ts';
import { type HasVenues, venueRecord } from '../venues/asking.ts';
import type { Capability, Venue, VenueWith } from '../venues/venue.ts';

const CAPABILITIES: readonly Capability[] = [
  'signedOrders',
  'quotes',
  'cancel',
  'redemption',
  'history',
  'paper',
];

export const listVenues = ({
  venues,
  publicUrl,
}: HasVenues & { readonly publicUrl: string }): VenueRecord[] =>
  [...venues.values()].map((venue) => ({
    ...venueRecord(venue),
    capabilities: CAPABILITIES.filter((name) => venue[name] !== undefined),
    wallets: venue.accounts.family,
    signingUrl: `${publicUrl}/venues/${encodeURIComponent(venue.id)}/signing`,
  }));

/** Contracts and struct are configuration, so one guide serves a venue for the life of the process. */
const guides = new WeakMap<Venue, SigningGuide>();

/** @throws Refusal venue_not_found */
export function venueSigning({ venues }: HasVenues, id: string): SigningGuide {
  const venue = venues.get(id);
  if (venue === undefined)
    throw refusal(
      'venue_not_found',
      `There is no venue "${id}". There are: ${[...venues.keys()].join(', ')}.`,
      {
        path: 'id',
      },
    );
  let guide = guides.get(venue);
  if (guide === undefined) {
    guide = {
      venue: venue.id,
      backend: venue.backend,
      orders: venue.signedOrders === undefined ? null : orderSigning(venue.signedOrders),
      transactions: venue.quotes === undefined ? null : TRANSACTIONS,
    };
    guides.set(venue, guide);
  }
  return guide;
}

export const SIGNATURE_TYPES = [
  { value: 0, wallet: 'EOA', maker: 'the EOA', signer: 'the EOA' },
  { value: 1, wallet: 'proxy wallet', maker: 'the proxy wallet of the EOA', signer: 'the EOA' },
  { value: 2, wallet: 'Safe', maker: 'the Safe of the EOA', signer: 'the EOA' },
  {
    value: 3,
    wallet: 'deposit wallet',
    maker: 'the deposit wallet of the EOA',
    signer: 'the EOA; the deposit wallet itself where the signature is wrapped',
  },
];

/** As `packages/contract/src/unsigned-trade.ts` rounds, and `domain/coherence.ts` checks. */
export const AMOUNT_RULES = [
  'Amounts are integers in millionths of a share or of the collateral.',
  'BUY (side 0): makerAmount is collateral and takerAmount shares. SELL (side 1): makerAmount is shares and takerAmount collateral.',
  "A price is a whole number of the market's ticks (its tickSize; it can change), from one tick to one minus one tick.",
  'The signed ratio collateral ÷ shares, floored to the grid for a BUY and ceiled for a SELL, is the price of a limit order.',
  'A resting order: shares cut to 2 decimals; collateral = shares × price, exactly.',
  'A BUY that executes at once (FAK, FOK): makerAmount is the budget cut to 2 decimals (a multiple of 10000), at least 1 collateral; takerAmount = budget ÷ price, floored to 4 decimals (a multiple of 100).',
  'A SELL that executes at once: shares cut to 2 decimals; takerAmount = shares × price, floored to 4 decimals (a multiple of 100).',
  'taker is the zero address; expiration is 0 but for GTD (epoch seconds); nonce and feeRateBps have no effect: sign 0 (a feeRateBps up to 1000 is accepted, and so is any nonce, as they are signed); salt is below 2^53.',
];

const orderSigning = ({ signing, rules }: VenueWith<'signedOrders'>['signedOrders']): OrderSigning => ({
  ...(orderSigningGuide(signing) as unknown as Omit<OrderSigning, 'signatureTypes' | 'rules'>),
  signatureTypes: SIGNATURE_TYPES,
  rules: {
    amounts: AMOUNT_RULES,
    gtdMinLeadS: rules.gtdMinLeadS,
    ...(rules.builder === undefined ? {} : { builder: { ...rules.builder } }),
  },
});

type Program = Pick<TransactionSigning['programs'][number], 'purpose' | 'check'>;

/** Every program that a quoted transaction may call: what it is there for, and what to look at. */
const PROGRAMS: { readonly [Name in keyof typeof SOLANA_PROGRAMS]: Program } = {
  computeBudget: {
    purpose: 'limits the computation and names the priority fee',
    check:
      'limit × price ÷ 1,000,000 micro-lamports, with 5,000 lamports a signature, stays within your maximum',
  },
  system: {
    purpose: 'pays rent and fees in lamports, and makes accounts',
    check: 'what leaves your wallet, in all, stays within your maximum',
  },
  token: {
    purpose: 'moves tokens of the classic kind, such as the collateral',
    check:
      'only the input mint leaves, at most the amount that you asked to spend; no approve, no change of authority, no close, no burn',
  },
  token2022: {
    purpose: 'moves tokens of the newer kind, such as outcomes',
    check: 'as for the classic kind; the token program is part of the address of a token account',
  },
  associatedToken: {
    purpose: 'makes the account that will hold a token',
    check:
      'its owner is your wallet, or the destination that you named, and its mint is the input or output mint',
  },
  memo: { purpose: 'a note', check: 'nothing: it moves nothing' },
  dflowAggregator: {
    purpose: "the venue's swap: its bytes do not show what it moves",
    check:
      'have a Solana node that you trust simulate the transaction: at most the input leaves, at least the minimum output arrives, nothing else moves',
  },
  dflowMarkets: {
    purpose: "opens the order in the venue's program; the fill follows in a transaction of the venue",
    check: 'have it simulated, as for the aggregator',
  },
};

export const TRANSACTIONS: TransactionSigning = {
  format: 'base64 of a Solana transaction, legacy or version 0, with an empty place for your signature',
  collateralMint: USDC_MINT,
  signer: 'account 0: your wallet, which pays; the only signature required',
  programs: Object.entries(SOLANA_PROGRAMS).map(([name, address]) => ({
    name,
    address,
    ...PROGRAMS[name as keyof typeof PROGRAMS],
  })),
  checks: [
    'Decode the bytes yourself; believe no other field of the quote.',
    'Account 0 is your wallet and the header asks for one signature.',
    'Every program is one of those listed, and named in the message itself, not by a lookup table.',
    'inputMint and outputMint are those of your ask: a BUY pays collateral and receives the outcome that you chose, a SELL the reverse.',
    'Over all instructions, no more leaves than you asked to spend, and no other account or right of your wallet changes.',
    'expiresAt has not passed. Do not change the message: the service submits only the bytes that it quoted.',
  ],
  signature:
    'Ed25519 over the message, which is everything after the signatures; write the 64 bytes into the first place and send the transaction as base64 to POST /venueb/agent/submit.',
};
