/** Errors of an exchange that cannot serve. */

/**
 * A command got no answer. `executed: 'no'` is proof that it had no effect and may be sent again; `'unknown'` means
 * that the database was lost while it was in flight: `orderRecord` returns the outcome later.
 */
export class ExchangeUnavailable extends Error {
  override readonly name = 'ExchangeUnavailable';
  readonly executed: 'no' | 'unknown';
  constructor(executed: 'no' | 'unknown', reason: string, options?: ErrorOptions) {
    super(`the paper exchange is unavailable: ${reason}`, options);
    this.executed = executed;
  }
}

/** Another process writes this database's journal. */
export class ExchangeLedElsewhere extends Error {
  override readonly name = 'ExchangeLedElsewhere';
  constructor() {
    super(
      'another process runs the paper exchange on this database; only one may write its journal at a time',
    );
  }
}

/** The database's world has markets of the other kind: simulated ones and a live venue's do not mix. */
export class OtherMarkets extends Error {
  override readonly name = 'OtherMarkets';

  constructor(wantsLive: boolean) {
    super(
      wantsLive
        ? 'this database has a simulated paper world; live markets need a database of their own'
        : "this database's paper world has a live venue's markets; the simulated ones need a database of their own",
    );
  }
}
