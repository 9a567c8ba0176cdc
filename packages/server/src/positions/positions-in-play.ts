/**
 * Positions that the leader of the paper exchange keeps in memory. No other process writes them while its term lasts, so what was read once
 * stays true: a commit reads only the positions that it sells from for the first time, and those of a market that is resolved.
 * A commit that fails ends the term, and with it what is kept here.
 */
import {
  fold,
  type Holding,
  holdingKey,
  type Part,
  type PositionEvent,
} from '@bellwether/contract/positions';
import type { Evidence } from '../domain/evidence.ts';
import type { Sql, Tx } from '../platform/database/connection.ts';
import { readHeld, readPositions, type TokenKey } from './position-reads.ts';
import type { FoldedPositions } from './position-writes.ts';

/** Most positions that are kept; one more, and they are read anew. */
const MOST = 100_000;

export class PositionsInPlay {
  #term: bigint | null = null;
  /** `null`: there is none. */
  readonly #known = new Map<string, Holding | null>();

  /** Reads those of the tokens that are not known, in one trip, or in none. */
  async read(sql: Sql | Tx, term: bigint, tokens: readonly TokenKey[]): Promise<void> {
    this.#begin(term);
    const missing = [...new Map(tokens.map((one) => [holdingKey(one), one]))].filter(
      ([key]) => !this.#known.has(key),
    );
    if (missing.length === 0) return;
    const found = await readPositions(
      sql,
      missing.map(([, one]) => one),
    );
    this.#require(term);
    for (const [key] of missing) this.#known.set(key, found.get(key) ?? null);
  }

  /**
   * Folds what the next commit of the term records. It must be committed, or the term ends.
   * @throws RangeError for a sale of more than is held
   */
  async fold(sql: Sql | Tx, term: bigint, { fills, resolutions }: Evidence): Promise<FoldedPositions> {
    if (fills.length === 0 && resolutions.length === 0) return NOTHING;
    const conditionIds = resolutions.map(({ conditionId }) => conditionId);
    const [held] = await Promise.all([
      readHeld(sql, conditionIds, false),
      this.read(
        sql,
        term,
        fills.filter(({ side }) => side === 'SELL'),
      ),
    ]);
    this.#require(term);
    for (const [key, holding] of held) this.#known.set(key, holding);
    const concerned = new Map(held);
    for (const fill of fills) {
      const key = holdingKey(fill);
      const holding = this.#known.get(key);
      if (holding != null) concerned.set(key, holding);
    }
    const reported = this.#take(concerned, [{ kind: 'fills', fills }]);
    const closing = resolutions.map((one): PositionEvent => ({ kind: 'resolution', ...one }));
    return { ...NOTHING, reported, resolved: this.#take(concerned, closing) };
  }

  #take(concerned: Map<string, Holding>, events: readonly PositionEvent[]): readonly Part[] {
    const { holdings, parts } = fold(concerned, events);
    for (const [key, holding] of holdings) {
      concerned.set(key, holding);
      // A purchase of an unknown one was counted from nothing: its commit adds to what is there.
      if (this.#known.has(key)) this.#known.set(key, holding);
    }
    return parts;
  }

  /** Refuses reads of a term that has ended meanwhile. */
  #require(term: bigint): void {
    if (this.#term !== term) throw new Error('another term of the paper exchange has begun');
  }

  #begin(term: bigint): void {
    if (this.#term !== null && term < this.#term) this.#require(term);
    if (this.#term === term && this.#known.size <= MOST) return;
    this.#term = term;
    this.#known.clear();
  }
}

const NOTHING: FoldedPositions = { reversed: [], reported: [], resolved: [] };
