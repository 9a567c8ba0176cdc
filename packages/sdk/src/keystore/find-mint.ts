/** Where a program on this machine knows a token of venue B from: its own notes, else the venue itself. */
import { KeystoreError } from './keystore-error.ts';
import { KnownMints } from './known-mints.ts';
import type { DeskPlace, Environment } from './place.ts';
import { venueMints } from './venue-mints.ts';

interface MintOutcome {
  readonly ticker: string;
  readonly side: 'YES' | 'NO';
}

/**
 * @param env `BELLWETHER_DFLOW_METADATA` names another address of the venue's metadata, never the desk's own
 * @returns `undefined` when neither knows it @throws KeystoreError
 * @example
 * const mint = await findMint(place, { ticker: 'KXTEST-1', side: 'YES' });
 */
export async function findMint(
  place: DeskPlace,
  { ticker, side }: MintOutcome,
  env: Environment = process.env,
): Promise<string | undefined> {
  const mints = new KnownMints(place);
  const known = mints.find(ticker, side);
  if (known !== null) return known.mint;
  const metadataUrl = env.BELLWETHER_DFLOW_METADATA ?? '';
  if (metadataUrl !== '' && !URL.canParse(metadataUrl))
    throw new KeystoreError(
      'environment_invalid',
      'BELLWETHER_DFLOW_METADATA is no address.',
      'Correct it, or leave it out.',
    );
  if (metadataUrl !== '' && new URL(metadataUrl).origin === new URL(place.url).origin)
    throw new KeystoreError(
      'environment_invalid',
      'BELLWETHER_DFLOW_METADATA names the desk itself, whose word does not count for this.',
      "Set the venue's own address, or leave it out.",
    );
  const found = await venueMints(ticker, metadataUrl === '' ? {} : { metadataUrl });
  return found?.[side === 'YES' ? 0 : 1];
}

/**
 * After a purchase was signed for a token that was known.
 * @example
 * rememberPurchase(place, { ticker: 'KXTEST-1', side: 'YES', mint: '3NZ9JMVBmGAqocybic2c7LQCJScmgsAZ6vQqTDzcqmJh' });
 */
export const rememberPurchase = (place: DeskPlace, outcome: MintOutcome & { readonly mint: string }): void =>
  new KnownMints(place).remember({ ...outcome, source: 'purchase' });
