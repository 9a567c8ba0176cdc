/**
 * A port whose real object exists only on the leading replica. Every other replica has the same methods and forwards the
 * calls. Which methods are forwarded, and what a call without an answer means, is a table that the
 * compiler compares with the port: a method without a row is a type error, and so is a row whose arguments or answer
 * JSON text (`wire.ts`) would not carry.
 */
import { VenueMoves, VenueUnavailable } from '../../domain/unavailable.ts';

type AsyncMethod = (...args: never[]) => Promise<unknown>;

/** Types that `wire.ts` carries unchanged; anything else becomes `never`. */
type Plain<T> = T extends string | number | bigint | boolean | null | undefined
  ? T
  : undefined extends T // void
    ? T
    : T extends (...args: never[]) => unknown
      ? never
      : T extends ReadonlyMap<infer K, infer V>
        ? ReadonlyMap<Plain<K>, Plain<V>>
        : { readonly [Key in keyof T]: Plain<T[Key]> };
type IsPlain<T> = [T] extends [Plain<T>] ? true : false;

type MaybeUnknown<Answer> = [Extract<Answer, { readonly kind: 'unknown' }>] extends [never]
  ? never
  : 'unknown';

/**
 * Meaning of a call without an answer.
 * `retry`: the method changes nothing, so it runs here if this replica has taken over the lead, else it throws.
 * `error`: it throws VenueUnavailable; the caller may repeat the call, because a second effect is impossible.
 * `unknown`: it may have taken effect, and `{ kind: 'unknown' }` is the answer; nothing is sent again.
 */
type Unanswered<Answer> = 'retry' | 'error' | MaybeUnknown<Answer>;

/** This replica has taken the lead. */
export class LeadIsHere extends Error {
  override readonly name = 'LeadIsHere';
  /** With which the call is made here. */
  readonly args: readonly unknown[];

  constructor({ args }: Call) {
    super('this replica leads');
    this.args = args;
  }
}

type AsksNext = (args: readonly unknown[]) => readonly unknown[];

/** For an answer that is not plain data: converts it to its wire form and back. */
interface Codec<Answer> {
  encode(answer: Answer): unknown;
  decode(plain: unknown): Answer;
}

type ForwardedRow<Answer> = {
  readonly unanswered: Unanswered<Answer>;
  /** With which arguments the next leader is asked, when the term of one without an answer is over: it knows what that one did. */
  readonly asksNext?: AsksNext;
} & (IsPlain<Answer> extends true ? { readonly codec?: undefined } : { readonly codec: Codec<Answer> });

type RowOf<Member> = Member extends AsyncMethod
  ? 'local' | (IsPlain<Parameters<Member>> extends true ? ForwardedRow<Awaited<ReturnType<Member>>> : never)
  : 'local';

/** One row for each member of the port: `local`, which every replica answers itself, or forwarded. */
export type CallTable<Port> = { readonly [Name in keyof Port]-?: RowOf<Port[Name]> };

/** The members that every replica implements locally. */
export type LocalPart<Port, Table> = Pick<
  Port,
  { [Name in keyof Port & keyof Table]: Table[Name] extends 'local' ? Name : never }[keyof Port & keyof Table]
>;

/** The methods that are forwarded. */
export type ForwardedName<Table> = {
  [Name in keyof Table]: Table[Name] extends 'local' ? never : Name;
}[keyof Table];

export interface Call {
  readonly port: string;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** A table without its port's types, for the code that serves every port alike. */
type AnyRow =
  | 'local'
  | {
      readonly unanswered: 'retry' | 'error' | 'unknown';
      readonly asksNext?: AsksNext;
      readonly codec?: Codec<unknown> | undefined;
    };
export type AnyTable = Readonly<Record<string, AnyRow>>;
type AnyPort = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

export interface ForwardOptions<Port, Table> {
  /** The port's name in calls. */
  readonly port: string;
  readonly table: Table;
  readonly local: LocalPart<Port, Table>;
  /** The real object while this replica leads, else null. */
  readonly here: () => Port | null;
  /** @throws the error that prevented the answer, or LeadIsHere */
  readonly forward: (call: Call) => Promise<unknown>;
  /** Runs a call here; the real object stays open until it has ended. */
  readonly during: <T>(work: () => Promise<T>) => Promise<T>;
  readonly onUnanswered: (error: unknown, method: string) => void;
  /** Resolves when it is known again whether this replica leads. */
  readonly findLeader: () => Promise<void>;
}

/** The port at a replica that may lead or follow: each call runs here or at the leader. */
export function createForwardedPort<Port extends object, const Table extends CallTable<Port>>(
  options: ForwardOptions<Port, Table>,
): Port {
  const { port, table, local, forward, during, onUnanswered, findLeader } = options;
  // The only untyped place: the table's type guarantees that it has exactly the port's methods.
  const here = options.here as () => AnyPort | null;
  const methods = Object.entries(table as AnyTable).flatMap(([method, row]) => {
    if (row === 'local') return [];
    const run = async (...args: readonly unknown[]): Promise<unknown> => {
      const own = here();
      if (own !== null) return during(async () => own[method]?.(...args));
      try {
        const answer = await forward({ port, method, args });
        return row.codec === undefined ? answer : row.codec.decode(answer);
      } catch (error) {
        if (error instanceof LeadIsHere) return run(...error.args);
        if (error instanceof VenueMoves) throw error;
        onUnanswered(error, method);
        if (row.unanswered === 'unknown') return { kind: 'unknown' };
        await findLeader().catch(() => {});
        const taken = row.unanswered === 'retry' ? here() : null;
        if (taken !== null) return during(async () => taken[method]?.(...args));
        throw error instanceof VenueUnavailable
          ? error
          : new VenueUnavailable('The leading replica did not answer.');
      }
    };
    return [[method, run] as const];
  });
  return { ...local, ...Object.fromEntries(methods) } as unknown as Port;
}

/**
 * Runs another replica's call on the real objects.
 * @returns the answer as it travels
 * @throws VenueUnavailable for a call that no table lists as forwarded
 */
export async function runForwardedCall(
  tables: Readonly<Record<string, AnyTable>>,
  ports: object,
  { port, method, args }: Call,
): Promise<unknown> {
  const table = Object.hasOwn(tables, port) ? tables[port] : undefined;
  const row = table !== undefined && Object.hasOwn(table, method) ? table[method] : undefined;
  if (row === undefined || row === 'local') throw new VenueUnavailable('There is no such call.');
  const answer = await (ports as Readonly<Record<string, AnyPort>>)[port]?.[method]?.(...args);
  return row.codec === undefined ? answer : row.codec.encode(answer);
}
