/**
 * The venue's own login. It names no service: who receives a signature under it can hand it on to the live venue within minutes
 * and gets the account's API credentials there. So it is signed for the venue's own host, or with a key that has nothing there.
 */
import type { ClobAuthHeaders, Signer } from './signer.ts';

export const LIVE_CLOB_ORIGIN = 'https://clob.polymarket.com';

/** The key is not for this. Nothing was signed. */
export class KeyNotForThis extends Error {
  override readonly name = 'KeyNotForThis';
}

interface Login {
  readonly signer: Signer;
  readonly clobUrl: string;
  readonly nonce?: number | undefined;
  readonly chainId?: number | undefined;
}

export const isLiveClob = (clobUrl: string): boolean =>
  URL.canParse(clobUrl) && new URL(clobUrl).origin === LIVE_CLOB_ORIGIN;

/** @throws KeyNotForThis */
export function requireMayLogin({ signer, clobUrl }: Pick<Login, 'signer' | 'clobUrl'>): void {
  if (isLiveClob(clobUrl) && signer.use === 'paper')
    throw new KeyNotForThis('This key is marked as one for paper, and the venue at that address is live.');
  if (!isLiveClob(clobUrl) && signer.use !== 'paper')
    throw new KeyNotForThis(
      `The venue's login is signed for ${LIVE_CLOB_ORIGIN} alone: elsewhere it could be handed on to it. Only a key that is marked as one for paper (use: 'paper') signs it for another address.`,
    );
}

/**
 * @param venueTimeS what the venue says; only a paper venue is believed, and the live one gets the time of this machine
 * @throws KeyNotForThis
 */
export function venueLogin(login: Login, venueTimeS: number): Promise<ClobAuthHeaders> {
  requireMayLogin(login);
  const { signer, clobUrl, nonce, chainId } = login;
  return signer.clobAuth({
    timestampS: isLiveClob(clobUrl) ? Math.floor(Date.now() / 1000) : venueTimeS,
    ...(nonce === undefined ? {} : { nonce }),
    ...(chainId === undefined ? {} : { chainId }),
  });
}
