/**
 * The caps among the safeguards, one row each: what the wire and people see of them. Settings, locks, the owner's form, the
 * context, documents and the list of denials are made of these rows, in this order.
 *
 * What a cap means (its rule, its default, its place in the order of judgement) is its row in the server's
 * domain/safeguards.ts, which does not compile without a row for every name here. Its columns are its name in snake_case, and
 * the same after `locked_`.
 */
import { type TSchema, Type } from 'typebox';
import type { ErrorCode } from './errors.ts';
import { EXACT, LIMITS, Nullable } from './fields.ts';

const OPEN_ORDERS_MAX = 5000;

/** A row's values: their unit, their bounds, and how they are written. */
interface Values {
  readonly unit: 'count' | 'collateral';
  readonly maximum: number;
  /** What a change may ask for. */
  readonly setting: TSchema;
  /** What a record says. */
  readonly shown: TSchema;
}

const counted = (maximum: number, description?: string) => {
  const words = description === undefined ? {} : { description };
  return {
    unit: 'count',
    maximum,
    setting: Type.Integer({ minimum: 0, maximum, ...words }),
    shown: Type.Integer(words),
  } as const satisfies Values;
};

const collateral = (maximum: number, description?: string) => {
  const words = description === undefined ? {} : { description };
  return {
    unit: 'collateral',
    maximum,
    setting: Type.Number({ exclusiveMinimum: 0, maximum, ...EXACT, ...words }),
    shown: Type.Number(words),
  } as const satisfies Values;
};

/** The rest of a row. */
interface Words {
  /** For people, in the owner's form. */
  readonly label: string;
  readonly hint: string;
  /** The code of an order that it refuses. */
  readonly denial: ErrorCode;
  /** The field of `safeguards` in a market's context that says limit, used and left; `null`: the limit is all there is. */
  readonly allowance: string | null;
}

/** A cap that always has a limit. */
const always = <V extends Values, const W extends Words>(values: V, words: W) => ({
  ...words,
  unit: values.unit as V['unit'],
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
} as const;

export type CapName = keyof typeof CAPS;
export const CAP_NAMES = Object.keys(CAPS) as readonly CapName[];

/** One field of every row, by the caps' names. */
type Each<F extends 'setting' | 'shown' | 'locked'> = { [N in CapName]: (typeof CAPS)[N][F] };
const each = <F extends 'setting' | 'shown' | 'locked'>(field: F) =>
  Object.fromEntries(CAP_NAMES.map((name) => [name, CAPS[name][field]])) as Each<F>;

/** Properties of a change: any of the caps. */
export const CAP_SETTINGS = Type.Partial(Type.Object(each('setting'))).properties;
/** Properties of the settings' record: all of them. */
export const CAPS_SHOWN = each('shown');
/** Properties of the record of an owner's locks: those that are locked. */
export const CAPS_LOCKED = Type.Partial(Type.Object(each('locked'))).properties;

/** A limit, and whether an owner locks the safeguard there. */
export const lockable = <T extends TSchema>(limit: T) =>
  Type.Object({
    limit,
    locked: Type.Boolean({ description: "true: the agent's key may lower it, never raise it above" }),
  });

type Lockable = { [N in CapName]: ReturnType<typeof lockable<(typeof CAPS)[N]['setting']>> };
/** Properties of an owner's change: any of the caps. */
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
/** Properties of what the caps leave: limit, used and left by the row's own word, or the limit alone. */
export const CAP_ALLOWANCES = Object.fromEntries(
  CAP_NAMES.map((name) => {
    const { allowance } = CAPS[name];
    return allowance === null ? [name, Limit] : [allowance, Allowance];
  }),
) as { [A in Named]: typeof Allowance } & { [N in Unnamed]: typeof Limit };

/** What the caps refuse an order with. */
export const CAP_DENIALS = CAP_NAMES.map((name) => CAPS[name].denial);
