/** Quotes of an honest service, and of a dishonest one that takes more than was asked. */
import {
  asSolanaAddress,
  associatedTokenAddress,
  paperEscrowAddress,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  toBase58,
  USDC_MINT,
} from '@bellwether/protocol';
import type { Quote } from '@bellwether/sdk';
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
