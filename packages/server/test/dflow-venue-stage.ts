/** A stand-in of DFlow and one of a Solana node, for the tests of the venue. */
import {
  asSolanaAddress,
  associatedTokenAddress,
  paperEscrowAddress,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  toBase58,
  USDC_MINT,
} from '@bellwether/protocol';
import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { fetchSend } from '../src/platform/outbound/http.ts';
import type { BalanceChange, Chain, Simulation, TokenAccount } from '../src/venues/chain.ts';
import { createDflowVenue } from '../src/venues/dflow/dflow-venue.ts';
import { maintenanceEnd } from '../src/venues/dflow/open.ts';
import type { QuoteQuestion } from '../src/venues/quotes.ts';

/** Values captured from DFlow: reference §1.3. Tests override single fields. */
export const TICKER = 'KXEPLGAME-26FEB18WOLARS-WOL';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const CASH = 'CASHx9KJUStyftLFWGvEVf59SGeG9sh5FfcnZMVPCASH';
export const MINTS = {
  ledger: '5UHoukpeVPQbmSUaAPWnkXEKZMrjSmwTqqaD8eXmvKNn',
  yes: 'CA7FMbzNTfeR7jkLzF113bBJupKwq98cixaQtc3b3frb',
  no: 'D7ibW7tu2kvzfbDS78gF5i9UZTye7pqTP63yxYd43No3',
} as const;

/** A buy of 11 contracts that took 948096 atoms of USDC. */
export const CAPTURED_BUY = { contracts: 11n, price: 800, paid: 948_096n } as const;

export const capturedMarket = (changes: object = {}, rail: object = {}) => ({
  ticker: TICKER,
  eventTicker: 'KXEPLGAME-26FEB18WOLARS',
  marketType: 'binary',
  title: 'Wolverhampton vs Arsenal Winner?',
  subtitle: '',
  yesSubTitle: 'Wolverhampton',
  noSubTitle: 'Wolverhampton',
  openTime: 1_770_000_000,
  closeTime: 1_771_444_800,
  expirationTime: 1_771_455_600,
  status: 'active',
  result: '',
  yesBid: '0.0700',
  yesAsk: '0.0800',
  noBid: '0.9200',
  noAsk: '0.9300',
  volume: 12345,
  volumeFp: '12345.50',
  volume24hFp: '345.00',
  openInterest: 9000,
  openInterestFp: '9000.00',
  canCloseEarly: true,
  earlyCloseCondition: '',
  fractionalTradingEnabled: false,
  rulesPrimary: 'If Wolverhampton wins, the market resolves to Yes.',
  rulesSecondary: '',
  accounts: {
    [USDC]: {
      marketLedger: MINTS.ledger,
      yesMint: MINTS.yes,
      noMint: MINTS.no,
      isInitialized: true,
      redemptionStatus: null,
      ...rail,
    },
    [CASH]: { marketLedger: 'other', yesMint: 'other', noMint: 'other', isInitialized: false },
  },
  ...changes,
});

export const key = (fill: number) => toBase58(new Uint8Array(32).fill(fill)) as SolanaAddress;

export const kit = (one: SolanaAddress) => one as string as Address;

export const WALLET = key(7);

export const YES = asSolanaAddress(MINTS.yes);

export const [USDC_ACCOUNT, YES_ACCOUNT] = [
  associatedTokenAddress(WALLET, USDC_MINT, SOLANA_PROGRAMS.token),
  associatedTokenAddress(WALLET, YES, SOLANA_PROGRAMS.token2022),
];

export const HEIGHT = 1_000;

/** Wednesday. */
export const NOON = Date.parse('2026-02-18T12:00:00Z');

export interface Draft {
  readonly payer?: SolanaAddress;
  readonly amount?: bigint;
  readonly more?: readonly Instruction[];
}

export const transfer = (from: SolanaAddress, amount: bigint, mint: SolanaAddress = USDC_MINT): Instruction =>
  getTransferCheckedInstruction({
    source: kit(from),
    mint: kit(mint),
    destination: kit(paperEscrowAddress(mint)),
    authority: createNoopSigner(kit(WALLET)),
    amount,
    decimals: 6,
  });

/** A transaction that nobody has signed, in base64. */
export const unsigned = (
  payer: SolanaAddress,
  instructions: readonly Instruction[],
  blockhash: string = key(9),
): string => {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayer(kit(payer), empty),
    (paid) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n },
        paid,
      ),
    (dated) => appendTransactionMessageInstructions(instructions, dated),
  );
  return getBase64EncodedWireTransaction(compileTransaction(message));
};

export function transactionOf({ payer = WALLET, amount = CAPTURED_BUY.paid, more = [] }: Draft = {}): string {
  const opens = getCreateAssociatedTokenIdempotentInstruction({
    payer: createNoopSigner(kit(payer)),
    ata: kit(YES_ACCOUNT),
    owner: kit(WALLET),
    mint: kit(YES),
    tokenProgram: kit(SOLANA_PROGRAMS.token2022),
  });
  return unsigned(payer, [opens, transfer(USDC_ACCOUNT, amount), ...more]);
}

export const orderOf = (changes: object = {}) => ({
  inputMint: USDC_MINT,
  outputMint: MINTS.yes,
  inAmount: CAPTURED_BUY.paid.toString(),
  outAmount: '11000000',
  otherAmountThreshold: '10780000',
  minOutAmount: '10780000',
  slippageBps: 200,
  priceImpactPct: '0',
  contextSlot: 5,
  executionMode: 'async',
  revertMint: USDC_MINT,
  transaction: transactionOf(),
  lastValidBlockHeight: HEIGHT + 150,
  computeUnitLimit: 200_000,
  prioritizationFeeLamports: 27,
  platformFee: null,
  ...changes,
});

type Answer = object | null | ((reply: FastifyReply) => unknown);

export const seen: { url: string; key: string | undefined; body: unknown }[] = [];

/** Paths of the identity check, with the key that must not reach it. */
export const checked: { url: string; key: string | undefined }[] = [];

export let dflow: Record<string, Answer> = {};

function createServices(): FastifyInstance {
  const services = fastify();

  services.get('/api/v1/markets', (request) => {
    seen.push({ url: request.url, key: undefined, body: undefined });
    const { status = '', cursor = '' } = request.query as Record<string, string>;
    return { markets: stage.listing(status, cursor), cursor: null };
  });

  services.setNotFoundHandler((request, reply) => {
    const { url, headers, body } = request;
    const key = headers['x-api-key'] as string | undefined;
    const path = request.url.split('?')[0]!;
    if (path.startsWith('/verify/')) checked.push({ url, key });
    else seen.push({ url, key, body });
    const [known] = Object.keys(dflow)
      .filter((each) => path.startsWith(each))
      .sort((one, other) => other.length - one.length);
    const answer = known === undefined ? null : dflow[known]!;
    if (answer === null) return reply.code(404).send({ code: 'not_found', msg: 'Not found' });
    return typeof answer === 'function' ? answer(reply) : reply.send(answer);
  });
  return services;
}

const tokens = (amount: bigint): TokenAccount => ({
  ...{ address: USDC_ACCOUNT, mint: USDC_MINT, owner: WALLET, amount },
  ...{ delegate: null, delegatedAmount: 0n, frozen: false },
});

/** Settings of a test, reset before each test. */
export const stage = {} as {
  holds: Record<string, bigint>;
  lamports: bigint;
  simulation: Simulation;
  now: number;
  listing: (status: string, cursor: string) => object[];
};
stage.listing = () => [];

const chain: Chain = {
  status: () => 'ready',
  blockHeight: async () => HEIGHT,
  blockMs: async () => 450,
  simulate: async (_wire, wallet, signed) => {
    expect({ wallet, signed }).toEqual({ wallet: WALLET, signed: false });
    return stage.simulation;
  },
  lamports: async () => stage.lamports,
  tokenAccount: async (_owner, mint) => (stage.holds[mint] === undefined ? null : tokens(stage.holds[mint]!)),
  send: () => never('send'),
  landings: () => never('landings'),
  outcomeAccounts: () => never('outcomeAccounts'),
  tokenAddress: () => never('tokenAddress'),
  buildDelegatedTransfer: () => never('buildDelegatedTransfer'),
};

const never = (name: string): never => {
  throw new Error(`a quote does not need ${name}`);
};

export const change = (
  account: SolanaAddress,
  mint: SolanaAddress | null,
  before: bigint,
  after: bigint,
): BalanceChange => ({ account, mint, before, after, authorityChanged: false });

export const paid = change(USDC_ACCOUNT, USDC_MINT, 5_000_000n, 5_000_000n - CAPTURED_BUY.paid);

export const ok = (...changes: readonly BalanceChange[]): Simulation => ({ kind: 'ok', changes });

export let venue: ReturnType<typeof createDflowVenue>;

export const logged: string[] = [];

const write = (level: string) => (context: object, message: string) => {
  logged.push(`${level} ${message} ${JSON.stringify(context)}`);
};

export let base: string;

export const ask = (changes: Partial<QuoteQuestion> = {}) =>
  venue.quotes.quote({
    ...{ ticker: TICKER, outcome: 'YES', side: 'BUY', amount: 1_000_000n, wallet: WALLET, destination: null },
    ...changes,
  });

export const degraded = (code: string, message: unknown = expect.anything()) => ({
  kind: 'degraded',
  code,
  message,
});

/** For the top of a test file. */
export function useStage(): void {
  const services = createServices();
  beforeAll(async () => {
    base = await services.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => services.close());
  beforeEach(() => {
    seen.length = 0;
    checked.length = 0;
    logged.length = 0;
    stage.now = NOON;
    stage.holds = { [USDC_MINT]: 5_000_000n };
    stage.lamports = 1_000_000_000n;
    stage.simulation = ok(change(WALLET, null, 1_000_000_000n, 997_920_893n), paid);
    dflow = { '/api/v1/market/': capturedMarket(), '/order': orderOf(), '/verify/': { verified: true } };
    venue = createDflowVenue({
      id: 'kalshi',
      backend: 'live',
      metadataUrl: base,
      tradeUrl: base,
      proofUrl: base,
      exchangeStatusUrl: `${base}/trade-api/v2/exchange/status`,
      apiKey: 'the-key',
      slippageBps: 200,
      priceImpactPercent: 10,
      maintenanceEnd,
      send: fetchSend,
      clock: { now: () => stage.now },
      log: { error: write('error'), warn: write('warn'), info: write('info') },
      chain,
    });
  });
}
