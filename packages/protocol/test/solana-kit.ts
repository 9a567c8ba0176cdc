/** Transactions made and signed by @solana/kit, to compare our own reader with. */
import {
  type AccountMeta,
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createKeyPairSignerFromPrivateKeyBytes,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  partiallySignTransaction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { type SolanaAddress, toBase58 } from '../src/index.ts';

export const signerOf = (fill: number): Promise<KeyPairSigner> =>
  createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(fill));

export const ours = (address: Address): SolanaAddress => address as string as SolanaAddress;
export const theirs = (address: SolanaAddress): Address => address as string as Address;
/** An address without a known key. */
export const someAddress = (fill: number): Address =>
  toBase58(new Uint8Array(32).fill(fill).with(31, 7)) as Address;

export interface Plan {
  readonly version: 'legacy' | 0;
  readonly signers: readonly KeyPairSigner[];
  readonly instructions: readonly Instruction[];
}

/** Signed by all of `signers`, of whom the first pays; canonical base64. */
export async function signedBase64({ version, signers, instructions }: Plan): Promise<string> {
  const message = pipe(
    createTransactionMessage({ version }),
    (empty) => setTransactionMessageFeePayer(signers[0]!.address, empty),
    (paid) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: toBase58(new Uint8Array(32).fill(9)) as Blockhash, lastValidBlockHeight: 150n },
        paid,
      ),
    (dated) => appendTransactionMessageInstructions(instructions, dated),
  );
  const keys = signers.map(({ keyPair }) => keyPair);
  return getBase64EncodedWireTransaction(await partiallySignTransaction(keys, compileTransaction(message)));
}

export const meta = (address: Address, role: AccountRole): AccountMeta => ({ address, role });
export { AccountRole };
