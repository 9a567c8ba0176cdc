/** The venue's official clients, unmodified, connected to the doors of a running service. */
import { l2Signature } from '@bellwether/protocol';
import type { SignatureType } from '@bellwether/sdk';
import { Signer } from '@bellwether/sdk';
import { type ApiKeyCreds, ClobClient } from '@polymarket/clob-client';
import { ClobClient as ClobClientV2 } from '@polymarket/clob-client-v2';
import { createWalletClient, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { polygon } from 'viem/chains';
import { call, newAgent, type RawAnswer, type TestService } from './harness.ts';

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

/** A wallet with an API key, and paper money unless the exchange is in another process; the desk has never heard of it. */
export async function newOfficialWallet(
  service: Pick<TestService, 'url'> & Partial<Pick<TestService, 'exchange'>>,
  signatureType: SignatureType = 0,
  key = generatePrivateKey(),
): Promise<OfficialWallet> {
  const funder = Signer.fromPrivateKey(key).wallet(signatureType).toLowerCase();
  const creds = await new ClobClient(doorOf(service), 137, walletClientOf(key)).createOrDeriveApiKey();
  const deposit = { kind: 'deposit', account: funder, amount: PAPER_MONEY, reason: 'faucet' } as const;
  await service.exchange?.execute(deposit);
  return { key, eoa: privateKeyToAccount(key).address.toLowerCase(), funder, creds };
}

/** An agent that has registered the wallet with the desk, which gives it paper money; with daily caps too high to matter. */
export async function agentOf(service: Pick<TestService, 'url'>, { funder, creds }: OfficialWallet) {
  const agent = await newAgent(service);
  const { signatureType } = await agent.client.registerCredentials({
    walletAddress: funder,
    apiKey: creds.key,
    apiSecret: creds.secret,
    apiPassphrase: creds.passphrase,
  });
  await agent.client.updateSettings({
    maxTradeAmount: 100_000,
    dailyTradeAmountLimit: 1_000_000,
    maxTradesPerDay: 1000,
  });
  return { ...agent, signatureType };
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

/** A request at the door, signed as the clients sign. */
export async function ask(
  service: Pick<TestService, 'url'>,
  { eoa, creds }: OfficialWallet,
  method: string,
  target: string,
  body = '',
): Promise<RawAnswer> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const [path = ''] = target.split('?');
  return call({ url: doorOf(service) }, method, target, {
    headers: {
      poly_address: eoa,
      poly_api_key: creds.key,
      poly_passphrase: creds.passphrase,
      poly_timestamp: timestamp,
      poly_signature: l2Signature(creds.secret, { timestamp, method, path, body }),
    },
    ...(body === '' ? {} : { body }),
  });
}
