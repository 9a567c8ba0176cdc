/** Learns what venues sort traded markets under, behind the trades: a venue forgets its old markets, a statement of a year must not. */
import { READ_PATIENCE_MS, within } from '../domain/patience.ts';
import type { Job } from '../platform/scheduler.ts';
import type { HasVenues } from '../venues/asking.ts';
import type { StatementStore } from './store.ts';

interface CategoryNeeds extends HasVenues {
  readonly statements: StatementStore;
}

/** Of one turn. */
const MARKETS_PER_TURN = 200;

/** One turn: what a venue does not tell now is asked for again; what it has forgotten has no category. */
export async function learnCategories(needs: CategoryNeeds): Promise<void> {
  const asked = await needs.statements.withoutCategory(MARKETS_PER_TURN);
  const learnt = new Map<string, string>();
  await Promise.all(
    [...Map.groupBy(asked, ({ venue }) => venue)].map(async ([name, markets]) => {
      const venue = needs.venues.get(name ?? '') ?? needs.venues.default;
      const ids = markets.map(({ conditionId }) => conditionId);
      const found = await within(READ_PATIENCE_MS, venue.markets.findAll(ids));
      if (found === null) return;
      for (const id of ids) learnt.set(id, '');
      for (const { conditionId, category } of found) learnt.set(conditionId, category);
    }),
  );
  if (learnt.size > 0) await needs.statements.learnCategories(learnt);
}

export const statementJobs = (needs: CategoryNeeds): readonly Job[] => [
  { name: 'learn categories', everyMs: 20_000, run: () => learnCategories(needs) },
];
