/**
 * Compares what the live venue answers with what this adapter reads and the doors on paper promise. Public reads only:
 * nothing is signed, nothing is sent that could have an effect. A market moves while it is looked at, so that figures of
 * two answers count as different only when they stay so.
 */
import { conditionIdOfBothWidths, positionIds, shortConditionId } from '@bellwether/protocol';
import type { VenueCall } from '../../packages/server/src/venues/polymarket/http.ts';
import { listOf, READ } from '../../packages/server/src/venues/polymarket/translate-market.ts';
import { Notes, type Row, rowOf, type SentinelServices } from './notes.ts';
import { type Difference, SHAPES, shown } from './shapes.ts';
import { listenTo } from './socket.ts';

const MARKETS_LOOKED_AT = 5;
/** No market has it. */
const NO_TOKEN = '1'.padEnd(76, '7');
const NOBODY = '0x0000000000000000000000000000000000000001';
const LAST_CURSOR = 'LTE=';

/** A market that has a book, as both services say it. */
interface Sample {
  readonly market: Row;
  readonly conditionId: string;
  readonly tokens: readonly [string, string];
}

/** @returns every difference; one of the kind `silent` where there was no answer to look at */
export async function lookForDifferences(services: SentinelServices): Promise<readonly Difference[]> {
  const look = new Look(services);
  const sample = await look.catalogue();
  await look.basics();
  if (sample !== null) {
    await look.records(sample);
    await look.books(sample);
    await look.prices(sample);
    await look.clobMarkets(sample);
    await look.socket(sample);
  }
  await look.data(sample);
  await look.site();
  await look.relayer();
  return look.differences;
}

class Look extends Notes {
  async catalogue(): Promise<Sample | null> {
    const query = { closed: false, order: 'volume24hr', ascending: false, limit: 100 };
    const { reply, where } = await this.ask('gamma', { path: '/markets/keyset', query });
    if (reply === null || !this.status(reply, 200, where)) return null;
    this.reads(READ.gammaMarkets, reply.value, where);
    const { markets, next_cursor } = rowOf(reply.value);
    if (!Array.isArray(markets)) return null;
    for (const market of markets.slice(0, MARKETS_LOOKED_AT)) {
      const { clobTokenIds: _, ...ofBoth } = SHAPES.gammaMarket;
      if (isOfV2(market)) this.shape({ ...ofBoth, ...SHAPES.gammaMarketV2 }, market, where);
      else this.shape(SHAPES.gammaMarket, market, where);
      this.reads(READ.gammaMarket, market, where);
    }
    if (markets.length === 100 && typeof next_cursor !== 'string')
      this.note('missing', where, 'next_cursor', 'a text while there are more', next_cursor);
    if (typeof next_cursor === 'string') {
      const after = await this.ask('gamma', {
        path: '/markets/keyset',
        query: { ...query, after_cursor: next_cursor },
      });
      const second = rowOf(after.reply?.value).markets;
      const [first] = Array.isArray(second) ? second : [];
      if (first !== undefined && rowOf(first).id === rowOf(markets[0]).id)
        this.note('value', where, 'after_cursor', 'another page', 'the first page again');
    }
    await this.refusal(
      'gamma',
      { path: '/markets/keyset', query: { offset: 5 } },
      422,
      'offset is not allowed',
    );
    // As the adapter lists the newest, and those that ended last.
    for (const [order, isClosed] of [
      ['startDate', false],
      ['endDate', true],
    ] as const) {
      const asked = { closed: isClosed, order, ascending: false, limit: 1 };
      const found = await this.ask('gamma', { path: '/markets/keyset', query: asked });
      if (found.reply !== null) this.status(found.reply, 200, `${found.where} by ${order}`);
    }
    const ofV2 = markets.find(isOfV2);
    if (ofV2 !== undefined) await this.protocolV2(rowOf(ofV2), where);
    return this.withBook(markets);
  }

  /** Assumptions of docs/decisions/protocol-v2.md about Protocol V2 that were not seen yet. */
  async protocolV2(market: Readonly<Record<string, unknown>>, listed: string): Promise<void> {
    const conditionId = conditionIdOfBothWidths(String(market.conditionId));
    const [yes, no] = positionIds(conditionId) ?? [];
    const said = Array.isArray(market.positionIds) ? market.positionIds : [];
    if (yes === undefined || said[0] !== yes || said[1] !== no) {
      this.note('value', `${listed} of v2`, 'positionIds', `those of ${conditionId}`, said);
      return;
    }
    const keyset = {
      path: '/markets/keyset',
      query: { condition_ids: [conditionId, shortConditionId(conditionId)] },
    };
    const found = await this.ask('gamma', keyset);
    const rows = rowOf(found.reply?.value).markets;
    if (!Array.isArray(rows) || rows.length === 0)
      this.note('value', `${found.where} of v2`, 'condition_ids', 'the market, by one of two widths', rows);
    const { reply, where } = await this.ask('clob', { path: '/book', query: { token_id: yes } });
    if (reply !== null && this.status(reply, 200, `${where} of v2`)) {
      this.shape(SHAPES.bookV2, reply.value, `${where} of v2`, false);
      if (rowOf(reply.value).market !== conditionId)
        this.note('value', `${where} of v2`, 'market', conditionId, rowOf(reply.value).market);
    }
    const compact = rowOf(await this.value('clob', { path: `/clob-markets/${conditionId}` }));
    if (compact.v !== 'v2') this.note('value', 'clob GET /clob-markets of v2', 'v', 'v2', compact.v);
    const resolution = await this.ask('data', { path: '/v2/resolutions', query: { condition: conditionId } });
    if (resolution.reply !== null && this.status(resolution.reply, 200, `${resolution.where} of v2`))
      this.reads(READ.dataPage, resolution.reply.value, `${resolution.where} of v2`);
  }

  async withBook(markets: readonly unknown[]): Promise<Sample | null> {
    for (const market of markets.map(rowOf)) {
      const tokens = listOf(market.clobTokenIds as string);
      const [yes, no] = tokens ?? [];
      if (typeof yes !== 'string' || typeof no !== 'string' || typeof market.conditionId !== 'string')
        continue;
      const book = READ.book(await this.value('clob', { path: '/book', query: { token_id: yes } }));
      if (book !== null && book.bids.length > 0 && book.asks.length > 0)
        return { market, conditionId: market.conditionId, tokens: [yes, no] };
    }
    this.note(
      'value',
      'clob GET /book',
      '',
      'a book with both sides for one of the most traded markets',
      'none',
    );
    return null;
  }

  async basics(): Promise<void> {
    const time = await this.ask('clob', { path: '/time' });
    if (time.reply !== null && !Number.isSafeInteger(time.reply.value))
      this.note('type', time.where, '', 'seconds as a bare integer', time.reply.value);
    const version = await this.ask('clob', { path: '/version' });
    if (version.reply !== null && rowOf(version.reply.value).version !== 2)
      this.note('value', version.where, 'version', '2', version.reply.value);
    const ok = await this.ask('clob', { path: '/ok' });
    if (ok.reply !== null && ok.reply.value !== 'OK')
      this.note('value', ok.where, '', '"OK"', ok.reply.value);
  }

  async records({ market, conditionId, tokens }: Sample): Promise<void> {
    const same = async (path: string, query: VenueCall['query'], of: (value: unknown) => unknown) => {
      const { reply, where } = await this.ask('gamma', { path, ...(query === undefined ? {} : { query }) });
      if (reply === null || !this.status(reply, 200, where)) return;
      const found = rowOf(of(reply.value)).conditionId;
      if (found !== conditionId) this.note('value', where, 'conditionId', conditionId, found);
    };
    const first = (value: unknown): unknown => {
      const { markets } = rowOf(value);
      return Array.isArray(markets) ? markets[0] : undefined;
    };
    await same(`/markets/${market.id}`, undefined, (value) => value);
    await same(`/markets/slug/${market.slug}`, undefined, (value) => value);
    await same('/markets/keyset', { condition_ids: [conditionId], closed: false }, first);
    await same('/markets/keyset', { clob_token_ids: [tokens[0]], closed: false }, first);
    const [word = 'will'] = String(market.question).match(/\p{L}{4,}/u) ?? [];
    const query = { q: word, limit_per_type: 5, events_status: 'all', keep_closed_markets: 1 };
    const { reply, where } = await this.ask('gamma', { path: '/public-search', query });
    if (reply === null || !this.status(reply, 200, where)) return;
    this.reads(READ.searchPage, reply.value, where);
    const { events, pagination } = rowOf(reply.value);
    if (typeof rowOf(pagination).hasMore !== 'boolean')
      this.note('missing', where, 'pagination.hasMore', 'boolean', pagination);
    for (const event of Array.isArray(events) ? events.slice(0, 2) : [])
      this.shape(SHAPES.gammaEvent, event, where);
  }

  async books({ tokens, conditionId }: Sample): Promise<void> {
    const path = '/book';
    const { reply, where } = await this.ask('clob', { path, query: { token_id: tokens[0] } });
    if (reply === null || !this.status(reply, 200, where)) return;
    this.shape(SHAPES.book, reply.value, where, true);
    this.reads(READ.book, reply.value, where);
    const book = rowOf(reply.value);
    if (book.market !== conditionId) this.note('value', where, 'market', conditionId, book.market);
    this.side(book.bids, 'ascending', `${where} bids`);
    this.side(book.asks, 'descending', `${where} asks`);
    const tick = rowOf(await this.value('clob', { path: '/tick-size', query: { token_id: tokens[0] } }));
    if (typeof tick.minimum_tick_size !== 'number' || String(tick.minimum_tick_size) !== book.tick_size)
      this.note('value', 'clob GET /tick-size', 'minimum_tick_size', `the number ${book.tick_size}`, tick);
    const risk = rowOf(await this.value('clob', { path: '/neg-risk', query: { token_id: tokens[0] } }));
    if (risk.neg_risk !== book.neg_risk)
      this.note('value', 'clob GET /neg-risk', 'neg_risk', shown(book.neg_risk), risk);
    await this.stable(`${where} of NO`, async () => {
      const [yes, no] = await Promise.all(
        tokens.map((token_id) => this.value('clob', { path, query: { token_id } })),
      );
      const [bid, ask] = [lastPrice(rowOf(yes).bids), lastPrice(rowOf(no).asks)];
      return bid !== null && ask !== null && Math.abs(bid + ask - 1) < 1e-9
        ? null
        : (['asks', 'the mirror of the bids of YES', `${bid} and ${ask}`] as const);
    });
    await this.refusal('clob', { path, query: { token_id: NO_TOKEN } }, 404, 'No orderbook exists');
    const body = JSON.stringify([{ token_id: tokens[0] }, { token_id: NO_TOKEN }]);
    const many = await this.ask('clob', { method: 'POST', path: '/books', body });
    const list = many.reply?.value;
    if (many.reply !== null && (!Array.isArray(list) || list.length !== 1))
      this.note('value', many.where, '', 'the known token alone', list);
  }

  /** Both sides have their best level last. */
  side(levels: unknown, order: 'ascending' | 'descending', where: string): void {
    if (!Array.isArray(levels)) return;
    for (const level of levels) this.shape(SHAPES.level, level, where, true);
    const prices = levels.map((level) => Number(rowOf(level).price));
    const isSorted = prices.every((price, nth) => {
      const before = prices[nth - 1];
      return before === undefined || (order === 'ascending' ? before < price : before > price);
    });
    if (!isSorted) this.note('value', where, 'order', `${order}, the best last`, prices.slice(0, 5));
  }

  async prices({ tokens }: Sample): Promise<void> {
    const [token_id] = tokens;
    const figure = async (path: string, field: string, query: VenueCall['query'] = {}) => {
      const found = rowOf(await this.value('clob', { path, query: { token_id, ...query } }))[field];
      return typeof found === 'string' ? Number(found) : null;
    };
    const compare = (
      where: string,
      field: string,
      asked: () => Promise<number | null>,
      of: (bid: number, ask: number) => number,
    ) =>
      this.stable(where, async () => {
        const [book, found] = await Promise.all([
          this.value('clob', { path: '/book', query: { token_id } }),
          asked(),
        ]);
        const [bid, ask] = [lastPrice(rowOf(book).bids), lastPrice(rowOf(book).asks)];
        if (bid === null || ask === null) return null;
        const promised = of(bid, ask);
        return found !== null && Math.abs(found - promised) < 1e-9
          ? null
          : ([field, `the text of ${promised}`, found] as const);
      });
    await compare(
      'clob GET /midpoint',
      'mid',
      () => figure('/midpoint', 'mid'),
      (bid, ask) => (bid + ask) / 2,
    );
    await compare(
      'clob GET /price BUY',
      'price',
      () => figure('/price', 'price', { side: 'BUY' }),
      (bid) => bid,
    );
    await compare(
      'clob GET /price SELL',
      'price',
      () => figure('/price', 'price', { side: 'SELL' }),
      (_, ask) => ask,
    );
    await compare(
      'clob GET /spread',
      'spread',
      () => figure('/spread', 'spread'),
      (bid, ask) => ask - bid,
    );
    const history = await this.ask('clob', {
      path: '/prices-history',
      query: { market: token_id, interval: '1d', fidelity: 60 },
    });
    const points = rowOf(history.reply?.value).history;
    if (history.reply !== null && !Array.isArray(points))
      this.note('type', history.where, 'history', 'array', history.reply.value);
    for (const point of Array.isArray(points) ? points.slice(0, 3) : [])
      this.shape({ t: 'integer', p: 'number' }, point, history.where, true);
  }

  async clobMarkets({ conditionId, tokens }: Sample): Promise<void> {
    const record = await this.ask('clob', { path: `/markets/${conditionId}` });
    const recordPath = 'clob GET /markets/{condition}';
    if (record.reply !== null && this.status(record.reply, 200, recordPath)) {
      this.shape(SHAPES.clobMarket, record.reply.value, recordPath);
      this.reads(READ.clobMarket, record.reply.value, recordPath);
      const found = rowOf(record.reply.value).tokens;
      for (const token of Array.isArray(found) ? found : [])
        this.shape(SHAPES.clobToken, token, recordPath, true);
    }
    const compact = await this.ask('clob', { path: `/clob-markets/${conditionId}` });
    const compactPath = 'clob GET /clob-markets/{condition}';
    if (compact.reply !== null && this.status(compact.reply, 200, compactPath)) {
      this.shape(SHAPES.compactMarket, compact.reply.value, compactPath);
      const list = rowOf(compact.reply.value).t;
      const ids = Array.isArray(list) ? list.map((token) => rowOf(token).t) : [];
      if (ids.join() !== tokens.join())
        this.note('value', compactPath, 't', 'the tokens in the order of clobTokenIds', ids);
    }
    const byToken = rowOf(await this.value('clob', { path: `/markets-by-token/${tokens[1]}` }));
    if (byToken.condition_id !== conditionId)
      this.note(
        'value',
        'clob GET /markets-by-token/{token}',
        'condition_id',
        conditionId,
        byToken.condition_id,
      );
    const page = await this.ask('clob', { path: '/simplified-markets' });
    if (page.reply !== null && this.status(page.reply, 200, page.where))
      this.shape(SHAPES.page, page.reply.value, page.where, true);
    await this.refusal(
      'clob',
      { path: '/simplified-markets', query: { next_cursor: LAST_CURSOR } },
      400,
      'next item',
    );
  }

  async data(sample: Sample | null): Promise<void> {
    const pages: [string, VenueCall['query']][] = [['/v2/positions', { user: NOBODY, limit: 1 }]];
    if (sample !== null) {
      pages.push(['/v2/resolutions', { condition: sample.conditionId }]);
      pages.push(['/v2/trades', { condition: sample.conditionId, limit: 1 }]);
    }
    for (const [path, query] of pages) {
      const { reply, where } = await this.ask('data', { path, query: query ?? {} });
      if (reply === null || !this.status(reply, 200, where)) continue;
      this.shape(SHAPES.dataPage, reply.value, where, true);
      this.reads(READ.dataPage, reply.value, where);
    }
    const { reply, where } = await this.ask('data', { path: '/v2/positions' });
    if (reply !== null && this.status(reply, 400, `${where} without a user`))
      this.shape(SHAPES.dataError, reply.value, `${where} without a user`);
  }

  async site(): Promise<void> {
    if (this.services.site === null) return;
    const { reply, where } = await this.ask('site', { path: '/api/geoblock' });
    if (reply !== null && this.status(reply, 200, where)) this.reads(READ.geoblock, reply.value, where);
  }

  /** Reads of terms, which need no credentials; what it lists of transactions only the operator can see. */
  async relayer(): Promise<void> {
    if (this.services.relayer === null) return;
    const asked = [
      ['/nonce', 'SAFE', READ.relayNonce],
      ['/nonce', 'WALLET', READ.relayNonce],
      ['/relay-payload', 'PROXY', READ.relayPayload],
    ] as const;
    for (const [path, type, check] of asked) {
      const { reply, where } = await this.ask('relayer', { path, query: { address: NOBODY, type } });
      const named = `${where} of ${type}`;
      if (reply !== null && this.status(reply, 200, named)) this.reads(check, reply.value, named);
    }
  }

  async socket({ tokens }: Sample): Promise<void> {
    const where = 'socket market';
    const heard = await listenTo(this.services.socketUrl, tokens[0]);
    if (heard === null) {
      this.note('silent', where, '', 'a connection', 'none');
      return;
    }
    if (!heard.includes('PONG')) this.note('missing', where, 'PONG', 'the answer to PING', 'nothing');
    const [first] = heard.filter((text) => text !== 'PONG').map(parsed);
    if (!Array.isArray(first)) {
      this.note('type', where, 'initial dump', 'an array of books', first);
      return;
    }
    const book = rowOf(first[0]);
    if (book.event_type !== 'book') this.note('value', where, 'event_type', 'book', book.event_type);
    const { tick_size: _, min_order_size: __, neg_risk: ___, ...needed } = SHAPES.book;
    this.shape(needed, book, `${where} book`);
    this.reads(READ.book, book, `${where} book`);
    this.side(book.bids, 'ascending', `${where} book bids`);
    this.side(book.asks, 'descending', `${where} book asks`);
    for (const event of heard.flatMap(parsed).map(rowOf)) {
      if (event.event_type !== 'price_change') continue;
      this.reads(READ.priceChanges, event, `${where} price_change`);
      for (const change of Array.isArray(event.price_changes) ? event.price_changes : [])
        this.shape(SHAPES.priceChange, change, `${where} price_change`, true);
    }
  }
}

const isOfV2 = (market: unknown): boolean => rowOf(market).version === 'v2';

const lastPrice = (levels: unknown): number | null => {
  const price = rowOf(Array.isArray(levels) ? levels.at(-1) : undefined).price;
  return typeof price === 'string' ? Number(price) : null;
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
