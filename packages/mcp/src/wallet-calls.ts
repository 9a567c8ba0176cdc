/** Transactions that the owner of a wallet has to sign: given to the model only once they are the ones that were built here. */
import { verifyWalletCalls, type WalletAction, type WalletTransaction } from '@bellwether/sdk';
import type { Call } from './tool.ts';

interface Asked {
  readonly answer: Parameters<typeof verifyWalletCalls>[0];
  readonly action: WalletAction;
  readonly market: string;
  readonly venue: string | undefined;
}

/** @throws WalletCallsError for anything else than what was asked for; OrderBuildError */
export async function requireAsked(
  { desk, signal }: Pick<Call, 'desk' | 'signal'>,
  { answer, action, market: name, venue }: Asked,
): Promise<readonly WalletTransaction[]> {
  const { signer, signatureType } = desk.wallet();
  const market = await desk.client.getMarket(name, venue === undefined ? {} : { venue }, { signal });
  return verifyWalletCalls(answer, action, { signer, wallet: signer.wallet(signatureType), market });
}
