/** A desk that keeps what was signed and says that it refused: the spending limit counts each signature, before anything that follows. */
import { deskPlace, loadKeys, SpendingLimit } from '@bellwether/sdk/keystore';
import { beforeAll, expect, test } from 'vitest';
import { deskBetween, type Passed } from '../cli-process.ts';
import { sharedTestService, type TestService } from '../harness.ts';
import { connect, type Facts, type McpEnvironment, readyEnvironment } from '../mcp-client.ts';

const LIMIT = 100_000_000n;
const EACH = 20;

let service: TestService;

const REFUSAL: Passed = {
  status: 403,
  body: JSON.stringify({
    type: 'about:blank',
    title: 'The trade is larger than allowed',
    status: 403,
    code: 'max_trade_amount_exceeded',
    detail: 'Refused.',
    fix: 'Order less.',
  }),
};

beforeAll(async () => {
  service = await sharedTestService();
});

const limitOf = (env: McpEnvironment) => new SpendingLimit(deskPlace(env));

async function liar(instead: (path: string, answer: Passed) => Passed) {
  const url = await deskBetween(service.url, async ({ path }, pass) => instead(path, await pass()));
  const env = await readyEnvironment(url, { BELLWETHER_DESK_HOST: new URL(service.url).host });
  limitOf(env).setLimit(LIMIT);
  return { env, model: await connect(env, { transport: 'http' }) };
}

test('six orders of 20 that the desk places and calls refused: four fit the limit with their fees, no more are signed', async () => {
  let kept = 0;
  const { env, model } = await liar((path, answer) => {
    if (path !== '/markets/trade') return answer;
    kept += answer.status < 300 ? 1 : 0;
    return REFUSAL;
  });
  const { markets } = await model.call('search_markets', { query: '*', order: 'liquidity', limit: 50 });
  const { market } = markets.find((one: Facts) => one.tradable && one.bestAsk > 0.2 && one.bestAsk < 0.8);
  const order = { market, outcome: 'YES', side: 'BUY', price: 0.1, size: EACH / 0.1 };
  const codes: string[] = [];
  for (let at = 0; at < 6; at += 1) codes.push((await model.refusal('place_order', order)).code);
  expect(codes).toEqual([
    ...Array(4).fill('max_trade_amount_exceeded'),
    ...Array(2).fill('spending_limit_reached'),
  ]);
  expect(kept).toBe(4);
  expect(limitOf(env).standing().left).toBeLessThan(20_000_000n);
});

test('eight quotes of 20 under one id: five are signed, and each counts', async () => {
  const ONE_ID = '0190aaaa-0000-7000-8000-000000000001';
  let submitted = 0;
  const { env, model } = await liar((path, answer) => {
    if (path.endsWith('/submit')) {
      submitted += 1;
      return REFUSAL;
    }
    if (!path.includes('/quote')) return answer;
    return { ...answer, body: answer.body.replace(/"quoteId":"[^"]+"/, `"quoteId":"${ONE_ID}"`) };
  });
  const { markets } = await model.call('search_markets', {
    query: '*',
    venue: 'kalshi',
    order: 'volume24hr',
  });
  const ask = { market: markets[0].market, outcome: 'YES', side: 'BUY', amount: EACH };
  const codes: string[] = [];
  for (let at = 0; at < 8; at += 1) {
    expect(await model.call('quote_venue_b', ask)).toMatchObject({ quoteId: ONE_ID });
    codes.push((await model.refusal('trade_venue_b', { quoteId: ONE_ID, waitSeconds: 0 })).code);
  }
  expect(codes.slice(5)).toEqual(Array(3).fill('spending_limit_reached'));
  expect(submitted).toBe(5);
  expect(limitOf(env).standing().left).toBe(0n);
});

test('a quote that misses an identity has a link that is made here, whatever the desk says', async () => {
  const FALSE = 'https://dflow.net.example/proof';
  const { env, model } = await liar((path, answer) => {
    if (!path.includes('/quote')) return answer;
    const { unsignedTransaction: _, ...quote } = JSON.parse(answer.body);
    const refused = { quoteErrorCode: 'kyc_required', quoteErrorMessage: FALSE, identityLink: FALSE };
    return { ...answer, body: JSON.stringify({ ...quote, ...refused, kycRequired: true }) };
  });
  const { markets } = await model.call('search_markets', { query: '*', venue: 'kalshi', limit: 1 });
  const ask = { market: markets[0].market, outcome: 'YES', side: 'BUY', amount: EACH };
  const { untrusted, ...facts } = await model.call('quote_venue_b', ask);
  expect(JSON.stringify(untrusted)).toContain(FALSE);
  expect(JSON.stringify(facts)).not.toContain(FALSE);
  expect(facts).toMatchObject({ tradable: false, refusal: 'kyc_required' });
  // The key is for paper: a sandbox takes the link, and checks its signature.
  expect(facts.identityLink).toContain(`${env.BELLWETHER_URL}/paper/dflow/trade/proof?wallet=`);
  expect((await fetch(facts.identityLink)).status).toBe(200);
  expect(await model.refusal('trade_venue_b', { quoteId: facts.quoteId })).toMatchObject({
    code: 'kyc_required',
    fix: expect.stringContaining('identityLink'),
  });

  const { keys } = await loadKeys({ env });
  const unmarked = await connect(
    {
      ...env,
      BELLWETHER_API_KEY: keys.apiKey,
      BELLWETHER_SOLANA_KEY: keys.solana?.secretKey as string,
    },
    { transport: 'http' },
  );
  const quote = await unmarked.call('quote_venue_b', ask);
  expect(quote.identityLink).toMatch(
    /^https:\/\/dflow\.net\/proof\?wallet=\w+&signature=\w+&timestamp=\d{13}&redirect_uri=/,
  );
});
