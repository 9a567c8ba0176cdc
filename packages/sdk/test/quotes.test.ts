import { CHALLENGE_PURPOSES, challengeText } from '@bellwether/contract';
import {
  associatedTokenAddress,
  parseEd25519Signature,
  parseTransaction,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  signatureFaults,
  USDC_MINT,
  verifySolanaMessage,
} from '@bellwether/protocol';
import {
  BellwetherApiError,
  BellwetherClient,
  type Delegation,
  linkSolanaWallet,
  type Quote,
  QuoteError,
  SolanaRpcError,
  SolanaSigner,
  UnsafeTransaction,
} from '@bellwether/sdk';
import { unwrapOption } from '@solana/kit';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Asked, sendJson, standIn } from '../../../test/stand-in.ts';
import { buyQuote, STRANGER, sellQuote, transfer, unsigned } from './dishonest-desk.ts';
import { type LitesvmNode, startLitesvmNode } from './litesvm-node.ts';

interface Seen extends Pick<Asked, 'headers'> {
  readonly call: string;
  readonly body: Record<string, unknown> | undefined;
}
type Answer = { status: number; body: unknown } | 'cut';

const DELEGATE = STRANGER;
let baseUrl: string;
let node: LitesvmNode;
let seen: Seen[];
let answers: Record<string, (body: Record<string, unknown> | undefined) => Answer>;
let waits: number[];
let signer: SolanaSigner;

beforeAll(async () => {
  node = await startLitesvmNode();
  baseUrl = await standIn(({ method, url, headers, body: text }, response) => {
    const call = `${method} ${url}`;
    const body = text === '' ? undefined : JSON.parse(text);
    seen.push({ call, headers, body });
    const answer = answers[call]?.(body) ?? { status: 404, body: { code: 'order_not_found' } };
    if (answer === 'cut') response.destroy();
    else sendJson(response, answer.body, answer.status);
  });
});
beforeEach(() => {
  seen = [];
  answers = {};
  waits = [];
  node.calls.length = 0;
  signer = SolanaSigner.generate();
});
afterEach(() => {
  node.override = () => undefined;
});

const ok = (body: unknown) => (): Answer => ({ status: 200, body });
const client = () =>
  new BellwetherClient({ baseUrl, apiKey: 'bw_key', wait: async (ms) => void waits.push(ms) });
const caught = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error('expected a refusal');
    },
    (error: unknown) => error,
  );
const calls = (): string[] => seen.map(({ call }) => call);

const QUOTE = 'POST /venueb/agent/quote';
const SUBMIT = 'POST /venueb/agent/submit';

describe('trade', () => {
  const BUY = { ticker: 'KXTEST-1-1', side: 'YES', action: 'BUY', amount: '5.000000' } as const;

  test('gets a quote, signs its transaction and submits it', async () => {
    const quote = buyQuote(signer.address);
    answers[QUOTE] = ok(quote);
    answers[SUBMIT] = ok({ orderId: quote.quoteId, status: 'submitted' });
    const answer = await client().venueB.trade({ ...BUY, signer, reasoning: 'why', source: 'sdk:test' });
    expect(answer.orderId).toBe(quote.quoteId);
    expect(seen[0]?.body).toEqual({
      marketTicker: BUY.ticker,
      side: 'YES',
      action: 'BUY',
      amount: 5,
      userPublicKey: signer.address,
    });
    const { signedTransaction, ...rest } = seen[1]!.body as { signedTransaction: string };
    expect(rest).toEqual({ quoteId: quote.quoteId, reasoning: 'why', source: 'sdk:test' });
    const signed = parseTransaction(signedTransaction);
    expect(signatureFaults(signed)).toEqual([]);
    expect(signed.message).toEqual(parseTransaction(quote.unsignedTransaction!).message);
  });

  test('a SELL is quoted in shares; another receiver can be given', async () => {
    answers[QUOTE] = ok(sellQuote(signer.address));
    answers[SUBMIT] = ok({});
    const sell = { ticker: 'KXTEST-1-1', side: 'YES', action: 'SELL', shares: 3 } as const;
    await client().venueB.trade({ ...sell, destination: STRANGER, signer });
    expect(seen[0]?.body).toMatchObject({ shares: 3, destinationWallet: STRANGER });
    expect(seen[0]?.body).not.toHaveProperty('amount');
  });

  test('a transaction that does more than was asked is neither signed nor submitted', async () => {
    const drain = unsigned(signer.address, [transfer(signer.address, 5_000_001n)]);
    answers[QUOTE] = ok(buyQuote(signer.address, { unsignedTransaction: drain }));
    expect(await caught(client().venueB.trade({ ...BUY, signer }))).toBeInstanceOf(UnsafeTransaction);
    expect(calls()).toEqual([QUOTE]);
  });

  test('a degraded quote ends the trade with the reason of the venue', async () => {
    const { unsignedTransaction, ...bare } = buyQuote(signer.address);
    answers[QUOTE] = ok({ ...bare, quoteErrorCode: 'market_closed' } satisfies Quote);
    expect(await caught(client().venueB.trade({ ...BUY, signer }))).toMatchObject({
      code: 'quote_not_executable',
      quoteErrorCode: 'market_closed',
    });
    expect(calls()).toEqual([QUOTE]);
  });

  test('invalid amounts and addresses are refused before any request', async () => {
    const ask = { ...BUY, amount: 0.1234567 };
    await expect(async () => client().venueB.trade({ ...ask, signer })).rejects.toBeInstanceOf(QuoteError);
    await expect(async () => client().venueB.quote(BUY, 'me')).rejects.toMatchObject({
      code: 'invalid_solana_address',
    });
    expect(seen).toEqual([]);
  });

  test('after a broken connection the same signed transaction is submitted again', async () => {
    answers[QUOTE] = ok(buyQuote(signer.address));
    let tries = 0;
    answers[SUBMIT] = () => (++tries === 1 ? 'cut' : { status: 200, body: { orderId: 'x' } });
    await client().venueB.trade({ ...BUY, signer });
    expect(calls()).toEqual([QUOTE, SUBMIT, SUBMIT]);
    expect(seen[1]?.body).toEqual(seen[2]?.body);
  });
});

describe('wait', () => {
  const ORDER = 'GET /venueb/agent/orders/o1';

  test.each(['filled', 'partially_filled', 'reverted', 'expired', 'failed', 'canceled'])(
    'until %s',
    async (last) => {
      const statuses = ['submitted', 'open', 'open', last];
      answers[ORDER] = () => ({ status: 200, body: { status: statuses.shift() } });
      expect((await client().venueB.wait('o1')).status).toBe(last);
      expect(waits).toEqual([250, 375, 562.5]);
    },
  );

  test('ends at its timeout; an unknown status is not final', async () => {
    answers[ORDER] = ok({ status: 'a_new_word' });
    const error = await caught(client().venueB.wait('o1', { timeoutMs: 10_000 }));
    expect(error).toMatchObject({ code: 'still_open' });
    expect(waits.reduce((sum, each) => sum + each, 0)).toBe(10_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(2_000);
  });

  test('an unknown order is refused', async () => {
    expect(await caught(client().venueB.wait('o2'))).toBeInstanceOf(BellwetherApiError);
  });
});

describe('records, cancel and fee', () => {
  test('send the requests of the contract', async () => {
    const { venueB } = client();
    for (const call of [
      'GET /venueb/agent/orders?orderStatus=2&limit=5',
      'GET /venueb/agent/orders/a%2Fb',
      'POST /venueb/agent/cancel',
      'GET /venueb/agent/positions',
      'GET /venueb/agent/positions?userPublicKey=w',
      'POST /venueb/agent/positions',
      'GET /venueb/agent/delegation?walletAddress=w',
      'POST /venueb/agent/charge-fee',
      'POST /venueb/charge-fee',
    ])
      answers[call] = ok({});
    const fee = { amount: '0.05', fromAddress: signer.address };
    await venueB.orders({ orderStatus: 2, limit: 5 });
    await venueB.order('a/b');
    await venueB.cancel('o1');
    await venueB.positions();
    await venueB.positions('w');
    await client().listVenueBPositionsByPost('w');
    await venueB.delegation('w');
    await venueB.chargeFee(fee, { idempotencyKey: 'fee-1' });
    await client().chargeFee(fee);
    expect(calls()).toEqual(Object.keys(answers));
    expect(seen[2]?.body).toEqual({ orderId: 'o1' });
    expect(seen[5]?.body).toEqual({ userPublicKey: 'w' });
    expect(seen[7]?.body).toEqual(fee);
    expect(seen[7]?.headers['idempotency-key']).toBe('fee-1');
    expect(seen[8]?.headers['idempotency-key']).toBeUndefined();
  });

  test('a fee without a key is not sent twice after a broken connection, one with a key is', async () => {
    const fee = { amount: '0.05', fromAddress: signer.address };
    answers['POST /venueb/charge-fee'] = () => 'cut';
    await caught(client().chargeFee(fee));
    expect(seen).toHaveLength(1);
    seen = [];
    await caught(client().chargeFee(fee, { idempotencyKey: 'k' }));
    expect(seen).toHaveLength(4);
  });

  test('the link challenge is signed as text', async () => {
    const nonce = 'ab'.repeat(38);
    const message = challengeText({
      ...{ host: '127.0.0.1:8080', kind: 'solana', address: signer.address, chainId: null, nonce },
      ...{
        uri: 'http://127.0.0.1:8080/wallet/link',
        statement: CHALLENGE_PURPOSES.link.statement('agent-1'),
      },
      ...{ issuedAt: Date.now(), expiresAt: Date.now() + 300_000 },
    });
    answers[`GET /wallet/link/challenge?address=${signer.address}`] = ok({ nonce, message });
    answers['POST /wallet/link'] = ok({ success: true });
    await linkSolanaWallet(client(), signer, { agentId: 'agent-1', host: '127.0.0.1:8080' });
    const { signature, ...rest } = seen[1]!.body as { signature: string };
    expect(rest).toEqual({ address: signer.address, nonce });
    expect(verifySolanaMessage(signer.address, message, parseEd25519Signature(signature)!)).toBe(true);
  });
});

describe('approving the delegate, on a real token program', () => {
  const delegationOf = (owner: SolanaAddress, changed: Partial<Delegation> = {}): Delegation => ({
    walletAddress: owner,
    delegate: DELEGATE,
    feeWallet: DELEGATE,
    mint: USDC_MINT,
    tokenProgram: SOLANA_PROGRAMS.token,
    decimals: 6,
    tokenAccount: associatedTokenAddress(owner, USDC_MINT, SOLANA_PROGRAMS.token),
    exists: true,
    balance: '100',
    delegatedAmount: '0',
    maxFeeCharge: '100',
    rpcUrl: node.url,
    ...changed,
  });
  const answerDelegation = (changed: Partial<Delegation> = {}) => {
    answers[`GET /venueb/agent/delegation?walletAddress=${signer.address}`] = ok(
      delegationOf(signer.address, changed),
    );
  };
  const approve = (more: Partial<Parameters<BellwetherClient['venueB']['approveDelegate']>[0]> = {}) =>
    client().venueB.approveDelegate({ signer, amount: 1.5, ...more });

  beforeEach(async () => {
    await node.fund(signer.address, 100_000_000n);
    answerDelegation();
  });

  test('the delegate may take the approved amount and no more', async () => {
    const { signature } = await approve();
    expect(signature).toMatch(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/);
    const account = node.token(signer.address);
    expect([unwrapOption(account.delegate), account.delegatedAmount]).toEqual([DELEGATE, 1_500_000n]);
    expect(account.amount).toBe(100_000_000n);
    await approve({ amount: '0' });
    expect(node.token(signer.address).delegatedAmount).toBe(0n);
  });

  test("the caller's own node is preferred; a live chain requires it", async () => {
    answerDelegation({ rpcUrl: null });
    expect(await caught(approve())).toMatchObject({ code: 'rpc_url_required' });
    answerDelegation({ rpcUrl: 'http://127.0.0.1:9' });
    await approve({ rpcUrl: node.url, delegate: DELEGATE });
    expect(node.token(signer.address).delegatedAmount).toBe(1_500_000n);
  });

  test.each<[string, Partial<Delegation>]>([
    ['another wallet', { walletAddress: STRANGER }],
    ['another account', { tokenAccount: STRANGER }],
    ['another mint', { mint: STRANGER }],
    ['another program', { tokenProgram: SOLANA_PROGRAMS.token2022 }],
    ['other decimals', { decimals: 0 }],
  ])('a record about %s: nothing is signed', async (_, changed) => {
    answerDelegation(changed);
    expect(await caught(approve())).toMatchObject({ code: 'delegation_mismatch' });
    expect(node.calls).toEqual([]);
  });

  test('invalid approvals are refused before anything is signed', async () => {
    answerDelegation({ delegate: signer.address });
    expect(await caught(approve())).toMatchObject({ code: 'delegation_mismatch' });
    answerDelegation({ exists: false });
    expect(await caught(approve())).toMatchObject({ code: 'token_account_not_found' });
    answerDelegation();
    expect(await caught(approve({ delegate: USDC_MINT }))).toMatchObject({ code: 'delegation_mismatch' });
    expect(await caught(approve({ amount: '1.0000001' }))).toMatchObject({ code: 'invalid_amount' });
    expect(await caught(approve({ amount: -1 }))).toMatchObject({ code: 'invalid_amount' });
    expect(node.calls).toEqual([]);
  });

  test('after a lost answer the same bytes are sent again and land once', async () => {
    let sends = 0;
    let silences = 3;
    node.override = (method) => {
      if (method === 'sendTransaction') return ++sends === 1 ? 'cut' : undefined;
      return method === 'getSignatureStatuses' && silences-- > 0 ? 'cut' : undefined;
    };
    await approve();
    expect(sends).toBe(2);
    expect(node.token(signer.address).delegatedAmount).toBe(1_500_000n);
  });

  test('reports a refusal, a failure on chain and a transaction that never lands', async () => {
    node.override = (method) =>
      method === 'sendTransaction' ? { error: { code: -32002, message: 'preflight failed' } } : undefined;
    expect(await caught(approve())).toMatchObject({ code: 'transaction_failed' });
    node.override = (method) => {
      if (method === 'getSignatureStatuses')
        return { result: { value: [{ err: { InstructionError: [0, 1] } }] } };
      return method === 'sendTransaction' ? { result: 'x' } : undefined;
    };
    expect(await caught(approve())).toMatchObject({ code: 'transaction_failed' });
    node.override = (method) => {
      if (method === 'getBlockHeight') return { result: 151 };
      return method === 'sendTransaction' ? { result: 'x' } : undefined;
    };
    expect(await caught(approve())).toMatchObject({ code: 'not_confirmed' });
    node.override = () => 'cut';
    expect(await caught(approve())).toBeInstanceOf(SolanaRpcError);
    expect(node.token(signer.address).delegatedAmount).toBe(0n);
  });
});
