/** The log of facts as streams read it: in one order, which every replica sees alike and in which nothing is ever inserted. */

/** After a fact: of the transaction `writer`, the fact `seq`, its event `nth`. `seq` 0: before every fact of that transaction. */
export interface LogPosition {
  readonly writer: bigint;
  readonly seq: bigint;
  readonly nth: number;
}

export interface LoggedEvent {
  /** Right after this event. */
  readonly position: LogPosition;
  readonly agentId: string;
  readonly type: string;
  /** The same as in webhooks, for what both tell. */
  readonly id: string;
  readonly at: number;
  /** JSON text. */
  readonly data: string;
}

export interface FreshFacts {
  readonly facts: readonly { readonly seq: bigint; readonly agentId: string }[];
  /** Everything up to here is in `facts`, and nothing can be added before it. */
  readonly upTo: LogPosition;
  /** What is before this may have been deleted. */
  readonly forgotten: LogPosition;
  /** No position of this log is beyond it yet. */
  readonly horizon: LogPosition;
}

export interface Backlog {
  /** For each question in turn. A full page ends with a whole fact. */
  readonly pages: readonly { readonly events: readonly LoggedEvent[]; readonly upTo: LogPosition }[];
  readonly forgotten: LogPosition;
}

export interface EventLog {
  /** Whose facts are new since a position, at most `most` facts; from the present when there is no position. */
  fresh(after: LogPosition | null, most: number): Promise<FreshFacts>;
  /** The events of those facts, in the order of the log. */
  eventsOf(facts: readonly bigint[]): Promise<readonly LoggedEvent[]>;
  /** What happened to some agents between a position and `upTo`, at most `most` facts for each question. */
  between(
    questions: readonly { readonly agentIds: readonly string[]; readonly after: LogPosition }[],
    upTo: LogPosition,
    most: number,
  ): Promise<Backlog>;
  /** Those of the keys that are still active. */
  activeKeys(keyIds: readonly bigint[]): Promise<ReadonlySet<bigint>>;
}
