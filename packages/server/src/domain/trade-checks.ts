/** The verdicts on a trade as the wire shows them. */
import { CAPS, type TradeCheck } from '@bellwether/contract';
import { type Micro, microToNumber } from '@bellwether/contract/decimals';
import type { Denial } from './denial.ts';
import type { Verdict } from './safeguards.ts';

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
