/**
 * A builder's code in an order: the account that signed pays a fee to the owner of the code, on top of
 * the venue's own fee. So an order carries no code, or the one that the operator configured.
 */
import { divide, type Micro } from '@bellwether/contract/decimals';
import type { Denial } from './denial.ts';
import type { Draft } from './draft.ts';

export interface BuilderTerms {
  /** 0x and 64 hex digits, lower case. */
  readonly code: string;
  /** The most that the builder takes of the collateral that an order moves, in hundredths of a percent. */
  readonly feeBps: number;
}

const BPS = 10_000n;

export function builderFault(
  { builder }: Pick<Draft, 'builder'>,
  allowed: BuilderTerms | undefined,
): Denial | null {
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
