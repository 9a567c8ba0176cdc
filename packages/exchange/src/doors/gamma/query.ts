/**
 * The parameters of a request. As at the venue: repeated keys are lists, the bracket form (`id[]=`) and unknown names are
 * ignored, and a value that cannot be read is 422.
 */
import type { FastifyRequest } from 'fastify';
import { invalid } from './gamma-error.ts';

/** Values of one parameter: the venue takes about as many. */
const MAX_VALUES = 100;
const MAX_VALUE_CHARS = 300;
const WHOLE = /^-?\d{1,15}$/;
const DECIMAL = /^-?\d{1,15}(\.\d{1,12})?$/;

const FLAGS: Readonly<Record<string, boolean>> = { true: true, false: false, '1': true, '0': false };

export class Query {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  static of = (request: FastifyRequest): Query => new Query(request.query as Record<string, unknown>);

  /** @throws GammaError for too many or too long values */
  all(name: string): readonly string[] {
    const value = Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
    const values = (Array.isArray(value) ? value : [value]).filter((one) => one !== undefined && one !== '');
    if (values.length > MAX_VALUES) throw invalid(`${name}: at most ${MAX_VALUES} values`);
    return values.map((one) => {
      const text = String(one);
      if (text.length > MAX_VALUE_CHARS) throw invalid(`${name} is not valid`);
      return text;
    });
  }

  text(name: string): string | undefined {
    return this.all(name).at(-1);
  }

  flag(name: string): boolean | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const flag = Object.hasOwn(FLAGS, text.toLowerCase()) ? FLAGS[text.toLowerCase()] : undefined;
    if (flag === undefined) throw invalid(`${name} is not valid`);
    return flag;
  }

  number(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!DECIMAL.test(text)) throw invalid(`${name} is not valid`);
    return Number(text);
  }

  /** Larger values than `most` are clamped, as at the venue. */
  whole(name: string, fallback: number, most = Number.MAX_SAFE_INTEGER): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    if (!WHOLE.test(text) || Number(text) < 0) throw invalid(`${name} is not valid`);
    return Math.min(Number(text), most);
  }

  /** RFC 3339, or a day. @returns epoch milliseconds */
  time(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
    if (Number.isNaN(at)) throw invalid(`${name} is not valid`);
    return at;
  }
}
