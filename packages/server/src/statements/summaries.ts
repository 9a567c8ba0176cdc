/** Results, fees and losses of a statement: all together, and by market, category, skill and day. */
import { STATEMENT_LIMITS, type Statement, type StatementGroup } from '@bellwether/contract';
import { type Micro, microToNumber } from '@bellwether/contract/decimals';
import { utcDay } from '../domain/utc-day.ts';
import { addTo, type Entry, netOf, noResults, type Results } from './replay.ts';
import type { MarketOfStatement } from './store.ts';

const NO_MARKET = 'No market';
const NO_CATEGORY = 'No category';
const NO_SKILL = 'No skill';
const OTHERS = { key: 'others', title: 'All others' };

type Summed = Pick<Statement, 'totals' | 'otherAgents' | 'byMarket' | 'byCategory' | 'bySkill' | 'byDay'>;

type Groups = Map<string, Results>;

const size = (value: Micro): Micro => (value < 0n ? -value : value);

interface SummariesOptions {
  readonly markets: ReadonlyMap<string, MarketOfStatement>;
  /** An agent whose acts count as those of others. */
  readonly isOther: (agentId: string) => boolean;
}

export class Summaries {
  readonly #markets: SummariesOptions['markets'];
  readonly #isOther: SummariesOptions['isOther'];
  readonly #all = noResults();
  readonly #byMarket: Groups = new Map();
  readonly #byCategory: Groups = new Map();
  readonly #bySkill: Groups = new Map();
  readonly #byDay: Groups = new Map();
  #bought = 0n;
  #sold = 0n;
  #payouts = 0n;
  #deposits = 0n;
  #pastDesk = 0n;
  #others = { cash: 0n, realized: 0n, fees: 0n };

  constructor({ markets, isOther }: SummariesOptions) {
    this.#markets = markets;
    this.#isOther = isOther;
  }

  add(entry: Entry): void {
    const { event, kind, amount } = entry;
    addTo(this.#all, entry);
    this.#pastDesk += entry.pastDesk;
    if (event.kind === 'deposit') this.#deposits += amount;
    else if (kind === 'payout') this.#payouts += amount;
    else if (amount < 0n) this.#bought -= amount;
    else this.#sold += amount;
    if (event.kind === 'deposit') return;
    if (event.agentId !== null && this.#isOther(event.agentId)) {
      this.#others.cash += entry.cash;
      this.#others.realized += entry.realized;
      this.#others.fees += entry.venueFee + entry.platformFee;
      return;
    }
    const conditionId = event.kind === 'fill' ? event.conditionId : '';
    const skill = event.kind === 'fill' ? (event.skillSlug ?? '') : '';
    addTo(groupOf(this.#byMarket, conditionId), entry);
    addTo(groupOf(this.#byCategory, this.#markets.get(conditionId)?.category ?? ''), entry);
    addTo(groupOf(this.#bySkill, skill), entry);
    addTo(groupOf(this.#byDay, utcDay(event.at)), entry);
  }

  answer(notExplained: Micro): Summed {
    const markets = this.#markets;
    const days = [...this.#byDay].filter(([, results]) => !isNothing(results));
    return {
      totals: {
        ...resultsOf(this.#all),
        bought: microToNumber(this.#bought),
        sold: microToNumber(this.#sold),
        payouts: microToNumber(this.#payouts),
        deposits: microToNumber(this.#deposits),
        notExplained: microToNumber(notExplained),
        pastDesk: microToNumber(this.#pastDesk),
      },
      otherAgents: {
        cash: microToNumber(this.#others.cash),
        realizedPnl: microToNumber(this.#others.realized),
        fees: microToNumber(this.#others.fees),
      },
      byMarket: largest(this.#byMarket, (id) => (id === '' ? NO_MARKET : (markets.get(id)?.title ?? id))),
      byCategory: largest(this.#byCategory, (category) => category || NO_CATEGORY),
      bySkill: largest(this.#bySkill, (skill) => skill || NO_SKILL),
      byDay: days
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([day, results]) => ({ key: day, title: day, ...resultsOf(results) })),
    };
  }
}

function groupOf(groups: Groups, key: string): Results {
  const known = groups.get(key);
  if (known !== undefined) return known;
  const results = noResults();
  groups.set(key, results);
  return results;
}

const isNothing = (results: Results): boolean =>
  results.gains === 0n && results.losses === 0n && results.venueFees === 0n && results.platformFees === 0n;

const resultsOf = (results: Results) => ({
  trades: results.trades,
  volume: microToNumber(results.volume),
  gains: microToNumber(results.gains),
  losses: microToNumber(results.losses),
  realizedPnl: microToNumber(results.gains + results.losses),
  venueFees: microToNumber(results.venueFees),
  platformFees: microToNumber(results.platformFees),
  net: microToNumber(netOf(results)),
});

/** The largest results first, gains and losses alike; what is beyond the limit is added up. */
function largest(groups: Groups, titleOf: (key: string) => string): StatementGroup[] {
  const sorted = [...groups].sort(
    ([a, one], [b, two]) => compare(size(netOf(two)), size(netOf(one))) || (a < b ? -1 : 1),
  );
  const shown = sorted
    .slice(0, STATEMENT_LIMITS.groups)
    .map(([key, results]) => ({ key, title: titleOf(key), ...resultsOf(results) }));
  if (sorted.length <= STATEMENT_LIMITS.groups) return shown;
  const rest = noResults();
  for (const [, results] of sorted.slice(STATEMENT_LIMITS.groups)) {
    rest.trades += results.trades;
    rest.volume += results.volume;
    rest.gains += results.gains;
    rest.losses += results.losses;
    rest.venueFees += results.venueFees;
    rest.platformFees += results.platformFees;
  }
  return [...shown, { ...OTHERS, ...resultsOf(rest) }];
}

const compare = (a: Micro, b: Micro): number => (a < b ? -1 : a > b ? 1 : 0);
