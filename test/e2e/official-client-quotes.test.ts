/**
 * The part of `@polymarket/clob-client` that asks for quotes, which the paper venue does not have: every method gets an answer
 * in its own shape that says so, never a 404.
 */
import { type ClobClient, Side } from '@polymarket/clob-client';
import type { IRfqClient } from '@polymarket/clob-client/dist/rfq-deps.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AnyCase, examine, methodNames } from '../client-typings.ts';
import { newAgent, openMarkets, sharedTestService } from '../harness.ts';
import { clientOne, newOfficialWallet } from '../official-clients.ts';

let clob: ClobClient;
let tokenID: string;

beforeAll(async () => {
  const service = await sharedTestService();
  const { client } = await newAgent(service);
  const [market] = await openMarkets(client, '0.01');
  tokenID = market!.clobTokenIds[0]!;
  clob = clientOne(service, await newOfficialWallet(service));
});

const order = () => ({ tokenID, side: Side.BUY, price: 0.01, size: 10 }) as const;
const QUOTE = { requestId: 'r', quoteId: 'q', expiration: 0 };
const REFUSED = expect.objectContaining({ error: expect.stringContaining('not supported'), status: 400 });
const NO_QUOTES = {
  data: ['list', 'any'],
  next_cursor: 'string',
  limit: 'number',
  count: 'number',
  total_count: ['maybe', 'number'],
} as const;

const RFQ_CASES: { readonly [Name in keyof IRfqClient]: AnyCase } = {
  createRfqRequest: {
    run: () => clob.rfq.createRfqRequest(order()),
    shape: { requestId: 'string', error: ['maybe', 'string'] },
    also: (answer) => expect(answer).toEqual(REFUSED),
  },
  cancelRfqRequest: {
    run: () => clob.rfq.cancelRfqRequest({ requestId: 'r' }),
    also: (answer) => expect(answer).toEqual(REFUSED),
  },
  getRfqRequests: { run: () => clob.rfq.getRfqRequests({ limit: 5 }), shape: NO_QUOTES },
  createRfqQuote: {
    run: () => clob.rfq.createRfqQuote({ ...order(), requestId: 'r' }),
    shape: { quoteId: 'string', error: ['maybe', 'string'] },
    also: (answer) => expect(answer).toEqual(REFUSED),
  },
  getRfqRequesterQuotes: { run: () => clob.rfq.getRfqRequesterQuotes(), shape: NO_QUOTES },
  getRfqQuoterQuotes: { run: () => clob.rfq.getRfqQuoterQuotes(), shape: NO_QUOTES },
  getRfqBestQuote: {
    run: () => clob.rfq.getRfqBestQuote({ requestId: 'r' }),
    also: (answer) => expect(answer).toBeNull(),
  },
  cancelRfqQuote: {
    run: () => clob.rfq.cancelRfqQuote({ quoteId: 'q' }),
    also: (answer) => expect(answer).toEqual(REFUSED),
  },
  rfqConfig: {
    run: () => clob.rfq.rfqConfig(),
    also: (answer) => expect(answer).toEqual({ enabled: false }),
  },
  acceptRfqQuote: { run: () => clob.rfq.acceptRfqQuote(QUOTE), throws: 'RFQ quote not found' },
  approveRfqOrder: { run: () => clob.rfq.approveRfqOrder(QUOTE), throws: 'RFQ quote not found' },
};

/** Marked private in the typings. */
const INTERNAL = ['ensureL2Auth', 'getRequestOrderCreationPayload'];

describe('the quotes of @polymarket/clob-client', () => {
  test('every method of the class has a case', () => {
    const quotes = clob.rfq.constructor as unknown as { readonly prototype: object };
    expect(methodNames(quotes)).toEqual([...Object.keys(RFQ_CASES), ...INTERNAL].sort());
  });

  test.each(Object.entries(RFQ_CASES as Record<string, AnyCase>))('%s', async (_name, one) => {
    expect(await examine(one)).toEqual([]);
  });
});
