/**
 * Lets a service record orders first and send them to their venue afterwards, as a replica does that does not lead: so a
 * test can stand between the two.
 */
import type { TradeLedger } from '../packages/server/src/trading/admission.ts';
import type { TestService } from './harness.ts';

/** @returns the ledger that the service uses from now on */
export function recordFirst({ needs }: TestService): TradeLedger {
  const { ledger } = needs;
  const recording: TradeLedger = {
    ...ledger,
    admit: ({ toVenue: _, ...admission }) => ledger.admit(admission),
  };
  Object.assign(needs, { ledger: recording });
  return recording;
}
