/** The chain adapter reads blocks, accounts and landings. */
import { associatedTokenAddress, SOLANA_PROGRAMS, USDC_MINT } from '@bellwether/protocol';
import { AccountState } from '@solana-program/token';
import { describe, expect, test } from 'vitest';
import { fetchSend } from '../src/platform/outbound/http.ts';
import { createSolanaChain } from '../src/venues/solana/solana-chain.ts';
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
  url,
  useStage,
  valued,
  WALLET,
} from './solana-node-stage.ts';

useStage();

describe('the duration of a block', () => {
  const samples = (...each: readonly { numSlots: number; samplePeriodSecs: number }[]) =>
    result(JSON.stringify(each.map((one) => ({ slot: 1, numTransactions: 1, ...one }))));

  test('comes from the node’s samples and is cached for a minute', async () => {
    answers.getRecentPerformanceSamples = samples(
      { numSlots: 75, samplePeriodSecs: 60 },
      { numSlots: 125, samplePeriodSecs: 60 },
    );
    expect(await chain.blockMs()).toBe(600);
    answers.getRecentPerformanceSamples = samples({ numSlots: 150, samplePeriodSecs: 60 });
    expect(await chain.blockMs()).toBe(600);
    expect(asked).toHaveLength(1);
  });

  test('is the shortest possible when the node’s samples are missing or implausible', async () => {
    expect(await chain.blockMs()).toBe(400);
    const log = { warn() {}, info() {} };
    const fresh = () => createSolanaChain({ url, send: fetchSend, clock: { now: Date.now }, log });
    for (const odd of [samples(), samples({ numSlots: 6_000, samplePeriodSecs: 60 }), result('"soon"')]) {
      answers.getRecentPerformanceSamples = odd;
      expect(await fresh().blockMs()).toBe(400);
    }
    answers.getRecentPerformanceSamples = samples({ numSlots: 1, samplePeriodSecs: 60 });
    expect(await fresh().blockMs()).toBe(5_000);
  });
});

const OUTCOME = key(8);

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
    answers.getAccountInfo = accounts({
      [OUTCOME]: encoded(SOLANA_PROGRAMS.token2022, extended(mint(6), 1)),
      [at]: encoded(
        SOLANA_PROGRAMS.token2022,
        extended(
          tokens(WALLET, OUTCOME, 5n, {
            delegate: kit(key(9)),
            delegatedAmount: 3n,
            state: AccountState.Frozen,
          }),
          2,
        ),
      ),
    });
    const expected = { address: at, mint: OUTCOME, owner: WALLET, amount: 5n, frozen: true };
    expect(await chain.tokenAccount(WALLET, OUTCOME)).toMatchObject({
      ...expected,
      delegate: key(9),
      delegatedAmount: 3n,
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
