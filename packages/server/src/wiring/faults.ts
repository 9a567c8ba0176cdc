/** The faults of venue A's doors: those that the configuration names, or that a test sets. */
import { Faults, NO_FAULTS, parseFaultPlan } from '@bellwether/exchange/doors/polymarket';
import type { Config } from '../config.ts';
import type { Clock } from '../platform/clock.ts';

/** @throws Error with a sentence that names the setting */
export function openFaults({ paper }: Config, clock: Clock): Faults {
  return new Faults(clock.now, paper.faults === null ? NO_FAULTS : planOf(paper.faults));
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
