/** DFlow's trade API: quotes with the transactions that open orders, and the status of orders. */

import { charge } from '@bellwether/exchange/doors/limits';
import {
  parseBase58,
  parseSolanaAddress,
  type SolanaAddress,
  verifySolanaMessage,
} from '@bellwether/protocol';
import type { FastifyPluginAsync } from 'fastify';
import {
  type DflowDoorOptions,
  invalid,
  notFound,
  numberOf,
  parameterOf,
  prepareDoor,
  type Query,
  queryOf,
  textOf,
} from './door.ts';
import { DoorError } from './door-error.ts';
import { PRIORITY_PRICES, readOrderRequest } from './order-request.ts';
import { quoteOrder } from './quotes.ts';
import { wireOrderStatus } from './wire.ts';

const SIGNATURE_BYTES = 64;
const TOKENS_OF_AN_ORDER = 10;

export const dflowTradeDoor: FastifyPluginAsync<DflowDoorOptions> = async (door, options) => {
  const open = prepareDoor(door, options);

  door.get('/order', async (request) => {
    const order = readOrderRequest(queryOf(request));
    // For a wallet, a transaction is built and kept until it can no longer land.
    if (order.user !== null) await charge(options.guard, request, TOKENS_OF_AN_ORDER - 1);
    return quoteOrder(open().quoting, order);
  });

  door.get('/order-status', async (request) => {
    const { orders, catalog, chain } = open();
    const query = queryOf(request);
    const signature = textOf(query, 'signature') ?? '';
    if (parseBase58(signature)?.length !== SIGNATURE_BYTES)
      throw new DoorError(
        400,
        'invalid_signature',
        'signature must be a base58-encoded transaction signature',
      );
    const order = await orders.bySignature(signature);
    if (order !== null) {
      const market = await catalog.byTicker(order.ticker);
      return wireOrderStatus(order, market?.mints[order.outcome] ?? '');
    }
    const lastValid = numberOf(query, 'lastValidBlockHeight', {
      fallback: Number.MAX_SAFE_INTEGER,
      least: 0,
      most: Number.MAX_SAFE_INTEGER,
    });
    if (chain.blocks().slot <= lastValid) throw notFound('Order not found');
    return { status: 'expired', inAmount: '0', outAmount: '0', fills: [], reverts: [] };
  });

  door.get('/health-check', () => ({ status: 'ok' }));
  door.get('/priority-fees', () => ({
    mediumMicroLamports: Number(PRIORITY_PRICES.medium),
    highMicroLamports: Number(PRIORITY_PRICES.high),
    veryHighMicroLamports: Number(PRIORITY_PRICES.veryHigh),
  }));
  door.get('/venues', () => ['Bellwether Sandbox']);

  // Both belong to Proof, which has hosts of its own at the venue.
  door.get('/verify/:address', (request) => {
    const address = walletOf(parameterOf(request, 'address'), 'address');
    const { kyc, verifiedWallets } = open().switches;
    return { verified: kyc === 'off' || verifiedWallets.has(address) };
  });
  // The link that a person opens there. Here there is no person to look at: the wallet's signature is enough. It does not send
  // the caller on to the named address, which could be any.
  door.get('/proof', (request) => {
    const { wallet, redirectUri } = signedLinkOf(queryOf(request));
    const { switches } = open();
    switches.verifiedWallets = new Set([...switches.verifiedWallets, wallet].slice(-MOST_VERIFIED));
    return { verified: true, redirect_uri: redirectUri };
  });
};

/** The latest of them: anyone can make wallets. */
const MOST_VERIFIED = 10_000;

/** @throws DoorError */
function walletOf(text: string | null, name: string): SolanaAddress {
  const wallet = text === null ? null : parseSolanaAddress(text);
  if (wallet === null)
    throw new DoorError(400, 'invalid_address', `${name} must be a base58-encoded public key`);
  return wallet;
}

/** @throws DoorError */
function signedLinkOf(query: Query): { readonly wallet: SolanaAddress; readonly redirectUri: string } {
  const wallet = walletOf(textOf(query, 'wallet'), 'wallet');
  const timestamp = textOf(query, 'timestamp') ?? '';
  if (!/^\d{13}$/.test(timestamp)) throw invalid('timestamp must be milliseconds');
  const redirectUri = textOf(query, 'redirect_uri') ?? '';
  if (!/^(https|chrome-extension):\/\/./.test(redirectUri))
    throw invalid('redirect_uri must be an address with https: or chrome-extension:');
  const signature = parseBase58(textOf(query, 'signature') ?? '');
  const isSigned =
    signature?.length === SIGNATURE_BYTES &&
    verifySolanaMessage(wallet, `Proof KYC verification: ${timestamp}`, signature);
  if (!isSigned)
    throw new DoorError(400, 'invalid_signature', 'signature must be the wallet’s own, in base58');
  return { wallet, redirectUri };
}
