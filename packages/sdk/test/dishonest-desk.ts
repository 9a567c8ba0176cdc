/** Quotes and prepared orders of an honest service, and quotes of a dishonest one that takes more than was asked. */
import { type PreparedTrade, type TradeIntent, tickOf, unsignedTrade } from '@bellwether/contract';
import {
  asAddress,
  asSolanaAddress,
  associatedTokenAddress,
  bytesToHex,
  exchangeDomain,
  exchangeDomains,
  orderDigest,
  orderStructHash,
  orderTypedData,
  POLYGON_CHAIN_ID,
  POLYGON_EXCHANGES,
  paperEscrowAddress,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  saltOf,
  toBase58,
  USDC_MINT,
  ZERO_ADDRESS,
} from '@bellwether/protocol';
import { type Market, type Quote, type Signer, sideCalled } from '@bellwether/sdk';
import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  blockhash,
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
  AuthorityType,
  getApproveInstruction,
  getCloseAccountInstruction,
  getSetAuthorityInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';

const key = (fill: number): SolanaAddress => toBase58(new Uint8Array(32).fill(fill)) as SolanaAddress;

export const YES_MINT = key(71);
export const NO_MINT = key(72);
export const ESCROW = paperEscrowAddress(USDC_MINT);
export const STRANGER = key(74);

export const kitAddress = (from: SolanaAddress): Address => address(from);

export function unsigned(
  payer: SolanaAddress,
  instructions: readonly Instruction[],
  recentBlockhash: string = key(9),
): string {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayer(kitAddress(payer), empty),
    (paid) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash(recentBlockhash), lastValidBlockHeight: 150n },
        paid,
      ),
    (dated) => appendTransactionMessageInstructions(instructions, dated),
  );
  return getBase64EncodedWireTransaction(compileTransaction(message));
}

export function transfer(
  wallet: SolanaAddress,
  amount: bigint,
  more: { mint?: SolanaAddress; to?: SolanaAddress } = {},
): Instruction {
  const { mint = USDC_MINT, to = paperEscrowAddress(mint) } = more;
  const programAddress = kitAddress(mint === USDC_MINT ? SOLANA_PROGRAMS.token : SOLANA_PROGRAMS.token2022);
  return getTransferCheckedInstruction(
    {
      source: kitAddress(associatedTokenAddress(wallet, mint, asSolanaAddress(programAddress))),
      mint: kitAddress(mint),
      destination: kitAddress(to),
      authority: createNoopSigner(kitAddress(wallet)),
      amount,
      decimals: 6,
    },
    { programAddress },
  );
}

/** The answer of an honest service to "5 collateral for YES", with the given changes. */
export const buyQuote = (wallet: SolanaAddress, changed: Partial<Quote> = {}): Quote => ({
  quoteId: '0190aaaa-0000-7000-8000-000000000001',
  venue: 'kalshi',
  marketTicker: 'KXTEST-1-1',
  marketId: 'KXTEST-1-1',
  title: 'A test',
  status: 'active',
  side: 'YES',
  outcomeName: null,
  action: 'BUY',
  amount: '5',
  yesPrice: '0.5',
  noPrice: '0.52',
  yesMint: YES_MINT,
  noMint: NO_MINT,
  inputMint: USDC_MINT,
  outputMint: YES_MINT,
  scaledAmount: '5000000',
  inAmount: '5000000',
  outAmount: '9000000',
  minOutAmount: '8000000',
  unsignedTransaction: unsigned(wallet, [transfer(wallet, 5_000_000n)]),
  expiresAt: Date.now() + 100_000,
  previewOnly: false,
  isRedemption: false,
  kycRequired: false,
  geoblocked: false,
  ...changed,
});

export const sellQuote = (wallet: SolanaAddress, changed: Partial<Quote> = {}): Quote => {
  const { amount, ...rest } = buyQuote(wallet);
  return {
    ...rest,
    action: 'SELL',
    shares: '3',
    inputMint: YES_MINT,
    outputMint: USDC_MINT,
    scaledAmount: '3000000',
    inAmount: '3000000',
    outAmount: '1400000',
    minOutAmount: '1300000',
    unsignedTransaction: unsigned(wallet, [transfer(wallet, 3_000_000n, { mint: YES_MINT })]),
    ...changed,
  };
};

/** What hands a stranger the wallet's collateral account. */
export function handovers(wallet: SolanaAddress): {
  readonly approve: Instruction;
  readonly newOwner: Instruction;
  readonly newCloser: Instruction;
  readonly close: Instruction;
} {
  const account = kitAddress(associatedTokenAddress(wallet, USDC_MINT, SOLANA_PROGRAMS.token));
  const owner = createNoopSigner(kitAddress(wallet));
  const stranger = kitAddress(STRANGER);
  const authority = (authorityType: AuthorityType) =>
    getSetAuthorityInstruction({ owned: account, owner, authorityType, newAuthority: stranger });
  return {
    approve: getApproveInstruction({ source: account, delegate: stranger, owner, amount: 1n }),
    newOwner: authority(AuthorityType.AccountOwner),
    newCloser: authority(AuthorityType.CloseAccount),
    close: getCloseAccountInstruction({ account, destination: stranger, owner }),
  };
}

/** An honest desk's answers about an intent; `verifyPrepared` accepts nothing else. */
export function honestPrepared(
  intent: TradeIntent,
  { market, signer, agentId }: { readonly market: Market; readonly signer: Signer; readonly agentId: string },
): { readonly [Field in keyof PreparedTrade]?: PreparedTrade[Field] | undefined } {
  const { address } = signer;
  const outcome = sideCalled(intent.outcome, market.outcomes) ?? 'YES';
  const tokenIds = market.clobTokenIds as [string, string];
  const body = unsignedTrade(intent, {
    maker: address,
    signer: address,
    signatureType: 0,
    venue: intent.venue ?? market.venue,
    conditionId: market.conditionId,
    question: market.question,
    tokenIds,
    outcome,
    tick: tickOf(market.tickSize),
    negRisk: false,
    salt: saltOf(agentId, intent.clientOrderId),
    hasExtras: false,
  });
  const { order } = body;
  const fields = {
    salt: BigInt(order.salt),
    maker: asAddress(address),
    signer: asAddress(address),
    taker: ZERO_ADDRESS,
    tokenId: BigInt(order.tokenId),
    makerAmount: BigInt(order.makerAmount),
    takerAmount: BigInt(order.takerAmount),
    expiration: 0n,
    nonce: 0n,
    feeRateBps: 0n,
    side: order.side === 'BUY' ? (0 as const) : (1 as const),
    signatureType: 0 as const,
  };
  const domain = exchangeDomain(exchangeDomains(POLYGON_CHAIN_ID, POLYGON_EXCHANGES), 2, false);
  const digest = bytesToHex(orderDigest(domain.separator, orderStructHash(fields)));
  const [shares, money] =
    intent.side === 'BUY' ? [order.takerAmount, order.makerAmount] : [order.makerAmount, order.takerAmount];
  return {
    // An order that it would refuse is not signed at all.
    expectedRefusal: null,
    checks: [],
    warnings: [],
    preparedAt: new Date().toISOString(),
    clientOrderId: intent.clientOrderId,
    agentId,
    venue: market.venue,
    marketId: market.id,
    marketConditionId: market.conditionId,
    tokenId: order.tokenId,
    outcome,
    outcomeName: market.outcomes[outcome === 'YES' ? 0 : 1] ?? null,
    side: intent.side,
    orderVersion: 2,
    exchangeVersion: undefined,
    orderProfile: 'interface',
    verifyingContract: domain.verifyingContract,
    negRisk: false,
    tickSize: '0.01',
    maker: address,
    signer: address,
    eoa: address,
    signatureType: 0,
    amounts: {
      makerAmount: order.makerAmount,
      takerAmount: order.takerAmount,
      shares: Number(shares) / 1e6,
      collateral: Number(money) / 1e6,
      limit: body.price,
    },
    typedData: orderTypedData({ domain, chainId: POLYGON_CHAIN_ID, fields, extras: null }) as never,
    orderId: digest,
    digest,
    counted: Number(money) / 1e6,
    signatureSuffix: null,
    body,
    feeAtMost: 0.1,
  };
}
