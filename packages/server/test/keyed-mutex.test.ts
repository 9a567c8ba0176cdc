import { expect, test } from 'vitest';
import { createKeyedMutex } from '../src/trading/keyed-mutex.ts';

test('tasks under one key run one after another; other keys do not wait', async () => {
  const mutex = createKeyedMutex();
  const seen: string[] = [];
  const enter = async (key: string, label: string) => {
    const release = await mutex.acquire(key);
    seen.push(`${label} in`);
    return () => {
      seen.push(`${label} out`);
      release();
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
