import { expect, test } from 'vitest';
import { sixDecimals, textCell } from './routes.ts';

test('amounts have all six decimals, and no more', () => {
  expect([0n, 1n, -1n, 1_500_000n, -12_345_678n, 9_007_199_254_740_993n].map(sixDecimals)).toEqual([
    '0.000000',
    '0.000001',
    '-0.000001',
    '1.500000',
    '-12.345678',
    '9007199254.740993',
  ]);
});

test('a text is a text for every spreadsheet', () => {
  expect(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'].map(textCell)).toEqual([
    "'=1+1",
    "'+1",
    "'-1",
    "'@SUM(A1)",
    "'\t=1",
    '"\'\r=1"',
  ]);
  expect(['a,b', 'say "no"', 'two\nlines', 'plain', ''].map(textCell)).toEqual([
    '"a,b"',
    '"say ""no"""',
    '"two\nlines"',
    'plain',
    '',
  ]);
});
