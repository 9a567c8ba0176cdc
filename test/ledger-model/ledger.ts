/** The desk's books over positions, in memory: what the fold makes of each, and what each agent has won and lost, in total and by day. */
import {
  type Change,
  type Counted,
  type Fill,
  fold,
  type Holding,
  holdingKey,
  holdingOf,
  isTrade,
  NO_POSITION,
  type PastFill,
  type Position,
  type PositionEvent,
  type Recounted,
  type Token,
} from '@bellwether/contract/positions';

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

export class Ledger {
  readonly #agentOf: (orderId: string) => string | null;
  readonly #holdings = new Map<string, Holding>();
  /** Who traded each position last. */
  readonly #traders = new Map<string, string>();
  /** Whose each fill is. */
  readonly #owners = new Map<string, string | null>();
  readonly results = new Map<string, Results>();
  readonly days = new Map<string, Day>();

  /** @param agentOf whose order it is */
  constructor(agentOf: (orderId: string) => string | null) {
    this.#agentOf = agentOf;
  }

  position(token: Pick<Token, 'wallet' | 'tokenId'>): Position {
    return this.#holdings.get(holdingKey(token))?.position ?? NO_POSITION;
  }

  fills(token: Pick<Token, 'wallet' | 'tokenId'>): readonly PastFill[] {
    return this.#holdings.get(holdingKey(token))?.history ?? [];
  }

  trader(token: Pick<Token, 'wallet' | 'tokenId'>): string | null {
    return this.#traders.get(holdingKey(token)) ?? null;
  }

  take(...events: readonly PositionEvent[]): void {
    for (const event of events) {
      // A position that has no fill yet has all of them known.
      const begun =
        event.kind === 'fills' ? event.fills.filter((fill) => !this.#holdings.has(holdingKey(fill))) : [];
      const known = new Map([
        ...begun.map((fill) => [holdingKey(fill), holdingOf(fill, [])] as const),
        ...this.#holdings,
      ]);
      const { holdings, parts } = fold(known, [event]);
      for (const part of parts)
        if (part.kind === 'counted') for (const one of part.fills) this.#count(one);
        else this.#recount(part.fills, part.change);
      for (const [key, holding] of holdings)
        if (holding.history?.length === 0) {
          this.#holdings.delete(key);
          this.#traders.delete(key);
        } else this.#holdings.set(key, holding);
    }
  }

  #count({ fill, gain, net }: Counted): void {
    const key = holdingKey(fill);
    const isEnd = fill.matchKind === 'REDEEMED' || fill.matchKind === 'LOST';
    const agent = isEnd ? (this.#traders.get(key) ?? null) : this.#agentOf(fill.orderId);
    this.#owners.set(nameOf(fill), agent);
    if (agent !== null && (fill.side === 'BUY' || isTrade(fill.matchKind))) this.#traders.set(key, agent);
    this.#add(agent, fill, {
      volume: isTrade(fill.matchKind) ? fill.cost : 0n,
      fees: fill.fee,
      realized: gain,
      wins: Number(net > 0n),
      losses: Number(net < 0n),
    });
  }

  #recount(fills: readonly Recounted[], { token }: Change): void {
    for (const { fill, isGone, gain, wins, losses } of fills) {
      const name = nameOf({ ...fill, wallet: token.wallet });
      this.#add(this.#owners.get(name) ?? null, fill, {
        volume: isGone ? -fill.cost : 0n,
        fees: isGone ? -fill.fee : 0n,
        realized: gain - fill.gain,
        wins,
        losses,
      });
    }
  }

  #add(agent: string | null, { at }: { readonly at: number }, more: Results): void {
    if (agent === null) return;
    const all = this.results.get(agent) ?? { volume: 0n, fees: 0n, realized: 0n, wins: 0, losses: 0 };
    all.volume += more.volume;
    all.fees += more.fees;
    all.realized += more.realized;
    all.wins += more.wins;
    all.losses += more.losses;
    this.results.set(agent, all);
    const key = `${agent} ${Math.floor(at / DAY_MS)}`;
    const day = this.days.get(key) ?? { realized: 0n, fees: 0n };
    day.realized += more.realized;
    day.fees += more.fees;
    this.days.set(key, day);
  }
}

const nameOf = ({ wallet, orderId, tradeId }: Pick<Fill, 'wallet' | 'orderId' | 'tradeId'>): string =>
  `${wallet} ${orderId} ${tradeId}`;
