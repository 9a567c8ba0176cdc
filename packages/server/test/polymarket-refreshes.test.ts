/** When the venue is asked to look at the chain, which it allows five times a second for the whole desk. */
import { type Address, toChecksumAddress } from '@bellwether/protocol';
import { beforeEach, describe, expect, test } from 'vitest';
import { createLiveAccounts } from '../src/venues/polymarket/accounts.ts';
import { openVenue } from './polymarket-stand-in.ts';

const ACCOUNT = '0x365f0ca36ae1f641e02fe3b7743673da42a13a70' as Address;
const OTHER = '0x766b6851a199bf91ae3fa13b1cfac5187355118f' as Address;
const KEYS = {
  eoa: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' as Address,
  signatureType: 1 as const,
  secrets: { apiKey: 'key', secret: `${'A'.repeat(43)}=`, passphrase: 'pass' },
};
const M = 1_000_000n;
const MARKET = { conditionId: `0x${'5f'.repeat(32)}`, tokenIds: ['11', '22'] as const };
const buy = (needed: bigint) => ({ ...MARKET, pays: 'collateral' as const, needed });
const sell = (needed: bigint) => ({ ...MARKET, pays: 'YES' as const, needed });

/** Amounts on the chain, and those that the venue's cache knows. */
let chain: { collateral: bigint; token: bigint };
let cache: { collateral: bigint; token: bigint };
let resting: bigint;
/** Shares that were bought and are not settled. */
let settling: bigint;
let asked: string[];
/** When a look at the chain ends. */
let looked: Promise<void>;
let accounts: ReturnType<typeof createLiveAccounts>;

async function open() {
  const { http, clock } = await openVenue(async ({ pathname: path, searchParams: query }) => {
    asked.push(path);
    const isToken = query.get('asset_type') !== 'COLLATERAL';
    if (path === '/balance-allowance/update') {
      await looked;
      cache = { ...cache, ...(isToken ? { token: chain.token } : { collateral: chain.collateral }) };
      return '';
    }
    if (path === '/balance-allowance')
      return { balance: String(isToken ? cache.token : cache.collateral), allowances: {} };
    const row = { id: '0x1', asset_id: '11', maker_address: toChecksumAddress(ACCOUNT), side: 'BUY' };
    const order = { ...row, original_size: String(resting / M), size_matched: '0', price: '1' };
    return { data: resting === 0n ? [] : [order], next_cursor: 'LTE=' };
  });
  const unsettled = async () => settling;
  return createLiveAccounts({ clob: http, data: http, keysOf: async () => KEYS, clock, unsettled });
}

beforeEach(async () => {
  chain = { collateral: 1_000n * M, token: 100n * M };
  cache = { ...chain };
  resting = 0n;
  settling = 0n;
  asked = [];
  looked = Promise.resolve();
  accounts = await open();
});

const count = (path: string): number => asked.filter((one) => one === path).length;
const updates = (): number => count('/balance-allowance/update');

describe('an order', () => {
  test('that the last known figure covers asks for nothing: 72 orders that fill cost no look at the chain', async () => {
    looked = new Promise(() => {});
    for (let nth = 0; nth < 72; nth++) {
      const found = await accounts.balance(ACCOUNT, buy(5n * M));
      expect(found.available).toBeGreaterThanOrEqual(5n * M);
      accounts.traded(ACCOUNT);
    }
    expect(updates()).toBe(0);
    expect(count('/balance-allowance')).toBeLessThan(10);
  });

  test('counts what earlier ones needed, although the venue has not been asked since', async () => {
    for (let nth = 0; nth < 200; nth++) await accounts.balance(ACCOUNT, buy(5n * M));
    // A thousand is used up by figures that are a moment old: asked again, the venue still says a thousand.
    const before = count('/balance-allowance');
    await accounts.balance(ACCOUNT, buy(5n * M));
    expect(count('/balance-allowance')).toBeGreaterThanOrEqual(before);
    cache.collateral = 3n * M;
    chain.collateral = 3n * M;
    accounts.traded(ACCOUNT);
    expect((await accounts.balance(ACCOUNT, buy(5n * M))).available).toBe(3n * M);
  });

  test('that is not covered has the venue look at the chain, once in a while and once for all that ask', async () => {
    chain.collateral = 5_000n * M;
    const all = await Promise.all(
      Array.from({ length: 10 }, () => accounts.balance(ACCOUNT, buy(2_000n * M))),
    );
    // The deposit is found.
    expect(all.map(({ available }) => available)).toEqual(Array(10).fill(5_000n * M));
    expect(updates()).toBe(1);
    for (let nth = 0; nth < 10; nth++) {
      const short = await accounts.balance(ACCOUNT, buy(9_000n * M));
      expect(short.available).toBe(5_000n * M);
    }
    expect(updates()).toBe(1);
  });

  test('that sells what was just bought is not refused because the venue’s cache lags', async () => {
    cache.token = 0n;
    const found = await accounts.balance(ACCOUNT, sell(50n * M));
    expect(found.shares(MARKET.conditionId, 'YES')).toBe(100n * M);
    expect(updates()).toBe(1);
  });

  test('that sells what is not settled says how much that is, and only where it is short', async () => {
    settling = 30n * M;
    expect(await accounts.balance(ACCOUNT, sell(100n * M))).not.toHaveProperty('unsettled');
    for (let nth = 0; nth < 2; nth++)
      expect(await accounts.balance(ACCOUNT, sell(130n * M))).toMatchObject({ unsettled: 30n * M });
    expect(await accounts.balance(ACCOUNT, buy(2_000n * M))).not.toHaveProperty('unsettled');
  });

  test('is not covered by what rests', async () => {
    resting = 990n * M;
    expect((await accounts.balance(ACCOUNT, buy(20n * M))).available).toBe(10n * M);
  });
});

describe('the venue’s refusal', () => {
  test('is a reason: the next order waits for a look, and believes no earlier figure', async () => {
    await accounts.balance(ACCOUNT, buy(5n * M));
    chain.collateral = 1n * M;
    accounts.outdated(ACCOUNT);
    expect((await accounts.balance(ACCOUNT, buy(5n * M))).available).toBe(1n * M);
    expect(updates()).toBe(1);
    // The figures of this account alone.
    await accounts.balance(OTHER, buy(1n * M));
    expect(updates()).toBe(1);
  });
});

test('a balance that is read shows fills a while later, without a look for each', async () => {
  const ask = { freshMs: 0, patienceMs: 2_000 };
  await accounts.balances([ACCOUNT], ask);
  chain.collateral = 995n * M;
  accounts.traded(ACCOUNT);
  for (let nth = 0; nth < 5; nth++) await accounts.balances([ACCOUNT], ask);
  await expect.poll(async () => (await accounts.balances([ACCOUNT], ask)).total).toBe(995n * M);
  expect(updates()).toBe(1);
});
