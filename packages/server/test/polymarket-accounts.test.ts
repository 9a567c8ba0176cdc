/** Holdings of accounts at the live venue, and how those of a resolved market are redeemed. */
import {
  type Address,
  CONDITIONAL_TOKENS,
  CTF_COLLATERAL_ADAPTER,
  POLYGON_EXCHANGES,
  POSITION_MANAGER,
  POSITION_ROUTER,
  toChecksumAddress,
  verifyL2Signature,
} from '@bellwether/protocol';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { MarketRecord } from '../src/domain/market.ts';
import { VenueUnavailable } from '../src/domain/unavailable.ts';
import { createLiveAccounts, createShortageReason } from '../src/venues/polymarket/accounts.ts';
import type { OwnedKeys } from '../src/venues/polymarket/order-client.ts';
import { createLiveRedemption } from '../src/venues/polymarket/sets.ts';
import { watchGeoblock } from '../src/venues/polymarket/venue.ts';
import type { MarketData, VenueOrder } from '../src/venues/venue.ts';
import { type Json, openVenue } from './polymarket-stand-in.ts';

const ACCOUNT = '0x365f0ca36ae1f641e02fe3b7743673da42a13a70' as Address;
const STRANGER = `0x${'99'.repeat(20)}` as Address;
const SECRET = `${'A'.repeat(43)}=`;
const KEYS: OwnedKeys = {
  eoa: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' as Address,
  signatureType: 1,
  secrets: { apiKey: '00000000-0000-4000-8000-000000000001', secret: SECRET, passphrase: 'pass' },
};
const MARKET = { conditionId: `0x${'5f'.repeat(32)}`, tokenIds: ['11', '22'] as const };
const V2_POSITION = 663574927012476832975694178961957910328055987427402067619466963999000625152n;
const V2 = {
  conditionId: `0x${V2_POSITION.toString(16).padStart(64, '0')}`,
  tokenIds: [String(V2_POSITION), String(V2_POSITION + 1n)] as const,
};
const paying = (pays: 'collateral' | 'YES' | 'NO') => ({ ...MARKET, pays });
const BUY = paying('collateral');

let state: {
  collateral: string;
  tokens: Record<string, string>;
  approvals: Record<string, string>;
  orders: Json[];
  positions: Json[];
  activity: Json[];
  isDown: boolean;
  blocked: boolean;
};
let asked: { path: string; query: URLSearchParams; headers: Record<string, unknown> }[];
let venue: Awaited<ReturnType<typeof open>>;

async function open() {
  const { http, log, clock } = await openVenue(
    (url, { headers }) => {
      asked.push({ path: url.pathname, query: url.searchParams, headers });
      return state.isDown ? new Response(null, { status: 503 }) : answer(url);
    },
    () => 1_790_000_000_500,
  );
  const keysOf = async (account: Address) => (account === ACCOUNT ? KEYS : null);
  const accounts = createLiveAccounts({ clob: http, data: http, keysOf, clock });
  return { service: http, accounts, keysOf, log };
}

function answer({ pathname, searchParams: query }: URL): unknown {
  switch (pathname) {
    case '/balance-allowance/update':
      return '';
    case '/balance-allowance':
      return query.get('asset_type') === 'COLLATERAL'
        ? {
            balance: state.collateral,
            allowances: { '0xE111180000d2663C0091e4f400237545B87B996B': '1000000000' },
          }
        : { balance: state.tokens[query.get('token_id') ?? ''] ?? '0', allowances: state.approvals };
    case '/data/orders': {
      const cursor = query.get('next_cursor');
      const half = Math.ceil(state.orders.length / 2);
      return cursor === null
        ? { data: state.orders.slice(0, half), next_cursor: 'Mg==' }
        : { data: state.orders.slice(half), next_cursor: 'LTE=' };
    }
    case '/v2/positions':
      return { data: state.positions, pagination: { has_more: false, next_cursor: null } };
    case '/v2/activity': {
      const isFirst = query.get('cursor') === null;
      return {
        data: isFirst ? state.activity.slice(0, 4) : state.activity.slice(4),
        pagination: { has_more: isFirst, next_cursor: isFirst ? 'next' : null },
      };
    }
    case '/api/geoblock':
      return { blocked: state.blocked, country: 'XX', region: null };
  }
  return undefined;
}

beforeEach(async () => {
  asked = [];
  state = {
    collateral: '100000000',
    tokens: { 11: '40000000', 22: '0' },
    approvals: {},
    orders: [],
    positions: [],
    activity: [],
    isDown: false,
    blocked: false,
  };
  venue = await open();
});

const resting = (changes: Json): Json => ({
  asset_id: '11',
  maker_address: toChecksumAddress(ACCOUNT),
  side: 'BUY',
  original_size: '10',
  size_matched: '0',
  price: '0.5',
  ...changes,
});

describe('a balance', () => {
  test('is what the account has without what its open orders need', async () => {
    state.orders = [
      resting({ size_matched: '4' }),
      resting({ original_size: '20', size_matched: '0', price: '0.25', asset_id: '22' }),
      resting({ side: 'SELL', original_size: '15' }),
      resting({ maker_address: STRANGER, original_size: '1000' }),
      { broken: true },
    ];
    const balance = await venue.accounts.balance(ACCOUNT, BUY);
    expect(balance.held).toBe(3_000_000n + 5_000_000n);
    expect(balance.available).toBe(92_000_000n);
    const inTokens = await venue.accounts.balance(ACCOUNT, paying('YES'));
    expect(inTokens.shares(MARKET.conditionId, 'YES')).toBe(25_000_000n);
    expect(inTokens.shares('another', 'YES')).toBe(0n);
    // A balance that was not asked about is nothing, not a guess.
    expect([inTokens.available, inTokens.shares(MARKET.conditionId, 'NO')]).toEqual([0n, 0n]);
  });

  test('never falls below nothing', async () => {
    state.orders = [resting({ original_size: '1000' })];
    expect((await venue.accounts.balance(ACCOUNT, BUY)).available).toBe(0n);
  });

  test('is asked for with the agent’s own credential, after the venue was asked to look', async () => {
    venue.accounts.outdated(ACCOUNT);
    await venue.accounts.balance(ACCOUNT, BUY);
    const [update, figure] = ['/balance-allowance/update', '/balance-allowance'].map((path) =>
      asked.findIndex((one) => one.path === path && one.query.get('asset_type') === 'COLLATERAL'),
    );
    expect(update).toBeLessThan(figure!);
    const { headers, query } = asked[figure!]!;
    expect(query.get('signature_type')).toBe('1');
    expect(headers).toMatchObject({
      poly_address: toChecksumAddress(KEYS.eoa),
      poly_api_key: KEYS.secrets.apiKey,
    });
    const request = { timestamp: String(headers.poly_timestamp), method: 'GET', path: '/balance-allowance' };
    expect(verifyL2Signature(SECRET, request, String(headers.poly_signature))).toBe(true);
  });

  test('is shared by orders in a row, and asked for again after a change', async () => {
    await Promise.all(Array.from({ length: 20 }, () => venue.accounts.balance(ACCOUNT, BUY)));
    const once = asked.length;
    expect(asked.map(({ path }) => path).sort()).toEqual([
      '/balance-allowance',
      '/data/orders',
      '/data/orders',
    ]);
    await venue.accounts.balance(ACCOUNT, BUY);
    expect(asked).toHaveLength(once);
    state.collateral = '7000000';
    venue.accounts.outdated(ACCOUNT);
    expect((await venue.accounts.balance(ACCOUNT, BUY)).available).toBe(7_000_000n);
    expect(asked.filter(({ path }) => path === '/balance-allowance/update')).toHaveLength(1);
  });

  test('of an account without a credential is not known', async () => {
    await expect(venue.accounts.balance(STRANGER, BUY)).rejects.toBeInstanceOf(VenueUnavailable);
    expect(await venue.accounts.allowances(STRANGER, null)).toBeNull();
    expect([...((await venue.accounts.allowances(ACCOUNT, null)) ?? [])]).toEqual([
      ['0xe111180000d2663c0091e4f400237545b87b996b', 1_000_000_000n],
    ]);
  });
});

describe('a read', () => {
  const ask = { freshMs: 0, patienceMs: 2_000 };

  test('keeps the last known figure while the venue is silent, and says its age', async () => {
    expect(await venue.accounts.balances([ACCOUNT], ask)).toMatchObject({
      total: 100_000_000n,
      available: 100_000_000n,
    });
    state.isDown = true;
    const old = await venue.accounts.balances([ACCOUNT], { freshMs: 0, patienceMs: 50 });
    expect(old).toMatchObject({ total: 100_000_000n });
    expect(old.ageMs).toBeGreaterThan(0);
  });

  test('says that a figure was never known', async () => {
    state.isDown = true;
    const silent = { freshMs: 0, patienceMs: 50 };
    expect(await venue.accounts.balances([ACCOUNT], silent)).toEqual({
      total: 0n,
      available: 0n,
      ageMs: null,
    });
    state.isDown = false;
    expect((await venue.accounts.balances([ACCOUNT, STRANGER], ask)).ageMs).toBeNull();
  });

  test('in a market shows the public positions of an account without a credential', async () => {
    state.positions = [
      { token_id: '11', condition_id: MARKET.conditionId, current_size: 12.5 },
      { token_id: 'broken', condition_id: 1 },
    ];
    const market = MARKET as unknown as MarketRecord;
    expect(await venue.accounts.inMarket(STRANGER, market, ask)).toEqual({
      available: null,
      free: { YES: 12_500_000n, NO: 0n },
    });
    expect(await venue.accounts.inMarket(ACCOUNT, market, ask)).toEqual({
      available: 100_000_000n,
      free: { YES: 40_000_000n, NO: 0n },
    });
  });
});

describe('a redemption', () => {
  const redemptionOf = (market: object | null) => {
    const markets = { find: async () => market } as unknown as Pick<MarketData, 'find'>;
    const { accounts, keysOf, service } = venue;
    return createLiveRedemption({
      ...{ markets, accounts, data: service, keysOf, chainId: 137, relaying: null },
    });
  };
  const redeem = (market: object | null, account = ACCOUNT) =>
    redemptionOf(market).redeem(account, MARKET.conditionId);
  const resolved = { ...MARKET, status: 'resolved', payout: 'YES', negRisk: false };

  test('is the call for the owner of the wallet to sign', async () => {
    const answer = await redeem(resolved);
    expect(answer).toMatchObject({
      kind: 'unsigned',
      transactions: [
        {
          to: '0xab45c5a4b0c941a2f231c04c3f49182e1a254052',
          value: '0',
          chainId: 137,
          data: expect.stringMatching(/^0x34ee9791/),
        },
      ],
    });
    expect(JSON.stringify(answer)).toContain(`resolved YES, from ${KEYS.eoa}`);
  });

  test('of a neg-risk market goes to the other adapter', async () => {
    state.positions = [{ token_id: '22', condition_id: MARKET.conditionId, current_size: '3' }];
    expect(await redeem({ ...resolved, negRisk: true }, STRANGER)).toMatchObject({
      kind: 'unsigned',
      transactions: [
        { to: '0xada2005600dec949baf300f4c6120000bdb6eaab', data: expect.stringMatching(/^0x01b7037c/) },
      ],
    });
  });

  test.each([
    ['may or may not be', {}, false, 'could not be checked'],
    ['is', { [CTF_COLLATERAL_ADAPTER]: '1' }, false, 'has approved this adapter'],
    ['is not', { [CTF_COLLATERAL_ADAPTER]: '0' }, true, 'has not approved this adapter'],
  ])(
    'says so when the adapter %s approved, and adds the call that is missing',
    async (_, approvals, isMissing, words) => {
      state.approvals = approvals;
      const answer = await redeem(resolved);
      if (answer.kind !== 'unsigned') throw new Error(answer.kind);
      const [only, ...others] = answer.transactions;
      expect(others).toEqual([]);
      expect(only?.description).toContain(words);
      // From the proxy wallet, whose factory carries both calls: setApprovalForAll to the conditional tokens comes first.
      expect(only?.to).toBe('0xab45c5a4b0c941a2f231c04c3f49182e1a254052');
      const data = only?.data ?? '';
      const approval = data.indexOf(`a22cb465${CTF_COLLATERAL_ADAPTER.slice(2).padStart(64, '0')}`);
      expect(approval !== -1).toBe(isMissing);
      expect(data.includes(CONDITIONAL_TOKENS.slice(2))).toBe(isMissing);
      expect(data.indexOf('01b7037c')).toBeGreaterThan(approval);
    },
  );

  test.each([
    ['YES', [['0', 40_000_000n]]],
    ['NO', [['1', 30_000_000n]]],
    [
      'HALF',
      [
        ['0', 40_000_000n],
        ['1', 30_000_000n],
      ],
    ],
    [
      '0.24',
      [
        ['0', 40_000_000n],
        ['1', 30_000_000n],
      ],
    ],
  ] as const)(
    'of a market of v2 that resolved %s names outcome and amount at the router',
    async (payout, parts) => {
      state.tokens = { [V2.tokenIds[0]]: '40000000', [V2.tokenIds[1]]: '30000000' };
      state.approvals = { [POSITION_ROUTER]: '0' };
      const answer = await redeem({ ...V2, ...{ status: 'resolved', payout, negRisk: true, version: 'v2' } });
      if (answer.kind !== 'unsigned') throw new Error(answer.kind);
      const [only, ...others] = answer.transactions;
      expect(others).toEqual([]);
      const data = only?.data ?? '';
      expect(data).toContain(POSITION_MANAGER.slice(2));
      expect(data).toContain(`a22cb465${POSITION_ROUTER.slice(2).padStart(64, '0')}`);
      expect(data.split('d217a3cc')).toHaveLength(1 + parts.length);
      for (const [outcome, amount] of parts)
        expect(data).toContain(
          `d217a3cc${V2.conditionId.slice(2)}${outcome.padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`,
        );
      const types = asked.map(({ query }) => query.get('asset_type')).filter((type) => type !== null);
      expect(new Set(types)).toEqual(new Set(['CONDITIONAL-V2']));
    },
  );

  test('of a market of v2 that lists No first names the outcome as the contract counts it', async () => {
    const [no, yes] = V2.tokenIds;
    state.tokens = { [no]: '40000000', [yes]: '30000000' };
    const turned = { ...V2, tokenIds: [yes, no] as const, negRisk: true, version: 'v2' as const };
    const answer = await redeem({ ...turned, status: 'resolved', payout: 'YES' });
    const [only] = answer.kind === 'unsigned' ? answer.transactions : [];
    expect(only?.data).toContain(
      `d217a3cc${V2.conditionId.slice(2)}${'1'.padStart(64, '0')}${30_000_000n.toString(16).padStart(64, '0')}`,
    );
  });

  test('of nothing, before the outcome is proved, and of a market that is not listed', async () => {
    state.tokens = {};
    expect(await redeem(resolved)).toEqual({ kind: 'redeemed', yes: 0n, no: 0n, payout: 0n });
    expect(await redeem({ ...resolved, status: 'closed' })).toEqual({ kind: 'not_resolved' });
    await expect(redeem(null)).rejects.toBeInstanceOf(VenueUnavailable);
  });

  test('that the owner made is read from the activity, each of its rows once, and only its rows', async () => {
    const row = (changes: Json): Json => ({
      type: 'REDEEM',
      proxy_wallet: toChecksumAddress(ACCOUNT),
      condition_id: MARKET.conditionId,
      token_id: '11',
      size: 12.345678,
      timestamp: 1_790_000_000,
      transaction_hash: '0x01',
      ...changes,
    });
    state.activity = [
      row({}),
      row({ token_id: '22', size: 3 }),
      row({ type: 'TRADE', transaction_hash: '0x02' }),
      row({ proxy_wallet: STRANGER, transaction_hash: '0x03' }),
      row({ condition_id: `0x${'60'.repeat(32)}`, transaction_hash: '0x04' }),
      row({ transaction_hash: '0x05', size: '7', timestamp: 1_790_000_100 }),
      { broken: true },
      row({}),
      // Protocol V2 redeems by amount: one transaction may do so several times with a token, also with the same amount.
      row({ size: 2 }),
      row({ size: 2 }),
    ];
    const many = [
      MARKET.conditionId,
      ...Array.from({ length: 24 }, (_, i) => `0x${String(i).padStart(64, '0')}`),
    ];
    expect(await redemptionOf(null).redeemed?.(ACCOUNT, many)).toEqual([
      { tokenId: '11', size: 23_345_678n, at: 1_790_000_100_000 },
      { tokenId: '22', size: 3_000_000n, at: 1_790_000_000_000 },
    ]);
    const questions = asked.filter(({ path }) => path === '/v2/activity').map(({ query }) => query);
    // Two pages for the first twenty markets, two for the others: with a cursor the filters are sent again.
    expect(questions.map((query) => query.get('condition')?.split(',').length)).toEqual([20, 20, 5, 5]);
    expect(questions.map((query) => query.get('cursor'))).toEqual([null, 'next', null, 'next']);
    for (const query of questions)
      expect([query.get('user'), query.get('type')]).toEqual([ACCOUNT, 'REDEEM']);
  });
});

describe('an order that was refused for want of balance or allowance', () => {
  const order = {
    funder: ACCOUNT,
    conditionId: MARKET.conditionId,
    outcome: 'YES',
    shares: 10_000_000n,
  } as const;
  const reason = (given: object, negRisk = false, of: object = MARKET, words: string | null = null) => {
    const markets = { find: async () => ({ ...of, negRisk }) as unknown as MarketRecord };
    const terms = { side: 'BUY', limit: 5_000, spend: null, ...order, ...given };
    return createShortageReason({ accounts: venue.accounts, markets })(terms as VenueOrder, words);
  };

  test('has the missing allowance as its reason, with figures, once the venue has looked at the chain again', async () => {
    expect(await reason({ spend: 2_000_000_000n })).toMatch(
      /0xe111180000d2663c0091e4f400237545b87b996b may move 1000 pUSD .* needs 2000\./,
    );
    expect(asked.map(({ path }) => path)).toContain('/balance-allowance/update');
    expect(await reason({})).toBeNull();
  });

  test('has the missing approval of its tokens as its reason', async () => {
    state.approvals = { [POLYGON_EXCHANGES.v2NegRisk]: '0' };
    expect(await reason({ side: 'SELL' }, true)).toContain('may not move outcome tokens');
    const ofV2 = { ...V2, version: 'v2' };
    state.approvals = { [POLYGON_EXCHANGES.v3]: '0' };
    expect(await reason({ side: 'SELL' }, true, ofV2)).toContain(POLYGON_EXCHANGES.v3);
    // Nothing is known of a contract that the venue does not list.
    expect(await reason({ side: 'SELL' })).toBeNull();
  });

  test('has no reason while the venue does not answer', async () => {
    state.isDown = true;
    expect(await reason({ spend: 2_000_000_000n })).toBeNull();
  });
});

test('the region is asked for again and again, and only shown', async () => {
  const { service, log } = venue;
  const watch = watchGeoblock({ http: service, log, everyMs: 20 });
  expect(watch.notice()).toBeNull();
  await vi.waitFor(() => expect(watch.blocked()).toBe(false), { timeout: 30_000 });
  state.blocked = true;
  await vi.waitFor(
    () => expect(watch.notice()).toBe('the venue does not serve this region (XX): it refuses orders'),
    { timeout: 30_000 },
  );
  state.isDown = true;
  watch.close();
  expect(watch.blocked()).toBe(true);
});
