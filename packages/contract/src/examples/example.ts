/** A service's answer to an example; lists are cut to their first items. */
export interface RecordedAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** The request of a runnable example: what the operation takes, with `{{placeholders}}` for what must be fresh. */
export interface Example {
  /** The parameters in braces of the path. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** Beside the key and the media type. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}
