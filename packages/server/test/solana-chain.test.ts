/** The chain adapter against a Solana node that answers as a test says: what it reads, simulates and sends. */
import {
  associatedTokenAddress,
  effectsOf,
  readTransaction,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  toBase58,
  USDC_MINT,
} from '@bellwether/protocol';
import { address } from '@solana/kit';
import { AccountState, getMintEncoder, getTokenEncoder } from '@solana-program/token';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { standIn } from '../../../test/stand-in.ts';
import { fetchSend } from '../src/platform/outbound/http.ts';
import type { Chain } from '../src/venues/chain.ts';
import { createSolanaChain } from '../src/venues/solana/solana-chain.ts';

type Reply = { readonly result: string } | { readonly error: object } | { readonly status: number };

/** JSON as text, so that numbers can have any size. */
const result = (text: string): Reply => ({ result: text });
const valued = (value: unknown): Reply =>
  result(JSON.stringify({ context: { slot: 1, apiVersion: '3.0.0' }, value }));
const NO_METHOD: Reply = { error: { code: -32601, message: 'Method not found' } };

const asked: { method: string; params: unknown[] }[] = [];
let answers: Record<string, Reply | ((params: unknown[]) => Reply)> = {};
let url: string;
let chain: Chain;

const newChain = (): Chain => {
  const log = { warn() {}, info() {} };
  return createSolanaChain({ url, send: fetchSend, clock: { now: Date.now }, log });
};

beforeAll(async () => {
  url = await standIn(({ body }, response) => {
    const { id, method, params } = JSON.parse(body);
    asked.push({ method, params });
    const answer = answers[method] ?? NO_METHOD;
    const said = typeof answer === 'function' ? answer(params) : answer;
    if ('status' in said) response.writeHead(said.status).end('upstream is unwell');
    else {
      const text = 'error' in said ? `"error":${JSON.stringify(said.error)}` : `"result":${said.result}`;
      response.setHeader('content-type', 'application/json').end(`{"jsonrpc":"2.0","id":${id},${text}}`);
    }
  });
});
beforeEach(() => {
  asked.length = 0;
  answers = {};
  chain = newChain();
});

const key = (fill: number) => toBase58(new Uint8Array(32).fill(fill)) as SolanaAddress;
const WALLET = key(7);
const OUTCOME = key(8);

const encoded = (owner: string, data: Iterable<number>, lamports = 2_039_280) => ({
  lamports,
  owner,
  data: [Buffer.from(Uint8Array.from(data)).toString('base64'), 'base64'],
  executable: false,
  rentEpoch: 18_446_744_073_709_552_000,
});

function tokens(owner: SolanaAddress, mint: SolanaAddress, amount: bigint, more: object = {}) {
  return getTokenEncoder().encode({
    mint: address(mint),
    owner: address(owner),
    amount,
    delegate: null,
    state: AccountState.Initialized,
    isNative: null,
    delegatedAmount: 0n,
    closeAuthority: null,
    ...more,
  });
}

const mint = (decimals: number) =>
  getMintEncoder().encode({
    mintAuthority: null,
    supply: 1n,
    decimals,
    isInitialized: true,
    freezeAuthority: null,
  });

const accounts = (known: Record<string, object>) => (params: unknown[]) =>
  valued(known[params[0] as string] ?? null);

describe('the duration of a block', () => {
  /** @param slots in a minute */
  const samples = (...slots: readonly number[]) =>
    result(
      JSON.stringify(
        slots.map((numSlots) => ({ slot: 1, numTransactions: 1, numSlots, samplePeriodSecs: 60 })),
      ),
    );

  test('comes from the node’s samples and is cached for a minute', async () => {
    answers.getRecentPerformanceSamples = samples(75, 125);
    expect(await chain.blockMs()).toBe(600);
    answers.getRecentPerformanceSamples = samples(150);
    expect(await chain.blockMs()).toBe(600);
    expect(asked).toHaveLength(1);
  });

  test('is the shortest possible when the node’s samples are missing or implausible', async () => {
    expect(await chain.blockMs()).toBe(400);
    for (const odd of [samples(), samples(6_000), result('"soon"')]) {
      answers.getRecentPerformanceSamples = odd;
      expect(await newChain().blockMs()).toBe(400);
    }
    answers.getRecentPerformanceSamples = samples(1);
    expect(await newChain().blockMs()).toBe(5_000);
  });
});

/** As Token-2022 lays an account out: padding, its kind, then extensions. */
const extended = (data: Iterable<number>, kind: number): number[] => {
  const bytes = [...data];
  return [...bytes, ...new Array<number>(165 - bytes.length).fill(0), kind, 7, 0, 0, 0];
};

describe('reading', () => {
  test('lamports beyond 2^53 are exact', async () => {
    answers.getBalance = result('{"context":{"slot":1},"value":9007199254740993}');
    expect(await chain.lamports(WALLET)).toBe(9007199254740993n);
    expect(asked[0]?.params).toEqual([WALLET, { commitment: 'confirmed' }]);
  });

  test('a token account lies where its mint’s program puts it', async () => {
    const at = associatedTokenAddress(WALLET, OUTCOME, SOLANA_PROGRAMS.token2022);
    const more = { delegate: address(key(9)), delegatedAmount: 3n, state: AccountState.Frozen };
    answers.getAccountInfo = accounts({
      [OUTCOME]: encoded(SOLANA_PROGRAMS.token2022, extended(mint(6), 1)),
      [at]: encoded(SOLANA_PROGRAMS.token2022, extended(tokens(WALLET, OUTCOME, 5n, more), 2)),
    });
    expect(await chain.tokenAccount(WALLET, OUTCOME)).toMatchObject({
      ...{ address: at, mint: OUTCOME, owner: WALLET, amount: 5n, frozen: true },
      ...{ delegate: key(9), delegatedAmount: 3n },
    });
    // The mint's program is cached here.
    await chain.tokenAccount(WALLET, OUTCOME);
    expect(asked).toHaveLength(3);
  });

  test('an account that is missing, without its mint, or of another owner counts as absent', async () => {
    answers.getAccountInfo = accounts({});
    expect(await chain.tokenAccount(WALLET, USDC_MINT)).toBeNull();
    const at = associatedTokenAddress(WALLET, USDC_MINT, SOLANA_PROGRAMS.token);
    const usdc = encoded(SOLANA_PROGRAMS.token, mint(6));
    answers.getAccountInfo = accounts({ [USDC_MINT]: usdc });
    expect(await chain.tokenAccount(WALLET, USDC_MINT)).toBeNull();
    answers.getAccountInfo = accounts({
      [at]: encoded(SOLANA_PROGRAMS.token, tokens(key(1), USDC_MINT, 5n)),
    });
    expect(await chain.tokenAccount(WALLET, USDC_MINT)).toBeNull();
  });

  test('a mint with other decimals is not accepted as money', async () => {
    answers.getAccountInfo = accounts({ [OUTCOME]: encoded(SOLANA_PROGRAMS.token, mint(9)) });
    await expect(chain.tokenAccount(WALLET, OUTCOME)).rejects.toThrow('9 decimals');
  });

  test('outcome tokens are the accounts of Token-2022 that hold something', async () => {
    const account = (amount: bigint, kind = 2) =>
      encoded(SOLANA_PROGRAMS.token2022, extended(tokens(WALLET, OUTCOME, amount), kind));
    answers.getTokenAccountsByOwner = valued([
      { pubkey: key(1), account: account(4n) },
      { pubkey: key(2), account: account(0n) },
      { pubkey: key(3), account: account(6n, 1) },
    ]);
    expect(await chain.outcomeAccounts(WALLET)).toMatchObject([{ address: key(1), amount: 4n }]);
    expect(asked[0]?.params[1]).toEqual({ programId: SOLANA_PROGRAMS.token2022 });
  });

  test.each<[string, Reply]>([
    ['a refusal', { error: { code: -32005, message: 'Node is behind', data: { numSlotsBehind: 9 } } }],
    ['another shape', valued({ lamports: 'many' })],
    ['not JSON', { status: 403 }],
    ['no answer from the upstream', { status: 502 }],
  ])('%s is refused as an answer', async (_what, reply) => {
    answers.getBalance = reply;
    await expect(chain.lamports(WALLET)).rejects.toMatchObject({ name: 'ChainUnavailable' });
  });

  test('the status reports an unreachable node', async () => {
    expect(chain.status()).toBe('ready');
    answers.getBalance = { status: 503 };
    for (let i = 0; i < 2; i++) await chain.lamports(WALLET).catch(() => {});
    expect(chain.status()).toBe('the Solana RPC does not answer');
  });
});

describe('landings', () => {
  const status = (
    confirmationStatus: string | undefined,
    err: unknown,
    confirmations: number | null = 1,
  ) => ({
    slot: 5,
    confirmations,
    err,
    status: { Ok: null },
    ...(confirmationStatus === undefined ? {} : { confirmationStatus }),
  });

  test('count from `confirmed` on, failures too', async () => {
    answers.getSignatureStatuses = valued([
      null,
      status('processed', null, 0),
      status('confirmed', null),
      status('finalized', null, null),
      status(undefined, null, null),
      status(undefined, null, 3),
      status('confirmed', { InstructionError: [2, { Custom: 83 }] }),
      status('processed', 'AccountInUse'),
      status('a level of tomorrow', null),
    ]);
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
    const landings = await chain.landings(names, true);
    expect(names.map((name) => landings.get(name)?.kind).join(' ')).toBe(
      'unseen unseen landed landed landed unseen failed unseen unseen',
    );
    expect(landings.get('g')).toEqual({ kind: 'failed', reason: 'instruction 2: Custom 83' });
    expect(asked[0]?.params).toEqual([names, { searchTransactionHistory: true }]);
  });

  test('an answer with too few signatures is refused, and at most 256 are requested', async () => {
    answers.getSignatureStatuses = valued([null]);
    await expect(chain.landings(['a', 'b'], false)).rejects.toMatchObject({ name: 'ChainUnavailable' });
    await expect(chain.landings(new Array(257).fill('a'), false)).rejects.toThrow(RangeError);
    expect(await chain.landings([], false)).toEqual(new Map());
  });
});

describe('sending', () => {
  const wire = Uint8Array.of(1, 2, 3);
  const preflight = (err: unknown): Reply => {
    const data = { err, logs: [], unitsConsumed: 0 };
    return { error: { code: -32002, message: 'Transaction simulation failed', data } };
  };

  test('uses base64 and our commitment, without retries by the node', async () => {
    answers.sendTransaction = result('"signature"');
    expect(await chain.send(wire)).toEqual({ kind: 'sent' });
    expect(asked[0]?.params).toEqual([
      'AQID',
      { encoding: 'base64', skipPreflight: false, preflightCommitment: 'confirmed', maxRetries: 0 },
    ]);
  });

  const UNKNOWN = { kind: 'unknown' };
  const refused = (reason: string) => ({ kind: 'refused', reason });

  test.each<[Reply, object]>([
    [preflight('BlockhashNotFound'), UNKNOWN],
    [preflight('AlreadyProcessed'), { kind: 'sent' }],
    [preflight('InsufficientFundsForFee'), refused('InsufficientFundsForFee')],
    [preflight({ InsufficientFundsForRent: { account_index: 0 } }), refused('InsufficientFundsForRent')],
    [preflight({ InstructionError: [1, { Custom: 1 }] }), refused('instruction 1: Custom 1')],
    [
      preflight({ InstructionError: [0, 'InvalidAccountData'] }),
      refused('instruction 0: InvalidAccountData'),
    ],
    [preflight('AccountInUse'), UNKNOWN],
    [preflight('AnErrorOfTomorrow'), UNKNOWN],
    [preflight(null), UNKNOWN],
    [
      { error: { code: -32003, message: 'Transaction signature verification failure' } },
      refused('SignatureFailure'),
    ],
    [{ error: { code: -32005, message: 'Node is unhealthy' } }, UNKNOWN],
    [{ error: { code: -32602, message: 'invalid params' } }, UNKNOWN],
    [{ status: 429 }, UNKNOWN],
    [{ status: 500 }, UNKNOWN],
    [result('{"odd":1}'), UNKNOWN],
  ])('%j means %j', async (reply, answer) => {
    answers.sendTransaction = reply;
    expect(await chain.send(wire)).toEqual(answer);
    expect(asked).toHaveLength(1);
  });
});

test('a fee transfer is made by the delegate to the destination’s account, and its memo makes it unique', async () => {
  const [owner, delegate, destination] = [key(11), key(12), key(13)];
  const latest = { blockhash: key(20), lastValidBlockHeight: 512 };
  answers.getLatestBlockhash = valued(latest);
  answers.getAccountInfo = accounts({ [USDC_MINT]: encoded(SOLANA_PROGRAMS.token, mint(6)) });
  const transfer = { mint: USDC_MINT, owner, delegate, destination, amount: 1_234_567n };
  const built = await chain.buildDelegatedTransfer({ ...transfer, memo: 'fee 1' });
  expect(built.lastValidBlockHeight).toBe(512);
  const tx = readTransaction(built.wire);
  expect(tx.message).toEqual(built.message);
  expect(tx).toMatchObject({ version: 0, requiredSignatures: 1, recentBlockhash: key(20) });
  expect(tx.accountKeys[0]).toBe(delegate);
  expect(tx.signatures[0]).toEqual(new Uint8Array(64));
  const into = associatedTokenAddress(destination, USDC_MINT, SOLANA_PROGRAMS.token);
  expect(effectsOf(tx)).toMatchObject([
    { kind: 'create_account', payer: delegate, account: into, owner: destination },
    {
      kind: 'transfer',
      source: associatedTokenAddress(owner, USDC_MINT, SOLANA_PROGRAMS.token),
      destination: into,
      authority: delegate,
      amount: 1_234_567n,
      mint: USDC_MINT,
    },
    { kind: 'harmless' },
  ]);

  answers.getAccountInfo = accounts({
    [into]: encoded(SOLANA_PROGRAMS.token, tokens(destination, USDC_MINT, 0n)),
  });
  const again = await chain.buildDelegatedTransfer({ ...transfer, memo: 'fee 2' });
  expect(effectsOf(readTransaction(again.wire)).map(({ kind }) => kind)).toEqual(['transfer', 'harmless']);
});

describe('simulating', () => {
  const DELEGATE = key(12);
  const SOURCE = associatedTokenAddress(WALLET, USDC_MINT, SOLANA_PROGRAMS.token);
  const SINK = associatedTokenAddress(key(13), USDC_MINT, SOLANA_PROGRAMS.token);

  /** A transaction that may write DELEGATE, SINK and SOURCE. */
  async function transaction(): Promise<Uint8Array> {
    answers.getLatestBlockhash = valued({ blockhash: key(20), lastValidBlockHeight: 512 });
    answers.getAccountInfo = accounts({
      [USDC_MINT]: encoded(SOLANA_PROGRAMS.token, mint(6)),
      [SINK]: encoded(SOLANA_PROGRAMS.token, tokens(key(13), USDC_MINT, 0n)),
    });
    const built = await chain.buildDelegatedTransfer({
      ...{ mint: USDC_MINT, owner: WALLET, delegate: DELEGATE, destination: key(13), amount: 4n, memo: 'm' },
    });
    return built.wire;
  }
  const usdc = (owner: SolanaAddress, amount: bigint, more: object = {}) =>
    encoded(SOLANA_PROGRAMS.token, tokens(owner, USDC_MINT, amount, more));
  const system = (lamports: number) => encoded(SOLANA_PROGRAMS.system, [], lamports);

  function states(before: Record<string, object>, after: Record<string, object>, more: object = {}) {
    answers.getMultipleAccounts = (params) =>
      valued((params[0] as string[]).map((each) => before[each] ?? null));
    answers.simulateTransaction = (params) => {
      const { addresses } = (params[1] as { accounts: { addresses: string[] } }).accounts;
      const accounts = addresses.map((each) => after[each] ?? null);
      return valued({ err: null, logs: null, accounts, ...more });
    };
  }

  test('reports the changes of the wallet’s accounts only', async () => {
    const wire = await transaction();
    states(
      { [DELEGATE]: system(100), [SOURCE]: usdc(WALLET, 10n), [SINK]: usdc(key(13), 0n) },
      { [DELEGATE]: system(90), [SOURCE]: usdc(WALLET, 6n), [SINK]: usdc(key(13), 4n) },
    );
    const paid = { account: SOURCE, mint: USDC_MINT, before: 10n, after: 6n, authorityChanged: false };
    expect(await chain.simulate(wire, WALLET, false)).toEqual({ kind: 'ok', changes: [paid] });
    const cost = { account: DELEGATE, mint: null, before: 100n, after: 90n, authorityChanged: false };
    expect(await chain.simulate(wire, DELEGATE, true)).toEqual({ kind: 'ok', changes: [cost] });
    const simulations = asked.filter(({ method }) => method === 'simulateTransaction');
    expect(simulations.map(({ params }) => params[1])).toMatchObject([
      { sigVerify: false, replaceRecentBlockhash: true },
      { sigVerify: true, replaceRecentBlockhash: false },
    ]);
  });

  test.each<[string, object | null]>([
    ['a delegate', usdc(WALLET, 10n, { delegate: address(key(66)), delegatedAmount: 10n })],
    ['another owner', usdc(key(66), 10n)],
    ['a close authority', usdc(WALLET, 10n, { closeAuthority: address(key(66)) })],
    ['a freeze', usdc(WALLET, 10n, { state: AccountState.Frozen })],
    ['its closing', null],
  ])('detects %s', async (_what, after) => {
    const wire = await transaction();
    states({ [SOURCE]: usdc(WALLET, 10n) }, after === null ? {} : { [SOURCE]: after });
    expect(await chain.simulate(wire, WALLET, false)).toMatchObject({
      kind: 'ok',
      changes: [{ account: SOURCE, authorityChanged: true }],
    });
  });

  test('detects a change of the wallet’s owning program', async () => {
    const wire = await transaction();
    states({ [DELEGATE]: system(100) }, { [DELEGATE]: encoded(key(66), [], 100) });
    expect(await chain.simulate(wire, DELEGATE, false)).toMatchObject({
      changes: [{ mint: null, authorityChanged: true }],
    });
  });

  test('balances from the simulation itself take precedence over a separate read', async () => {
    const wire = await transaction();
    const accountIndex = readTransaction(wire).accountKeys.indexOf(SOURCE);
    const before = { accountIndex, mint: USDC_MINT, uiTokenAmount: { amount: '10', decimals: 6 } };
    const later = { [SOURCE]: usdc(WALLET, 6n) };
    states(later, later, { preTokenBalances: [before] });
    expect(await chain.simulate(wire, WALLET, false)).toMatchObject({
      changes: [{ account: SOURCE, before: 10n, after: 6n }],
    });
  });

  test('reports why the transaction would fail, without guessing when the node is vague', async () => {
    const wire = await transaction();
    states({}, {}, { err: { InstructionError: [1, { Custom: 1 }] } });
    expect(await chain.simulate(wire, WALLET, false)).toEqual({
      kind: 'would_fail',
      reason: 'instruction 1: Custom 1',
    });
    for (const [signed, vague] of [
      [true, { err: 'BlockhashNotFound' }],
      [false, { accounts: null }],
      [false, { accounts: [] }],
    ] as const) {
      states({}, {}, vague);
      expect(await chain.simulate(wire, WALLET, signed)).toEqual({ kind: 'unknown' });
    }
    delete answers.simulateTransaction;
    expect(await chain.simulate(wire, WALLET, false)).toEqual({ kind: 'unknown' });
    expect(await chain.simulate(Uint8Array.of(1), WALLET, false)).toMatchObject({ kind: 'would_fail' });
  });
});
