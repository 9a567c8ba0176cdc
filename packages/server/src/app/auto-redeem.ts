/**
 * Redeems by itself for agents with autoRedeemEnabled. Driven by the table of resolved markets, which the venue's own
 * evidence fills: a market stays due until every redemption in it was answered, so a crash repeats some of the work,
 * and a repeated redemption pays nothing. What lost is burnt for everybody: it is no position any more. A turn with
 * nothing due is one look at an empty index.
 */
import type { Holding } from '../ports/redemptions.ts';
import type { Deps } from './deps.ts';

/** Markets per turn, and redemptions in flight: what shares a group commit without holding up the trades. */
const MARKETS_PER_TURN = 50;
const AT_ONCE = 200;

/** @returns how many holdings were redeemed */
export async function autoRedeem(deps: Deps): Promise<number> {
  if (deps.venueA.backend !== 'paper') return 0;
  const due = await deps.redemptions.due(MARKETS_PER_TURN);
  if (due.length === 0) return 0;
  const [holdings, worthless] = await Promise.all([
    deps.redemptions.automatic(due),
    deps.redemptions.worthless(due),
  ]);
  const unanswered = new Set<string>();
  let redeemed = 0;
  for (let i = 0; i < holdings.length; i += AT_ONCE) {
    const some = holdings.slice(i, i + AT_ONCE);
    await deps.redemptions.request(some, true, deps.clock.now());
    const answers = await Promise.all(some.map((holding) => redeemOne(deps, holding)));
    for (const [index, isDone] of answers.entries()) {
      if (isDone) redeemed += 1;
      else unanswered.add(some[index]?.conditionId as string);
    }
  }
  for (let i = 0; i < worthless.length; i += AT_ONCE) {
    const some = worthless.slice(i, i + AT_ONCE);
    const answers = await Promise.all(some.map((holding) => redeemOne(deps, holding)));
    for (const [index, isDone] of answers.entries())
      if (!isDone) unanswered.add(some[index]?.conditionId as string);
  }
  const swept = due.filter((conditionId) => !unanswered.has(conditionId));
  if (swept.length > 0) await deps.redemptions.swept(swept, deps.clock.now());
  return redeemed;
}

async function redeemOne(
  deps: Deps,
  { wallet, conditionId }: Pick<Holding, 'wallet' | 'conditionId'>,
): Promise<boolean> {
  try {
    return (await deps.venueA.redeem(wallet, conditionId)).kind === 'redeemed';
  } catch {
    return false;
  }
}
