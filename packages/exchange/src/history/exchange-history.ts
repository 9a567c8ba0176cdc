/** The history of one running exchange: what it takes, what it answers, and which trades are to be reversed. */
import type { Sql } from '@bellwether/durable';
import type { EngineCommand } from '../paper-exchange.ts';
import type { SettlementDelays, Trade, TradeHistory } from '../trade-history.ts';
import { type ChooseFailing, FailingTrades } from './failing-trades.ts';
import { History } from './history.ts';
import { HistoryProjector, type Taken } from './projector.ts';
import { SETTLEMENT_DELAYS } from './settlement.ts';

export interface ExchangeHistoryOptions {
  readonly sql: Sql;
  readonly now: () => number;
  readonly seed: () => string;
  readonly delays: SettlementDelays | undefined;
  readonly failingTrades: ChooseFailing | undefined;
  /** @throws ExchangeUnavailable */
  readonly requireOpen: () => void;
  readonly log: (message: string, details?: unknown) => void;
}

type Reversal = Extract<EngineCommand, { readonly kind: 'reverse' }>;

export class ExchangeHistory {
  readonly reads: TradeHistory;
  readonly #options: ExchangeHistoryOptions;
  readonly #delays: SettlementDelays;
  readonly #failing: FailingTrades;
  readonly #projector: HistoryProjector;

  constructor(options: ExchangeHistoryOptions) {
    const { delays = SETTLEMENT_DELAYS, failingTrades, requireOpen } = options;
    this.#options = options;
    this.#delays = delays;
    this.#failing = new FailingTrades(failingTrades);
    this.#projector = new HistoryProjector({ ...options, failing: this.#failing });
    const settled = async () => {
      requireOpen();
      await this.#projector.flush();
    };
    this.reads = new History({ ...options, delays, failing: this.#failing, settled });
  }

  /** Before a recovery, whose commands `take` receives again. */
  async restart(): Promise<{ readonly checkRecovery: (snapshotSeq: number) => void }> {
    const position = await this.#projector.restart();
    return {
      checkRecovery: (snapshotSeq) => {
        if (position !== undefined && snapshotSeq > position)
          this.#options.log(`the paper exchange's history lacks the trades of ${position} to ${snapshotSeq}`);
      },
    };
  }

  readonly take = (entries: readonly Taken[]): void => this.#projector.take(entries);

  /** Resolves when it covers the journal up to `seq`, whose commit is done. */
  readonly cover = (seq: number): Promise<void> => this.#projector.cover(seq);

  /** True while too much waits to be written: the exchange must not take further commands. */
  get isFull(): boolean {
    return this.#projector.isFull;
  }

  /** Reversals that undo the trades that have failed by now. */
  reversals(now: number): Reversal[] {
    return this.#failing.due(now, this.#delays.confirmedAfterMs).map(reversalOf);
  }

  async close(): Promise<void> {
    await this.#projector
      .flush()
      .catch((error: unknown) =>
        this.#options.log('the history of the paper exchange was not written', error),
      );
    await this.#projector.stop();
  }
}

const reversalOf = ({ conditionId, number, taker, matches }: Trade): Reversal => ({
  kind: 'reverse',
  conditionId,
  trade: number,
  legs: matches.flatMap(({ account, outcome, side, size, cost, takerCost, takerFee }) => [
    {
      ...{ account: taker.account, outcome: taker.outcome, side: taker.side },
      size,
      cost: takerCost,
      fee: takerFee,
    },
    { account, outcome, side, size, cost, fee: 0n },
  ]),
});
