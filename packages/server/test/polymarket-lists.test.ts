/** Lists of a live venue that do not end, end early, or repeat themselves. */
import { type Address, toChecksumAddress } from '@bellwether/protocol';
import { beforeEach, describe, expect, test } from 'vitest';
import { ListingUnfinished } from '../src/domain/unavailable.ts';
import { createLiveAccounts } from '../src/venues/polymarket/accounts.ts';
import { createOrderClient, type OwnedKeys } from '../src/venues/polymarket/order-client.ts';
import { createGamma } from '../src/venues/polymarket/public-markets.ts';
import { createRedeemedReads } from '../src/venues/polymarket/sets.ts';
import { gammaMarket, type Json, openVenue } from './polymarket-stand-in.ts';

const ACCOUNT = '0x365f0ca36ae1f641e02fe3b7743673da42a13a70' as Address;
const keysOf = (nth: number): OwnedKeys => ({
  eoa: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' as Address,
  signatureType: 1,
  secrets: { apiKey: `key-${nth}`, secret: `${'A'.repeat(43)}=`, passphrase: 'pass' },
});
const KEYS = keysOf(1);
const MARKET = { conditionId: `0x${'5f'.repeat(32)}`, tokenIds: ['11', '22'] as const };
const BUY = { ...MARKET, pays: 'collateral' as const };

/** The pages of every list: what a cursor is answered with. */
let pageOf: (cursor: string | null, path: string) => Json;
let asked: string[];
let venue: Awaited<ReturnType<typeof open>>;

async function open() {
  const venue = await openVenue(({ pathname: path, searchParams: query }) => {
    asked.push(path);
    if (path.startsWith('/balance-allowance')) return { balance: '3000000000', allowances: {} };
    return pageOf(query.get('next_cursor') ?? query.get('cursor') ?? query.get('after_cursor'), path);
  });
  const { http, clock } = venue;
  return {
    ...venue,
    client: createOrderClient(http, clock),
    accounts: createLiveAccounts({ clob: http, data: http, keysOf: async () => KEYS, clock }),
    /** An account without a credential. */
    strangers: createLiveAccounts({ clob: http, data: http, keysOf: async () => null, clock }),
    gamma: createGamma(venue),
  };
}

beforeEach(async () => {
  asked = [];
  venue = await open();
});

const resting = (id: string): Json => ({
  ...{ id, status: 'LIVE', asset_id: '11', maker_address: toChecksumAddress(ACCOUNT), side: 'BUY' },
  ...{ original_size: '100', size_matched: '0', price: '0.5' },
});
const trade = (id: string): Json => ({
  ...{ id, taker_order_id: '0x1', asset_id: '11', size: '10', price: '0.5', status: 'MATCHED' },
  ...{ match_time: '1790000000', maker_orders: [] },
});
/** The same page again and again. */
const repeated = (row: Json) => () => ({ data: [row], next_cursor: 'Mg==' });
const alternating = (row: Json) => (cursor: string | null) => ({
  data: [row],
  next_cursor: cursor === 'Mg==' ? 'Mw==' : 'Mg==',
});
/** A new cursor each time, and never the last. */
function endless(row: Json) {
  let nth = 0;
  return () => ({ data: [row], next_cursor: `c${nth++}`, pagination: { next_cursor: `c${nth++}` } });
}

describe('the open orders that a balance subtracts', () => {
  test.each([
    ['whole millionths, a half of a share matched', [['100000000', '500000']], 49_750_000n],
    [
      'decimals beside a million shares',
      [
        ['1000000', '400000'],
        ['10', '0'],
      ],
      300_005_000_000n,
    ],
    ['a million shares alone, which are no order of one share', [['1000000', '0']], 500_000_000_000n],
  ])('have their sizes in one unit: %s', async (_, sizes, held) => {
    const data = sizes.map(([original_size, size_matched], nth) => ({
      ...{ ...resting(`0x${nth}`), original_size, size_matched },
    }));
    pageOf = () => ({ data, next_cursor: 'LTE=' });
    expect((await venue.accounts.balance(ACCOUNT, BUY)).held).toBe(held);
  });

  test('count once, however many pages show them', async () => {
    pageOf = (cursor) => ({
      data: [resting('0x1'), resting(cursor === null ? '0x2' : '0x3')],
      next_cursor: cursor === null ? 'Mg==' : 'LTE=',
    });
    expect(await venue.accounts.balance(ACCOUNT, BUY)).toMatchObject({
      held: 150_000_000n,
      available: 2_850_000_000n,
    });
  });

  test.each([
    ['repeats a page', repeated(resting('0x1'))],
    ['goes back to its first page', () => ({ data: [resting('0x1')], next_cursor: 'MA==' })],
    ['alternates between two', alternating(resting('0x1'))],
  ])('a list that %s is no list: the balance is not known, and says why', async (_, pages) => {
    pageOf = pages;
    const failed = await venue.accounts.balance(ACCOUNT, BUY).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ListingUnfinished);
    expect((failed as Error).message).toMatch(
      /^The venue's list \/data\/orders does not end: its page \d leads back to one that was read\.$/,
    );
    expect(asked.filter((path) => path === '/data/orders').length).toBeLessThanOrEqual(3);
    expect(venue.http.lists.unfinished()).toBe(1);
    const said = JSON.stringify(venue.said);
    expect(said).toContain('/data/orders');
    expect(said).not.toContain('key-1');
  });
});

describe('own orders and trades', () => {
  test('of a list in circles are refused after as many pages as it has', async () => {
    pageOf = (_cursor, path) => alternating(path === '/data/orders' ? resting('0x1') : trade('t1'))(_cursor);
    await expect(venue.client.openOrders(KEYS)).rejects.toBeInstanceOf(ListingUnfinished);
    await expect(venue.client.trades(KEYS, {})).rejects.toBeInstanceOf(ListingUnfinished);
    expect(asked).toHaveLength(6);
  });

  test('that never end cost so many pages in a listing, and so many in a minute for each key', async () => {
    pageOf = endless(trade('t1'));
    await expect(venue.client.trades(KEYS, {})).rejects.toThrow('it has more than 200 pages');
    expect(asked).toHaveLength(200);
    for (let nth = 0; nth < 20; nth++)
      await expect(venue.client.trades(KEYS, {})).rejects.toBeInstanceOf(ListingUnfinished);
    expect(asked.length).toBeLessThanOrEqual(600 + 21);
    await expect(venue.client.trades(KEYS, {})).rejects.toThrow('more than 600 pages in a minute');
    // Another key has its own minute, and a list of one page is always read.
    await expect(venue.client.trades(keysOf(2), {})).rejects.toThrow('it has more than 200 pages');
    pageOf = () => ({ data: [trade('t1'), trade('t1')], next_cursor: 'LTE=' });
    expect(await venue.client.trades(KEYS, {})).toHaveLength(1);
  });

  test('are all read where the list does end', async () => {
    pageOf = (cursor) => {
      const nth = Number(cursor ?? '0');
      return { data: [trade(`t${nth}`)], next_cursor: nth === 149 ? 'LTE=' : String(nth + 1) };
    };
    expect(await venue.client.trades(KEYS, {})).toHaveLength(150);
  });
});

describe('public lists', () => {
  test('positions and redemptions that do not end are not known', async () => {
    const row = { token_id: '11', condition_id: MARKET.conditionId, current_size: '5' };
    pageOf = () => ({ data: [row], pagination: { next_cursor: 'same' } });
    await expect(venue.strangers.tokens(ACCOUNT, MARKET)).rejects.toBeInstanceOf(ListingUnfinished);
    const redeemed = createRedeemedReads(venue.http);
    await expect(redeemed(ACCOUNT, [MARKET.conditionId])).rejects.toBeInstanceOf(ListingUnfinished);
    expect(asked).toHaveLength(4);
    pageOf = endless(row);
    await expect(redeemed(ACCOUNT, [MARKET.conditionId])).rejects.toThrow('it has more than 20 pages');
  });

  test('of the catalogue show what they have, each market once', async () => {
    pageOf = () => ({ markets: [gammaMarket()], next_cursor: 'same' });
    expect(await venue.gamma.open('volume24hr', 1_000)).toHaveLength(1);
    expect(asked).toHaveLength(2);
    pageOf = () => ({ events: [{ id: '1', markets: [gammaMarket()] }], pagination: { hasMore: true } });
    expect(await venue.gamma.search('rain')).toHaveLength(1);
    expect(asked).toHaveLength(6);
  });
});
