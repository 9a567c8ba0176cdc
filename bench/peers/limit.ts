/**
 * The naive limit: the least that a route must do that answers a signed order honestly. Fastify parses the body, the
 * order's digest is computed (the service's own function), its signer recovered natively, and one row inserted durably.
 * No key, no safeguards, no market, no matching.
 */

import type { TradeRequest } from '@bellwether/contract';
import {
  asAddress,
  bytesToHex,
  exchangeDomain,
  exchangeDomains,
  orderDigest,
  orderStructHash,
  recoverAddress,
  ZERO_ADDRESS,
} from '@bellwether/protocol';
import { fastify } from 'fastify';
import { loadRecover } from '../../packages/server/src/platform/system/secrets.ts';
import { runPeer } from './order-table.ts';

const DOMAINS = exchangeDomains();
const { recover } = loadRecover();

function digestOf({ order, orderVersion, negRisk }: TradeRequest): Uint8Array {
  const domain = exchangeDomain(DOMAINS, orderVersion ?? 2, negRisk ?? false);
  return orderDigest(
    domain.separator,
    orderStructHash({
      salt: BigInt(order.salt),
      maker: asAddress(order.maker),
      signer: asAddress(order.signer),
      taker: order.taker === undefined ? ZERO_ADDRESS : asAddress(order.taker),
      tokenId: BigInt(order.tokenId),
      makerAmount: BigInt(order.makerAmount),
      takerAmount: BigInt(order.takerAmount),
      expiration: BigInt(order.expiration ?? 0),
      nonce: BigInt(order.nonce ?? 0),
      feeRateBps: BigInt(order.feeRateBps ?? 0),
      side: order.side === 'BUY' || order.side === 0 ? 0 : 1,
      signatureType: order.signatureType,
    }),
  );
}

await runPeer('The limit', async (port, table) => {
  const app = fastify({ logger: false });
  app.post('/markets/trade', async (request, reply) => {
    const body = request.body as TradeRequest;
    const digest = digestOf(body);
    const signer = recoverAddress(recover, digest, body.order.signature);
    if (!signer.ok || signer.address !== body.order.signer.toLowerCase())
      return reply.code(400).send({ success: false, error: 'bad signature' });
    const orderId = bytesToHex(digest);
    await table.insert(orderId, body);
    return reply.code(201).send({ success: true, orderID: orderId, status: 'live' });
  });
  await app.listen({ port, host: '127.0.0.1' });
  return app;
});
