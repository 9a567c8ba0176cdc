/** Shapes that the venue's answers are promised to have, and in which ways an answer differs from one. */

/**
 * The kind of each field; alternatives are separated by `|`, a name that ends in `?` may be missing. `decimal` and `digits`
 * are texts, `encoded` is a list as JSON text.
 */
export type Shape = Readonly<Record<string, string>>;

export interface Difference {
  /** `new`: a field without a promise; it breaks nothing by itself. */
  readonly kind: 'missing' | 'type' | 'value' | 'new' | 'silent' | 'unreadable';
  /** The question, such as `clob GET /book`. */
  readonly where: string;
  readonly field: string;
  readonly promised: string;
  readonly found: string;
}

const MAX_FOUND_CHARS = 80;

const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isSafeInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  decimal: (value) => typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value),
  digits: (value) => typeof value === 'string' && /^\d+$/.test(value),
  condition: (value) => typeof value === 'string' && /^0x[0-9a-fA-F]{62,64}$/.test(value),
  time: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  empty: (value) => value === '',
  encoded: (value) => {
    if (typeof value !== 'string') return false;
    try {
      return Array.isArray(JSON.parse(value));
    } catch {
      return false;
    }
  },
};

const isOf = (value: unknown, kinds: string): boolean =>
  kinds.split('|').some((kind) => KINDS[kind]?.(value) === true);

export const shown = (value: unknown): string =>
  (JSON.stringify(value) ?? 'nothing').slice(0, MAX_FOUND_CHARS);

/** @param isComplete fields beyond the shape are differences of the kind `new` */
export function differencesFrom(
  shape: Shape,
  value: unknown,
  { where, isComplete = true }: { readonly where: string; readonly isComplete?: boolean },
): Difference[] {
  if (!isOf(value, 'object'))
    return [{ kind: 'type', where, field: '', promised: 'an object', found: shown(value) }];
  const fields = value as Readonly<Record<string, unknown>>;
  const known = new Set<string>();
  const differences: Difference[] = [];
  for (const [written, promised] of Object.entries(shape)) {
    const field = written.replace(/\?$/, '');
    known.add(field);
    const found = fields[field];
    if (found === undefined) {
      if (field === written) differences.push({ kind: 'missing', where, field, promised, found: 'nothing' });
    } else if (!isOf(found, promised))
      differences.push({ kind: 'type', where, field, promised, found: shown(found) });
  }
  if (!isComplete) return differences;
  const extra = Object.keys(fields).filter((field) => !known.has(field));
  return [
    ...differences,
    ...extra.map(
      (field): Difference => ({
        kind: 'new',
        where,
        field,
        promised: 'no such field',
        found: shown(fields[field]),
      }),
    ),
  ];
}

export const SHAPES = {
  gammaMarket: {
    id: 'string',
    conditionId: 'condition',
    slug: 'string',
    question: 'string',
    'description?': 'string|null',
    outcomes: 'encoded',
    outcomePrices: 'encoded',
    clobTokenIds: 'encoded',
    active: 'boolean',
    closed: 'boolean',
    'archived?': 'boolean',
    'acceptingOrders?': 'boolean',
    'enableOrderBook?': 'boolean',
    'negRisk?': 'boolean',
    'orderPriceMinTickSize?': 'number',
    'orderMinSize?': 'number',
    'volume?': 'decimal',
    'volumeNum?': 'number',
    'volume24hr?': 'number',
    'liquidity?': 'decimal',
    'liquidityNum?': 'number',
    'startDate?': 'time|null',
    'endDate?': 'time|null',
    'createdAt?': 'time|null',
    'updatedAt?': 'time|null',
    'umaResolutionStatus?': 'string|null',
    'version?': 'string|null',
    'feesEnabled?': 'boolean',
    'feeSchedule?': 'object|null',
    'events?': 'array|null',
  },
  /** Shapes of Protocol V2 that differ. Documented, and not yet seen (docs/decisions/protocol-v2.md). */
  gammaMarketV2: {
    conditionId: 'condition',
    version: 'string',
    positionIds: 'array',
    'clobTokenIds?': 'encoded|null',
    'resolutionStatus?': 'string|null',
  },
  bookV2: { version: 'string', market: 'condition', asset_id: 'digits', neg_risk: 'boolean' },
  gammaEvent: { id: 'string', title: 'string', slug: 'string', markets: 'array' },
  book: {
    market: 'condition',
    asset_id: 'digits',
    timestamp: 'digits',
    hash: 'string',
    bids: 'array',
    asks: 'array',
    min_order_size: 'decimal',
    tick_size: 'decimal',
    neg_risk: 'boolean',
    'last_trade_price?': 'decimal|empty',
  },
  level: { price: 'decimal', size: 'decimal' },
  clobMarket: {
    condition_id: 'condition',
    question_id: 'string',
    question: 'string',
    market_slug: 'string',
    active: 'boolean',
    closed: 'boolean',
    archived: 'boolean',
    accepting_orders: 'boolean',
    enable_order_book: 'boolean',
    minimum_order_size: 'number',
    minimum_tick_size: 'number',
    neg_risk: 'boolean',
    is_50_50_outcome: 'boolean',
    tokens: 'array',
  },
  clobToken: { token_id: 'digits', outcome: 'string', price: 'number', winner: 'boolean' },
  compactMarket: {
    'c?': 'condition',
    t: 'array',
    mos: 'number',
    mts: 'number',
    'nr?': 'boolean',
    'fd?': 'object|null',
  },
  compactToken: { t: 'digits', o: 'string' },
  page: { limit: 'integer', count: 'integer', next_cursor: 'string', data: 'array' },
  dataPage: { data: 'array|object|null', 'pagination?': 'object|null' },
  dataError: { error: 'string', code: 'string', 'retryable?': 'boolean', 'trace_id?': 'string' },
  priceChange: {
    asset_id: 'digits',
    price: 'decimal',
    size: 'decimal',
    side: 'string',
    'hash?': 'string',
    'best_bid?': 'decimal|empty',
    'best_ask?': 'decimal|empty',
  },
} as const satisfies Readonly<Record<string, Shape>>;
