import { expect, test } from 'vitest';
import { Rows } from '../../src/engine/rows.ts';

test('rows keep their integers and doubles when the table grows', () => {
  const rows = new Rows(3, 2);
  for (let row = 0; row < 100; row += 1) {
    rows.reserve(row);
    rows.ints[6 * row] = -row;
    rows.ints[6 * row + 1] = row;
    rows.doubles[3 * row + 1] = row / 2;
    rows.doubles[3 * row + 2] = 2 ** 52 + row;
  }
  for (let row = 0; row < 100; row += 1) {
    expect([...rows.ints.slice(6 * row, 6 * row + 2)]).toEqual([0 - row, row]);
    expect([...rows.doubles.slice(3 * row + 1, 3 * row + 3)]).toEqual([row / 2, 2 ** 52 + row]);
  }
});
