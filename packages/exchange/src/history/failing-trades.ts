/**
 * Trades that are going to fail, from the match until they are reversed or settle after all, and how the last of them ended. A choice is
 * kept with the trade (`exchange_trades.fate`), so a restart under another plan changes no fate that was chosen.
 */
import type { Trade, TradePlace } from '../trade-history.ts';
import type { Fate } from './settlement.ts';

/** Fates that ended, in memory for those who follow a trade. */
const MOST_ENDED = 10_000;
const WALLET = /^0x[0-9a-f]{40}$/;

export type ChooseFailing = (trade: TradePlace) => boolean;

export class FailingTrades {
  readonly #choose: ChooseFailing | undefined;
  readonly #failing = new Map<number, Trade>();
  readonly #ended = new Map<number, Fate>();

  constructor(choose: ChooseFailing | undefined) {
    this.#choose = choose;
  }

  /** Only trades of wallets fail: those of the house among itself concern no one, and the sandbox of venue B settles its own. */
  take(trade: Trade): boolean {
    if (this.#choose === undefined) return false;
    const accounts = [trade.taker, ...trade.matches].map(({ account }) => account);
    const outside = accounts.filter((account) => !account.startsWith('house:'));
    if (outside.length === 0 || !outside.every((account) => WALLET.test(account))) return false;
    if (!this.#choose(trade)) return false;
    this.#failing.set(trade.number, trade);
    return true;
  }

  /** One that was chosen before a restart. */
  resume(trade: Trade): void {
    this.#failing.set(trade.number, trade);
  }

  end(number: number, fate: Extract<Fate, { readonly at: number }>): void {
    this.#failing.delete(number);
    this.#ended.set(number, fate);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MOST_ENDED && oldest !== undefined) this.#ended.delete(oldest);
  }

  fateOf(number: number): Fate {
    if (this.#failing.has(number)) return { kind: 'fails' };
    return this.#ended.get(number) ?? { kind: 'settles' };
  }

  /** Those whose match is at least so old, oldest first. */
  due(now: number, afterMs: number): Trade[] {
    return [...this.#failing.values()].filter(({ at }) => at + afterMs <= now);
  }

  clear(): void {
    this.#failing.clear();
    this.#ended.clear();
  }
}
