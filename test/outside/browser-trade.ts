/**
 * A page of another origin: it trades by the key of an agent that exists, whose wallet a program has registered, because the
 * venues' doors are closed to pages. Gives its results to the test as `window.traded`.
 */
import { BellwetherClient, buildLimitOrder, isProblem, Signer } from '@bellwether/sdk';

interface Reported {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly privateKey: string;
}

/** Whether the browser lets this page have the answer. */
const readable = (url: string, init?: RequestInit): Promise<boolean> =>
  fetch(url, init).then(
    () => true,
    () => false,
  );

async function trade({ baseUrl, apiKey, privateKey }: Reported) {
  const client = new BellwetherClient({ baseUrl, apiKey });
  const signer = Signer.fromPrivateKey(privateKey, { use: 'paper' });
  const [market] = await client.listMarkets({ q: '*', order: 'liquidity', limit: 1 });
  if (market === undefined) throw new Error('no market matches');
  const order = await buildLimitOrder({
    signer,
    market,
    outcome: 'YES',
    side: 'BUY',
    price: market.tickSize,
    size: market.minOrderSize,
  });
  const placed = await client.placeTrade(order, { idempotencyKey: 'from-a-page', requestId: 'page-1' });
  const record = await client.getOrder(placed.orderId);
  const unknown = await client.getMarket('no-such-market').catch((error: unknown) => error);
  return {
    status: placed.status,
    recorded: record.orderId === placed.orderId,
    refusal: isProblem(unknown, 'market_not_found') ? unknown.code : String(unknown),
    registered: (await new BellwetherClient({ baseUrl }).registerAgent({ name: 'a page' })).agentId !== '',
    door: await readable(`${baseUrl}/paper/clob/time`),
    owner: await readable(`${baseUrl}/owner/session`, { credentials: 'include' }),
  };
}

Object.assign(globalThis, { trade });
