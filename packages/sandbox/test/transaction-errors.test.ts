/** Compares the names with the machine's numbering, which only its type definitions contain. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { errorSentence, toRpcError } from '../src/solana/transaction-errors.ts';

const require = createRequire(import.meta.url);
const types = readFileSync(require.resolve('litesvm/dist/internal.d.ts'), 'utf8');

function numbersOf(enumeration: string): [string, number][] {
  const body = new RegExp(`const enum ${enumeration} \\{([^}]*)\\}`).exec(types)?.[1] ?? '';
  return [...body.matchAll(/(\w+) = (\d+)/g)].map(([, name, number]) => [name ?? '', Number(number)]);
}

test('every error without fields has its name', () => {
  const numbers = numbersOf('TransactionErrorFieldless');
  expect(numbers.length).toBeGreaterThan(30);
  for (const [name, number] of numbers) expect(toRpcError(number as never)).toBe(name);
  expect(() => toRpcError(numbers.length as never)).toThrow('unknown number');
});

test('every error of an instruction has its name', () => {
  class TransactionErrorInstructionError {
    index = 3;
    readonly inner: unknown;
    constructor(inner: unknown) {
      this.inner = inner;
    }
    err() {
      return this.inner;
    }
  }
  const rpcErrorOf = (inner: unknown) => toRpcError(new TransactionErrorInstructionError(inner) as never);
  const numbers = numbersOf('InstructionErrorFieldless');
  expect(numbers.length).toBeGreaterThan(50);
  for (const [name, number] of numbers) expect(rpcErrorOf(number)).toEqual({ InstructionError: [3, name] });
  expect(rpcErrorOf({ code: 26 })).toEqual({ InstructionError: [3, { Custom: 26 }] });
  expect(errorSentence(rpcErrorOf({ code: 26 }))).toBe(
    'Error processing Instruction 3: custom program error: 0x1a',
  );
  expect(errorSentence('BlockhashNotFound')).toBe('Blockhash not found');
});
