/** The venue's official clients, unmodified, connected to the doors of a running service. */
import type { SignatureType } from '@bellwether/sdk';
import { Signer } from '@bellwether/sdk';
import { type ApiKeyCreds, ClobClient } from '@polymarket/clob-client';
import { ClobClient as ClobClientV2 } from '@polymarket/clob-client-v2';
import { createWalletClient, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { polygon } from 'viem/chains';
import type { TestService } from './harness.ts';

const PAPER_MONEY = 10_000_000_000n;

export interface OfficialWallet {
  readonly key: `0x${string}`;
  /** The address of the key, lower case. */
  readonly eoa: string;
  /** Pays for orders of this signature type. */
  readonly funder: string;
  readonly creds: ApiKeyCreds;
}

/** No call of the clients needs a chain. */
export const walletClientOf = (key: `0x${string}`) =>
  createWalletClient({
    account: privateKeyToAccount(key),
    chain: polygon,
    transport: http('http://127.0.0.1:1'),
  });

export const doorOf = (service: Pick<TestService, 'url'>): string => `${service.url}/paper/clob`;

/** A wallet with an API key and paper money, which the desk has never heard of. */
export async function newOfficialWallet(
  service: Pick<TestService, 'url' | 'exchange'>,
  signatureType: SignatureType = 0,
  key = generatePrivateKey(),
): Promise<OfficialWallet> {
  const funder = Signer.fromPrivateKey(key).wallet(signatureType).toLowerCase();
  const creds = await new ClobClient(doorOf(service), 137, walletClientOf(key)).createOrDeriveApiKey();
  await service.exchange.execute({ kind: 'deposit', account: funder, amount: PAPER_MONEY, reason: 'faucet' });
  return { key, eoa: privateKeyToAccount(key).address.toLowerCase(), funder, creds };
}

export const clientOne = (
  service: Pick<TestService, 'url'>,
  { key, funder, creds }: OfficialWallet,
  signatureType: 0 | 1 | 2 = 0,
): ClobClient => new ClobClient(doorOf(service), 137, walletClientOf(key), creds, signatureType, funder);

export const clientTwo = (
  service: Pick<TestService, 'url'>,
  { key, funder, creds }: OfficialWallet,
  signatureType: SignatureType = 0,
): ClobClientV2 =>
  new ClobClientV2({
    host: doorOf(service),
    chain: 137,
    signer: walletClientOf(key),
    creds,
    signatureType,
    funderAddress: funder,
  });
