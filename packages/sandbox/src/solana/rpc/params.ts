/** Positional parameters of a JSON-RPC call, read strictly: a wrong type is refused with its position or name. */
import { parseBase58, parseSolanaAddress } from '@bellwether/protocol';
import { invalidParam, slotNotReached } from './rpc-error.ts';

const SIGNATURE_BYTES = 64;
const COMMITMENTS: readonly unknown[] = ['processed', 'confirmed', 'finalized'];

export class Params {
  readonly #values: readonly unknown[];

  constructor(values: readonly unknown[]) {
    this.#values = values;
  }

  text(index: number): string {
    const value = this.#values[index];
    if (typeof value !== 'string') throw invalidParam(`parameter ${index} must be a string`);
    return value;
  }

  address(index: number): string {
    return asAddress(this.#values[index]);
  }

  signature(index: number): string {
    return asSignature(this.#values[index]);
  }

  /** @throws RpcError when there are none, or more than `most` */
  list(index: number, most: number): readonly unknown[] {
    const value = this.#values[index];
    if (!Array.isArray(value)) throw invalidParam(`parameter ${index} must be an array`);
    if (value.length > most) throw invalidParam(`Too many inputs provided; max ${most}`);
    return value;
  }

  whole(index: number): bigint {
    const value = this.#values[index];
    const isWhole = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value));
    if (!isWhole || value < 0) throw invalidParam(`parameter ${index} must be a whole number`);
    return BigInt(value);
  }

  has(index: number): boolean {
    return (this.#values[index] ?? null) !== null;
  }

  /** `undefined` when it is missing. */
  maybeWhole(index: number): bigint | undefined {
    return this.has(index) ? this.whole(index) : undefined;
  }

  /**
   * The options, empty when they are missing.
   * @param slot the current slot; a higher `minContextSlot` is refused
   */
  options(index: number, slot: number): Options {
    return new Options(this.#values[index] ?? {}, slot);
  }
}

export class Options {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(value: unknown, slot?: number) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw invalidParam('the configuration must be an object');
    this.#fields = value as Record<string, unknown>;
    if (slot === undefined) return;
    for (const name of ['commitment', 'preflightCommitment']) {
      const commitment = this.#fields[name];
      if (commitment !== undefined && commitment !== null && !COMMITMENTS.includes(commitment))
        throw invalidParam(`${name} must be processed, confirmed or finalized`);
    }
    const least = this.whole('minContextSlot');
    if (least !== undefined && least > slot) throw slotNotReached(slot);
  }

  flag(name: string): boolean {
    const value = this.#fields[name] ?? false;
    if (typeof value !== 'boolean') throw invalidParam(`${name} must be true or false`);
    return value;
  }

  whole(name: string): bigint | undefined {
    const value = this.#fields[name] ?? undefined;
    return value === undefined ? undefined : new Params([value]).whole(0);
  }

  address(name: string): string | undefined {
    const value = this.#fields[name] ?? undefined;
    return value === undefined ? undefined : asAddress(value);
  }

  choice<T extends string>(name: string, choices: readonly T[], otherwise: T): T {
    const value = this.#fields[name] ?? otherwise;
    const chosen = choices.find((choice) => choice === value);
    if (chosen === undefined) throw invalidParam(`${name} must be one of ${choices.join(', ')}`);
    return chosen;
  }

  nested(name: string): Options | undefined {
    const value = this.#fields[name] ?? undefined;
    return value === undefined ? undefined : new Options(value);
  }

  list(name: string, most: number): readonly unknown[] {
    return new Params([this.#fields[name]]).list(0, most);
  }
}

export function asAddress(value: unknown): string {
  if (typeof value === 'string' && parseSolanaAddress(value) !== null) return value;
  throw invalidParam('WrongSize');
}

export function asSignature(value: unknown): string {
  if (typeof value === 'string' && parseBase58(value)?.length === SIGNATURE_BYTES) return value;
  throw invalidParam('WrongSize');
}
