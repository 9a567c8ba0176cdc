/** The chain adapter sends and simulates. */
import {
  associatedTokenAddress,
  effectsOf,
  readTransaction,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  USDC_MINT,
} from '@bellwether/protocol';
import { AccountState } from '@solana-program/token';
import { describe, expect, test } from 'vitest';
import {
  accounts,
  answers,
  asked,
  chain,
  encoded,
  key,
  kit,
  mint,
  type Reply,
  result,
  tokens,
  useStage,
  valued,
  WALLET,
} from './solana-node-stage.ts';

useStage();

describe('sending', () => {
  const wire = Uint8Array.of(1, 2, 3);
  const preflight = (err: unknown): Reply => ({
    error: {
      code: -32002,
      message: 'Transaction simulation failed',
      data: { err, logs: [], unitsConsumed: 0 },
    },
  });

  test('uses base64 and our commitment, without retries by the node', async () => {
    answers.sendTransaction = result('"signature"');
    expect(await chain.send(wire)).toEqual({ kind: 'sent' });
    expect(asked[0]?.params).toEqual([
      'AQID',
      { encoding: 'base64', skipPreflight: false, preflightCommitment: 'confirmed', maxRetries: 0 },
    ]);
  });

  test.each<[Reply, object]>([
    [preflight('BlockhashNotFound'), { kind: 'unknown' }],
    [preflight('AlreadyProcessed'), { kind: 'sent' }],
    [preflight('InsufficientFundsForFee'), { kind: 'refused', reason: 'InsufficientFundsForFee' }],
    [
      preflight({ InsufficientFundsForRent: { account_index: 0 } }),
      { kind: 'refused', reason: 'InsufficientFundsForRent' },
    ],
    [
      preflight({ InstructionError: [1, { Custom: 1 }] }),
      { kind: 'refused', reason: 'instruction 1: Custom 1' },
    ],
    [
      preflight({ InstructionError: [0, 'InvalidAccountData'] }),
      { kind: 'refused', reason: 'instruction 0: InvalidAccountData' },
    ],
    [preflight('AccountInUse'), { kind: 'unknown' }],
    [preflight('AnErrorOfTomorrow'), { kind: 'unknown' }],
    [preflight(null), { kind: 'unknown' }],
    [
      { error: { code: -32003, message: 'Transaction signature verification failure' } },
      { kind: 'refused', reason: 'SignatureFailure' },
    ],
    [{ error: { code: -32005, message: 'Node is unhealthy' } }, { kind: 'unknown' }],
    [{ error: { code: -32602, message: 'invalid params' } }, { kind: 'unknown' }],
    [{ status: 429 }, { kind: 'unknown' }],
    [{ status: 500 }, { kind: 'unknown' }],
    [result('{"odd":1}'), { kind: 'unknown' }],
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
    const { wire } = await chain.buildDelegatedTransfer({
      mint: USDC_MINT,
      owner: WALLET,
      delegate: DELEGATE,
      destination: key(13),
      amount: 4n,
      memo: 'm',
    });
    return wire;
  }
  const usdc = (owner: SolanaAddress, amount: bigint, more: object = {}) =>
    encoded(SOLANA_PROGRAMS.token, tokens(owner, USDC_MINT, amount, more));
  const system = (lamports: number) => encoded(SOLANA_PROGRAMS.system, [], lamports);

  function states(before: Record<string, object>, after: Record<string, object>, more: object = {}) {
    answers.getMultipleAccounts = (params) =>
      valued((params[0] as string[]).map((each) => before[each] ?? null));
    answers.simulateTransaction = (params) => {
      const { addresses } = (params[1] as { accounts: { addresses: string[] } }).accounts;
      return valued({
        err: null,
        logs: null,
        accounts: addresses.map((each) => after[each] ?? null),
        ...more,
      });
    };
  }

  test('reports the changes of the wallet’s accounts only', async () => {
    const wire = await transaction();
    states(
      { [DELEGATE]: system(100), [SOURCE]: usdc(WALLET, 10n), [SINK]: usdc(key(13), 0n) },
      { [DELEGATE]: system(90), [SOURCE]: usdc(WALLET, 6n), [SINK]: usdc(key(13), 4n) },
    );
    expect(await chain.simulate(wire, WALLET, false)).toEqual({
      kind: 'ok',
      changes: [{ account: SOURCE, mint: USDC_MINT, before: 10n, after: 6n, authorityChanged: false }],
    });
    expect(await chain.simulate(wire, DELEGATE, true)).toEqual({
      kind: 'ok',
      changes: [{ account: DELEGATE, mint: null, before: 100n, after: 90n, authorityChanged: false }],
    });
    const simulations = asked.filter(({ method }) => method === 'simulateTransaction');
    expect(simulations.map(({ params }) => params[1])).toMatchObject([
      { sigVerify: false, replaceRecentBlockhash: true },
      { sigVerify: true, replaceRecentBlockhash: false },
    ]);
  });

  test.each<[string, object | null]>([
    ['a delegate', usdc(WALLET, 10n, { delegate: kit(key(66)), delegatedAmount: 10n })],
    ['another owner', usdc(key(66), 10n)],
    ['a close authority', usdc(WALLET, 10n, { closeAuthority: kit(key(66)) })],
    ['a freeze', usdc(WALLET, 10n, { state: AccountState.Frozen })],
    ['its closing', null],
  ])('detects %s', async (_what, after) => {
    const wire = await transaction();
    states({ [SOURCE]: usdc(WALLET, 10n) }, after === null ? {} : { [SOURCE]: after });
    const simulation = await chain.simulate(wire, WALLET, false);
    expect(simulation).toMatchObject({
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
    const at = readTransaction(wire).accountKeys.indexOf(SOURCE);
    states(
      { [SOURCE]: usdc(WALLET, 6n) },
      { [SOURCE]: usdc(WALLET, 6n) },
      {
        preTokenBalances: [
          { accountIndex: at, mint: USDC_MINT, uiTokenAmount: { amount: '10', decimals: 6 } },
        ],
      },
    );
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
    states({}, {}, { err: 'BlockhashNotFound' });
    expect(await chain.simulate(wire, WALLET, true)).toEqual({ kind: 'unknown' });
    states({}, {}, { accounts: null });
    expect(await chain.simulate(wire, WALLET, false)).toEqual({ kind: 'unknown' });
    states({}, {}, { accounts: [] });
    expect(await chain.simulate(wire, WALLET, false)).toEqual({ kind: 'unknown' });
    delete answers.simulateTransaction;
    expect(await chain.simulate(wire, WALLET, false)).toEqual({ kind: 'unknown' });
    expect(await chain.simulate(Uint8Array.of(1), WALLET, false)).toMatchObject({ kind: 'would_fail' });
  });
});
