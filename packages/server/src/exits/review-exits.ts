/** Looks over exits that wait: what would stop one now is named long before its trigger holds, and those of a closed position end. */
import { triggerPrice } from '../domain/exits.ts';
import { VenueUnavailable } from '../domain/unavailable.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Secrets } from '../platform/secrets.ts';
import { checkExit, type ValidateTradeNeeds } from '../trading/index.ts';
import { venueOf } from '../venues/asking.ts';
import { earliestOf, endFault } from './leave-exit.ts';
import { endOf } from './records.ts';
import { hasEnded, orderOf, type SendExitNeeds } from './send-exit.ts';
import type { ExitRow, ExitStore } from './store.ts';

export interface ReviewExitsNeeds extends SendExitNeeds, Pick<ValidateTradeNeeds, 'ledger'> {
  readonly ledger: ValidateTradeNeeds['ledger'];
  readonly secrets: SendExitNeeds['secrets'] & Pick<Secrets, 'open'>;
  readonly exits: SendExitNeeds['exits'] &
    Pick<ExitStore, 'takeForReview' | 'reviewed' | 'expire' | 'settle' | 'tellTroubles'>;
}

const EVERY_MS = 30_000;
const A_TURN = 100;
/** A market that answers late makes those of others wait no longer than itself. */
const AT_ONCE = 10;
/** Between two beginnings: a whole turn at once would hold up requests. */
const APART_MS = 15;

export async function reviewExits(needs: ReviewExitsNeeds): Promise<void> {
  const now = needs.clock.now();
  await needs.exits.settle(now);
  await needs.exits.expire(now);
  const failures: unknown[] = [];
  await needs.exits.tellTroubles(now).catch((error: unknown) => failures.push(error));
  const rows = (await needs.exits.takeForReview(now - EVERY_MS, now, A_TURN)).values();
  let nextAt = performance.now();
  const reviewer = async (): Promise<void> => {
    for (const row of rows) {
      const early = nextAt - performance.now();
      nextAt += APART_MS;
      if (early > 0) await new Promise((turn) => setTimeout(turn, early));
      await review(needs, row).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, reviewer));
  if (failures.length > 0) throw failures[0];
}

async function review(needs: ReviewExitsNeeds, row: ExitRow): Promise<void> {
  const at = needs.clock.now();
  const open = ['armed', 'suspended'] as const;
  try {
    if ((await needs.exits.holding(row.exitId)) === 'closed') {
      // What a result has paid, or burnt, is held no more.
      const ending = (await hasEnded(needs, row))
        ? ({ to: 'expired', because: 'market_ended' } as const)
        : ({ to: 'canceled', because: 'position_closed' } as const);
      await needs.exits.end(row.exitId, { from: open, ...ending, at });
      return;
    }
    const trouble = await troubleOf(needs, row);
    if (trouble?.code === 'market_not_active' && (await hasEnded(needs, row)))
      await needs.exits.end(row.exitId, { from: open, to: 'expired', because: 'market_ended', at });
    else if (trouble?.code === 'order_already_placed')
      await needs.exits.end(row.exitId, { from: open, to: 'canceled', because: 'order_placed', at });
    // A trigger that holds since before the exit was resumed is named by the watch.
    else if ((!row.mustLetGo || trouble !== null) && !isSameTrouble(trouble, row.trouble))
      await needs.exits.reviewed(row.exitId, trouble);
  } catch (error) {
    // What a venue that does not answer would say is not known.
    if (!(error instanceof VenueUnavailable)) throw error;
  }
}

const isSameTrouble = (a: ExitRow['trouble'], b: ExitRow['trouble']): boolean =>
  a?.code === b?.code && a?.message === b?.message;

/** What would refuse it if it were sent now, its price and the pause apart. */
async function troubleOf(needs: ReviewExitsNeeds, row: ExitRow): Promise<ExitRow['trouble']> {
  const { caller, exitId, sealed, trigger } = row;
  if (sealed === null) return null;
  const request = orderOf(needs, row);
  const exit = {
    moment: 'left',
    trigger: triggerPrice(trigger),
    places: Number.POSITIVE_INFINITY,
    hasOwnersWord: true,
  } as const;
  try {
    const order = await checkExit(needs, { caller, request, exit, requestId: `exit-${exitId}` });
    if (order === null) return { code: 'order_already_placed', message: 'Its order was placed.' };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const [{ code, detail }] = error.denials;
    return code === 'service_unavailable' ? row.trouble : { code, message: detail };
  }
  return neverSent(needs, row);
}

/** The end of its market may have moved since it was left. */
async function neverSent(needs: ReviewExitsNeeds, row: ExitRow): Promise<ExitRow['trouble']> {
  if (row.trigger.kind !== 'before_end') return null;
  const market = await venueOf(needs, row.venue, row.funder).markets.find(row.conditionId);
  if (market === null) return null;
  const fault = endFault(market, needs.clock.now());
  if (fault !== null)
    return { code: 'exit_trigger_out_of_range', message: `${fault} It sells nothing: leave another exit.` };
  const end = endOf(row);
  const earliest = earliestOf(row.trigger, market, 0);
  if (end === null || earliest === null || earliest < end) return null;
  return {
    code: 'exit_trigger_out_of_range',
    message: `It ends at ${new Date(end).toISOString()}, before its trigger can hold at ${new Date(earliest).toISOString()}.`,
  };
}
