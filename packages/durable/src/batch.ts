/**
 * Statements that are sent together and share one synchronisation point (`Sync`): the server answers them with one write
 * instead of one for each, and after an error it skips the rest of them. So they must belong to one transaction.
 *
 * The driver asks with each statement which columns it returns. Here that is asked once for a prepared statement: its
 * columns never change, the server refuses to run it instead.
 */
import { Query } from 'pg';
import { type Rendered, type Rows, rowsWith } from './statement.ts';
import { parserOf } from './values.ts';

interface Columns {
  readonly names: readonly string[];
  readonly parsers: readonly ((text: string) => unknown)[];
  /** A row in which every column is null. */
  readonly empty: Readonly<Record<string, null>>;
}

/** A statement that this connection has prepared, or is preparing. */
interface Prepared {
  /** `undefined` until it has answered once. */
  columns: Columns | undefined;
}

/** The prepared statements of a connection, by name. Those beyond the most are prepared for each use. */
export class PreparedStatements {
  readonly #most: number;
  readonly #known = new Map<string, Prepared>();
  /** They failed when they were used first: the server may know them or not. */
  readonly #doubtful = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  get(name: string): Prepared | undefined {
    return this.#known.get(name);
  }

  /** @returns undefined: it gets no name */
  begin(name: string): Prepared | undefined {
    if (this.#known.size >= this.#most) return undefined;
    const prepared = { columns: undefined };
    this.#known.set(name, prepared);
    return prepared;
  }

  /** It was to be prepared and was not, or failed. */
  forget(name: string): void {
    this.#known.delete(name);
    this.#doubtful.add(name);
  }

  /** Whether it must be closed before it is prepared. The doubt is over then. */
  takeDoubt(name: string): boolean {
    return this.#doubtful.delete(name);
  }
}

/** One statement of a batch, with its answer so far. */
export class Item {
  readonly statement: Rendered;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (fault: unknown) => void;
  readonly #rows: Record<string, unknown>[] = [];
  prepared: Prepared | undefined;
  /** Its text was sent with it. */
  isNew = false;
  columns: Columns = NO_COLUMNS;
  #command = '';
  #count = 0;
  /** The cause that made a value unreadable. */
  #fault: unknown;

  constructor(statement: Rendered, resolve: Item['resolve'], reject: Item['reject']) {
    this.statement = statement;
    this.resolve = resolve;
    this.reject = reject;
  }

  add(texts: readonly (string | null)[]): void {
    const { names, parsers, empty } = this.columns;
    const row: Record<string, unknown> = { ...empty };
    try {
      for (let at = 0; at < texts.length; at += 1) {
        const text = texts[at];
        if (text !== null && text !== undefined) row[names[at]!] = parsers[at]!(text);
      }
      this.#rows.push(row);
    } catch (fault) {
      this.#fault ??= fault;
    }
  }

  complete(tag: string): void {
    const words = tag.split(' ');
    this.#command = words[0] ?? '';
    this.#count = words.length > 1 ? Number(words.at(-1)) : 0;
    if (this.prepared !== undefined) this.prepared.columns = this.columns;
  }

  answer(): void {
    if (this.#fault !== undefined) {
      this.reject(this.#fault);
      return;
    }
    this.resolve(rowsWith(this.#rows, this.#count, this.#command));
  }
}

const NO_COLUMNS: Columns = { names: [], parsers: [], empty: {} };

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

const columnsOf = (fields: readonly Field[]): Columns => ({
  names: fields.map(({ name }) => name),
  parsers: fields.map(({ dataTypeID }) => parserOf(dataTypeID)),
  empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
});

/** The driver's connection, as far as it is used here. */
interface Wire {
  close(message: { readonly type: 'S'; readonly name: string }): void;
  parse(message: { readonly text: string; readonly name: string }): void;
  bind(message: { readonly statement: string; readonly values: readonly unknown[] }): void;
  describe(message: { readonly type: 'P'; readonly name: '' }): void;
  execute(message: { readonly portal: '' }): void;
  sync(): void;
}

/** In a pipeline the driver takes no other objects than its own queries. */
const DriversQuery = Query as unknown as new (text: string) => object;

/** The driver calls its methods with the server's messages. */
export class Batch extends DriversQuery {
  readonly #items: Item[] = [];
  readonly #prepared: PreparedStatements;
  #answered = 0;

  constructor(prepared: PreparedStatements) {
    super('');
    this.#prepared = prepared;
  }

  add(item: Item): void {
    this.#items.push(item);
  }

  submit(wire: Wire): null {
    for (const item of this.#items) this.#send(wire, item);
    wire.sync();
    return null;
  }

  #send(wire: Wire, item: Item): void {
    const { text, name, values } = item.statement;
    const known = name === null ? undefined : this.#prepared.get(name);
    item.prepared = known ?? (name === null ? undefined : this.#prepared.begin(name));
    const called = item.prepared === undefined || name === null ? '' : name;
    if (known === undefined) {
      item.isNew = true;
      if (this.#prepared.takeDoubt(called)) wire.close({ type: 'S', name: called });
      wire.parse({ text, name: called });
    }
    wire.bind({ statement: called, values });
    if (known?.columns === undefined) wire.describe({ type: 'P', name: '' });
    else item.columns = known.columns;
    wire.execute({ portal: '' });
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    const item = this.#items[this.#answered];
    if (item !== undefined) item.columns = columnsOf(fields);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#items[this.#answered]?.add(fields);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#items[this.#answered]?.complete(text);
    this.#answered += 1;
  }

  handleEmptyQuery(): void {
    this.#answered += 1;
  }

  /** Error of the server, or of a lost connection. The statements after the one that failed were not executed. */
  handleError(fault: unknown): void {
    for (const item of this.#items.slice(0, this.#answered)) item.answer();
    for (const item of this.#items.slice(this.#answered)) {
      if (item.isNew && item.prepared !== undefined) this.#prepared.forget(item.statement.name as string);
      item.reject(fault);
    }
  }

  handleReadyForQuery(): void {
    for (const item of this.#items) item.answer();
  }
}
