/** Transactions that the owner of a wallet has to sign: shown only once they are the ones that were built here, and so built. */
import {
  type BellwetherClient,
  type Market,
  readRelayTerms,
  signRelay,
  verifyRelay,
  verifyWalletCalls,
  type WalletAction,
  type WalletTransaction,
} from '@bellwether/sdk';
import { KnownMints } from '@bellwether/sdk/keystore';
import type { Run } from './run.ts';

type Answer = Parameters<typeof verifyWalletCalls>[0];

/** The wallet of this machine's key that trades. */
export async function ownWallet(run: Run) {
  const { signer, key } = await run.tradingKey();
  return { signer, wallet: signer.wallet(key.signatureType) };
}

/** Where the relayer is asked for its own terms; the desk is not believed about them. */
const relayerOf = ({ env }: Run) => {
  const url = env.BELLWETHER_RELAYER_URL;
  return url === undefined || url === '' ? {} : { relayerUrl: url };
};

type SetAnswer = Awaited<ReturnType<BellwetherClient['splitSets']>>;

/**
 * Signs what the desk prepared for the relayer, once it is what was asked for, and has the desk forward it.
 * @throws WalletCallsError for anything else than what was asked for; OrderBuildError
 */
export async function relayAsked(
  run: Run,
  client: BellwetherClient,
  { answer, action, marketId, venue }: Asked & { readonly answer: Parameters<typeof verifyRelay>[0] },
): Promise<SetAnswer> {
  const own = await ownWallet(run);
  const [market, terms] = await run.waiting(
    'Reading the market and the relayer',
    Promise.all([
      client.getMarket(marketId, venue === undefined ? {} : { venue }),
      readRelayTerms({ ...own, ...relayerOf(run) }),
    ]),
  );
  const tokenIds = new KnownMints(run.place).tokensOf(market);
  const verified = verifyRelay(answer, action, { ...own, market, terms, tokenIds });
  const signed = await signRelay(verified, own.signer);
  return run.waiting('Sending the signature', client.relaySet(signed));
}

interface Asked {
  readonly action: WalletAction;
  readonly marketId: string;
  readonly venue: string | undefined;
}

export interface Unsigned {
  readonly market: Market;
  readonly transactions: readonly WalletTransaction[];
}

/** @throws WalletCallsError for anything else than what was asked for; OrderBuildError */
export async function requireAsked(
  run: Run,
  client: BellwetherClient,
  { answer, action, marketId, venue }: Asked & { readonly answer: Answer },
): Promise<Unsigned> {
  const own = await ownWallet(run);
  const market = await run.waiting(
    'Reading the market',
    client.getMarket(marketId, venue === undefined ? {} : { venue }),
  );
  const tokenIds = new KnownMints(run.place).tokensOf(market);
  return { market, transactions: verifyWalletCalls(answer, action, { ...own, market, tokenIds }) };
}

/** For a person: what to sign, and where from. */
export const transactionText = (run: Run, { market, transactions }: Unsigned): string =>
  transactions
    .map(({ from, to, data, value, chainId }, at) =>
      run.output.facts([
        ['sign and send', `transaction ${at + 1} of ${transactions.length}, once, in this order`],
        ['market', market.question],
        ['from', from],
        ['to', to],
        ['data', data],
        ['value', value],
        ['chain', chainId],
      ]),
    )
    .join('\n\n');
