/**
 * A fake quote venue: quotes with real unsigned transactions, and a chain that the test controls. It keeps no
 * balances and moves no money; the test sets the outcome of a transaction. Prices are pips.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
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
import { isEverything, selectMarkets } from '../packages/server/src/domain/market-search.ts';
import type {
  Chain,
  Landing,
  SendAnswer,
  Simulation,
  TokenAccount,
} from '../packages/server/src/venues/chain.ts';
import { createChainAccounts } from '../packages/server/src/venues/dflow/accounts.ts';
import type {
  OrderProgress,
  QuotedAmounts,
  QuoteQuestion,
  TickerMarket,
  VenueFill,
  VenueQuote,
} from '../packages/server/src/venues/quotes.ts';
import type { VenueWith } from '../packages/server/src/venues/venue.ts';

export interface FakeWallet {
  readonly address: SolanaAddress;
  /** Base64 of the transaction with this wallet's signature in it. */
  sign(unsignedTransaction: string): string;
  signBytes(message: Uint8Array): Uint8Array;
}

export function createFakeWallet(): FakeWallet {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ format: 'jwk' }).x as string;
  return fakeWalletOf(toBase58(Buffer.from(key, 'base64url')) as SolanaAddress, privateKey);
}

const fakeWalletOf = (owner: SolanaAddress, privateKey: KeyObject): FakeWallet => ({
  address: owner,
  signBytes: (message) => sign(null, message, privateKey),
  sign(unsignedTransaction) {
    const wire = parseTransactionBytes(unsignedTransaction);
    return toBase64(withSignature(wire, owner, sign(null, readTransaction(wire).message, privateKey)));
  },
});

const randomKey = (): SolanaAddress => toBase58(randomBytes(32)) as SolanaAddress;

export interface FakeTransfer {
  readonly wallet: SolanaAddress;
  readonly mint: SolanaAddress;
  readonly amount: bigint;
  readonly version?: 'legacy' | 0;
  /** Another instruction behind the first, for tests of what must be refused. */
  readonly twice?: boolean;
}

const encoder = new TextEncoder();

/** An unsigned transaction that transfers tokens of the wallet to an escrow; each one is unique. */
export function fakeTransaction(transfer: FakeTransfer): { wire: Uint8Array; message: Uint8Array } {
  const { wallet, mint, amount, version = 0 } = transfer;
  const program = mint === USDC_MINT ? SOLANA_PROGRAMS.token : SOLANA_PROGRAMS.token2022;
  const move = getTransferCheckedInstruction(
    {
      source: address(associatedTokenAddress(wallet, mint, program)),
      mint: address(mint),
      destination: address(randomKey()),
      authority: address(wallet),
      amount,
      decimals: 6,
    },
    { programAddress: address(program) },
  );
  const memo = { programAddress: address(SOLANA_PROGRAMS.memo), data: encoder.encode(randomKey()) };
  const message = pipe(
    createTransactionMessage({ version }),
    (m) => setTransactionMessageFeePayer(address(wallet), m),
    (m) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash(randomKey()), lastValidBlockHeight: 0n },
        m,
      ),
    (m) =>
      appendTransactionMessageInstructions(transfer.twice === true ? [move, memo, move] : [move, memo], m),
  );
  const compiled = compileTransaction(message);
  return {
    wire: new Uint8Array(getTransactionEncoder().encode(compiled)),
    message: new Uint8Array(compiled.messageBytes),
  };
}

export interface FakeQuoteVenue extends VenueWith<'quotes' | 'paper'> {
  /** By ticker; a test adds, changes and removes. */
  readonly listed: Map<string, TickerMarket>;
  /** The sent transactions, in order; the same bytes again are another entry. */
  readonly sent: { readonly signature: string; readonly wire: Uint8Array }[];
  /** Wallets that were credited, in order. */
  readonly credited: SolanaAddress[];
  readonly landed: Map<string, Landing>;
  readonly outcomes: Map<string, OrderProgress>;
  readonly tokens: TokenAccount[];
  /** Settings of a test. */
  readonly controls: {
    height: number;
    /** The chain does not answer. */
    silent: boolean;
    send: (signature: string) => SendAnswer | Promise<SendAnswer>;
    simulation: Simulation;
    /** Overrides the book's price. */
    quote: ((question: QuoteQuestion) => VenueQuote | null) | null;
    creditFails: boolean;
    status: string;
  };
  /** Lands the transaction and fills it as quoted, all of it or a part. */
  fill(signature: string, fill: Omit<VenueFill, 'signature'>, closed?: boolean): void;
  /** Settles a market: the outcome pays, and tokens of it can be redeemed. */
  settle(ticker: string, payout: 'YES' | 'NO' | 'HALF'): void;
}

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
export function createFakeQuoteVenue(id = 'kalshi', now: () => number = Date.now): FakeQuoteVenue {
  const listed = new Map([
    ['KXTEST-1', fakeMarket('KXTEST-1')],
    ['KXTEST-2', fakeMarket('KXTEST-2')],
  ]);
  const controls: FakeQuoteVenue['controls'] = {
    height: 1_000,
    silent: false,
    send: () => ({ kind: 'sent' }),
    simulation: { kind: 'unknown' },
    quote: null,
    creditFails: false,
    status: 'ready',
  };
  const sent: FakeQuoteVenue['sent'] = [];
  const credited: SolanaAddress[] = [];
  const landed = new Map<string, Landing>();
  const outcomes = new Map<string, OrderProgress>();
  const tokens: TokenAccount[] = [];
  const markets = () => [...listed.values()];
  const spoken = <T>(value: T): T => {
    if (controls.silent) throw new Error('the fake chain is silent');
    return value;
  };
  const answerQuote = (question: QuoteQuestion): VenueQuote =>
    controls.quote?.(question) ??
    quoteOf(listed.get(question.ticker) ?? null, question, controls.height, now());

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
      const built = fakeTransaction({ wallet: delegate, mint, amount });
      return { ...built, lastValidBlockHeight: controls.height + VALID_BLOCKS };
    },
  };
  return {
    id,
    backend: 'paper',
    accounts: createChainAccounts({ chain, collateralMint: USDC_MINT }),
    listed,
    sent,
    credited,
    landed,
    outcomes,
    tokens,
    controls,
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
        const market = markets().find((one) => one.tokenIds.includes(token));
        if (market === undefined) return null;
        return { market, outcome: market.tokenIds[0] === token ? 'YES' : 'NO' };
      },
      search: async (search) => {
        const words = search.words.toLowerCase();
        const matches = (text: string) => isEverything(words) || text.toLowerCase().includes(words);
        return selectMarkets(
          markets().filter(({ question }) => matches(question)),
          search,
        );
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
      marketsByMint: async (mints) =>
        spoken(
          new Map(
            mints.flatMap((mint) => {
              const market = markets().find((one) => one.tokenIds.includes(mint));
              return market === undefined ? [] : [[mint, market] as const];
            }),
          ),
        ),
      quote: async (question) => answerQuote(question),
      progress: async (signature) =>
        controls.silent ? { kind: 'unknown' } : (outcomes.get(signature) ?? { kind: 'unknown' }),
    },
    paper: {
      async credit(wallet) {
        if (controls.creditFails) throw new Error('no credit today');
        credited.push(wallet as SolanaAddress);
      },
    },
    fill(signature, fill, closed = true) {
      landed.set(signature, { kind: 'landed' });
      const before = outcomes.get(signature);
      const earlier = before === undefined || before.kind === 'unknown' ? [] : before.fills;
      outcomes.set(signature, {
        kind: closed ? 'closed' : 'open',
        fills: [...earlier, { signature: randomSignature(), ...fill }],
        reverts: [],
      });
    },
    settle(ticker, payout) {
      const market = listed.get(ticker);
      if (market === undefined) throw new Error(`no market ${ticker}`);
      const yes = payout === 'HALF' ? 5_000 : payout === 'YES' ? 10_000 : 0;
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

/** The text of an unknown transaction's id. */
export const randomSignature = (): string => toBase58(randomBytes(64));

function quoteOf(
  market: TickerMarket | null,
  question: QuoteQuestion,
  height: number,
  now: number,
): VenueQuote {
  const degraded = (code: Extract<VenueQuote, { kind: 'degraded' }>['code']): VenueQuote => ({
    kind: 'degraded',
    code,
    message: null,
    market,
  });
  if (market === null) return degraded('market_not_found');
  const amounts = amountsOf(market, question);
  if (typeof amounts === 'string') return degraded(amounts);
  const { wallet } = question;
  if (wallet === null) return { kind: 'preview', market, amounts };
  return {
    kind: 'executable',
    market,
    amounts,
    ...fakeTransaction({ wallet, mint: amounts.inputMint, amount: amounts.inAmount }),
    lastValidBlockHeight: height + VALID_BLOCKS,
    expectedEnd: now + VALID_BLOCKS * BLOCK_MS * 3,
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
    const paid = (amount * BigInt(pays)) / PIPS;
    return sellOf(mint, amount, paid, true);
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
