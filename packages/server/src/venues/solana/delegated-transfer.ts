/**
 * The transaction that collects a fee: a delegate moves collateral from an owner's account and pays the network fee. Kit
 * is loaded at the first use; no other module needs it.
 */
import {
  asSolanaAddress,
  associatedTokenAddress,
  parseBase64Strict,
  readTransaction,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  utf8,
} from '@bellwether/protocol';
import type { Chain } from '../chain.ts';

type Transfer = Parameters<Chain['buildDelegatedTransfer']>[0];

interface TransferContext {
  readonly tokenProgram: SolanaAddress;
  readonly decimals: number;
  readonly blockhash: string;
  readonly lastValidBlockHeight: bigint;
  /** Whether the destination's account has to be created first. */
  readonly opensDestination: boolean;
}

/** @returns the transaction with zeroes in place of the delegate's signature, and its message */
export async function buildTransfer(
  transfer: Transfer,
  context: TransferContext,
): Promise<{ readonly wire: Uint8Array; readonly message: Uint8Array }> {
  const [kit, token] = await Promise.all([import('@solana/kit'), import('@solana-program/token')]);
  const { tokenProgram, decimals, opensDestination } = context;
  const accountOf = (owner: SolanaAddress) =>
    kit.address(associatedTokenAddress(owner, transfer.mint, tokenProgram));
  const delegate = kit.createNoopSigner(kit.address(transfer.delegate));
  const mint = kit.address(transfer.mint);
  const destination = accountOf(transfer.destination);
  const programAddress = kit.address(tokenProgram);

  const instructions = [
    ...(opensDestination
      ? [
          token.getCreateAssociatedTokenIdempotentInstruction({
            payer: delegate,
            ata: destination,
            owner: kit.address(transfer.destination),
            mint,
            tokenProgram: programAddress,
          }),
        ]
      : []),
    token.getTransferCheckedInstruction(
      {
        source: accountOf(transfer.owner),
        mint,
        destination,
        authority: delegate,
        amount: transfer.amount,
        decimals,
      },
      { programAddress },
    ),
    { programAddress: kit.address(asSolanaAddress(SOLANA_PROGRAMS.memo)), data: utf8(transfer.memo) },
  ];
  const message = kit.pipe(
    kit.createTransactionMessage({ version: 0 }),
    (empty) => kit.setTransactionMessageFeePayerSigner(delegate, empty),
    (paid) =>
      kit.setTransactionMessageLifetimeUsingBlockhash(
        {
          blockhash: kit.blockhash(context.blockhash),
          lastValidBlockHeight: context.lastValidBlockHeight,
        },
        paid,
      ),
    (timed) => kit.appendTransactionMessageInstructions(instructions, timed),
  );
  const wire = parseBase64Strict(kit.getBase64EncodedWireTransaction(kit.compileTransaction(message)))!;
  // Parsed by the reader that all other code uses, so that the signed message is the intended one.
  return { wire, message: readTransaction(wire).message };
}
