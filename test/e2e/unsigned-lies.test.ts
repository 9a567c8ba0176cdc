/** A desk that gives other things to sign than were asked for: command line and MCP server show and sign none of them. */
import { join } from 'node:path';
import { bytesToHex, hexToBytes, relayRequest } from '@bellwether/protocol';
import {
  type Market,
  type SetResponse,
  Signer,
  type WalletAction,
  type WalletTransaction,
  walletTransactions,
} from '@bellwether/sdk';
import { deskPlace, readKeys, SpendingLimit } from '@bellwether/sdk/keystore';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { cli, deskBetween } from '../cli-process.ts';
import { newAgent, sharedTestService, type TestService } from '../harness.ts';
import { connect, environmentFor, PASSPHRASE, readyEnvironment } from '../mcp-client.ts';
import { dataFolder } from '../service-process.ts';

let service: TestService;
let url: string;
let env: Record<string, string>;
let market: Market;
/** The key whose wallet is asked about now. */
let signer: Signer;
let wallet: string;
/** The desk's change to the transactions. */
let lie: (honest: WalletTransaction) => object = (honest) => honest;

/** What the desk prepared for the relayer, changed; `null`: it has none. */
let relayLie: ((honest: RelayRecord) => object) | null = null;
/** Bodies of POST /markets/relay. */
const signatures: { readonly orderId: string; readonly signature: string }[] = [];

type RelayRecord = NonNullable<SetResponse['relay']>;

const ORDER_ID = `0x${'a'.repeat(64)}`;

const ACTIONS: Readonly<Record<string, WalletAction>> = {
  '/markets/split': { kind: 'split', amount: 5 },
  '/markets/merge': { kind: 'merge', amount: 5 },
  '/markets/convert': { kind: 'convert', amount: 5 },
  '/markets/redeem': { kind: 'redeem', shares: { YES: 2 } },
};

/** As an honest desk prepares it for the wallet of type 2. */
function relayRecord(action: WalletAction): RelayRecord {
  const owner = { eoa: signer.address, wallet: signer.wallet(2), type: 2 } as const;
  const [only] = walletTransactions(action, { signer, wallet: signer.address, market });
  const { body, digest } = relayRequest(owner, [only!], { type: 'SAFE', nonce: 0n });
  const deadline = new Date(Math.floor(Date.now() / 1000 + 200) * 1000).toISOString();
  const terms = { type: 'SAFE', nonce: '0', relay: null, deadline, chainId: 137 };
  return { ...terms, digest: bytesToHex(digest), body };
}

function unsigned(action: WalletAction) {
  if (relayLie !== null) {
    const honest = relayRecord(action);
    const { transactions: _, ...answer } = unsignedTransactions(action);
    const relay = { ...honest, ...relayLie(honest) };
    if (action.kind !== 'redeem') return { ...answer, relay };
    return { ...answer, relays: [{ orderId: ORDER_ID, walletAddress: wallet, relay }] };
  }
  return unsignedTransactions(action);
}

function unsignedTransactions(action: WalletAction) {
  const transactions = walletTransactions(action, { signer, wallet, market }).map((one) => ({
    ...{ ...one, ...lie(one) },
    description: 'Sign this.',
  }));
  const order = { orderId: ORDER_ID, clientOrderId: 'one', amount: 0, walletAddress: wallet };
  const where = { venue: market.venue, marketId: market.id, conditionId: market.conditionId };
  const paid = { redeemedAmount: 0, wallets: [], submittedAt: new Date().toISOString() };
  return { success: true, status: 'unsigned', txHash: null, transactions, ...order, ...where, ...paid };
}

beforeAll(async () => {
  service = await sharedTestService();
  const agent = await newAgent(service);
  market = (await agent.client.listMarkets({ q: '*', limit: 500 })).find(
    ({ version, negRisk, active }) => version === 'v2' && negRisk && active,
  ) as Market;
  url = await deskBetween(service.url, async ({ path, body }, pass) => {
    if (path === '/markets/relay') {
      signatures.push(JSON.parse(body));
      const { relay: _, ...answer } = { relay: null, ...unsignedTransactions(ACTIONS['/markets/split']!) };
      return {
        status: 200,
        body: JSON.stringify({ ...answer, status: 'submitted', transactions: undefined }),
      };
    }
    const action = ACTIONS[path];
    return action === undefined ? pass() : { status: 200, body: JSON.stringify(unsigned(action)) };
  });
  const key = `0x${'2c'.repeat(32)}`;
  env = {
    BELLWETHER_URL: url,
    BELLWETHER_DESK_HOST: new URL(service.url).host,
    BELLWETHER_HOME: join(dataFolder(), 'keys'),
    BELLWETHER_API_KEY: agent.apiKey,
    BELLWETHER_PRIVATE_KEY: key,
    BELLWETHER_KEY_USE: 'paper',
  };
  new SpendingLimit(deskPlace(env)).setLimit(1_000_000_000n);
});

const other = (hex: string): string => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`;
const LIES: readonly (readonly [string, (honest: WalletTransaction) => object])[] = [
  ['data', ({ data }) => ({ data: other(data) })],
  ['to', ({ to }) => ({ to: other(to) })],
  ['from', ({ from }) => ({ from: other(from) })],
  ['value', () => ({ value: '1' })],
  ['chainId', () => ({ chainId: 1 })],
];

describe('the command line', () => {
  const COMMANDS = [
    ['split', () => ['split', market.id, '5', '--yes']],
    ['merge', () => ['merge', market.id, '5', '--yes']],
    ['convert', () => ['convert', market.id, '5', '--yes']],
    ['redeem', () => ['redeem', market.id, '--held-yes', '2']],
  ] as const;

  beforeAll(() => {
    signer = Signer.fromPrivateKey(env.BELLWETHER_PRIVATE_KEY as string, { use: 'paper' });
    wallet = signer.address;
  });

  test.each(COMMANDS)('shows the transactions of a %s as they were built here', async (kind, words) => {
    lie = ({ data }) => ({ data: data.toUpperCase().replace('0X', '0x') });
    const { stdout, stderr, code } = await cli([...words(), '--json'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const built = walletTransactions(ACTIONS[`/markets/${kind}`]!, { signer, wallet, market });
    expect(JSON.parse(stdout).transactions).toEqual(built);
    const { stdout: text } = await cli(words(), env);
    for (const shown of [built[0]!.to, built[0]!.data, market.question.slice(0, 20)])
      expect(text.replaceAll(/\s+/g, ' ')).toContain(shown);
  });

  test.each(COMMANDS)('shows nothing of a %s that differs', async (_, words) => {
    for (const [field, change] of LIES) {
      lie = change;
      const { stdout, stderr, code } = await cli([...words(), '--json'], env);
      expect(code).not.toBe(0);
      expect(stdout + stderr).toContain('transactions_differ');
      expect(stdout + stderr).toContain(`transactions.0.${field}`);
      expect(stdout).not.toContain('"transactions":[');
    }
  });

  test('asks for the shares of a market that is redeemed by amount', async () => {
    lie = (honest) => honest;
    const { stdout, stderr } = await cli(['redeem', market.id, '--json'], env);
    expect(stdout + stderr).toContain('--held-yes');
  });
});

test('the MCP server gives the model what it built itself, or a refusal', async () => {
  const own = await readyEnvironment(url, { BELLWETHER_DESK_HOST: new URL(service.url).host });
  new SpendingLimit(deskPlace(own)).setLimit(1_000_000_000n);
  const [key] = (await readKeys(deskPlace(own), PASSPHRASE)).evm;
  signer = Signer.fromPrivateKey(key!.privateKey, { use: 'paper' });
  wallet = signer.wallet(key!.signatureType);
  const model = await connect(own, { transport: 'http' });
  const calls = [
    ['split_sets', { market: market.id, amount: 5 }, '/markets/split'],
    ['merge_sets', { market: market.id, amount: 5 }, '/markets/merge'],
    ['convert_no_shares', { market: market.id, amount: 5 }, '/markets/convert'],
    ['redeem', { market: market.id, heldYes: 2 }, '/markets/redeem'],
  ] as const;
  for (const [tool, terms, path] of calls) {
    lie = (honest) => honest;
    expect(await model.call(tool, terms)).toMatchObject({
      status: 'unsigned',
      transactions: walletTransactions(ACTIONS[path]!, { signer, wallet, market }),
    });
    for (const [, change] of LIES) {
      lie = change;
      expect((await model.refusal(tool, terms)).code).toBe('transactions_differ');
    }
  }
});

describe('for the relayer', () => {
  const one = `0x${'1'.repeat(40)}`;
  const params = ({ body }: RelayRecord) => body.signatureParams as Record<string, string>;
  const inBody = (change: (honest: RelayRecord) => object) => (honest: RelayRecord) => ({
    body: { ...honest.body, ...change(honest) },
  });
  const param = (name: string, value: string) =>
    inBody((honest) => ({ signatureParams: { ...params(honest), [name]: value } }));
  const RELAY_LIES: readonly (readonly [string, (honest: RelayRecord) => object])[] = [
    ['relay.nonce', () => ({ nonce: '1' })],
    ['relay.type', () => ({ type: 'WALLET' })],
    ['relay.chainId', () => ({ chainId: 1 })],
    [
      'relay.deadline',
      ({ deadline }) => ({ deadline: new Date(Date.parse(deadline) + 400_000).toISOString() }),
    ],
    ['relay.digest', ({ digest }) => ({ digest: other(digest) })],
    ['relay.body.nonce', inBody(() => ({ nonce: '1' }))],
    ['relay.body.to', inBody(() => ({ to: one }))],
    ['relay.body.from', inBody(() => ({ from: one }))],
    ['relay.body.proxyWallet', inBody(() => ({ proxyWallet: one }))],
    ['relay.body.data', inBody(({ body }) => ({ data: other(String(body.data)) }))],
    ['relay.body.value', inBody(() => ({ value: '1' }))],
    ['relay.body.signatureParams.operation', param('operation', '1')],
    ['relay.body.signatureParams.gasPrice', param('gasPrice', '1')],
    ['relay.body.signatureParams.baseGas', param('baseGas', '1')],
    ['relay.body.signatureParams.safeTxnGas', param('safeTxnGas', '1')],
    ['relay.body.signatureParams.gasToken', param('gasToken', one)],
    ['relay.body.signatureParams.refundReceiver', param('refundReceiver', one)],
  ];
  const relayer = () => ({
    BELLWETHER_RELAYER_URL: `${service.url}/paper/relayer`,
    BELLWETHER_SIGNATURE_TYPE: '2',
  });

  afterEach(() => {
    relayLie = null;
  });

  test.each([
    ['split', '/markets/split', () => ['split', market.id, '5', '--yes', '--json']],
    ['conversion', '/markets/convert', () => ['convert', market.id, '5', '--yes', '--json']],
    ['redemption', '/markets/redeem', () => ['redeem', market.id, '--held-yes', '2', '--json']],
  ] as const)(
    'the command line signs the %s that it built itself, and nothing else',
    async (_, path, words) => {
      signer = Signer.fromPrivateKey(env.BELLWETHER_PRIVATE_KEY as string, { use: 'paper' });
      wallet = signer.wallet(2);
      const run = () => cli(words(), { ...env, ...relayer() });
      relayLie = () => ({});
      signatures.length = 0;
      const { stdout, stderr, code } = await run();
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(stdout).status).toBe('submitted');
      const digest = hexToBytes(relayRecord(ACTIONS[path]!).digest);
      expect(signatures).toEqual([{ orderId: ORDER_ID, signature: await signer.signDigest(digest) }]);
      for (const [field, change] of RELAY_LIES) {
        relayLie = change;
        const refused = await run();
        expect(refused.code).not.toBe(0);
        expect(refused.stdout + refused.stderr).toContain('transactions_differ');
        expect(refused.stdout + refused.stderr).toMatch(new RegExp(field.replaceAll('.', '\\.')));
      }
      expect(signatures).toHaveLength(1);
    },
  );

  test('the MCP server signs what it built itself, and nothing else', async () => {
    const own = environmentFor(url, { ...env, ...relayer() });
    new SpendingLimit(deskPlace(own)).setLimit(1_000_000_000n);
    signer = Signer.fromPrivateKey(env.BELLWETHER_PRIVATE_KEY as string, { use: 'paper' });
    wallet = signer.wallet(2);
    const model = await connect(own, { transport: 'http' });
    relayLie = () => ({});
    signatures.length = 0;
    const calls = [
      ['split_sets', { market: market.id, amount: 5 }],
      ['convert_no_shares', { market: market.id, amount: 5 }],
      ['redeem', { market: market.id, heldYes: 2 }],
    ] as const;
    for (const [tool, terms] of calls) {
      relayLie = () => ({});
      expect(await model.call(tool, terms)).toMatchObject({ status: 'submitted' });
      for (const [, change] of RELAY_LIES) {
        relayLie = change;
        expect((await model.refusal(tool, terms)).code).toBe('transactions_differ');
      }
    }
    expect(signatures).toHaveLength(3);
  });
});
