/**
 * Requests of the data door: their parameters, in either spelling of their names (`event_id` and `eventId`), the
 * envelope of pages, and refusals.
 */
import { parseMicro } from '@bellwether/contract/decimals';
import { type Address, parseAddress } from '@bellwether/protocol';
import type { FastifyRequest } from 'fastify';

const WHOLE = /^\d{1,12}$/;
const DECIMAL = /^\d{1,12}(\.\d{1,12})?$/;
const MOST_CHARS = 4_000;
const FLAGS: Readonly<Record<string, boolean>> = { true: true, false: false, '1': true, '0': false };

const camelOf = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

export class Params {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(request: FastifyRequest) {
    this.#values = request.query as Record<string, unknown>;
  }

  /** @param names aliases; the first is the one that an error names */
  text(...names: readonly [string, ...string[]]): string | undefined {
    for (const name of names.flatMap((one) => [one, camelOf(one)])) {
      const value = Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
      const text = Array.isArray(value) ? value.join(',') : value;
      if (typeof text !== 'string' || text === '') continue;
      if (text.length > MOST_CHARS) throw invalid(`${names[0]} is too long`, names[0]);
      return text;
    }
    return undefined;
  }

  /** Comma-separated, or a repeated key. */
  list(most: number, ...names: readonly [string, ...string[]]): readonly string[] {
    const values = new Set((this.text(...names) ?? '').split(',').map((one) => one.trim()));
    values.delete('');
    if (values.size > most) throw invalid(`${names[0]}: at most ${most} values`, names[0]);
    return [...values];
  }

  /** Larger values than `most` are clamped. */
  whole(name: string, fallback: number, most: number): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    if (!WHOLE.test(text)) throw invalid(`${name} must be a whole number`, name);
    return Math.min(Number(text), most);
  }

  /** @returns micro-units, rounded down */
  amount(name: string, fallback: bigint): bigint {
    const text = this.text(name);
    if (text === undefined) return fallback;
    if (!DECIMAL.test(text)) throw invalid(`${name} must be a number that is not negative`, name);
    return parseMicro(text, 'floor');
  }

  flag(name: string, fallback: boolean): boolean {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const flag = Object.hasOwn(FLAGS, text) ? FLAGS[text] : undefined;
    if (flag === undefined) throw invalid(`${name} must be true or false`, name);
    return flag;
  }

  choice<Word extends string>(name: string, words: readonly Word[], fallback: Word): Word {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const found = words.find((word) => word === text.toUpperCase());
    if (found === undefined) throw invalid(`${name} must be one of ${words.join(', ')}`, name);
    return found;
  }

  address(name: string): Address | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const address = parseAddress(text);
    if (address === null) throw invalid(`${name} must be an address: 0x and 40 hex digits`, name);
    return address;
  }

  requiredAddress(name: string): Address {
    const address = this.address(name);
    if (address === undefined) throw invalid(`${name} is required`, name);
    return address;
  }

  /** Epoch seconds on the wire. @returns epoch milliseconds */
  time(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!WHOLE.test(text)) throw invalid(`${name} must be epoch seconds`, name);
    return Number(text) * 1_000;
  }

  refuse(names: readonly string[], advice: string): void {
    for (const name of names)
      if (Object.hasOwn(this.#values, name)) throw invalid(`${name} is not supported: ${advice}`, name);
  }
}

/** The envelope of version 2's pages. */
interface Page {
  readonly data: readonly unknown[];
  readonly pagination: {
    readonly limit: number;
    readonly offset: 0;
    readonly has_more: boolean;
    readonly next_cursor: string | null;
  };
}

export const dataPage = (data: readonly unknown[], limit: number, next: string | undefined): Page => ({
  data,
  pagination: { limit, offset: 0, has_more: next !== undefined, next_cursor: next ?? null },
});

/** Refusals of the data door. Version 2 answers `{error, code, retryable, trace_id, parameter?}`, version 1 `{error}`. */
const STATUS_OF = {
  invalid_request: 400,
  not_found: 404,
  dependency_unavailable: 503,
} as const;

type DataErrorCode = keyof typeof STATUS_OF;

export class DataError extends Error {
  override readonly name = 'DataError';
  readonly code: DataErrorCode;
  readonly parameter: string | undefined;

  constructor(code: DataErrorCode, text: string, parameter?: string) {
    super(text);
    this.code = code;
    this.parameter = parameter;
  }

  get status(): number {
    return STATUS_OF[this.code];
  }
}

export const invalid = (text: string, parameter?: string): DataError =>
  new DataError('invalid_request', text, parameter);
