/**
 * Credentials for a venue on paper without the venue's own protocol: the wallet's key signs a text of this service, and the
 * credentials are made and stored without being shown. Never the venue's typed data, whose signature makes real keys.
 */
import {
  CHALLENGE_PURPOSES,
  type CredentialResult,
  type LinkChallenge,
  type PaperCredentialRequest,
} from '@bellwether/contract';
import { type Address, asAddress } from '@bellwether/protocol';
import type { Caller } from '../domain/records.ts';
import { refusal } from '../platform/refusal.ts';
import { type HasVenues, venuesWith } from '../venues/asking.ts';
import type { VenueSecrets } from '../venues/venue.ts';
import { type ChallengeNeeds, type ChallengePurpose, newChallenge, provedBy } from './wallet-challenge.ts';
import { type CredentialNeeds, storeCredential, walletType } from './wallets.ts';

export interface PaperCredentialNeeds extends ChallengeNeeds, CredentialNeeds {
  readonly secrets: ChallengeNeeds['secrets'] & CredentialNeeds['secrets'];
}

const PURPOSE: ChallengePurpose = {
  name: 'paper credential challenge v1',
  ...CHALLENGE_PURPOSES.paperCredentials,
};

/** @throws Refusal paper_only */
function credentialMaker(needs: HasVenues): (eoa: Address) => Promise<VenueSecrets> {
  for (const { paper } of venuesWith(needs, 'paper'))
    if (paper.credentials !== undefined) return paper.credentials;
  throw refusal(
    'paper_only',
    'The venue that takes signed orders here is not on paper: use its own protocol.',
  );
}

const challengedOf = (caller: Caller, address: string) => ({
  caller,
  wallet: { kind: 'evm', address: asAddress(address) } as const,
  purpose: PURPOSE,
});

/** @throws Refusal paper_only */
export async function credentialChallenge(
  needs: PaperCredentialNeeds,
  caller: Caller,
  address: string,
): Promise<LinkChallenge> {
  credentialMaker(needs);
  return newChallenge(needs, challengedOf(caller, address));
}

/** @throws Refusal */
export async function createPaperCredentials(
  needs: PaperCredentialNeeds,
  caller: Caller,
  request: PaperCredentialRequest,
): Promise<CredentialResult> {
  const make = credentialMaker(needs);
  const { signer, expiresAt } = provedBy(needs, challengedOf(caller, request.address), request);
  const eoa = asAddress(signer);
  const walletAddress = asAddress(request.address);
  const signatureType = walletType(eoa, walletAddress, request.signatureType);
  return storeCredential(needs, caller, {
    eoa,
    walletAddress,
    signatureType,
    secrets: await make(eoa),
    shown: request.address,
    challenge: { nonce: request.nonce, expiresAt },
  });
}
