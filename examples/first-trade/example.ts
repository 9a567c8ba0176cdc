/** Output and checks of the examples. */
import {
  BellwetherApiError,
  BellwetherConnectionError,
  QuoteError,
  VenueCredentialsError,
} from '@bellwether/sdk';

/** A check of an example failed. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
}

export function check(condition: boolean, failure: string): asserts condition {
  if (!condition) throw new CheckFailed(failure);
}

let steps = 0;

export function step(title: string): void {
  steps += 1;
  console.log(`\n${steps}. ${title}`);
}

export const say = (sentence: string): void => console.log(`   ${sentence}`);

const figure = (value: number): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 });

export const money = (amount: number): string => `${figure(amount)} collateral`;
export const shares = (amount: number): string => `${figure(amount)} shares`;
export const credit = (amount: number): string => `${amount < 0 ? '−' : '+'}${figure(Math.abs(amount))}`;

/** Equal up to the rounding of sums of JSON numbers: less than a millionth. */
export const close = (a: number, b: number): boolean => Math.abs(a - b) < 1e-6;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Repeats `ask` until it returns a value; the service's records may follow a fill a moment later. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  { seconds = 5, everyMs = 200 }: { readonly seconds?: number; readonly everyMs?: number } = {},
): Promise<T> {
  const end = Date.now() + seconds * 1000;
  do {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await pause(everyMs);
  } while (Date.now() < end);
  throw new CheckFailed(`after ${seconds} seconds still not: ${what}`);
}

/** Runs an example; the process ends with status 1 when a check fails. */
export async function run(example: () => Promise<void>): Promise<void> {
  try {
    return await example();
  } catch (error) {
    if (error instanceof CheckFailed) console.error(`\nA check failed: ${error.message}.`);
    else if (error instanceof BellwetherApiError)
      console.error(`\nRefused (${error.status} ${error.code}): ${error.message}`, error.diagnosis ?? '');
    else if (
      error instanceof VenueCredentialsError ||
      error instanceof BellwetherConnectionError ||
      error instanceof QuoteError
    )
      console.error(`\nIt failed: ${error.message}`);
    else console.error('\nIt failed:', error);
  }
  process.exitCode = 1;
}
