import { setImmediate as turn } from 'node:timers/promises';
import { CommitInDoubt } from '@bellwether/durable';
import { describe, expect, test } from 'vitest';
import { createBatches } from './grouped-reads.ts';

/** Records the batches; each runs until it is ended. */
function stage(fails: (items: readonly string[]) => Error | null = () => null) {
  const batches: (readonly string[])[] = [];
  const ends: (() => void)[] = [];
  const add = createBatches<string, string>({
    run: async (items) => {
      batches.push(items);
      await new Promise<void>((end) => ends.push(end));
      const fault = fails(items);
      if (fault !== null) throw fault;
      return items.map((item) => `${item} done`);
    },
    keyOf: (item) => item.slice(0, 1),
    maxItems: 3,
  });
  const endAll = async () => {
    for (let nth = 0; nth < 10; nth += 1) {
      await turn();
      for (const end of ends.splice(0)) end();
    }
  };
  return { batches, add, endAll };
}

describe('batches', () => {
  test('calls of one turn share the first batch, calls that arrive meanwhile share the next', async () => {
    const { batches, add, endAll } = stage();
    const first = [add('a1'), add('b1')];
    await turn();
    const second = [add('c1'), add('d1')];
    expect(batches).toEqual([['a1', 'b1']]);
    await endAll();
    expect(await Promise.all([...first, ...second])).toEqual(['a1 done', 'b1 done', 'c1 done', 'd1 done']);
    expect(batches).toEqual([
      ['a1', 'b1'],
      ['c1', 'd1'],
    ]);
  });

  test('a batch has a bound, and never two items with one key', async () => {
    const { batches, add, endAll } = stage();
    const all = ['a1', 'a2', 'b1', 'c1', 'd1', 'a3'].map(add);
    await endAll();
    await Promise.all(all);
    expect(batches).toEqual([['a1', 'b1', 'c1'], ['a2', 'd1'], ['a3']]);
  });

  test('a fault stays with the item that has it', async () => {
    const { batches, add, endAll } = stage((items) => (items.includes('b1') ? new Error('broken') : null));
    const all = Promise.allSettled(['a1', 'b1', 'c1'].map(add));
    await endAll();
    expect(await all).toMatchObject([
      { value: 'a1 done' },
      { reason: { message: 'broken' } },
      { value: 'c1 done' },
    ]);
    expect(batches).toEqual([['a1', 'b1', 'c1'], ['a1'], ['b1'], ['c1']]);
  });

  test('a commit in doubt is never repeated', async () => {
    const { batches, add, endAll } = stage(() => new CommitInDoubt('lost'));
    const all = Promise.allSettled(['a1', 'b1'].map(add));
    await endAll();
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(batches).toEqual([['a1', 'b1']]);
  });
});
