/** Transactions that the owner of a wallet has to sign: given to the model only once they are the ones that were built here. */
import {
  readRelayTerms,
  type SetResponse,
  signRelay,
  verifyRelay,
  verifyWalletCalls,
  type WalletAction,
  type WalletTransaction,
} from '@bellwether/sdk';
import { KnownMints } from '@bellwether/sdk/keystore';
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
  const wallet = signer.wallet(signatureType);
  const tokenIds = new KnownMints(desk.config.place).tokensOf(market);
  return verifyWalletCalls(answer, action, { signer, wallet, market, tokenIds });
}

/**
 * Signs what the desk prepared for the relayer, once it is what was asked for, and has the desk forward it. The relayer itself is asked
 * for its terms.
 * @throws WalletCallsError for anything else than what was asked for; OrderBuildError
 */
export async function relayAsked(
  { desk, signal }: Pick<Call, 'desk' | 'signal'>,
  {
    answer,
    action,
    market: name,
    venue,
  }: Omit<Asked, 'answer'> & {
    readonly answer: Parameters<typeof verifyRelay>[0];
  },
): Promise<SetResponse> {
  const { signer, signatureType } = desk.wallet();
  const own = { signer, wallet: signer.wallet(signatureType) };
  const { relayerUrl } = desk.config;
  const [market, terms] = await Promise.all([
    desk.client.getMarket(name, venue === undefined ? {} : { venue }, { signal }),
    readRelayTerms({ ...own, ...(relayerUrl === null ? {} : { relayerUrl }) }),
  ]);
  const tokenIds = new KnownMints(desk.config.place).tokensOf(market);
  const verified = verifyRelay(answer, action, { ...own, market, terms, tokenIds });
  return desk.client.relaySet(await signRelay(verified, signer), { signal });
}
