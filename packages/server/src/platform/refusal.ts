/** Carries denials up to the door, which turns the first into a status and lists them all. */
import { ERRORS, type ErrorCode } from '@bellwether/contract';
import type { Denial } from '../domain/denial.ts';

export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** The first is the refusal's code. */
  readonly denials: readonly [Denial, ...Denial[]];
  readonly retryAfterS: number | null;
  readonly orderId: string | null;
  readonly approvalId: string | null;

  constructor(
    denials: readonly [Denial, ...Denial[]],
    options: { retryAfterS?: number; orderId?: string; approvalId?: string } = {},
  ) {
    super(denials[0].detail);
    this.denials = denials;
    this.retryAfterS = options.retryAfterS ?? null;
    this.orderId = options.orderId ?? null;
    this.approvalId = options.approvalId ?? null;
  }

  /** The same refusal, to be tried again after so long at the earliest. */
  after(retryAfterS: number): Refusal {
    const { denials, orderId, approvalId } = this;
    return new Refusal(denials, {
      retryAfterS: Math.max(retryAfterS, this.retryAfterS ?? 0),
      ...(orderId === null ? {} : { orderId }),
      ...(approvalId === null ? {} : { approvalId }),
    });
  }
}

/** @param detail the registry's title when left out; so is the registry's `fix` */
export const refusal = (
  code: ErrorCode,
  detail: string = `${ERRORS[code].title}.`,
  options: { retryAfterS?: number; orderId?: string; approvalId?: string; path?: string; fix?: string } = {},
): Refusal => {
  const { path, fix } = options;
  const denial = {
    ...{ code, detail },
    ...(path === undefined ? {} : { path }),
    ...(fix === undefined ? {} : { fix }),
  };
  return new Refusal([denial], options);
};
