/** Licences of installed packages are allowed, and known vulnerabilities do not pass unnoticed. */
import { expect, test } from 'vitest';
import { advisoriesIn, judge } from '../scripts/audit/advisories.ts';
import { LICENCE_REASONS } from '../scripts/audit/exceptions.ts';
import { installedPackages, isAllowed, reasonFor } from '../scripts/audit/licences.ts';

test('every package has a licence that is allowed, or a reason', () => {
  const installed = installedPackages();
  expect(installed.length).toBeGreaterThan(100);
  const refused = installed.filter(
    ({ name, licence }) => !isAllowed(licence) && reasonFor(name) === undefined,
  );
  expect(refused).toEqual([]);
});

test('what is shipped needs no reason, and every reason is needed', () => {
  const needed = installedPackages().filter(({ licence }) => !isAllowed(licence));
  expect(needed.filter(({ dev }) => !dev)).toEqual([]);
  const names = new Set(needed.map(({ name }) => name));
  expect(Object.keys(LICENCE_REASONS).filter((name) => !names.has(name))).toEqual([]);
});

test.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0)', true],
  ['MIT AND GPL-3.0', false],
  ['none', false],
])('%s is allowed: %s', (licence, allowed) => {
  expect(isAllowed(licence)).toBe(allowed);
});

test('an advisory without a reason is named, an answer that is no report is none', () => {
  const report = {
    auditReportVersion: 2,
    vulnerabilities: {
      a: {
        via: [{ url: 'https://github.com/advisories/GHSA-1', name: 'a', severity: 'high', title: 'Bad' }],
      },
      b: { via: ['a'] },
    },
  };
  const advisories = advisoriesIn(JSON.stringify(report)) ?? [];
  expect(judge(advisories)).toMatchObject([{ id: 'GHSA-1', reason: null }]);
  expect(judge(advisories, { 'GHSA-1': 'Not reached.' })).toMatchObject([{ reason: 'Not reached.' }]);
  expect(advisoriesIn('{"message":"request to https://registry failed"}')).toBeNull();
  expect(advisoriesIn('')).toBeNull();
});
