/**
 * A stranger's program: it knows the published packages and the address of a service, nothing else. Prints what happened as
 * JSON; ends with 1 when something is not as it must be.
 */
import {
  BellwetherClient,
  buildLimitOrder,
  createVenueCredentials,
  credentialRequest,
  isProblem,
  orderIdOf,
  type ProblemCode,
  Signer,
  SolanaSigner,
  type TradeResponse,
} from '@bellwether/sdk';

const baseUrl = process.env.BELLWETHER_URL ?? '';
const signer = Signer.generate();
const agent = await new BellwetherClient({ baseUrl }).registerAgent({ name: 'a stranger' });
const client = new BellwetherClient({ baseUrl, apiKey: agent.apiKeyCode });
const credentials = await createVenueCredentials({ clobUrl: `${baseUrl}/paper/clob`, signer });
await client.registerCredentials(credentialRequest(signer, credentials));

const [market] = await client.listMarkets({ q: '*', order: 'liquidity', limit: 1 });
if (market === undefined) throw new Error('no market matches');
const terms = { signer, market, outcome: 'YES', side: 'BUY', price: market.tickSize } as const;
const order = await buildLimitOrder({ ...terms, size: market.minOrderSize });
const placed: TradeResponse = await client.placeTrade(order);
const again = await client.placeTrade(order);
const canceled = await client.cancelOrder(placed.orderId);

/** A program's reaction to a refusal: the compiler knows which there are. */
async function refusalOf(size: number): Promise<ProblemCode<'placeTrade'> | null> {
  try {
    await client.placeTrade(await buildLimitOrder({ ...terms, size }));
    return null;
  } catch (error) {
    if (isProblem(error, 'max_trade_amount_exceeded', 'insufficient_balance')) return error.code;
    throw error;
  }
}

// Venue B: the whole transaction is checked and signed here.
const solana = SolanaSigner.generate();
await client.updateSolAddress(solana.address);
const [quoted] = await client.listMarkets({ venue: 'kalshi', q: '*', order: 'volume24hr', limit: 1 });
if (quoted === undefined) throw new Error('venue B lists nothing');
const bought = await client.venueB.trade({
  ticker: quoted.id,
  side: 'YES',
  action: 'BUY',
  amount: 5,
  signer: solana,
});

console.log(
  JSON.stringify({
    node: process.versions.node.split('.')[0],
    status: placed.status,
    sameOrder: again.orderId === placed.orderId && orderIdOf(order) === placed.orderId,
    canceled: canceled.canceled.includes(placed.orderId),
    refusal: await refusalOf(10_000_000),
    submitted: bought.orderId !== '',
  }),
);
