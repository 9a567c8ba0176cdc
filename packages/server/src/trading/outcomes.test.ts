import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Checked } from '../domain/records.ts';
import { journalEntries, journalText } from './outcomes.ts';

const text = fc.string({ unit: 'grapheme' });
const entry = fc.record(
  {
    at: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    event: text,
    status: fc.constantFrom('submitting' as const, 'live' as const, 'filled' as const),
    detail: text,
    checked: fc.constantFrom<Checked>({}, { approval: ['a1'] }),
  },
  { requiredKeys: ['at', 'event', 'status'] },
);

test('what is appended in parts is read back as it was, with any words', () => {
  fc.assert(
    fc.property(fc.array(entry), fc.array(entry), (recorded, added) => {
      const read = journalEntries([], journalText(recorded) + journalText(added));
      const given = [...recorded, ...added].map((one) => ({ ...one, at: new Date(one.at).toISOString() }));
      expect(read).toEqual(given);
    }),
  );
});

test('an entry is one line, which names only what it has', () => {
  const entries = [
    { at: 1, event: 'recorded', status: 'submitting', checked: {} },
    { at: 2, event: 'accepted', status: 'live' },
    { at: 3, event: 'rejected', status: 'rejected', detail: 'not\nnow' },
  ] as const;
  expect(journalText(entries)).toBe(
    '[1,"recorded","submitting",null,{}]\n[2,"accepted","live"]\n[3,"rejected","rejected","not\\nnow"]\n',
  );
});

test('what a replica of an earlier release wrote stands between, by its time', () => {
  const earlier = [
    { at: '2026-11-23T00:00:00.000Z', event: 'recorded', status: 'submitting' },
    { at: '2026-11-23T00:00:00.002Z', event: 'matched', status: 'partially_filled' },
  ] as const;
  const at = Date.parse(earlier[0].at);
  const lines = journalText([
    { at: at + 1, event: 'accepted', status: 'live' },
    { at: at + 2, event: 'filled', status: 'filled' },
  ]);
  expect(journalEntries(earlier, lines).map(({ event }) => event)).toEqual([
    'recorded',
    'accepted',
    'matched',
    'filled',
  ]);
});
