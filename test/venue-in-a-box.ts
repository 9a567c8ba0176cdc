/** The venue in a box in this process: the paper exchange with its doors on a port of its own, and without the desk. */
import { randomBytes } from 'node:crypto';
import type { Sql } from '@bellwether/durable';
import { fastify } from 'fastify';
import { dataDoor } from '../packages/exchange/src/doors/data/index.ts';
import { gammaDoor } from '../packages/exchange/src/doors/gamma/index.ts';
import { addressBuckets } from '../packages/exchange/src/doors/limits.ts';
import {
  EXCHANGE_KEYS_SCHEMA,
  type Faults,
  polymarketDoor,
  polymarketSocketDoor,
  VenueKeys,
} from '../packages/exchange/src/doors/polymarket/index.ts';
import {
  createRelayedStore,
  RELAYED_SCHEMA,
  relayerDoor,
} from '../packages/exchange/src/doors/relayer/index.ts';
import { EXCHANGE_SCHEMA, type JournalledExchange, openExchange } from '../packages/exchange/src/index.ts';
import { exchangeDomains, nobleRecover } from '../packages/protocol/src/index.ts';

const CHAIN_ID = 137;
const REVERSE_EVERY_MS = 200;

export interface VenueInABox {
  readonly url: string;
  readonly exchange: JournalledExchange;
  close(): Promise<void>;
}

/** Nothing trades there by itself; trades settle, or fail, as the faults say. @param sql a database for it alone @param speed world time per time */
export async function openVenueInABox(sql: Sql, faults: Faults, speed = 1): Promise<VenueInABox> {
  for (const schema of [EXCHANGE_SCHEMA, EXCHANGE_KEYS_SCHEMA, RELAYED_SCHEMA]) await sql.unsafe(schema);
  const exchange = await openExchange({
    ...{ sql, seed: '1', speed, autoStep: false, log: () => {} },
    failingTrades: ({ number }) => faults.fails(number),
  });
  const reversing = setInterval(() => exchange.reverseFailed().catch(() => {}), REVERSE_EVERY_MS);
  const keys = new VenueKeys({ sql, secret: randomBytes(32) });
  const guard = addressBuckets({ perSecond: 1e6, burst: 1e6, now: Date.now });
  const shared = { exchange: () => exchange, now: Date.now, guard };
  const app = fastify({ forceCloseConnections: true });
  await app.register(polymarketDoor, {
    ...{ ...shared, keys, faults, prefix: '/paper/clob', recover: nobleRecover, chainId: CHAIN_ID },
    ...{ domains: exchangeDomains(CHAIN_ID), gtdMinLeadS: 180, limitsSigners: false, orderVersion: 2 },
  });
  await app.register(gammaDoor, { ...shared, prefix: '/paper/gamma' });
  await app.register(dataDoor, { ...shared, prefix: '/paper/data' });
  await app.register(polymarketSocketDoor, {
    ...{ prefix: '/paper/ws', find: () => exchange, keys, now: Date.now, guard, faults },
  });
  await app.register(relayerDoor, {
    ...{ ...shared, keys, faults, prefix: '/paper/relayer', recover: nobleRecover, chainId: CHAIN_ID },
    relayed: createRelayedStore(sql),
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    exchange,
    async close() {
      clearInterval(reversing);
      await app.close();
      await exchange.close();
    },
  };
}
