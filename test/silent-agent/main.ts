/**
 * An agent as a process: places resting orders, keeps a stream open and asks for itself every second, until it is killed or frozen.
 * When it learns that its orders were canceled, it places one again. Prints a line of JSON for each thing that happened.
 */
import { BellwetherClient, buildLimitOrder, type Market, Signer, SolanaSigner } from '@bellwether/sdk';

export interface AgentTask {
  readonly url: string;
  readonly apiKey: string;
  readonly privateKey: string;
  readonly profile?: 'polymarket';
  readonly market: Market;
  /** Shares of each order that it places at first. */
  readonly sizes: readonly number[];
  /** Of venue B, where it buys once. */
  readonly ticker?: string;
}

const CALL_EVERY_MS = 1_000;

const { url, apiKey, privateKey, profile, market, sizes, ticker }: AgentTask = JSON.parse(
  process.env.AGENT_TASK ?? '',
);
const signer = Signer.fromPrivateKey(privateKey, { use: 'paper' });
const client = new BellwetherClient({ baseUrl: url, apiKey });
const say = (line: object): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

async function rest(size: number): Promise<string> {
  const terms = { signer, market, outcome: 'YES', side: 'BUY', price: market.tickSize, size } as const;
  const order = await buildLimitOrder({ ...terms, ...(profile === undefined ? {} : { profile }) });
  return (await client.placeTrade(order)).orderId;
}

async function listen(): Promise<void> {
  const canceled = new Set<string>();
  for await (const event of client.events()) {
    if (event.type === 'ready') say({ streaming: true });
    if (event.type !== 'order.canceled' || canceled.has(event.data.orderId)) continue;
    canceled.add(event.data.orderId);
    if (canceled.size === sizes.length) say({ again: await rest(20) });
  }
}

void listen();
const placed: string[] = [];
for (const size of sizes) placed.push(await rest(size));
if (ticker !== undefined) {
  const signed = { ticker, side: 'YES', action: 'BUY', amount: 5, signer: SolanaSigner.generate() } as const;
  say({ quoted: (await client.venueB.trade(signed)).orderId });
}
say({ placed });
for (;;) {
  await client.getMe();
  say({ calledAt: Date.now() });
  await new Promise((resolve) => setTimeout(resolve, CALL_EVERY_MS));
}
