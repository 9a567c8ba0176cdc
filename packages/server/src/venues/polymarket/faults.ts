/** The faults that the venue's doors on paper show, to test clients against them. */
import { Faults, NO_FAULTS, parseFaultPlan } from '@bellwether/exchange/doors/polymarket';
import type { Clock } from '../../platform/clock.ts';

/** @param given JSON; `null`: none @throws Error with a sentence that names the setting */
export function openFaults(given: string | null, clock: Clock): Faults {
  return new Faults(clock.now, given === null ? NO_FAULTS : planOf(given));
}

function planOf(text: string) {
  try {
    const plan = parseFaultPlan(text);
    // On paper an order of the desk is final once it is filled.
    if (plan.failingTradesShare > 0)
      throw new Error('failingTradesShare is for "npm run exchange": trades of the desk’s own venue settle');
    return plan;
  } catch (error) {
    throw new Error(`PAPER_FAULTS: ${(error as Error).message}.`);
  }
}
