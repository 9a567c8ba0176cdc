/**
 * The caps among the safeguards, one row each, as the wire and people see them. Settings, locks, the owner's form, the
 * context, documents and the list of denials derive from these rows, in this order.
 *
 * Names the caps. The meaning of a cap (its rule, its default, its place in the order of judgement) is its row in the server's
 * domain/safeguards.ts, which does not compile without a row for every name here. Its columns are its name in snake_case, and
 * the same after `locked_`.
 */
import { type TSchema, Type } from 'typebox';
import type { ErrorCode } from './errors.ts';
import { EXACT, LIMITS, Nullable } from './fields.ts';

const OPEN_ORDERS_MAX = 5000;
const SILENCE_LEAST_S = 30;
const SILENCE_MOST_S = 86_400;

/** The values of a row: unit, bounds and format. */
interface Values {
  readonly unit: 'count' | 'collateral';
  readonly minimum: number;
  readonly mayBeZero: boolean;
  readonly maximum: number;
  /** Schema of the value in a change. */
  readonly setting: TSchema;
  /** Schema of the value in a record. */
  readonly shown: TSchema;
}

const counted = (maximum: number, description?: string) => {
  const words = description === undefined ? {} : { description };
  return {
    unit: 'count',
    minimum: 0,
    mayBeZero: true,
    maximum,
    setting: Type.Integer({ minimum: 0, maximum, ...words }),
    shown: Type.Integer(words),
  } as const satisfies Values;
};

const collateral = (maximum: number, description?: string, mayBeZero = false) => {
  const words = description === undefined ? {} : { description };
  const least = mayBeZero ? { minimum: 0 } : { exclusiveMinimum: 0 };
  return {
    unit: 'collateral',
    minimum: 0,
    mayBeZero,
    maximum,
    setting: Type.Number({ ...least, maximum, ...EXACT, ...words }),
    shown: Type.Number(words),
  } as const satisfies Values;
};

const seconds = (description: string) => {
  const [minimum, maximum] = [SILENCE_LEAST_S, SILENCE_MOST_S];
  return {
    unit: 'count',
    mayBeZero: false,
    ...{ minimum, maximum },
    setting: Type.Integer({ minimum, maximum, description }),
    shown: Type.Integer({ description }),
  } as const satisfies Values;
};

/** The columns common to all rows. */
interface Words {
  /** For people, in the owner's form. */
  readonly label: string;
  readonly hint: string;
  /** The error code of an order that this cap refuses; `null`: it judges no order. */
  readonly denial: ErrorCode | null;
  /** `floor`: an owner's lock is the least that the agent's key may set. Default: the most. */
  readonly lock?: 'floor';
  /** The field of `safeguards` in a market's context with limit, used and left; `null`: the cap has only a limit. */
  readonly allowance: string | null;
}

/** A cap that always has a limit. */
const always = <V extends Values, const W extends Words>(values: V, words: W) => ({
  ...words,
  unit: values.unit as V['unit'],
  minimum: values.minimum,
  mayBeZero: values.mayBeZero,
  maximum: values.maximum,
  optional: false as const,
  setting: values.setting as V['setting'],
  shown: values.shown as V['shown'],
  locked: values.shown as V['shown'],
});

/** A cap that `null` switches off. "None" cannot be locked. */
const orNone = <V extends Values, const W extends Words>(values: V, words: W) => ({
  ...words,
  unit: values.unit as V['unit'],
  minimum: values.minimum,
  mayBeZero: values.mayBeZero,
  maximum: values.maximum,
  optional: true as const,
  setting: Type.Union([values.setting as V['setting'], Type.Null()]),
  shown: Nullable(values.shown as V['shown']),
  locked: values.shown as V['shown'],
});

export const CAPS = {
  maxTradesPerDay: always(
    counted(
      LIMITS.tradesPerDay,
      'orders accepted for submission; one that is canceled later keeps its place in the count',
    ),
    {
      label: 'Trades per day',
      hint: 'Counted from UTC midnight.',
      denial: 'max_trades_per_day_exceeded',
      allowance: 'tradesToday',
    },
  ),
  maxTradeAmount: always(collateral(LIMITS.tradeAmount, 'collateral per trade, fees apart'), {
    label: 'Amount per trade',
    hint: 'Collateral, fees apart.',
    denial: 'max_trade_amount_exceeded',
    allowance: null,
  }),
  dailyTradeAmountLimit: always(collateral(LIMITS.dailyTradeAmount, 'collateral per UTC day'), {
    label: 'Amount per day',
    hint: 'Collateral of all trades that add exposure.',
    denial: 'daily_trade_amount_exceeded',
    allowance: 'dailyTradeAmount',
  }),
  maxPositionValue: orNone(collateral(LIMITS.dailyTradeAmount), {
    label: 'Position per market',
    hint: 'Cost of what it holds and has on order. Empty: no limit.',
    denial: 'max_position_value_exceeded',
    allowance: 'positionValue',
  }),
  dailyLossLimit: orNone(collateral(LIMITS.dailyTradeAmount), {
    label: 'Loss per day',
    hint: 'Realised loss after which it may only reduce. Empty: no limit.',
    denial: 'daily_loss_limit_reached',
    allowance: 'dailyLoss',
  }),
  maxOpenOrders: orNone(
    counted(OPEN_ORDERS_MAX, 'orders that are open or in doubt at a time, on all venues; null: no limit'),
    {
      label: 'Open orders',
      hint: 'Orders that are open or in doubt at a time, on all venues. Empty: no limit.',
      denial: 'max_open_orders_exceeded',
      allowance: 'openOrders',
    },
  ),
  approvalAbove: orNone(
    collateral(
      LIMITS.tradeAmount,
      'collateral per trade, fees apart, above which the owner approves each order; 0: every order; null: none',
      true,
    ),
    {
      label: 'Ask me above',
      hint: 'Trades above this amount wait for your approval. 0: every trade. Empty: none.',
      denial: 'approval_required',
      allowance: null,
    },
  ),
  silenceSeconds: orNone(
    seconds(
      'seconds without a request of the agent after which the desk cancels its open orders; a stream that is open is no request; null: never',
    ),
    {
      label: 'Silence, in seconds',
      hint: 'Seconds without a request after which its open orders are canceled. Empty: never. Locked: the agent can set more, never less.',
      denial: null,
      lock: 'floor',
      allowance: null,
    },
  ),
} as const;

export type CapName = keyof typeof CAPS;
/** Those that judge orders. */
export type JudgedCap = {
  [N in CapName]: (typeof CAPS)[N]['denial'] extends null ? never : N;
}[CapName];
export const CAP_NAMES = Object.keys(CAPS) as readonly CapName[];

/** One field of every row, keyed by cap. */
type Each<F extends 'setting' | 'shown' | 'locked'> = { [N in CapName]: (typeof CAPS)[N][F] };
const each = <F extends 'setting' | 'shown' | 'locked'>(field: F) =>
  Object.fromEntries(CAP_NAMES.map((name) => [name, CAPS[name][field]])) as Each<F>;

/** How far below the believed bid an exit may sell that passes caps, in percent. */
export const EXIT_DISTANCE = { least: 1, most: 50, initial: 10 } as const;

/** Only the owner changes these, with a passkey. */
export const EXIT_RULE = {
  capsBindExits: Type.Boolean({
    description:
      'false: a SELL of what is held passes maxTradeAmount and maxTradesPerDay, if its worst price is near the believed bid. Only the owner changes it',
  }),
  exitDistancePercent: Type.Integer({
    minimum: EXIT_DISTANCE.least,
    maximum: EXIT_DISTANCE.most,
    description: 'how far below the best bid such a SELL may go',
  }),
} as const;

/** Properties of a change; each cap is optional. */
export const CAP_SETTINGS = Type.Partial(Type.Object(each('setting'))).properties;
/** Properties of the settings' record, with every cap. */
export const CAPS_SHOWN = each('shown');
/** Properties of the record of an owner's locks; only locked caps are present. */
export const CAPS_LOCKED = Type.Partial(Type.Object(each('locked'))).properties;

/**
 * A limit, and whether an owner locks the safeguard there.
 * @example
 * const schema = lockable(Amount('most of one trade'));
 */
export const lockable = <T extends TSchema>(limit: T) =>
  Type.Object({
    limit,
    locked: Type.Boolean({
      description:
        "true: the agent's key may lower it, never raise it above; of silenceSeconds: raise it, never lower it or set it to null",
    }),
  });

type Lockable = { [N in CapName]: ReturnType<typeof lockable<(typeof CAPS)[N]['setting']>> };
/** Properties of an owner's change; each cap is optional. */
export const CAPS_LOCKABLE = Type.Partial(
  Type.Object(
    Object.fromEntries(CAP_NAMES.map((name) => [name, lockable(CAPS[name].setting)])) as unknown as Lockable,
  ),
).properties;

const Limit = Nullable(Type.Number());
const Allowance = Type.Object(
  { limit: Limit, used: Type.Number(), left: Limit },
  { description: 'limit and left are null without a limit' },
);

type Named = Exclude<(typeof CAPS)[CapName]['allowance'], null>;
type Unnamed = { [N in CapName]: (typeof CAPS)[N]['allowance'] extends null ? N : never }[CapName];
/** Properties of what the caps leave: limit, used and left under the row's own field name, or the limit alone. */
export const CAP_ALLOWANCES = Object.fromEntries(
  CAP_NAMES.map((name) => {
    const { allowance } = CAPS[name];
    return allowance === null ? [name, Limit] : [allowance, Allowance];
  }),
) as { [A in Named]: typeof Allowance } & { [N in Unnamed]: typeof Limit };

/** The error codes with which the caps refuse an order. */
export const CAP_DENIALS = CAP_NAMES.flatMap((name) => CAPS[name].denial ?? []);
