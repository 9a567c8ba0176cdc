import { expect, test } from 'vitest';
import { createTurns } from '../src/adapters/postgres/turns.ts';

test('tasks under one key run one after another; other keys do not wait', async () => {
  const turns = createTurns();
  const seen: string[] = [];
  const enter = async (name: string, label: string) => {
    const leave = await turns.take(name);
    seen.push(`${label} in`);
    return () => {
      seen.push(`${label} out`);
      leave();
    };
  };
  const first = await enter('a', '1');
  const second = enter('a', '2');
  const third = enter('a', '3');
  const other = await enter('b', '4');
  expect(seen).toEqual(['1 in', '4 in']);
  first();
  (await second)();
  (await third)();
  other();
  expect(seen).toEqual(['1 in', '4 in', '1 out', '2 in', '2 out', '3 in', '3 out', '4 out']);
});
