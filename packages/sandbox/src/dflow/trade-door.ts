/** DFlow's trade API: quotes with the transactions that open orders, and the status of orders. */

import { charge } from '@bellwether/exchange/doors/limits';
import { parseBase58, parseSolanaAddress } from '@bellwether/protocol';
import type { FastifyPluginAsync } from 'fastify';
import {
  type DflowDoorOptions,
  notFound,
  numberOf,
  parameterOf,
  prepareDoor,
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

  // Belongs to Proof, which has a separate host at the venue.
  door.get('/verify/:address', (request) => {
    const address = parameterOf(request, 'address');
    if (parseSolanaAddress(address) === null)
      throw new DoorError(400, 'invalid_address', 'address must be a base58-encoded public key');
    const { kyc, verifiedWallets } = open().switches;
    return { verified: kyc === 'off' || verifiedWallets.has(address) };
  });
};
