/**
 * A fake quote venue: quotes with real unsigned transactions, and a chain that the test controls. It keeps no
 * balances and moves no money; the test sets the outcome of a transaction. Prices are pips.
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { Payout } from '@bellwether/contract/positions';
import {
  asSolanaAddress,
  associatedTokenAddress,
  parseTransactionBytes,
  readTransaction,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  toBase58,
  toBase64,
  transactionId,
  USDC_MINT,
  withSignature,
} from '@bellwether/protocol';
import {
  address,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransaction,
  createTransactionMessage,
  getTransactionEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getTransferCheckedInstruction } from '@solana-program/token';
import { payoutPrice } from '../packages/server/src/domain/market.ts';
import { isEverything, selectMarkets } from '../packages/server/src/domain/market-search.ts';
import type {
  Chain,
  Landing,
  SendAnswer,
  Simulation,
  TokenAccount,
} from '../packages/server/src/venues/chain.ts';
import { createChainAccounts } from '../packages/server/src/venues/dflow/dflow-venue.ts';
import type {
  OrderProgress,
  QuotedAmounts,
  QuoteQuestion,
  TickerMarket,
  VenueFill,
  VenueQuote,
  VenueRevert,
} from '../packages/server/src/venues/quotes.ts';
import type { VenueWith } from '../packages/server/src/venues/venue.ts';

export function createFakeWallet() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ format: 'jwk' }).x as string;
  const owner = toBase58(Buffer.from(key, 'base64url')) as SolanaAddress;
  return {
    address: owner,
    /** Base64 of the transaction with this wallet's signature in it. */
    sign(unsignedTransaction: string): string {
      const wire = parseTransactionBytes(unsignedTransaction);
      return toBase64(withSignature(wire, owner, sign(null, readTransaction(wire).message, privateKey)));
    },
  };
}

const randomKey = (): SolanaAddress => toBase58(randomBytes(32)) as SolanaAddress;
/** The text of an unknown transaction's id. */
export const randomSignature = (): string => toBase58(randomBytes(64));

interface Transfer {
  readonly wallet: SolanaAddress;
  readonly mint: SolanaAddress;
  readonly amount: bigint;
  /** A token account. */
  readonly destination?: SolanaAddress;
  readonly recentBlockhash?: string;
}

/** An unsigned transaction that transfers tokens of the wallet, by default to an escrow; each one is unique. */
export function tokenTransfer({
  wallet,
  mint,
  amount,
  destination = randomKey(),
  recentBlockhash = randomKey(),
}: Transfer): { wire: Uint8Array; message: Uint8Array } {
  const program = mint === USDC_MINT ? SOLANA_PROGRAMS.token : SOLANA_PROGRAMS.token2022;
  const move = getTransferCheckedInstruction(
    {
      source: address(associatedTokenAddress(wallet, mint, program)),
      mint: address(mint),
      destination: address(destination),
      authority: address(wallet),
      amount,
      decimals: 6,
    },
    { programAddress: address(program) },
  );
  const memo = { programAddress: address(SOLANA_PROGRAMS.memo), data: new TextEncoder().encode(randomKey()) };
  const lifetime = { blockhash: blockhash(recentBlockhash), lastValidBlockHeight: 0n };
  const compiled = compileTransaction(
    pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayer(address(wallet), message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions([move, memo], message),
    ),
  );
  return {
    wire: new Uint8Array(getTransactionEncoder().encode(compiled)),
    message: new Uint8Array(compiled.messageBytes),
  };
}

export type FakeQuoteVenue = ReturnType<typeof createFakeQuoteVenue>;

interface Controls {
  /** The chain does not answer. */
  silent: boolean;
  send: (signature: string) => SendAnswer | Promise<SendAnswer>;
  simulation: Simulation;
  /** Overrides the book's price. */
  quote: ((question: QuoteQuestion) => VenueQuote | null) | null;
  creditFails: boolean;
  status: string;
}

/** Nothing fails: what a test assigns to the controls again after it has changed them. */
export const CALM: Readonly<Controls> = {
  silent: false,
  send: () => ({ kind: 'sent' }),
  simulation: { kind: 'unknown' },
  quote: null,
  creditFails: false,
  status: 'ready',
};

const MICRO = 1_000_000n;
const PIPS = 10_000n;
const VALID_BLOCKS = 150;
const BLOCK_MS = 400;

export function fakeMarket(ticker: string, given: Partial<TickerMarket> = {}): TickerMarket {
  const now = Date.now();
  return {
    id: ticker,
    conditionId: ticker,
    tokenIds: [randomKey(), randomKey()],
    outcomes: ['Yes', 'No'],
    slug: ticker,
    question: `Will ${ticker} happen?`,
    description: 'Resolves YES when it does.',
    category: 'test',
    eventId: '1',
    eventTitle: 'Tests',
    negRisk: false,
    tickSize: 100,
    minOrderSize: MICRO,
    feeRate: 80_000n,
    feeExponent: 1,
    createdAt: now,
    endDate: now + 30 * 86_400_000,
    updatedAt: now,
    status: 'open',
    bestBid: 5900,
    bestAsk: 6000,
    volume: 0n,
    volume24h: 0n,
    liquidity: 1_000n * MICRO,
    phase: 'active',
    asks: { YES: 6000, NO: 4100 },
    pays: { YES: null, NO: null },
    ...given,
  };
}

/** @param now the test's clock, when it has one of its own */
export function createFakeQuoteVenue(now: () => number = Date.now) {
  const listed = new Map(['KXTEST-1', 'KXTEST-2'].map((ticker) => [ticker, fakeMarket(ticker)]));
  const controls: Controls & { height: number } = { height: 1_000, ...CALM };
  const sent: { readonly signature: string; readonly wire: Uint8Array }[] = [];
  const credited: SolanaAddress[] = [];
  const landed = new Map<string, Landing>();
  const outcomes = new Map<string, OrderProgress>();
  const tokens: TokenAccount[] = [];
  const markets = () => [...listed.values()];
  const ofToken = (mint: string) => markets().find(({ tokenIds }) => tokenIds.includes(mint));
  const spoken = <T>(value: T): T => {
    if (controls.silent) throw new Error('the fake chain is silent');
    return value;
  };
  const quoteOf = (question: QuoteQuestion): VenueQuote => {
    const market = listed.get(question.ticker) ?? null;
    if (market === null) return { kind: 'degraded', code: 'market_not_found', message: null, market };
    const amounts = amountsOf(market, question);
    if (typeof amounts === 'string') return { kind: 'degraded', code: amounts, message: null, market };
    const { wallet } = question;
    if (wallet === null) return { kind: 'preview', market, amounts };
    return {
      kind: 'executable',
      market,
      amounts,
      ...tokenTransfer({ wallet, mint: amounts.inputMint, amount: amounts.inAmount }),
      lastValidBlockHeight: controls.height + VALID_BLOCKS,
      expectedEnd: now() + VALID_BLOCKS * BLOCK_MS * 3,
    };
  };

  const chain: Chain = {
    status: () => (controls.silent ? 'the fake chain is silent' : 'ready'),
    blockHeight: async () => spoken(controls.height),
    blockMs: async () => BLOCK_MS,
    async send(wire) {
      const signature = transactionId(readTransaction(wire));
      sent.push({ signature, wire });
      return controls.silent ? { kind: 'unknown' } : controls.send(signature);
    },
    landings: async (signatures) =>
      spoken(new Map(signatures.map((one) => [one, landed.get(one) ?? { kind: 'unseen' }]))),
    simulate: async () => (controls.silent ? { kind: 'unknown' } : controls.simulation),
    lamports: async () => spoken(100_000_000n),
    tokenAccount: async (owner, mint) =>
      spoken(tokens.find((one) => one.owner === owner && one.mint === mint) ?? null),
    outcomeAccounts: async (owner) =>
      spoken(tokens.filter((one) => one.owner === owner && one.mint !== USDC_MINT)),
    tokenAddress: async (owner, mint) => associatedTokenAddress(owner, mint, SOLANA_PROGRAMS.token),
    async buildDelegatedTransfer({ delegate, mint, amount }) {
      const built = tokenTransfer({ wallet: delegate, mint, amount });
      return { ...built, lastValidBlockHeight: controls.height + VALID_BLOCKS };
    },
  };
  const venue: VenueWith<'quotes' | 'paper'> = {
    id: 'kalshi',
    backend: 'paper',
    accounts: createChainAccounts({ chain, collateralMint: USDC_MINT }),
    status: () => controls.status,
    markets: {
      announcesResolutions: false,
      canBeId: (text) => /^(?!0x|\d+$)[A-Za-z0-9._-]{1,120}$/.test(text),
      find: async (id) => markets().find((one) => one.id === id || one.tokenIds.includes(id)) ?? null,
      findAll: async (ids) => markets().filter((one) => ids.includes(one.id)),
      listedAfter: async (after, limit) => ({
        markets: markets()
          .filter((one) => one.createdAt > after && one.status === 'open')
          .slice(0, limit),
        latest: Math.max(0, ...markets().map((one) => one.createdAt)),
      }),
      byToken: async (token) => {
        const market = ofToken(token);
        return market === undefined ? null : { market, outcome: market.tokenIds[0] === token ? 'YES' : 'NO' };
      },
      search: async (search) => {
        const words = search.words.toLowerCase();
        const found = markets().filter(
          ({ question }) => isEverything(words) || question.toLowerCase().includes(words),
        );
        return selectMarkets(found, search);
      },
      book: async (id, outcome) => {
        const market = listed.get(id);
        if (market === undefined) return null;
        const ask = market.asks[outcome];
        const other = market.asks[outcome === 'YES' ? 'NO' : 'YES'];
        return {
          conditionId: id,
          outcome,
          bids: other === null ? [] : [[Number(PIPS) - other, 100n * MICRO]],
          asks: ask === null ? [] : [[ask, 100n * MICRO]],
          sequence: 1,
          changedAt: now(),
        };
      },
    },
    quotes: {
      collateralMint: USDC_MINT,
      chain,
      market: async (ticker) => spoken(listed.get(ticker) ?? null),
      marketsByMint: async (mints) => {
        const byMint = markets().flatMap((one) => one.tokenIds.map((mint) => [mint, one] as const));
        return spoken(new Map(byMint.filter(([mint]) => mints.some((asked) => asked === mint))));
      },
      quote: async (question) => controls.quote?.(question) ?? quoteOf(question),
      progress: async ({ signature }) =>
        controls.silent ? { kind: 'unknown' } : (outcomes.get(signature) ?? { kind: 'unknown' }),
    },
    paper: {
      async credit(wallet) {
        if (controls.creditFails) throw new Error('no credit today');
        credited.push(wallet as SolanaAddress);
      },
    },
  };
  return {
    ...venue,
    /** By ticker; a test adds, changes and removes. */
    listed,
    /** The sent transactions, in order; the same bytes again are another entry. */
    sent,
    /** Wallets that were credited, in order. */
    credited,
    landed,
    outcomes,
    tokens,
    /** Settings of a test. */
    controls,
    /** Lands the transaction, fills it once and closes the order. */
    fill(signature: string, fill: Omit<VenueFill, 'signature'>, reverts: readonly VenueRevert[] = []): void {
      landed.set(signature, { kind: 'landed' });
      const fills = [{ signature: randomSignature(), ...fill }];
      outcomes.set(signature, { kind: 'closed', fills, reverts });
    },
    /** Settles a market: the outcome pays, and tokens of it can be redeemed. */
    settle(ticker: string, payout: Payout): void {
      const market = listed.get(ticker);
      if (market === undefined) throw new Error(`no market ${ticker}`);
      const yes = payoutPrice(payout, 'YES');
      listed.set(ticker, {
        ...market,
        status: 'resolved',
        phase: 'settled',
        payout,
        asks: { YES: null, NO: null },
        pays: { YES: yes, NO: 10_000 - yes },
      });
    },
  };
}

function amountsOf(
  market: TickerMarket,
  { outcome, side, amount }: QuoteQuestion,
): QuotedAmounts | 'market_closed' | 'amount_too_small' | 'route_not_found' {
  const mint = asSolanaAddress(market.tokenIds[outcome === 'YES' ? 0 : 1]);
  const pays = market.pays[outcome];
  if (pays !== null) {
    if (side === 'BUY' || pays === 0) return 'market_closed';
    return sellOf(mint, amount, (amount * BigInt(pays)) / PIPS, true);
  }
  if (market.phase !== 'active') return 'market_closed';
  const ask = market.asks[side === 'BUY' ? outcome : outcome === 'YES' ? 'NO' : 'YES'];
  if (ask === null) return 'route_not_found';
  if (side === 'SELL') return sellOf(mint, amount, (amount * (PIPS - BigInt(ask))) / PIPS, false);
  const contracts = ((amount * PIPS) / BigInt(ask) / MICRO) * MICRO;
  if (contracts === 0n) return 'amount_too_small';
  return {
    inputMint: USDC_MINT,
    outputMint: mint,
    inAmount: amount,
    outAmount: contracts,
    minOutAmount: contracts,
    isRedemption: false,
  };
}

const sellOf = (
  mint: SolanaAddress,
  contracts: bigint,
  paid: bigint,
  isRedemption: boolean,
): QuotedAmounts => ({
  inputMint: mint,
  outputMint: USDC_MINT,
  inAmount: contracts,
  outAmount: paid,
  minOutAmount: (paid * 99n) / 100n,
  isRedemption,
});
