/** The paper relayer, by the venue's own client of it, unmodified, and by what a stranger might send. */

import { RelayClient, RelayerTransactionState, RelayerTxType } from '@polymarket/builder-relayer-client';
import { BuilderConfig } from '@polymarket/builder-signing-sdk';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  approvalCalls,
  type ContractCall,
  convertCall,
  hexToBytes,
  mergeCall,
  type RelayTerms,
  redeemCall,
  relayRequest,
  signDigest,
  signedRelayBody,
  splitCall,
} from '../../packages/protocol/src/index.ts';
import { call, newAgent, openMarkets, startTestService, type TestService } from '../harness.ts';
import { newOfficialWallet, type OfficialWallet, walletClientOf } from '../official-clients.ts';
import { manualClock, micro, resolveMarket } from '../world.ts';

let service: TestService;
let conditionId: string;
const clock = manualClock(Date.now());

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  const [market] = await openMarkets((await newAgent(service)).client);
  conditionId = market!.conditionId;
});
// The client prints what it does, its signatures included.
beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

const relayerOf = (at: Pick<TestService, 'url'> = service) => `${at.url}/paper/relayer`;
const clientOf = ({ key, creds }: OfficialWallet, type = RelayerTxType.SAFE) =>
  new RelayClient(
    relayerOf(),
    137,
    walletClientOf(key),
    new BuilderConfig({
      localBuilderCreds: { key: creds.key, secret: creds.secret, passphrase: creds.passphrase },
    }) as never, // Of another copy of the same package.
    type,
  );
const asTheirs = ({ to, data }: ContractCall) => ({ to, data, value: '0' });
const market = () => ({ conditionId, negRisk: false });
const split = (amount: number) => splitCall(market(), micro(amount));
const merge = (amount: number) => mergeCall(market(), micro(amount));
const held = ({ funder }: OfficialWallet) => {
  const { tokens } = service.exchange.account(funder);
  return [tokens.get(conditionId)?.yes ?? 0n, tokens.get(conditionId)?.no ?? 0n];
};
const approvals = () => approvalCalls().slice(0, 2).map(asTheirs);

describe('the venue’s own client', () => {
  test('splits and merges from a Safe, alone and with approvals in one batch', async () => {
    const wallet = await newOfficialWallet(service, 2);
    const client = clientOf(wallet);
    const first = await client.execute([...approvals(), asTheirs(split(10))]);
    expect((await first.wait())?.state).toBe(RelayerTransactionState.STATE_CONFIRMED);
    expect(held(wallet)).toEqual([micro(10), micro(10)]);
    expect(await client.getNonce(wallet.eoa, 'SAFE')).toEqual({ nonce: '1' });
    await (await client.execute([asTheirs(merge(4))])).wait();
    expect(held(wallet)).toEqual([micro(6), micro(6)]);
    const all = await client.getTransactions();
    expect(all.map(({ state, nonce }) => [state, nonce])).toEqual([
      ['STATE_CONFIRMED', '1'],
      ['STATE_CONFIRMED', '0'],
    ]);
    expect(await client.getTransaction(first.transactionID)).toMatchObject([{ state: 'STATE_CONFIRMED' }]);
  });

  test('splits from a proxy wallet', async () => {
    const wallet = await newOfficialWallet(service, 1);
    const client = clientOf(wallet, RelayerTxType.PROXY);
    await (await client.execute([...approvals(), asTheirs(split(3))])).wait();
    expect(held(wallet)).toEqual([micro(3), micro(3)]);
  });

  test('splits from a deposit wallet, within its deadline', async () => {
    const wallet = await newOfficialWallet(service, 3);
    const client = clientOf(wallet);
    const batch = [...approvals(), asTheirs(split(5))].map(({ to, ...one }) => ({ target: to, ...one }));
    const at = Math.floor(clock.now() / 1000);
    const done = await client.executeDepositWalletBatch(batch, wallet.funder, String(at + 240));
    expect((await done.wait())?.state).toBe('STATE_CONFIRMED');
    expect(held(wallet)).toEqual([micro(5), micro(5)]);
    // The client prints what the door refuses.
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
    for (const deadline of [at - 1, at + 301])
      await expect(
        client.executeDepositWalletBatch(batch, wallet.funder, String(deadline)),
      ).rejects.toThrow();
    expect(printed).toHaveBeenCalled();
    printed.mockRestore();
    expect(held(wallet)).toEqual([micro(5), micro(5)]);
  });

  test('converts NO shares of a market of Protocol V2 from a Safe, once however often it is sent', async () => {
    const open = [...service.exchange.markets()].filter(({ version }) => version === 'v2');
    const event = open.filter(({ negRisk, status }) => negRisk && status === 'open');
    const [from, ...others] = event as [(typeof event)[number], ...typeof event];
    const wallet = await newOfficialWallet(service, 2);
    const client = clientOf(wallet);
    await (await client.execute([asTheirs(splitCall(from, micro(9)))])).wait();
    const call = convertCall(from, micro(4));
    await (await client.execute([asTheirs(call)])).wait();
    const tokens = (id: string) => service.exchange.account(wallet.funder).tokens.get(id);
    expect(tokens(from.conditionId)).toMatchObject({ yes: micro(9), no: micro(5) });
    for (const other of others) expect(tokens(other.conditionId)).toMatchObject({ yes: micro(4) });
    const body = bodyOf(wallet, [convertCall(from, micro(1))], 2n);
    for (const _ of [1, 2]) expect((await submit(wallet, body)).status).toBe(200);
    expect(tokens(from.conditionId)).toMatchObject({ no: micro(4) });
    // A question that the event does not have: the second word counts it.
    const beyond = `${call.data.slice(0, 10 + 64 + 60)}0009${call.data.slice(10 + 128)}` as const;
    const unknown = bodyOf(wallet, [{ ...call, data: beyond as `0x${string}` }], 3n);
    expect((await submit(wallet, unknown)).status).toBe(400);
    for (const [selector, way] of [
      ['0x40657b52', 'horizontalSplit: split a set of one question instead'],
      ['0x24f24944', 'horizontalMerge: sell the YES shares instead'],
    ] as const) {
      const whole = {
        ...call,
        data: `${selector}${call.data.slice(10, 74)}${call.data.slice(138)}` as const,
      };
      const { status, body: answer } = await submit(wallet, bodyOf(wallet, [whole], 3n));
      expect([status, answer.error]).toEqual([400, expect.stringContaining(way)]);
    }
    const tooMany = await client.execute([asTheirs(convertCall(from, micro(5)))]);
    expect(await client.getTransaction(tooMany.transactionID)).toMatchObject([{ state: 'STATE_FAILED' }]);
  });

  test('what the wallet cannot pay fails, and its nonce is free again', async () => {
    const wallet = await newOfficialWallet(service, 2);
    const client = clientOf(wallet);
    const failed = await client.execute([asTheirs(merge(1))]);
    expect(await client.getTransaction(failed.transactionID)).toMatchObject([{ state: 'STATE_FAILED' }]);
    await (await client.execute([asTheirs(split(2))])).wait();
    expect(held(wallet)).toEqual([micro(2), micro(2)]);
  });
});

/** A signed body of a wallet of type 2. */
const bodyOf = (wallet: OfficialWallet, calls: readonly ContractCall[], nonce = 0n) => {
  const owner = { eoa: wallet.eoa, wallet: wallet.funder, type: 2 } as Parameters<typeof relayRequest>[0];
  const terms: RelayTerms = { type: 'SAFE', nonce };
  const request = relayRequest(owner, calls, terms);
  const bytes = signDigest(request.digest, hexToBytes(wallet.key));
  return signedRelayBody(request, `0x${Buffer.from(bytes).toString('hex')}`);
};
const submit = async ({ creds, eoa }: OfficialWallet, body: unknown) =>
  call({ url: relayerOf() }, 'POST', '/submit', {
    body,
    headers: { RELAYER_API_KEY: creds.key, RELAYER_API_KEY_ADDRESS: eoa },
  });

test('the same body twice is one transaction with one effect', async () => {
  const wallet = await newOfficialWallet(service, 2);
  const body = bodyOf(wallet, [split(4)]);
  const answers = await Promise.all([submit(wallet, body), submit(wallet, body), submit(wallet, body)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set(answers.map(({ body: { transactionID } }) => transactionID)).size).toBe(1);
  expect((await submit(wallet, body)).body.transactionID).toBe(answers[0]!.body.transactionID);
  expect(held(wallet)).toEqual([micro(4), micro(4)]);
  const second = await submit(wallet, bodyOf(wallet, [split(5)]));
  expect([second.status, second.body.error]).toEqual([400, 'invalid nonce: expected 1']);
  expect((await submit(wallet, bodyOf(wallet, [split(5)], 7n))).status).toBe(400);
});

test('a request to deploy a wallet is refused: none needs it', async () => {
  const wallet = await newOfficialWallet(service, 3);
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  await expect(clientOf(wallet).deployDepositWallet()).rejects.toThrow(
    /every wallet of an owner is deployed/,
  );
  printed.mockRestore();
  for (const type of ['WALLET-CREATE', 'SAFE-CREATE']) {
    const { status, body } = await submit(wallet, { type, from: wallet.eoa, to: wallet.funder });
    expect([status, body.error]).toEqual([400, expect.stringContaining(`${type} is not needed`)]);
  }
});

test('what is not signed so by the wallet’s owner, or pays anyone, is refused and does nothing', async () => {
  const wallet = await newOfficialWallet(service, 2);
  const other = await newOfficialWallet(service, 2);
  const honest = bodyOf(wallet, [split(4)]) as Record<string, unknown>;
  const params = honest.signatureParams as object;
  const fee = (field: string, value: string) => ({
    ...honest,
    signatureParams: { ...params, [field]: value },
  });
  const one = `0x${'1'.repeat(40)}`;
  const bodies: unknown[] = [
    ...[
      { ...honest, data: split(5).data },
      { ...honest, to: one },
      { ...honest, nonce: '1' },
    ],
    ...[
      { ...honest, from: other.eoa },
      { ...honest, proxyWallet: other.funder },
      { ...honest, type: 'WALLET' },
    ],
    ...[fee('gasPrice', '1'), fee('baseGas', '1'), fee('safeTxnGas', '1'), fee('operation', '1')],
    ...[fee('gasToken', one), fee('refundReceiver', one)],
    { ...honest, signature: (bodyOf(other, [split(4)]) as { signature: string }).signature },
    bodyOf(wallet, [{ to: one as never, data: split(4).data }]),
    bodyOf(wallet, [{ to: split(4).to, data: '0x12345678' }]),
    bodyOf(wallet, [split(4), split(5)]),
    ...[{}, [], 'text', null],
  ];
  for (const body of bodies) {
    const answer = await submit(wallet, body);
    expect([answer.status, answer.body]).toEqual([400, { error: expect.any(String) }]);
  }
  expect(held(wallet)).toEqual([0n, 0n]);
  const nobody = await call({ url: relayerOf() }, 'POST', '/submit', { body: honest });
  expect([nobody.status, nobody.body]).toEqual([401, { error: 'invalid authorization' }]);
  expect((await submit({ ...wallet, creds: other.creds }, honest)).status).toBe(401);
  expect((await submit(wallet, honest)).status).toBe(200);
});

// Last: it moves the clock, and signatures of keys are of the time of this machine.
test('a redemption pays once the market is resolved', async () => {
  const wallet = await newOfficialWallet(service, 2);
  const other = (await openMarkets((await newAgent(service)).client)).at(-1)!;
  const own = { conditionId: other.conditionId, negRisk: other.negRisk };
  await submit(wallet, bodyOf(wallet, [splitCall(own, micro(9))]));
  const before = service.exchange.account(wallet.funder).available;
  await resolveMarket(service, clock, other.conditionId);
  const { body } = await submit(wallet, bodyOf(wallet, [redeemCall(own.conditionId, own.negRisk)], 1n));
  expect(body.transactionID).toBeDefined();
  expect(service.exchange.account(wallet.funder).available - before).toBe(micro(9));
});
