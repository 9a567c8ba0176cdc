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
