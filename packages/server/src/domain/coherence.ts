/**
 * Checks every field of a trade against the other fields and the market. The faults come in a fixed order; the first
 * gives the refusal's code, and the refusal lists all of them, so that an agent's author can fix them at once.
 */
import { LAST_SECOND, type OutcomeNames, outcomeMismatch, sideCalled } from '@bellwether/contract';
import {
  divide,
  formatMicro,
  formatPips,
  MICRO,
  type Micro,
  PIPS,
  type Pips,
  parseTick,
} from '@bellwether/contract/decimals';
import { ZERO_ADDRESS } from '@bellwether/protocol';
import type { Denial } from './denial.ts';
import { type Draft, isImmediate, signedLimit } from './draft.ts';

/** Why a market cannot be traded here although its venue trades it. */
export type Untradable = 'contract_version' | 'tick_size' | 'fee_terms';

/** The market's terms that an order has to agree with. */
export interface MarketTerms {
  readonly conditionId: string;
  /** [YES, NO] */
  readonly tokenIds: readonly [string, string];
  readonly outcomes: OutcomeNames;
  readonly tickSize: Pips;
  readonly minOrderSize: Micro;
  readonly negRisk: boolean;
  readonly tradable: boolean;
  readonly untradable?: Untradable;
}

export interface VenueRules {
  /** Seconds that a GTD order's expiration must lie ahead. */
  readonly gtdMinLeadS: number;
  /** The one builder whose code orders may carry; absent: none. */
  readonly builder?: BuilderTerms | undefined;
  /**
   * Amounts are those that the venue takes: of a SELL that executes at once 2 and 4 decimals, of a resting order size × price to the
   * unit. Absent: their ratio decides, as the interface has it.
   */
  readonly areAmountsExact?: boolean;
}

const SIZE_TOLERANCE: Micro = 10_000n;
const MAX_SALT = 2n ** 53n - 1n;
const MAX_FEE_RATE_BPS = 1000n;
const MAKER_UNIT: Micro = 10_000n;
const TAKER_UNIT: Micro = 100n;
const MIN_IMMEDIATE_BUY: Micro = MICRO;

type Fault = Denial | null | false;

const present = (faults: readonly Fault[]): Denial[] => faults.filter((fault): fault is Denial => !!fault);

/** @param now epoch milliseconds */
export function incoherences(draft: Draft, market: MarketTerms, rules: VenueRules, now: number): Denial[] {
  return [
    ...activityFaults(market),
    ...tokenFaults(draft, market),
    ...typeFaults(draft),
    ...rangeFaults(draft),
    ...present([builderFault(draft, rules.builder)]),
    ...(draft.shares > 0n && draft.money > 0n ? amountFaults(draft, market, rules) : []),
    ...expirationFaults(draft, rules, now),
    ...addressFaults(draft),
    ...hintFaults(draft, market),
  ];
}

const UNTRADABLE: Readonly<Record<Untradable, Denial>> = {
  contract_version: {
    code: 'market_version_not_supported',
    path: 'marketConditionId',
    detail:
      'The market is of a version of the protocol that the desk does not know, so that it cannot say for which contract its orders are.',
  },
  tick_size: {
    code: 'tick_size_not_supported',
    path: 'marketConditionId',
    detail:
      "The market's tickSize is one in which the desk cannot count, so that it cannot say whether a price is on the grid.",
  },
  fee_terms: {
    code: 'fee_terms_not_supported',
    path: 'marketConditionId',
    detail:
      "The venue's terms for this market's fee are none that the desk knows, so that it cannot say what an order costs.",
  },
};

function activityFaults({ tradable, untradable }: MarketTerms): Denial[] {
  if (untradable !== undefined) return [UNTRADABLE[untradable]];
  return tradable
    ? []
    : [
        {
          code: 'market_not_active',
          path: 'marketConditionId',
          detail: 'The market no longer takes orders.',
        },
      ];
}

/** The outcome of the token that is signed; `null`: no token of this market. */
export function outcomeOf(
  { fields }: Draft,
  { tokenIds }: Pick<MarketTerms, 'tokenIds'>,
): 'YES' | 'NO' | null {
  const index = tokenIds.indexOf(fields.tokenId.toString());
  return index < 0 ? null : index === 0 ? 'YES' : 'NO';
}

function tokenFaults(draft: Draft, market: MarketTerms): Denial[] {
  const outcome = outcomeOf(draft, market);
  const said = sideCalled(draft.saidOutcome, market.outcomes);
  return present([
    outcome === null && {
      code: 'token_market_mismatch',
      path: 'order.tokenId',
      detail: 'order.tokenId is not a token of this market.',
    },
    said === null && {
      code: 'outcome_name_mismatch',
      path: 'outcome',
      detail: outcomeMismatch(draft.saidOutcome, market.outcomes),
    },
    said !== null &&
      outcome !== null &&
      said !== outcome && {
        code: 'outcome_token_mismatch',
        path: 'outcome',
        detail: `outcome says ${draft.saidOutcome}, but order.tokenId is the ${outcome} token.`,
      },
  ]);
}

function rangeFaults({ fields }: Draft): Denial[] {
  return present([
    fields.taker !== ZERO_ADDRESS && {
      code: 'taker_not_supported',
      path: 'order.taker',
      detail: 'Only open orders are taken: order.taker must be the zero address.',
    },
    fields.salt > MAX_SALT && {
      code: 'salt_out_of_range',
      path: 'order.salt',
      detail: 'order.salt is above 2^53−1.',
    },
    fields.feeRateBps > MAX_FEE_RATE_BPS && {
      code: 'fee_rate_out_of_range',
      path: 'order.feeRateBps',
      detail: 'order.feeRateBps is above 1000.',
    },
    ...(['makerAmount', 'takerAmount'] as const).map(
      (name): Fault =>
        (fields[name] === 0n || fields[name] > BigInt(Number.MAX_SAFE_INTEGER)) && {
          code: 'amount_out_of_range',
          path: `order.${name}`,
          detail: `order.${name} must be between 1 and 2^53−1 micro-units.`,
        },
    ),
  ]);
}

function amountFaults(draft: Draft, market: MarketTerms, { areAmountsExact = false }: VenueRules): Denial[] {
  const immediateBuy = draft.side === 'BUY' && isImmediate(draft.timeInForce);
  const difference = draft.orderSize - draft.shares;
  const leg = draft.side === 'BUY' ? 'takerAmount' : 'makerAmount';
  const priced = priceFaults(draft, market);
  return present([
    (difference >= SIZE_TOLERANCE || -difference >= SIZE_TOLERANCE) && {
      code: 'order_size_mismatch',
      path: 'orderSize',
      detail: `orderSize is ${formatMicro(draft.orderSize)}, but order.${leg} says ${formatMicro(draft.shares)} shares.`,
    },
    ...priced,
    isImmediate(draft.timeInForce)
      ? (immediateBuy || areAmountsExact) && immediateFault(draft)
      : areAmountsExact && priced.length === 0 && restingFault(draft),
    immediateBuy &&
      draft.money < MIN_IMMEDIATE_BUY && {
        code: 'amount_below_minimum',
        path: 'order.makerAmount',
        detail: `A BUY that executes at once spends at least 1 collateral; this one ${formatMicro(draft.money)}.`,
      },
    !isImmediate(draft.timeInForce) &&
      draft.shares < market.minOrderSize && {
        code: 'size_below_minimum',
        path: 'orderSize',
        detail: `The market's smallest order is ${formatMicro(market.minOrderSize)} shares; this one has ${formatMicro(draft.shares)}.`,
      },
  ]);
}

function immediateFault({ side, fields: { makerAmount, takerAmount } }: Draft): Fault {
  const isGivenFine = makerAmount % MAKER_UNIT !== 0n;
  return (
    (isGivenFine || takerAmount % TAKER_UNIT !== 0n) && {
      code: side === 'BUY' ? 'immediate_buy_precision' : 'sell_decimals_not_allowed',
      path: isGivenFine ? 'order.makerAmount' : 'order.takerAmount',
      detail:
        `invalid amounts: for FOK and FAK ${side} orders makerAmount supports at most 2 decimals (a multiple of 10000) ` +
        'and takerAmount at most 4 (a multiple of 100).',
    }
  );
}

/** With 2 decimals of shares no price of any tick gives collateral finer than a millionth. */
function restingFault({ side, shares, money, price }: Draft): Fault {
  if (price === null) return false;
  const [size, paid] =
    side === 'BUY' ? (['takerAmount', 'makerAmount'] as const) : (['makerAmount', 'takerAmount'] as const);
  const excess = shares % MAKER_UNIT;
  const due = (shares * BigInt(price)) / BigInt(PIPS);
  const fault = (leg: string, detail: string): Denial => ({
    code: 'resting_amounts_mismatch',
    path: `order.${leg}`,
    detail: `invalid amounts: ${detail}`,
  });
  if (excess !== 0n)
    return fault(
      size,
      `a resting order has at most 2 decimals of shares: order.${size} must be a multiple of 10000, such as ${shares - excess}.`,
    );
  return (
    money !== due &&
    fault(
      paid,
      `for ${formatMicro(shares)} shares at ${formatPips(price)} order.${paid} must be ${due}, not ${money}.`,
    )
  );
}

function priceFaults(draft: Draft, market: MarketTerms): Denial[] {
  const tick = market.tickSize;
  const limit = signedLimit(draft, tick);
  const label = formatPips(tick);
  if (draft.isLimitOrder && (draft.price === null || draft.price % tick !== 0)) {
    return [
      {
        code: 'price_off_tick_grid',
        path: 'price',
        detail: `price is not a whole number of ticks of ${label}.`,
      },
    ];
  }
  if (limit < tick || limit > PIPS - tick) {
    return [
      {
        code: 'price_out_of_range',
        path: 'price',
        detail: `The signed amounts give a price of ${formatPips(limit)}; it must lie between ${label} and ${formatPips(PIPS - tick)}.`,
      },
    ];
  }
  return draft.isLimitOrder && draft.price !== null && draft.price !== limit
    ? [
        {
          code: 'price_mismatch',
          path: 'price',
          detail: `price is ${formatPips(draft.price)}, but the signed amounts give ${formatPips(limit)}.`,
        },
      ]
    : [];
}

function typeFaults(draft: Draft): Denial[] {
  return present([
    !draft.isLimitOrder &&
      !isImmediate(draft.timeInForce) && {
        code: 'order_type_mismatch',
        path: 'orderType',
        detail: `A market order (isLimitOrder false) is FAK or FOK, not ${draft.timeInForce}.`,
      },
    draft.postOnly &&
      isImmediate(draft.timeInForce) && {
        code: 'post_only_mismatch',
        path: 'postOnly',
        detail: `postOnly contradicts ${draft.timeInForce}, which never rests.`,
      },
  ]);
}

function expirationFaults(draft: Draft, rules: VenueRules, now: number): Denial[] {
  const expiration = draft.fields.expiration;
  if (draft.timeInForce !== 'GTD') {
    return present([
      (expiration !== 0n || draft.expirationTime !== 0) && {
        code: 'expiration_not_allowed',
        path: expiration !== 0n ? 'order.expiration' : 'expirationTime',
        detail: `A ${draft.timeInForce} order has no expiration.`,
      },
    ]);
  }
  if (expiration === 0n) {
    return [
      {
        code: 'expiration_required',
        path: 'order.expiration',
        detail: 'A GTD order needs order.expiration in seconds.',
      },
    ];
  }
  const earliest = Math.ceil(now / 1000) + rules.gtdMinLeadS;
  return present([
    draft.expirationTime !== 0 &&
      BigInt(Math.floor(draft.expirationTime / 1000)) !== expiration && {
        code: 'expiration_mismatch',
        path: 'expirationTime',
        detail: `expirationTime is ${draft.expirationTime} ms, but order.expiration is ${expiration} s.`,
      },
    expiration < BigInt(earliest) && {
      code: 'expiration_too_soon',
      path: 'order.expiration',
      detail: `order.expiration must be at least ${rules.gtdMinLeadS} s ahead: ${earliest} or later.`,
    },
    expiration > BigInt(LAST_SECOND) && {
      code: 'amount_out_of_range',
      path: 'order.expiration',
      detail:
        'order.expiration is in seconds, and before the year 10000: milliseconds are divided by 1000 before the order is signed.',
    },
  ]);
}

function addressFaults({ fields, walletAddress, funderAddress }: Draft): Denial[] {
  return present([
    walletAddress !== null &&
      walletAddress !== fields.signer &&
      walletAddress !== fields.maker && {
        code: 'wallet_address_mismatch',
        path: 'walletAddress',
        detail: 'walletAddress is neither order.signer nor order.maker.',
      },
    funderAddress !== null &&
      funderAddress !== fields.maker && {
        code: 'funder_address_mismatch',
        path: 'funderAddress',
        detail: 'funderAddress is not order.maker.',
      },
  ]);
}

function hintFaults(draft: Draft, market: MarketTerms): Denial[] {
  return present([
    draft.tickSize !== null &&
      parseTick(draft.tickSize) !== market.tickSize && {
        code: 'tick_size_mismatch',
        path: 'tickSize',
        detail: `tickSize is ${draft.tickSize}; the market's is ${formatPips(market.tickSize)}.`,
      },
    draft.negRisk !== null &&
      draft.negRisk !== market.negRisk && {
        code: 'neg_risk_mismatch',
        path: 'negRisk',
        detail: `negRisk is ${draft.negRisk}; the market's is ${market.negRisk}.`,
      },
  ]);
}

// A builder's code in an order: the account that signed pays a fee to the owner of the code, on top of
// the venue's own fee. So an order carries no code, or the one that the operator configured.

export interface BuilderTerms {
  /** 0x and 64 hex digits, lower case. */
  readonly code: string;
  /** The most that the builder takes of the collateral that an order moves, in hundredths of a percent. */
  readonly feeBps: number;
}

const BPS = 10_000n;

function builderFault({ builder }: Pick<Draft, 'builder'>, allowed: BuilderTerms | undefined): Denial | null {
  if (builder === null || builder === allowed?.code) return null;
  const instead =
    allowed === undefined ? 'this desk allows no code' : `this desk allows ${allowed.code} alone`;
  return {
    code: 'builder_not_allowed',
    path: 'order.builder',
    detail: `order.builder is ${builder}, to which the venue would pay a fee: ${instead}.`,
  };
}

/** The most that the builder can take of an order. @param moves collateral that the order spends, or may bring */
export const mostBuilderFee = (
  { builder }: Pick<Draft, 'builder'>,
  allowed: BuilderTerms | undefined,
  moves: Micro,
): Micro =>
  allowed === undefined || builder === null ? 0n : divide(moves * BigInt(allowed.feeBps), BPS, 'ceil');
