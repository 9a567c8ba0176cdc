/** Field schemas that several operations share, with every limit of the interface as a named constant. */
import { type Static, type TSchema, Type } from 'typebox';
import { VENUE_REFUSALS } from './venue-refusals.ts';

export const LIMITS = {
  agentNameChars: 100,
  agentDescriptionChars: 500,
  keyNameChars: 100,
  venueChars: 50,
  marketQuestionChars: 250,
  ownerChars: 128,
  reasoningChars: 1000,
  sourceChars: 100,
  skillSlugChars: 100,
  marketTickerChars: 120,
  solanaAddressChars: 128,
  searchChars: 100,
  categoryChars: 100,
  sortChars: 200,
  marketsPerPage: 500,
  ordersPerPage: 100,
  positionsPerPage: 100,
  currentPositionsPerPage: 500,
  agentTradesPerPage: 200,
  leaderboardEntries: 100,
  refusalsKept: 1000,
  ordersPerBatch: 20,
  activeKeysPerAgent: 10,
  /** Older ones are forgotten. */
  revokedKeysKept: 100,
  walletsPerOwner: 100,
  idempotencyKeysPerAgent: 20_000,
  /** The most errors that a refusal lists; the rest is counted. */
  errorsListed: 50,
  /** A longer name of the venue's is cut. */
  outcomeChars: 100,
  tradesPerDay: 5000,
  tradeAmount: 1_000_000,
  dailyTradeAmount: 10_000_000,
  bodyBytes: 65_536,
  /** Twenty orders with every text at its longest. */
  batchBodyBytes: 262_144,
} as const;

/**
 * Printable text. Refuses control characters (line breaks among them), which would reach logs and terminals, and lone
 * surrogates, which the database cannot store.
 */
export const PRINTABLE = '^[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]*$';

/** The same with line breaks and tabs: free text, stored unchanged. */
export const LINES = '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\ud800-\\udfff]*$';

/**
 * Free text of several lines.
 * @example
 * const bio = lines(500, { description: 'several lines' });
 */
export const lines = (maxLength: number, options: { minLength?: number; description?: string } = {}) =>
  Type.String({ maxLength, pattern: LINES, ...options });

/**
 * @example
 * const slug = text(100, { minLength: 1 });
 */
export const text = (maxLength: number, options: { minLength?: number; description?: string } = {}) =>
  Type.String({ maxLength, pattern: PRINTABLE, ...options });

/**
 * For names: also without bidirectional embeddings, overrides or isolates, which make a name look like another one.
 */
export const NAME = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]*$';

/**
 * @example
 * const name = nameText(100);
 */
export const nameText = (maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: NAME,
    'x-not-blank': 'send a name that people can read',
  });

/**
 * A text of one form. Where another comes, the validator says `words` in place of the pattern.
 * @example
 * const digits = formed('^[0-9]+$', 'digits');
 */
export const formed = (
  pattern: string,
  words: string,
  options: { minLength?: number; maxLength?: number; description?: string; examples?: string[] } = {},
) => Type.String({ pattern, 'x-form': words, ...options });

const orNull = <T extends TSchema>(schema: T, description?: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], description === undefined ? {} : { description }));

/**
 * A label an agent may leave out: `null` means the same.
 * @example
 * const source = label(100, 'suggested form sdk:<strategy-name>');
 */
export const label = (maxLength: number, description?: string) => orNull(text(maxLength), description);

/**
 * Free text an agent may leave out: `null` means the same.
 * @example
 * const reasoning = note(1000);
 */
export const note = (maxLength: number, description?: string) => orNull(lines(maxLength), description);

/** An agent's own name for an order: one order at most has it. */
export const ClientOrderId = Type.String({ minLength: 1, maxLength: 64, pattern: PRINTABLE });

const WEEK_MS = 7 * 24 * 3_600_000;

/** A late order never surprises: the desk cancels what is not filled in time. */
export const CancelAfterMs = Type.Integer({
  minimum: 100,
  maximum: WEEK_MS,
  description:
    'milliseconds from the receipt of the request: the desk cancels what is not filled by then, also when no answer came. Beside the expiration of a GTD order the earlier one acts',
});

/** Hexadecimal identifiers may come in any case; the validator makes them lower case first. */
export const HEX = { 'x-hex': true } as const;

export const Address = {
  ...formed('^0x[a-fA-F0-9]{40}$', 'an EVM address: 0x and 40 hex digits', {
    description: 'EVM address, 0x and 40 hex digits',
    examples: ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'],
  }),
  ...HEX,
};

/** The id of an agent, an approval, a skill or a webhook. */
export const Uuid = {
  ...formed(
    '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
    'an id of 32 hex digits in groups of 8-4-4-4-12',
  ),
  ...HEX,
};

/** The id of a key, a passkey or a delivery. */
export const CountedId = formed('^[1-9][0-9]{0,17}$', 'a whole number from 1 on, in digits');

/**
 * Where a page of a list begins.
 * @example
 * const next = cursorText(200, '`next` of the page before');
 */
export const cursorText = (maxLength: number, description: string) =>
  Type.Optional(
    formed('^[A-Za-z0-9_-]+$', 'a cursor of an answer, unchanged', { minLength: 1, maxLength, description }),
  );

/** Of a challenge that a wallet signs. */
export const Nonce = formed('^[0-9a-z]+$', 'the nonce of the challenge, unchanged', {
  minLength: 1,
  maxLength: 128,
});

/** Base58 of 32 bytes; the length of the decoded key is checked where it is used. */
export const SOLANA_ADDRESS = '^[1-9A-HJ-NP-Za-km-z]{32,44}$';

export const SolanaAddress = formed(SOLANA_ADDRESS, 'a Solana address: base58 of 32 bytes', {
  description: 'Solana address: base58 of an Ed25519 public key',
  examples: ['4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'],
});

/** A wallet of either venue; its format decides which venue. */
export const WalletOfEitherVenue = Type.Union([Address, SolanaAddress], {
  description:
    "one of the owner's wallets that the agent reaches: an EVM address for venue A, a Solana address for venue B",
});

export const SignatureType = Type.Union(
  [Type.Literal(0), Type.Literal(1), Type.Literal(2), Type.Literal(3)],
  {
    description: '0 EOA, 1 proxy wallet, 2 Safe, 3 deposit wallet (ERC-1271)',
  },
);

/** An unsigned integer that may have 256 bits, so it travels as text. */
export const UintText = formed(
  '^(0|[1-9][0-9]{0,77})$',
  'a whole number as text: decimal digits without a leading zero',
  { description: 'decimal integer as text' },
);

/** Decimals of a micro-unit; the validator's keyword refuses numbers that are finer. */
export const EXACT = { 'x-decimals': 6 } as const;

/**
 * A non-negative amount in JSON.
 * @example
 * const spent = Amount('collateral of the day');
 */
export const Amount = (description: string) => Type.Number({ minimum: 0, maximum: 1e12, description });

/**
 * Two names of one field: an object's `x-aliases` maps the further name to the one that counts. The validator moves the
 * value over before it looks at anything else, and refuses two names with different values.
 * @example
 * const names = alias('address', 'walletAddress');
 */
export const alias = (from: 'address' | 'walletAddress', to: 'address' | 'walletAddress') => ({
  'x-aliases': { [from]: to },
});

const MarketReference = {
  minLength: 1,
  maxLength: 200,
  pattern: PRINTABLE,
  ...HEX,
  description: 'condition id, market id, slug or token id',
};

/**
 * How a request names a market. The type has both names as optional for those that send the older one; the validator moves it
 * over, and requires the other.
 */
export const MARKET_NAMES = {
  marketConditionId: Type.Optional(Type.String(MarketReference)),
  marketId: Type.Optional(
    Type.String({ ...MarketReference, description: 'the same: an older word for marketConditionId' }),
  ),
};

/** In answers, beside `marketConditionId`. */
export const OLDER_WORD = Type.String({ description: 'the same as marketConditionId' });

/**
 * Options of an object that has {@link MARKET_NAMES}.
 * @example
 * const options = namesMarket(['amount']);
 */
export const namesMarket = (
  others: readonly string[] = [],
  aliases: Readonly<Record<string, string>> = {},
) => ({
  required: ['marketConditionId', ...others],
  'x-aliases': { marketId: 'marketConditionId', ...aliases },
});

/** Redundant fields of other public clients. Every value is accepted and ignored. */
export const unused = Type.Optional(
  Type.Unknown({ description: 'taken from other public clients, and not used' }),
);

/** Of the year 9999: what is later is no time that ISO texts and the database carry. */
export const LAST_SECOND = 253_402_300_799;
export const LAST_MS = LAST_SECOND * 1000 + 999;

export const EpochMs = Type.String({ description: 'epoch milliseconds as text' });
export const Iso = Type.String({ format: 'date-time', description: 'ISO 8601 with zone' });
/**
 * @example
 * const description = Nullable(text(500));
 */
export const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const VenueQuery = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: LIMITS.venueChars,
    pattern: PRINTABLE,
    description: 'venue name; default venue A',
  }),
);

/** Path parameter: an agent of the signed-in owner. */
export const OwnedAgent = Type.Object({
  agentId: Uuid,
});

/** The name of "both venues" in answers and requests. */
export const ALL_VENUES = 'all';

/** A filter that defaults to all venues. The validator removes `all`, which means the same. */
export const EitherVenueQuery = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: LIMITS.venueChars,
    pattern: PRINTABLE,
    description: `venue name; both venues when left out, or with "${ALL_VENUES}"`,
    'x-left-out-as': ALL_VENUES,
  }),
);

/**
 * How a list is paged, newest first: its Link header names the next page.
 * @example
 * const { limit, cursor } = pageQuery(100);
 */
export const pageQuery = (most: number, usual = 50) => ({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: most, default: usual })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
  cursor: cursorText(
    200,
    'opaque, from the Link header: the next page without gaps or repeats while items come in; instead of offset',
  ),
});

export const Outcome = Type.Union([Type.Literal('YES'), Type.Literal('NO')]);
/** In a request. Which names a market has is known once it is found. */
export const OutcomeWord = Type.String({
  minLength: 1,
  maxLength: LIMITS.outcomeChars,
  pattern: PRINTABLE,
  description:
    "YES or NO; or a name of the market's outcomes, in any case, unless the two could be mistaken for each other, or for YES and NO",
});
/** Beside an outcome in an answer. */
export const OutcomeName = Nullable(
  Type.String({
    description:
      'what the venue calls this outcome: written by third parties, as plain text; null: of full sets, or not known',
  }),
);
/** Of an order: `BOTH` for a split or a merge, which is about full sets. */
export const OrderOutcome = Type.Union([...Outcome.anyOf, Type.Literal('BOTH')]);
export const Side = Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]);
export const OrderType = Type.Union([
  Type.Literal('GTC'),
  Type.Literal('FOK'),
  Type.Literal('GTD'),
  Type.Literal('FAK'),
]);
export const TickSizeText = formed('^0?\\.[0-9]{1,18}$', 'a decimal below 1 as text, such as "0.01"', {
  description:
    'the least step of a price, as the venue lists it: 0.1, 0.01, 0.005, 0.0025, 0.001, 0.0001 or another',
});

/** RFC 9457 problem, with the facts that an agent needs to continue. */
export const Problem = Type.Object(
  {
    type: Type.String({
      description: 'a URL that answers with this error’s meaning: <public URL>/docs/errors/<code>',
    }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    instance: Type.String({ description: 'the path asked for' }),
    code: Type.String({ description: 'stable snake_case code; see /docs/errors' }),
    message: Type.String({ description: 'the same text as detail' }),
    requestId: Type.String(),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: 'JSON path of the field, e.g. order.tokenId' }),
          code: Type.String(),
          message: Type.String(),
        }),
      ),
    ),
    errorCount: Type.Optional(
      Type.Integer({ description: 'how many fields are invalid, where errors[] lists only the first 50' }),
    ),
    fix: Type.Optional(Type.String({ description: 'what to do next' })),
    diagnosis: Type.Optional(
      Type.Object(
        { check: Type.String({ description: 'the check that failed' }) },
        {
          additionalProperties: true,
          description: 'refused signatures: what was recovered and what was expected',
        },
      ),
    ),
    context: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: true, description: 'figures behind the refusal: limit, used, asked' },
      ),
    ),
    orderId: Type.Optional(Type.String()),
    approvalId: Type.Optional(
      Type.String({ description: 'what waits for the owner: GET /agents/approvals/{approvalId}' }),
    ),
  },
  { additionalProperties: false, description: 'RFC 9457 problem' },
);

/** Stands beside `orderVersion` 2 where an order is signed for the contract of markets of version v2. */
export const ExchangeV3 = Type.Literal(3, {
  description: 'the order is for ExchangeV3, as in every market of version v2; absent of all others',
});

/** What is worth knowing although it stops nothing. */
export const Notice = Type.Object({
  code: Type.String(),
  severity: Type.String({ description: 'info, warning or critical' }),
  message: Type.String(),
});
export type Notice = Static<typeof Notice>;

// The words on the wire for an order's status and for why a venue refused it.

/**
 * One of these texts; a later version may add some.
 * @example
 * const status = words(['open', 'closed'], 'of a market');
 */
export const words = (all: readonly string[], description: string) =>
  Type.String({ enum: [...all], description });

/** Statuses of a signed order, in records. */
export const ORDER_STATUS_WORDS = [
  'submitting',
  'unknown',
  'live',
  'partially_filled',
  'matched',
  'filled',
  'canceled',
  'expired',
  'rejected',
  'market_resolved',
  'settlement_failed',
  'delayed',
  'unmatched',
] as const;
/** Statuses of a quoted order. */
export const CHAIN_STATUS_WORDS = [
  'submitted',
  'open',
  'filled',
  'partially_filled',
  'reverted',
  'expired',
  'failed',
  'canceled',
] as const;

export const VenueRefusalCode = words(
  Object.keys(VENUE_REFUSALS),
  `why the venue refused. ${Object.entries(VENUE_REFUSALS)
    .map(([code, { message }]) => `\`${code}\`: ${message}`)
    .join(' ')}`,
);

/** Added by an answer with success: false. */
export const refusedBecause = {
  errorCode: Type.Optional(VenueRefusalCode),
  errorMessage: Type.Optional(Type.String()),
  fix: Type.Optional(Type.String({ description: 'what to do next' })),
};
