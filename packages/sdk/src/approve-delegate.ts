/**
 * Lets the platform take fees out of a wallet's collateral, up to an amount: an SPL `approveChecked`, built and signed
 * here and sent to a Solana node directly. The service never receives it. One delegate fits into an account: a
 * later approval of another replaces this one.
 */
import type { Delegation } from '@bellwether/contract';
import type { Micro } from '@bellwether/contract/decimals';
import {
  associatedTokenAddress,
  readTransaction,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  toBase64,
  transactionId,
} from '@bellwether/protocol';
import type { Blockhash } from '@solana/kit';
import { QuoteError } from './quote-error.ts';
import { SolanaRpc, SolanaRpcError } from './solana-rpc.ts';
import type { SolanaSigner } from './solana-signer.ts';
import type { Fetch } from './transport.ts';
import { solanaAddress } from './verify-quote.ts';

export interface Approval {
  readonly signer: SolanaSigner;
  readonly amount: Micro;
  readonly delegation: Delegation;
  readonly collateralMint: SolanaAddress;
  /** Your own Solana node; default the paper chain's. */
  readonly rpcUrl: string | undefined;
  readonly fetch: Fetch | undefined;
  readonly wait: (ms: number) => Promise<void>;
}

const RESEND_MS = 2_000;
const POLL_MS = 500;
/** A blockhash lives for 60 to 90 seconds; past this the node's block height does not move. */
const GIVE_UP_MS = 150_000;

/** @throws QuoteError unless the delegation record agrees with the accounts computed here. */
function assertMatches({ delegation, signer, collateralMint }: Approval): void {
  const account = associatedTokenAddress(signer.address, collateralMint, SOLANA_PROGRAMS.token);
  const agrees =
    delegation.walletAddress === signer.address &&
    delegation.mint === collateralMint &&
    delegation.tokenProgram === SOLANA_PROGRAMS.token &&
    delegation.decimals === 6 &&
    delegation.tokenAccount === account &&
    delegation.delegate !== signer.address;
  if (!agrees)
    throw new QuoteError(
      'delegation_mismatch',
      "The service's delegation record is not about this wallet's collateral: nothing was signed.",
    );
  if (!delegation.exists)
    throw new QuoteError('token_account_not_found', `${signer.address} holds no collateral account yet.`);
}

async function build(
  approval: Approval,
  blockhash: string,
  lastValidBlockHeight: number,
): Promise<Uint8Array> {
  const [kit, token] = await Promise.all([import('@solana/kit'), import('@solana-program/token')]);
  const { signer, collateralMint, delegation, amount } = approval;
  const owner = kit.createNoopSigner(kit.address(signer.address));
  const approve = token.getApproveCheckedInstruction({
    source: kit.address(associatedTokenAddress(signer.address, collateralMint, SOLANA_PROGRAMS.token)),
    mint: kit.address(collateralMint),
    delegate: kit.address(solanaAddress(delegation.delegate)),
    owner,
    amount,
    decimals: 6,
  });
  const message = kit.pipe(
    kit.createTransactionMessage({ version: 0 }),
    (empty) => kit.setTransactionMessageFeePayer(owner.address, empty),
    (paid) =>
      kit.setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash as Blockhash, lastValidBlockHeight: BigInt(lastValidBlockHeight) },
        paid,
      ),
    (dated) => kit.appendTransactionMessageInstruction(approve, dated),
  );
  const wire = kit.getTransactionEncoder().encode(kit.compileTransaction(message));
  return signer.signTransaction(new Uint8Array(wire));
}

/** Sends the same bytes until they are confirmed, have failed, or their blockhash is dead. */
async function land(
  rpc: SolanaRpc,
  wire: Uint8Array,
  lastValid: number,
  wait: Approval['wait'],
): Promise<void> {
  const base64 = toBase64(wire);
  const signature = transactionId(readTransaction(wire));
  for (let waited = 0; waited < GIVE_UP_MS; waited += POLL_MS) {
    if (waited % RESEND_MS === 0) await sendOnce(rpc, base64, waited === 0);
    // Height first, then status: a transaction is dead only if it is not seen after its last block.
    const height = await orSilence(rpc.blockHeight());
    const status = await orSilence(rpc.status(signature));
    if (status === 'confirmed') return;
    if (typeof status === 'object')
      throw new QuoteError('transaction_failed', `The approval failed on chain: ${status.failed}`);
    if (status === 'unseen' && height !== undefined && height > lastValid) break;
    await wait(POLL_MS);
  }
  throw new QuoteError('not_confirmed', `The approval ${signature} was not seen to land; approve again.`);
}

/** A node that does not answer once is asked again. */
async function orSilence<T>(question: Promise<T>): Promise<T | undefined> {
  try {
    return await question;
  } catch (error) {
    if (error instanceof SolanaRpcError) return undefined;
    throw error;
  }
}

async function sendOnce(rpc: SolanaRpc, base64: string, first: boolean): Promise<void> {
  try {
    await rpc.send(base64);
  } catch (error) {
    // A node may refuse the repetition because the first one landed; no answer is not a refusal.
    if (first && error instanceof SolanaRpcError && error.code !== 0)
      throw new QuoteError('transaction_failed', `The node refused the approval: ${error.message}`);
  }
}

/** @returns the transaction's signature, once it is confirmed. @throws QuoteError, SolanaRpcError */
export async function approveDelegate(approval: Approval): Promise<string> {
  assertMatches(approval);
  const url = approval.rpcUrl ?? approval.delegation.rpcUrl;
  if (url === null || url === undefined)
    throw new QuoteError('rpc_url_required', 'On a live chain bring a Solana node of your own: set rpcUrl.');
  const rpc = new SolanaRpc(url, approval.fetch);
  const { blockhash, lastValidBlockHeight } = await rpc.latestBlockhash();
  const wire = await build(approval, blockhash, lastValidBlockHeight);
  await land(rpc, wire, lastValidBlockHeight, approval.wait);
  return transactionId(readTransaction(wire));
}
