/** The exchange as the feeds see it. */
import type { Entry, PaperExchange } from '../../paper-exchange.ts';
import type { TradeHistory } from '../../trade-history.ts';

export interface FeedExchange
  extends Pick<
    PaperExchange,
    'market' | 'marketByToken' | 'book' | 'openOrders' | 'catalogue' | 'subscribe'
  > {
  readonly history: Pick<TradeHistory, 'tradesIn' | 'settlement' | 'delays'>;
  /** Another number after it was reopened: what happened in between, subscribers do not learn. */
  readonly term: number;
}

/** `undefined` while another process leads it, or it is not open. */
export type FindExchange = () => FeedExchange | undefined;

const LOOK_EVERY_MS = 500;

/**
 * Follows one exchange as long as somebody listens: attached with the first listener, detached after the last. When the exchange
 * is lost or was reopened, entries may be missing: the listeners are ended, because only a client that starts again is right again.
 */
export class Attachment {
  readonly #find: FindExchange;
  readonly #onEntries: (entries: readonly Entry[]) => void;
  readonly #onLost: () => void;
  #attached:
    | { readonly exchange: FeedExchange; readonly term: number; readonly detach: () => void }
    | undefined;
  #look: NodeJS.Timeout | undefined;

  constructor(
    find: FindExchange,
    { onEntries, onLost }: { onEntries: (entries: readonly Entry[]) => void; onLost: () => void },
  ) {
    this.#find = find;
    this.#onEntries = onEntries;
    this.#onLost = onLost;
  }

  /** Attaches when it is not. @returns undefined where there is no exchange here */
  exchange(): FeedExchange | undefined {
    if (this.#attached !== undefined && !this.#isLost()) return this.#attached.exchange;
    if (this.#attached !== undefined) this.#lose();
    const exchange = this.#find();
    if (exchange === undefined) return undefined;
    const { term } = exchange;
    const detach = exchange.subscribe((entries) => {
      if (this.#isLost()) this.#lose();
      else this.#onEntries(entries);
    });
    this.#attached = { exchange, term, detach };
    this.#look = setInterval(() => {
      if (this.#isLost()) this.#lose();
    }, LOOK_EVERY_MS).unref();
    return exchange;
  }

  detach(): void {
    clearInterval(this.#look);
    this.#attached?.detach();
    this.#attached = undefined;
  }

  #isLost(): boolean {
    const attached = this.#attached;
    return (
      attached === undefined || this.#find() !== attached.exchange || attached.exchange.term !== attached.term
    );
  }

  #lose(): void {
    this.detach();
    this.#onLost();
  }
}
