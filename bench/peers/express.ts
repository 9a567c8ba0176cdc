/**
 * The service that people usually write: Express with its JSON parser, `verifyTypedData` of ethers, one INSERT through a pool. No key, no
 * safeguards, no market, no matching.
 */
import { randomUUID } from 'node:crypto';
import type { TradeRequest } from '@bellwether/contract';
import { POLYGON_CHAIN_ID, POLYGON_EXCHANGES } from '@bellwether/protocol';
import { verifyTypedData, ZeroAddress } from 'ethers';
import express from 'express';
import { runPeer } from './order-table.ts';

const TYPES = {
  Order: [
    { name: 'salt', type: 'uint256' },
    { name: 'maker', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'taker', type: 'address' },
    { name: 'tokenId', type: 'uint256' },
    { name: 'makerAmount', type: 'uint256' },
    { name: 'takerAmount', type: 'uint256' },
    { name: 'expiration', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'feeRateBps', type: 'uint256' },
    { name: 'side', type: 'uint8' },
    { name: 'signatureType', type: 'uint8' },
  ],
};

const domainOf = (negRisk: boolean) => ({
  name: 'Polymarket CTF Exchange',
  version: '2',
  chainId: POLYGON_CHAIN_ID,
  verifyingContract: negRisk ? POLYGON_EXCHANGES.v2NegRisk : POLYGON_EXCHANGES.v2,
});

function signerOf({ order, negRisk }: TradeRequest): string {
  const message = {
    salt: order.salt,
    maker: order.maker,
    signer: order.signer,
    taker: order.taker ?? ZeroAddress,
    tokenId: order.tokenId,
    makerAmount: order.makerAmount,
    takerAmount: order.takerAmount,
    expiration: order.expiration ?? 0,
    nonce: order.nonce ?? 0,
    feeRateBps: order.feeRateBps ?? 0,
    side: order.side === 'BUY' || order.side === 0 ? 0 : 1,
    signatureType: order.signatureType,
  };
  return verifyTypedData(domainOf(negRisk ?? false), TYPES, message, order.signature);
}

await runPeer('Express', async (port, table) => {
  const app = express();
  app.use(express.json());
  app.post('/markets/trade', async (request, response) => {
    const body: TradeRequest = request.body;
    if (signerOf(body).toLowerCase() !== body.order.signer.toLowerCase()) {
      response.status(400).json({ success: false, error: 'bad signature' });
      return;
    }
    const orderId = randomUUID();
    await table.insert(orderId, body);
    response.status(201).json({ success: true, orderID: orderId, status: 'live' });
  });
  const server = app.listen(port, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return { close: () => new Promise((resolve) => server.close(resolve)) };
});
