/** The desk's books over positions: what each agent has won and lost, in total and by day. */
import {
  EMPTY,
  type Fill,
  lacksShares,
  lastOf,
  type Moves,
  type Position,
  replay,
  type Step,
  salesToMove,
  step,
} from './fold.ts';

const DAY_MS = 86_400_000;

export interface Results {
  volume: bigint;
  fees: bigint;
  realized: bigint;
  wins: number;
  losses: number;
}

export interface Day {
  realized: bigint;
  fees: bigint;
}

interface Entry {
  position: Position;
  /** Who traded it last. */
  agent: string | null;
  readonly fills: Fill[];
  /** What each fill counted as. */
  readonly gains: Map<Fill, bigint>;
  moves: Moves;
}

export class Ledger {
  readonly entries = new Map<string, Entry>();
  readonly results = new Map<string, Results>();
  readonly days = new Map<string, Day>();

  position(token: string): Position {
    return this.entries.get(token)?.position ?? EMPTY;
  }

  fills(token: string): readonly Fill[] {
    return this.entries.get(token)?.fills ?? [];
  }

  /** Fills of one token, in the order in which they were told. */
  apply(token: string, fills: readonly Fill[]): void {
    const entry = this.entries.get(token) ?? {
      ...{ position: EMPTY, agent: null, fills: [], gains: new Map(), moves: new Map() },
    };
    for (const fill of fills) this.#take(entry, fill);
    if (entry.fills.length > 0) this.entries.set(token, entry);
    const told = entry.fills.slice(-fills.length);
    const isLate = told.some(
      (fill) =>
        fill.kind === 'live' &&
        (entry.fills.some(({ kind, at, side }) => kind === 'live' && at > fill.at && side !== fill.side) ||
          (fill.side === 'BUY' && lacksShares(entry.fills, entry.position, fill.at))),
    );
    if (isLate) this.#recount(token, entry, new Set(), told);
  }

  /** Fills that never happened. */
  reverse(token: string, gone: ReadonlySet<Fill>): void {
    const entry = this.entries.get(token);
    if (entry !== undefined) this.#recount(token, entry, gone, []);
  }

  #take(entry: Entry, fill: Fill): void {
    // Closed at a loss by the resolution before.
    if (fill.kind === 'redeemed' && entry.position.size === 0n) return;
    const { position, gain, outcomeNet } = step(entry.position, fill);
    const agent = fill.kind === 'redeemed' ? entry.agent : fill.agent;
    const own = { ...fill, agent };
    entry.position = position;
    entry.fills.push(own);
    entry.gains.set(own, gain);
    if (fill.side === 'BUY' || fill.kind !== 'redeemed') entry.agent = fill.agent ?? entry.agent;
    this.#add(own, {
      ...{ volume: fill.kind === 'redeemed' ? 0n : fill.cost, fees: fill.fee, realized: gain },
      ...{ wins: Number(outcomeNet > 0n), losses: Number(outcomeNet < 0n) },
    });
  }

  #recount(token: string, entry: Entry, gone: ReadonlySet<Fill>, late: readonly Fill[]): void {
    const left = entry.fills.filter((fill) => !gone.has(fill));
    const before = replay(entry.fills, entry.moves, late);
    const counted = replay(entry.fills, entry.moves);
    entry.moves = salesToMove(left, counted);
    const after = replay(left, entry.moves);
    for (const fill of entry.fills) {
      const [was, is] = [before.get(fill) as Step, after.get(fill)];
      const gain = is?.gain ?? 0n;
      const net = is?.outcomeNet ?? 0n;
      this.#add(fill, {
        volume: is === undefined ? -fill.cost : 0n,
        fees: is === undefined ? -fill.fee : 0n,
        realized: gain - (entry.gains.get(fill) as bigint),
        wins: Number(net > 0n) - Number(was.outcomeNet > 0n),
        losses: Number(net < 0n) - Number(was.outcomeNet < 0n),
      });
      entry.gains.set(fill, gain);
    }
    for (const fill of gone) entry.gains.delete(fill);
    entry.fills.splice(0, entry.fills.length, ...left);
    entry.position = lastOf(after);
    if (left.length === 0) this.entries.delete(token);
  }

  #add({ agent, at }: Fill, { volume, fees, realized, wins, losses }: Results): void {
    if (agent === null) return;
    const all = this.results.get(agent) ?? { volume: 0n, fees: 0n, realized: 0n, wins: 0, losses: 0 };
    all.volume += volume;
    all.fees += fees;
    all.realized += realized;
    all.wins += wins;
    all.losses += losses;
    this.results.set(agent, all);
    const key = `${agent} ${Math.floor(at / DAY_MS)}`;
    const day = this.days.get(key) ?? { realized: 0n, fees: 0n };
    day.realized += realized;
    day.fees += fees;
    this.days.set(key, day);
  }
}
