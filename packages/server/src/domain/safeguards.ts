/**
 * The owner's safeguards, assessed in one fixed order, against the reserved budgets and under the lock of the
 * transaction that reserves: never against a cache. All money in micro collateral.
 *
 * Each cap has one row in `RULES`, and one in the contract's safeguards.ts for its public name and texts.
 */
import {
  CAP_NAMES,
  CAPS,
  type CapName,
  ERRORS,
  type ErrorCode,
  EXIT_DISTANCE,
  type JudgedCap,
  LAST_MS,
  type TradeCheck,
} from '@bellwether/contract';
import { formatMicro, type Micro, microToNumber } from '@bellwether/contract/decimals';
import type { Denial } from './denial.ts';

/** Figures are counts or micro collateral. */
type Figure<N extends CapName> = (typeof CAPS)[N]['unit'] extends 'count' ? number : Micro;

export type Caps = {
  readonly [N in CapName]: (typeof CAPS)[N]['optional'] extends true ? Figure<N> | null : Figure<N>;
};

export interface Safeguards extends Caps {
  /** Paused by the agent's key or by its owner. */
  readonly tradingPaused: boolean;
  /** The owner's pause, which the agent's key cannot lift. */
  readonly ownerPaused: boolean;
  /** False lifts the caps, never the pause. */
  readonly tradeLimitEnabled: boolean;
  /** False: an exit near the believed bid passes what would stop it. The owner's alone. */
  readonly capsBindExits: boolean;
  readonly exitDistancePercent: number;
}

/** A ceiling for each cap; `null`: not locked. */
type Ceilings = { readonly [N in CapName]: Figure<N> | null };

/** With what their owner has locked; missing: nothing. */
export type LockedSafeguards = Safeguards & { readonly locks?: Ceilings };

/** The agent's reserved and spent budget on this UTC day. */
export interface Usage {
  readonly trades: number;
  readonly amount: Micro;
  /** Trades that are kept for armed exits; missing: none. */
  readonly reserved?: number;
}

export const usageOf = (trades: number, amount: Micro, reserved: number): Usage =>
  reserved === 0 ? { trades, amount } : { trades, amount, reserved };

/** Trades of the day that an agent can still place. */
export const tradesLeft = ({ trades, reserved = 0 }: Usage, limit: number): number =>
  Math.max(0, limit - trades - reserved);

/** The day's figures. */
interface DayFacts {
  readonly usage: Usage;
  /** Realised P&L after fees since UTC midnight; negative is a loss. */
  readonly realizedToday: Micro;
}

/** The figures that count against the caps. */
export interface UsedFacts extends DayFacts {
  /**
   * In the market, without this order: the cost of the funder's tokens and of those that the agent bought last on other
   * accounts, and the possible cost of the agent's open BUYs.
   */
  readonly positionValue: Micro;
  /** The agent's, on all venues, including those in doubt. A trade counts them only if a limit needs the number. */
  readonly openOrders: number;
}

/**
 * The restriction from another owner's agent that had the order's wallet before: that owner's pause and locked
 * ceilings, and what is used of them today.
 */
export interface Restriction extends UsedFacts {
  readonly paused: boolean;
  readonly locks: Ceilings;
}

export interface TradeFacts extends UsedFacts {
  readonly hasCredentials: boolean;
  /** The venue makes them for who signs a text. */
  readonly credentialsBySignature?: boolean;
  /** The agent has an owner. */
  readonly claimed: boolean;
  /** Live venues only. */
  readonly claimMissing: boolean;
  /** A BUY adds exposure, and so does a split; selling held tokens does not. */
  readonly addsExposure: boolean;
  /** It may wait at its venue. */
  readonly mayRest: boolean;
  readonly amount: Micro;
  /** It makes positions in several markets at once, so that no figure of one market says what it adds. */
  readonly spreads?: boolean;
  /** It sells what is held, at a price near the believed bid. */
  readonly sellsNearBid?: boolean;
  /** The present owner has given a passkey's word for this very order: neither a pause of the agent nor `approvalAbove` stops it. */
  readonly hasOwnersWord?: boolean;
  readonly restrictions: readonly Restriction[];
}

/** A cap's row. Figures are bigint here, in every unit. */
interface Rule<N extends JudgedCap> {
  readonly unit: (typeof CAPS)[N]['unit'];
  readonly denial: (typeof CAPS)[N]['denial'];
  /** A new agent's value. */
  readonly initial: Caps[N];
  /** Its place in the order of assessment. */
  readonly place: number;
  /** True: it applies to selling held tokens, too. False: only to what adds exposure. */
  readonly bindsExits: boolean;
  /** False: it applies only to what may wait at a venue. Missing: also to what is executed at once or refused, as a split is. */
  readonly bindsAtOnce?: false;
  readonly used: (facts: UsedFacts) => bigint;
  readonly asked: (amount: Micro) => bigint;
  /** `reached`: refuses every order once the limit is used. `passed`: refuses an order that would exceed the limit. */
  readonly refusedOnce: 'reached' | 'passed';
  /** The owner can approve a single order beyond it. Assessed after everything else that refuses. */
  readonly mayBeApproved?: true;
  /** Its figure is of one market: while it is set, it refuses what makes positions in several at once. */
  readonly spreadDenial?: Pick<Denial, 'detail' | 'fix'>;
  readonly detail: (words: Readonly<Record<'limit' | 'used' | 'asked', string>>, facts: DayFacts) => string;
  /** Raised when the day's budget is nearly used up; the message begins with `name`. */
  readonly alert?: {
    readonly code: string;
    readonly name: string;
    readonly used: (facts: DayFacts) => bigint;
  };
}

const tradesToday = ({ usage }: DayFacts): bigint => BigInt(usage.trades + (usage.reserved ?? 0));
const amountToday = ({ usage }: DayFacts): Micro => usage.amount;
const lossToday = ({ realizedToday }: DayFacts): Micro => (realizedToday < 0n ? -realizedToday : 0n);

const RULES: { readonly [N in JudgedCap]: Rule<N> } = {
  maxTradesPerDay: {
    unit: 'count',
    denial: 'max_trades_per_day_exceeded',
    initial: 50,
    place: 2,
    bindsExits: true,
    used: tradesToday,
    asked: () => 1n,
    refusedOnce: 'passed',
    detail: ({ limit, used }, { usage: { reserved = 0 } }) =>
      `${used} trades are used today${reserved === 0 ? '' : `, ${reserved} of them kept for guarded exits`}; maxTradesPerDay is ${limit}.`,
    alert: { code: 'quota_nearly_used', name: 'Trades today', used: tradesToday },
  },
  maxTradeAmount: {
    unit: 'collateral',
    denial: 'max_trade_amount_exceeded',
    initial: 100_000_000n,
    place: 1,
    bindsExits: true,
    used: () => 0n,
    asked: (amount) => amount,
    refusedOnce: 'passed',
    detail: ({ limit, asked }) => `This trade is ${asked} collateral; maxTradeAmount is ${limit}.`,
  },
  dailyTradeAmountLimit: {
    unit: 'collateral',
    denial: 'daily_trade_amount_exceeded',
    initial: 500_000_000n,
    place: 3,
    bindsExits: false,
    used: amountToday,
    asked: (amount) => amount,
    refusedOnce: 'passed',
    detail: ({ limit, used, asked }) =>
      `${used} collateral is used today and this trade asks ${asked}; dailyTradeAmountLimit is ${limit}.`,
    alert: { code: 'daily_amount_nearly_used', name: 'Collateral today', used: amountToday },
  },
  maxPositionValue: {
    unit: 'collateral',
    denial: 'max_position_value_exceeded',
    initial: null,
    place: 4,
    bindsExits: false,
    used: ({ positionValue }) => positionValue,
    asked: (amount) => amount,
    refusedOnce: 'passed',
    detail: ({ limit, used, asked }) =>
      `The position with its open BUYs is worth ${used} and this trade asks ${asked}; maxPositionValue is ${limit}.`,
    spreadDenial: {
      detail: 'A conversion makes positions in all other markets of the event, and maxPositionValue is set.',
      fix: 'Sell the NO shares and buy the YES shares that you want, or set maxPositionValue to null in POST /agents/settings; where it is locked, only your owner can lift it.',
    },
  },
  dailyLossLimit: {
    unit: 'collateral',
    denial: 'daily_loss_limit_reached',
    initial: null,
    place: 5,
    bindsExits: false,
    used: lossToday,
    // A loss is realised by what comes later.
    asked: () => 0n,
    refusedOnce: 'reached',
    detail: ({ limit, used }) => `Today's realised loss is ${used}; dailyLossLimit is ${limit}.`,
    alert: { code: 'daily_loss_nearly_reached', name: 'Realised loss today', used: lossToday },
  },
  // An immediate order is open until its answer arrives, so it counts like any other.
  maxOpenOrders: {
    unit: 'count',
    denial: 'max_open_orders_exceeded',
    initial: null,
    place: 6,
    bindsExits: false,
    bindsAtOnce: false,
    used: ({ openOrders }) => BigInt(openOrders),
    asked: () => 1n,
    refusedOnce: 'passed',
    detail: ({ limit, used }) => `${used} orders are open or in doubt; maxOpenOrders is ${limit}.`,
  },
  // A SELL, too: a holder of the agent's key could give away what is held.
  approvalAbove: {
    unit: 'collateral',
    denial: 'approval_required',
    initial: null,
    place: 7,
    bindsExits: true,
    used: () => 0n,
    asked: (amount) => amount,
    refusedOnce: 'passed',
    mayBeApproved: true,
    detail: ({ limit, asked }) => `This trade is ${asked} collateral; approvalAbove is ${limit}.`,
  },
};

const JUDGED_CAPS = Object.keys(RULES) as readonly JudgedCap[];
/** In the order of assessment. */
export const CAPS_IN_ORDER: readonly JudgedCap[] = JUDGED_CAPS.toSorted(
  (a, b) => RULES[a].place - RULES[b].place,
);
const APPROVABLE_CAPS = CAPS_IN_ORDER.filter((name) => RULES[name].mayBeApproved === true);
const FINAL_CAPS = CAPS_IN_ORDER.filter((name) => RULES[name].mayBeApproved !== true);

const initialCaps = {
  ...(Object.fromEntries(JUDGED_CAPS.map((name) => [name, RULES[name].initial])) as unknown as Caps),
  silenceSeconds: null,
};

export const DEFAULT_SAFEGUARDS: Safeguards = {
  tradingPaused: false,
  ownerPaused: false,
  tradeLimitEnabled: true,
  capsBindExits: true,
  exitDistancePercent: EXIT_DISTANCE.initial,
  ...initialCaps,
};

/** Whether the cap applies to selling held tokens, too. */
export const meetsExits = (name: JudgedCap): boolean => RULES[name].bindsExits;

/** Whether the cap applies to what is executed at once or refused, as a split is. */
export const meetsSplits = (name: JudgedCap): boolean => RULES[name].bindsAtOnce !== false;

/** Whether the cap applies to an order. */
const binds = (
  name: JudgedCap,
  { addsExposure, mayRest }: Pick<TradeFacts, 'addsExposure' | 'mayRest'>,
): boolean => (addsExposure || meetsExits(name)) && (mayRest || meetsSplits(name));

/** Whether one of the ceilings binds orders. */
const hasCeiling = (ceilings: Ceilings): boolean => JUDGED_CAPS.some((name) => ceilings[name] !== null);

/**
 * The owner lets exits pass those caps that may stop one, while it asks for no approval. What another owner has locked on the wallet
 * stays.
 */
const isLetPass = (
  name: JudgedCap,
  { isFormer }: Pick<Bound, 'isFormer'>,
  { capsBindExits }: Pick<Safeguards, 'capsBindExits'>,
  { addsExposure, sellsNearBid }: Pick<TradeFacts, 'addsExposure' | 'sellsNearBid'>,
): boolean =>
  !capsBindExits && !isFormer && !addsExposure && sellsNearBid === true && RULES[name].mayBeApproved !== true;

/** A cap's figure as text. */
export const figureText = (name: CapName, figure: number | bigint): string =>
  CAPS[name].unit === 'count' ? String(figure) : formatMicro(BigInt(figure));

/** The caps that apply to one order, and what is used of them. */
interface Bound extends UsedFacts {
  readonly caps: Ceilings;
  /** Ceilings of an owner whose agent had the wallet before. */
  readonly isFormer: boolean;
}

type AssessedStanding = UsedFacts & Pick<TradeFacts, 'restrictions'>;

const boundsOf = (safeguards: Safeguards, standing: AssessedStanding): Bound[] => [
  ...(safeguards.tradeLimitEnabled ? [{ ...standing, caps: safeguards, isFormer: false }] : []),
  ...standing.restrictions.map((restriction) => ({
    ...restriction,
    caps: restriction.locks,
    isFormer: true,
  })),
];

const FORMER = {
  said: ' (locked by the owner of an agent that had this wallet before)',
  fix: 'Only that owner, on the console, or the operator can lift it. Cancels and redeems go through meanwhile.',
};

const PAPER_CREDENTIALS_FIX =
  'Sign the message of GET /wallet/credentials/challenge?address=<your EOA>, and send address, nonce and signature to POST /wallet/credentials/paper; or register venue credentials with POST /wallet/credentials.';

/** @param bySignature of paper: credentials come for a signed text */
export const withoutCredentials = (bySignature: boolean, detail: string): Denial => ({
  code: 'credentials_not_registered',
  detail,
  ...(bySignature ? { fix: PAPER_CREDENTIALS_FIX } : {}),
});

type Gate = (safeguards: Safeguards, facts: TradeFacts) => Denial | null;

/** Conditions on any order, in the order of assessment, before the caps. */
const GATES: { readonly [Code in 'trading_paused' | 'credentials_not_registered' | 'claim_required']: Gate } =
  {
    trading_paused(safeguards, facts) {
      const passes = facts.hasOwnersWord === true;
      if (safeguards.ownerPaused && !passes) {
        return {
          code: 'trading_paused',
          detail: 'Trading is paused by the owner of this agent.',
          fix: 'Only the owner can resume it, on the claim page. Cancels and redeems go through meanwhile.',
        };
      }
      if (safeguards.tradingPaused && !passes)
        return { code: 'trading_paused', detail: 'Trading is paused for this agent.' };
      if (!facts.restrictions.some(({ paused }) => paused)) return null;
      return {
        code: 'trading_paused',
        detail: 'Trading with this wallet is paused by the owner of an agent that had it before.',
        fix: FORMER.fix,
      };
    },
    credentials_not_registered: (_safeguards, { hasCredentials, credentialsBySignature }) =>
      hasCredentials
        ? null
        : withoutCredentials(
            credentialsBySignature === true,
            'No venue credentials are registered for the wallet of this order.',
          ),
    claim_required: (_safeguards, { claimMissing }) =>
      claimMissing
        ? {
            code: 'claim_required',
            detail: 'This agent is not claimed by an owner, which live venues require.',
          }
        : null,
  };
const GATE_CODES = Object.keys(GATES) as readonly (keyof typeof GATES)[];

/**
 * Without the caps beyond which an owner can approve an order: see `approvalNeeded`.
 * @returns the first denial in the documented order, or `null`; of several bounds the strictest applies
 */
export function assess(safeguards: LockedSafeguards, facts: TradeFacts): Denial | null {
  for (const code of GATE_CODES) {
    const denial = GATES[code](safeguards, facts);
    if (denial !== null) return denial;
  }
  const bounds = boundsOf(safeguards, facts);
  for (const name of FINAL_CAPS) {
    const denial = denialOf(name, bounds, safeguards, facts);
    if (denial !== null) return denial;
  }
  return null;
}

/** A denial of an order that nothing else refuses. */
export interface ApprovalNeed {
  readonly denial: Denial;
  /** Null: the locks are those of a former owner of the wallet, who approves nothing for this agent. */
  readonly limit: Micro | null;
}

/** Whether an order that `assess` lets pass needs its owner's approval. */
export function approvalNeeded(safeguards: LockedSafeguards, facts: TradeFacts): ApprovalNeed | null {
  // A former owner's lock first: no approval of the present owner lifts it.
  const bounds = boundsOf(safeguards, facts)
    .toReversed()
    .filter(({ isFormer }) => isFormer || facts.hasOwnersWord !== true);
  for (const name of APPROVABLE_CAPS) {
    for (const bound of bounds) {
      const denial = denialOf(name, [bound], safeguards, facts);
      if (denial !== null) return { denial, limit: bound.isFormer ? null : limitOf(bound.caps, name) };
    }
  }
  return null;
}

function denialOf(
  name: JudgedCap,
  bounds: readonly Bound[],
  safeguards: LockedSafeguards,
  facts: TradeFacts,
): Denial | null {
  if (!binds(name, facts)) return null;
  for (const bound of bounds) {
    if (isLetPass(name, bound, safeguards, facts)) continue;
    const denial = denialBy(name, bound, facts);
    if (denial === null) continue;
    if (bound.isFormer)
      return { ...denial, detail: denial.detail.replace(/\.$/, `${FORMER.said}.`), fix: FORMER.fix };
    return { fix: capFix(name, safeguards, facts), ...denial };
  }
  return null;
}

/** The next step after a denial by a cap of the agent's own. */
function capFix(name: JudgedCap, safeguards: LockedSafeguards, facts: TradeFacts): string {
  const { capsBindExits, exitDistancePercent, locks } = safeguards;
  const rule = RULES[name];
  const { denial, mayBeApproved } = rule;
  const isOfExit = !facts.addsExposure && mayBeApproved !== true;
  if (isOfExit && !capsBindExits)
    return `Sell at no less than ${100 - exitDistancePercent} % of the best bid, while there is one: an exit at such a price passes this limit.`;
  const lock = locks?.[name] ?? null;
  const isLocked = lock !== null && isUsedUp(rule, BigInt(lock), rule.used(facts), rule.asked(facts.amount));
  const { fix } = ERRORS[denial];
  const own = isLocked
    ? fix.replace(
        `raise ${name} in POST /agents/settings`,
        `ask your owner, who has locked ${name} at ${figureText(name, lock)}`,
      )
    : fix;
  return isOfExit && facts.claimed
    ? `${own} Your owner can let exits pass this limit (capsBindExits, on the console).`
    : own;
}

/** A safeguard's verdict on one order. */
export interface Verdict {
  /** Code of the denial, when it denies. */
  readonly code: ErrorCode;
  readonly denial: Denial | null;
  /** `null`: a safeguard without figures. */
  readonly cap:
    | (Allowance & { readonly name: JudgedCap; readonly asked: bigint; readonly binds: boolean })
    | null;
}

/** Verdict of every safeguard on an order, not only the first denial; in the order of assessment. */
export function verdicts(safeguards: LockedSafeguards, facts: TradeFacts): Verdict[] {
  const bounds = boundsOf(safeguards, facts);
  const { caps } = allowances(safeguards, facts);
  return [
    ...GATE_CODES.map((code) => ({ code, denial: GATES[code](safeguards, facts), cap: null })),
    ...CAPS_IN_ORDER.map((name) => ({
      code: RULES[name].denial,
      denial: denialOf(name, bounds, safeguards, facts),
      cap: {
        ...caps[name],
        name,
        asked: RULES[name].asked(facts.amount),
        binds: binds(name, facts) && !bounds.every((bound) => isLetPass(name, bound, safeguards, facts)),
      },
    })),
  ];
}

const limitOf = (caps: Ceilings, name: JudgedCap): bigint | null => {
  const limit = caps[name];
  return limit === null ? null : BigInt(limit);
};

const isUsedUp = (
  { refusedOnce }: Pick<Rule<JudgedCap>, 'refusedOnce'>,
  limit: bigint,
  used: bigint,
  asked: bigint,
): boolean => (refusedOnce === 'reached' ? used >= limit : used + asked > limit);

function denialBy(name: JudgedCap, bound: Bound, { amount, spreads }: TradeFacts): Denial | null {
  const rule = RULES[name];
  const limit = limitOf(bound.caps, name);
  if (limit === null) return null;
  if (spreads === true && rule.spreadDenial !== undefined) return { code: rule.denial, ...rule.spreadDenial };
  const used = rule.used(bound);
  const asked = rule.asked(amount);
  if (!isUsedUp(rule, limit, used, asked)) return null;
  const figures = { limit, used, asked };
  const each = <T>(of: (text: string) => T) =>
    Object.fromEntries(
      Object.entries(figures).map(([key, figure]) => [key, of(figureText(name, figure))]),
    ) as Record<keyof typeof figures, T>;
  return { code: rule.denial, detail: rule.detail(each(String), bound), context: each(Number) };
}

/** The rest that a cap leaves, under the strictest of several bounds. `limit` and `left` are `null` without a cap. */
interface Allowance {
  readonly limit: bigint | null;
  readonly used: bigint;
  readonly left: bigint | null;
}

/** The bounds that `assess` applies, as figures: counts or micro collateral. */
export function allowances(
  safeguards: Safeguards,
  standing: AssessedStanding,
): { readonly tradingPaused: boolean; readonly caps: Readonly<Record<JudgedCap, Allowance>> } {
  const bounds = boundsOf(safeguards, standing);
  const allowance = (name: JudgedCap): Allowance => {
    let least: Allowance = { limit: null, used: RULES[name].used(standing), left: null };
    for (const bound of bounds) {
      const limit = limitOf(bound.caps, name);
      if (limit === null) continue;
      const used = RULES[name].used(bound);
      const left = limit > used ? limit - used : 0n;
      if (least.left === null || left < least.left) least = { limit, used, left };
    }
    return least;
  };
  return {
    tradingPaused:
      safeguards.tradingPaused ||
      safeguards.ownerPaused ||
      standing.restrictions.some(({ paused }) => paused),
    caps: Object.fromEntries(JUDGED_CAPS.map((name) => [name, allowance(name)])) as Record<
      JudgedCap,
      Allowance
    >,
  };
}

/** Limit, used and asked of the caps with a limit that bind an order: counts, or micro collateral. */
export type CheckedFigures = { [N in JudgedCap]?: [limit: number, used: number, asked: number] };

/**
 * Figures by which an order was judged, for its journal; of several bounds the one that leaves least. Made for every trade, so as plain
 * numbers: amounts are far below 2^53 micro-units.
 */
export function checkedFigures(safeguards: Safeguards, facts: TradeFacts): CheckedFigures {
  const strictest = facts.restrictions.length === 0 ? null : allowances(safeguards, facts).caps;
  const checked: CheckedFigures = {};
  if (strictest === null && !safeguards.tradeLimitEnabled) return checked;
  for (const name of JUDGED_CAPS) {
    if (!binds(name, facts)) continue;
    const limit = strictest === null ? safeguards[name] : strictest[name].limit;
    if (limit === null) continue;
    const { used, asked } = RULES[name];
    checked[name] = [
      Number(limit),
      Number(strictest === null ? used(facts) : strictest[name].used),
      Number(asked(facts.amount)),
    ];
  }
  return checked;
}

interface CapUse {
  readonly code: string;
  /** Begins the message. */
  readonly name: string;
  readonly used: bigint;
  readonly limit: bigint;
  readonly text: (figure: bigint) => string;
}

/** The agent's own daily caps, and what is used of them; empty while the caps are switched off. */
export function dailyCaps(safeguards: Safeguards, facts: DayFacts): CapUse[] {
  if (!safeguards.tradeLimitEnabled) return [];
  return JUDGED_CAPS.flatMap((name) => {
    const { alert } = RULES[name];
    const limit = limitOf(safeguards, name);
    if (alert === undefined || limit === null) return [];
    const text = (figure: bigint) => figureText(name, figure);
    return [{ code: alert.code, name: alert.name, used: alert.used(facts), limit, text }];
  });
}

// The verdicts on a trade as the wire shows them.

export const NOT_GRANTED = {
  detail: 'The owner of this agent has credentials for this wallet, which this agent may not use.',
  fix: 'Register or link the wallet with this agent, or ask the owner to grant it on the console.',
};

const saidOf = (denial: Denial | null): Pick<TradeCheck, 'message' | 'fix'> =>
  denial === null ? {} : { message: denial.detail, ...(denial.fix === undefined ? {} : { fix: denial.fix }) };

const NO_FIGURES = { limit: null, used: null, asked: null, left: null };

export const plainCheck = (code: string, denial: Denial | null): TradeCheck => ({
  code,
  passed: denial === null,
  applies: true,
  ...NO_FIGURES,
  ...saidOf(denial),
});

export function checkOf(
  { code, denial, cap }: Verdict,
  { hasUnreachable }: { readonly hasUnreachable: boolean } = { hasUnreachable: false },
): TradeCheck {
  if (cap === null) {
    const isNotGranted = denial?.code === 'credentials_not_registered' && hasUnreachable;
    return plainCheck(code, isNotGranted ? { ...denial, ...NOT_GRANTED } : denial);
  }
  const isCount = CAPS[cap.name].unit === 'count';
  const figure = (value: bigint) => (isCount ? Number(value) : microToNumber(value));
  const orNull = (value: bigint | null) => (value === null ? null : figure(value));
  return {
    code,
    passed: denial === null,
    applies: cap.binds,
    limit: orNull(cap.limit),
    used: figure(cap.used),
    asked: figure(cap.asked),
    left: orNull(cap.left),
    ...saidOf(denial),
  };
}

export const balanceCheck = (
  { needed, available }: { readonly needed: Micro; readonly available: Micro },
  shortage: Denial | null,
): TradeCheck => ({
  code: 'insufficient_balance',
  passed: shortage === null,
  applies: true,
  limit: microToNumber(available),
  used: 0,
  asked: microToNumber(needed),
  left: microToNumber(available),
  ...saidOf(shortage),
});

// The settings that an owner controls: a ceiling per safeguard that the agent's key cannot exceed (of the silence a floor), and a pause
// that it cannot lift. Checked in the transaction that changes the settings, against the locked row.
//
// Switching the caps off would make a ceiling useless, so one locked ceiling also locks `tradeLimitEnabled`.

export interface OwnerLocks extends Ceilings {
  /** The caps cannot be switched off. */
  readonly tradeLimitEnabled: boolean;
}

export const NO_LOCKS: OwnerLocks = {
  ...(Object.fromEntries(CAP_NAMES.map((name) => [name, null])) as unknown as Ceilings),
  tradeLimitEnabled: false,
};

export const capsLocked = (locks: OwnerLocks): boolean => locks.tradeLimitEnabled || hasCeiling(locks);

/** The change that an agent's key requests; absent fields stay unchanged. */
type SafeguardChange = Partial<Omit<Safeguards, 'ownerPaused'>>;

/** Of most settings more is looser. A shorter silence sends exits and cancels orders sooner, which a thief could want. */
const isBeyond = (name: CapName, asked: number | bigint, lock: number | bigint): boolean =>
  'lock' in CAPS[name] ? asked < lock : asked > lock;

/** @returns a denial per field that the owner's locks forbid; empty when the whole change is allowed */
export function lockedDenials(
  current: Pick<Safeguards, 'ownerPaused'>,
  locks: OwnerLocks,
  change: SafeguardChange,
): Denial[] {
  const denials: Denial[] = [];
  const deny = (path: string, detail: string) => denials.push({ code: 'locked_by_owner', path, detail });
  if (change.tradingPaused === false && current.ownerPaused) {
    deny(
      'tradingPaused',
      'tradingPaused: the owner has paused this agent, and only the owner can resume it.',
    );
  }
  for (const name of CAP_NAMES) {
    const ceiling = locks[name];
    const asked = change[name];
    if (ceiling === null || asked === undefined) continue;
    if (asked === null || isBeyond(name, asked, ceiling)) {
      deny(
        name,
        `${name} is locked by the owner at ${figureText(name, ceiling)}; ${asked === null ? 'none' : figureText(name, asked)} was asked.`,
      );
    }
  }
  if (change.tradeLimitEnabled === false && capsLocked(locks)) {
    deny(
      'tradeLimitEnabled',
      locks.tradeLimitEnabled
        ? 'tradeLimitEnabled is locked by the owner: the caps stay on.'
        : 'tradeLimitEnabled cannot be switched off while the owner has locked a cap.',
    );
  }
  const [first, ...rest] = denials;
  if (first === undefined) return [];
  return [{ ...first, context: { lockedFields: denials.map(({ path }) => path).join(', ') } }, ...rest];
}

// Days as budgets and results count them.

const DAY_MS = 86_400_000;

/** A group of trades asks many times, nearly always about today. */
let last = { day: Number.NaN, text: '' };

/** The UTC day of a time, such as `2026-11-22`. @param at epoch milliseconds */
export function utcDay(at: number): string {
  const day = Math.floor(at / DAY_MS);
  if (day !== last.day) last = { day, text: new Date(at).toISOString().slice(0, 10) };
  return last.text;
}

/** Milliseconds that a venue calls a time; `null`: they are none that ISO texts and the database carry. */
export const timeAt = (ms: number): number | null => (ms >= 0 && ms <= LAST_MS ? Math.floor(ms) : null);
