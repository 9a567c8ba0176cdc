/** What is wrong with a request: fields by their schema, and an order that does not agree with itself or its market. */
import * as contract from '@bellwether/contract';
import { LINES, NAME, type Operation, PRINTABLE, TradeRequest } from '@bellwether/contract';
import { Type } from 'typebox';
import { beforeAll, expect, test } from 'vitest';
import { incoherences, type MarketTerms, type VenueRules } from '../src/domain/coherence.ts';
import { readDraft } from '../src/domain/draft.ts';
import { compileFor, fieldErrors } from '../src/platform/http/validation.ts';
import { draftOf, MARKET, SIGNER, signedRequest } from './drafts.ts';

const NOW = Date.UTC(2026, 0, 2);
const RULES = { gtdMinLeadS: 180 };
const STRANGER = '0x00000000000000000000000000000000000000aa';
const inSeconds = (ahead: number): string => String(NOW / 1000 + ahead);

let sound: TradeRequest;
beforeAll(async () => {
  sound = await signedRequest();
});

type Bend = (request: TradeRequest) => Record<string, unknown>;
const fields =
  (change: Record<string, unknown>): Bend =>
  () =>
    change;
const order =
  (change: Record<string, unknown>, rest: Record<string, unknown> = {}): Bend =>
  (request) => ({ ...rest, order: { ...request.order, ...change } });

const faultsOf = (
  bend: Bend = fields({}),
  market: Partial<MarketTerms> = {},
  rules: VenueRules = RULES,
): string[] =>
  incoherences(
    draftOf({ ...sound, ...bend(sound) } as TradeRequest),
    { ...MARKET, ...market },
    rules,
    NOW,
  ).map(({ code, path }) => `${code} ${path}`);

test('a sound order has no fault', () => {
  expect(faultsOf()).toEqual([]);
});

const BUY_NOW = { isLimitOrder: false, orderType: 'FAK' };
const LIMIT_NOW = { isLimitOrder: true, orderType: 'FOK' };
/** Sells 10 shares for 4 at once. */
const sell = (change: Record<string, unknown>, rest: Record<string, unknown> = {}) =>
  order(
    { side: 'SELL', makerAmount: '10000000', takerAmount: '4000000', ...change },
    { ...BUY_NOW, ...rest },
  );
const GTD = { orderType: 'GTD' };

const ROWS: readonly (readonly [string, Bend, Partial<MarketTerms>?])[] = [
  ['market_not_active marketConditionId', fields({}), { tradable: false }],
  [
    'market_version_not_supported marketConditionId',
    fields({}),
    { tradable: false, untradable: 'contract_version' },
  ],
  ['tick_size_not_supported marketConditionId', fields({}), { tradable: false, untradable: 'tick_size' }],
  ['fee_terms_not_supported marketConditionId', fields({}), { tradable: false, untradable: 'fee_terms' }],
  ['token_market_mismatch order.tokenId', order({ tokenId: '9' })],
  ['outcome_token_mismatch outcome', fields({ outcome: 'NO' })],
  ['outcome_token_mismatch outcome', order({ tokenId: '1002' })],
  ['order_type_mismatch orderType', fields({ isLimitOrder: false, orderType: 'GTC' })],
  ['post_only_mismatch postOnly', fields({ orderType: 'FOK', postOnly: true })],
  ['taker_not_supported order.taker', order({ taker: STRANGER })],
  ['salt_out_of_range order.salt', order({ salt: '9007199254740992' })],
  ['fee_rate_out_of_range order.feeRateBps', order({ feeRateBps: '1001' })],
  ['amount_out_of_range order.makerAmount', order({ makerAmount: '0' })],
  ['amount_out_of_range order.takerAmount', order({ takerAmount: '0' })],
  ['order_size_mismatch orderSize', fields({ orderSize: 10.01 })],
  ['order_size_mismatch orderSize', fields({ orderSize: 9.99 })],
  ['price_off_tick_grid price', fields({ price: 0.405 })],
  ['price_off_tick_grid price', fields({ price: 0.40001 })],
  ['price_mismatch price', fields({ price: 0.41 })],
  ['price_out_of_range price', order({ makerAmount: '10000000' })],
  ['price_out_of_range price', order({ makerAmount: '1' })],
  [
    'immediate_buy_precision order.makerAmount',
    order({ makerAmount: '4001000', takerAmount: '10000000' }, BUY_NOW),
  ],
  ['immediate_buy_precision order.takerAmount', order({ takerAmount: '10000050' }, BUY_NOW)],
  [
    'amount_below_minimum order.makerAmount',
    order({ makerAmount: '990000', takerAmount: '2475000' }, { ...BUY_NOW, orderSize: 2.475 }),
  ],
  [
    'size_below_minimum orderSize',
    order({ makerAmount: '1996000', takerAmount: '4990000' }, { orderSize: 4.99 }),
  ],
  ['expiration_not_allowed order.expiration', order({ expiration: inSeconds(600) })],
  ['expiration_not_allowed expirationTime', fields({ expirationTime: NOW + 600_000 })],
  ['expiration_required order.expiration', fields(GTD)],
  ['expiration_too_soon order.expiration', order({ expiration: inSeconds(179) }, GTD)],
  [
    'expiration_mismatch expirationTime',
    order({ expiration: inSeconds(600) }, { ...GTD, expirationTime: NOW + 601_000 }),
  ],
  [
    'expiration_mismatch expirationTime',
    order({ expiration: inSeconds(600) }, { ...GTD, expirationTime: NOW + 599_999 }),
  ],
  [
    'expiration_mismatch expirationTime',
    order({ expiration: inSeconds(600) }, { ...GTD, expirationTime: Math.floor(NOW / 1000) + 600 }),
  ],
  ['amount_out_of_range order.expiration', order({ expiration: '9007199254741' }, GTD)],
  ['wallet_address_mismatch walletAddress', fields({ walletAddress: STRANGER })],
  ['funder_address_mismatch funderAddress', fields({ funderAddress: STRANGER })],
  ['tick_size_mismatch tickSize', fields({ tickSize: '0.001' })],
  ['neg_risk_mismatch negRisk', fields({ negRisk: true })],
];

test.for(ROWS)('%s', ([fault, bend, market]) => {
  expect(faultsOf(bend, market)).toEqual([fault]);
});

test.each([
  ['order.makerAmount', sell({ makerAmount: '10000800' }, { orderSize: 10.0008 })],
  ['order.takerAmount', sell({ takerAmount: '4000050' })],
  ['order.makerAmount', sell({ makerAmount: '10000800' }, { ...LIMIT_NOW, price: 0.4, orderSize: 10.0008 })],
])('where the venue checks it, a SELL that executes at once has 2 and 4 decimals: %s', (path, bend) => {
  expect(faultsOf(bend, {}, { ...RULES, areAmountsExact: true })).toEqual([
    `sell_decimals_not_allowed ${path}`,
  ]);
  expect(faultsOf(bend)).toEqual([]);
});

test('where the venue checks it, a resting order has 2 decimals of shares and exactly size × price', () => {
  const exactly = { ...RULES, areAmountsExact: true };
  const rests = (change: Record<string, unknown>, rest: Record<string, unknown> = {}, tickSize = 100) =>
    faultsOf(order(change, rest), { tickSize }, exactly);
  expect(rests({})).toEqual([]);
  expect(rests({ makerAmount: '4000001' })).toEqual(['resting_amounts_mismatch order.makerAmount']);
  expect(rests({ takerAmount: '10000800', makerAmount: '4000320' }, { orderSize: 10.0008 })).toEqual([
    'resting_amounts_mismatch order.takerAmount',
  ]);
  const ask = { side: 'SELL', makerAmount: '10000000', takerAmount: '3999999' };
  expect(rests(ask)).toEqual(['resting_amounts_mismatch order.takerAmount']);
  // Every tick of the venue: with 2 decimals of shares no product is finer than a millionth.
  for (const [tick, price] of [
    [1000, 0.3],
    [50, 0.355],
    [25, 0.3525],
    [10, 0.333],
    [1, 0.3333],
  ] as const) {
    const makerAmount = String(Math.round(12.34 * price * 1e6));
    const good = { takerAmount: '12340000', makerAmount };
    expect(rests(good, { orderSize: 12.34, price, tickSize: undefined }, tick)).toEqual([]);
  }
  const [fault] = incoherences(
    draftOf({ ...sound, order: { ...sound.order, makerAmount: '4000001' } }),
    ...([MARKET, exactly, NOW] as const),
  );
  expect(fault?.detail).toContain('order.makerAmount must be 4000000');
});

test('a value on the boundary is allowed', () => {
  expect(faultsOf(fields({ orderSize: 10.009999 }))).toEqual([]);
  expect(faultsOf(order({ salt: '9007199254740991' }))).toEqual([]);
  expect(faultsOf(order({ feeRateBps: '1000' }))).toEqual([]);
  expect(faultsOf(order({ expiration: inSeconds(180) }, GTD))).toEqual([]);
  expect(faultsOf(order({ expiration: inSeconds(600) }, { ...GTD, expirationTime: NOW + 600_999 }))).toEqual(
    [],
  );
  expect(faultsOf(order({ makerAmount: '2000000', takerAmount: '5000000' }, { orderSize: 5 }))).toEqual([]);
  expect(faultsOf(fields({ walletAddress: SIGNER.address.toUpperCase().replace('0X', '0x') }))).toEqual([]);
});

test('a market that takes no orders is reported first, before all else that is wrong', () => {
  const all = faultsOf(order({ tokenId: '9', salt: '9007199254740992' }, { orderSize: 11, negRisk: true }), {
    tradable: false,
  });
  expect(all).toEqual([
    'market_not_active marketConditionId',
    'token_market_mismatch order.tokenId',
    'salt_out_of_range order.salt',
    'order_size_mismatch orderSize',
    'neg_risk_mismatch negRisk',
  ]);
});

test('a SELL limit is the signed ratio rounded up, a BUY limit rounded down', async () => {
  const sell = await signedRequest({ side: 'SELL' });
  // One micro-unit above 0.40 is rounded up to 0.41; one below still rounds to 0.40.
  const ask = { ...sell, order: { ...sell.order, takerAmount: '4000001' } };
  expect(incoherences(draftOf({ ...ask, price: 0.41 }), MARKET, RULES, NOW)).toEqual([]);
  expect(incoherences(draftOf(ask), MARKET, RULES, NOW).map(({ code }) => code)).toEqual(['price_mismatch']);
  expect(faultsOf(order({ makerAmount: '4000001' }))).toEqual([]);
});

test('numbers beyond 256 bits are named with their paths, all at once', () => {
  const huge = '9'.repeat(78);
  const faults = readDraft({ ...sound, order: { ...sound.order, tokenId: huge, nonce: huge } }, 'interface');
  expect(faults).toMatchObject([
    { code: 'amount_out_of_range', path: 'order.tokenId' },
    { code: 'amount_out_of_range', path: 'order.nonce' },
  ]);
});

function messages(schema: object, value: unknown, part = 'body'): string[] {
  const validate = compileFor(schema, 'body');
  validate(value);
  return fieldErrors((validate.errors ?? []) as never, part).map(({ message }) => message);
}

const SCHEMA = Type.Object(
  {
    name: Type.String({ maxLength: 3, pattern: PRINTABLE }),
    code: Type.Optional(Type.String({ minLength: 2, pattern: '^[a-z]*$', 'x-form': 'lower-case letters' })),
    side: Type.Optional(Type.Union([Type.Literal('BUY'), Type.Literal('SELL')])),
    salt: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: '^[0-9]+$', 'x-form': 'digits' })]),
    ),
    inner: Type.Optional(Type.Object({ size: Type.Number({ exclusiveMinimum: 0 }) })),
  },
  { additionalProperties: false },
);

test.for([
  ['a missing field', {}, ['name is required']],
  ['a wrong type', { name: 5 }, ['name must be string']],
  ['too many characters', { name: 'abcd' }, ['name must have at most 3 characters']],
  ['too few', { name: 'a', code: 'x' }, ['code must have at least 2 characters']],
  ['a pattern', { name: 'a', code: 'XX' }, ['code must be lower-case letters']],
  [
    'a control character',
    { name: 'a\u0007' },
    ['name must not contain control characters (line breaks are among them) or broken Unicode'],
  ],
  ['a choice', { name: 'a', side: 'HOLD' }, ['side must be one of BUY, SELL']],
  ['a choice of types, in the matching branch', { name: 'a', salt: -1 }, ['salt must be >= 0']],
  ['a choice of types, in its other branch', { name: 'a', salt: 'x' }, ['salt must be digits']],
  ['none of the types', { name: 'a', salt: null }, ['salt must be integer or string']],
  ['an unknown field', { name: 'a', nmae: 'b' }, ['nmae is not a known field (did you mean "name"?)']],
  [
    'unknown fields without a similar name, with the known ones listed once',
    { name: 'a', xxxxxx: 1, yyyyyy: 2 },
    ['xxxxxx is not a known field (known are name, code, side, salt, inner)', 'yyyyyy is not a known field'],
  ],
  ['a field of a field', { name: 'a', inner: { size: 0 } }, ['inner.size must be > 0']],
  [
    'all at once',
    { side: 'HOLD', inner: {} },
    ['name is required', 'side must be one of BUY, SELL', 'inner.size is required'],
  ],
  ['not an object', [], ['body must be object']],
] as const)('%s', ([, value, expected]) => {
  expect(messages(SCHEMA, value).sort()).toEqual([...expected].sort());
});

test('the error for an entirely wrong trade names every field once and repeats no value', async () => {
  const sound = await signedRequest();
  expect(messages(TradeRequest, sound)).toEqual([]);
  const sent = {
    ...sound,
    outcome: 'hunter2\n',
    orderSize: 'hunter2',
    order: { ...sound.order, signatureType: 'hunter2', maker: 'hunter2', salt: 'hunter2' },
  };
  const said = messages(TradeRequest, sent);
  for (const path of ['outcome', 'orderSize', 'order.signatureType', 'order.maker', 'order.salt'])
    expect(said.filter((text) => text.startsWith(`${path} `))).toHaveLength(1);
  expect(said.join()).not.toContain('hunter2');
});

const OPERATIONS = (Object.values(contract) as readonly unknown[]).filter(
  (value): value is Operation =>
    typeof value === 'object' && value !== null && 'rateClass' in value && 'path' in value,
);

test('each form that a request must have is said in words', () => {
  const bare: string[] = [];
  const walk = (place: string, node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { pattern, format, 'x-form': form } = node as Record<string, unknown>;
    if (typeof pattern === 'string' && ![PRINTABLE, LINES, NAME].includes(pattern) && form === undefined)
      bare.push(`${place}: ${pattern}`);
    if (typeof format === 'string' && format !== 'date-time') bare.push(`${place}: ${format}`);
    for (const [key, inner] of Object.entries(node)) walk(`${place}.${key}`, inner);
  };
  for (const { id, params, query, body } of OPERATIONS) walk(id, { params, query, body });
  expect(OPERATIONS.length).toBeGreaterThan(100);
  expect(bare).toEqual([]);
});
