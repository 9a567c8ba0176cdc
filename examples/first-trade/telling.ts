/** How the example talks, and how it checks what it is told. */

/** Something was not as it must be. */
export class Surprise extends Error {
  override readonly name = 'Surprise';
}

export function check(condition: boolean, surprise: string): asserts condition {
  if (!condition) throw new Surprise(surprise);
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

/** Equal but for what sums of JSON numbers lose: less than a millionth. */
export const close = (a: number, b: number): boolean => Math.abs(a - b) < 1e-6;

/** Asks until there is an answer; the service's own records may follow a fill by a moment. */
export async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 0; attempt < 25; attempt++) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Surprise(`after 5 seconds still not: ${what}`);
}
