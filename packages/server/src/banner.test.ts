import { expect, test } from 'vitest';
import { explain } from './banner.ts';

const INITDB =
  'The embedded PostgreSQL could not be set up in /data/postgres: FATAL:  could not extend file "base/1/2691": No space left on device\nHINT:  Check free disk space.\nchild process exited with exit code 134';

test.each([
  ['initdb', new Error(INITDB)],
  ['the server', new Error('PANIC:  could not write to file "pg_wal/xlogtemp.31": No space left on device')],
  ['a migration', Object.assign(new Error('could not extend file "base/5/1259"'), { code: '53100' })],
  ['Node', Object.assign(new Error("ENOSPC: no space left on device, mkdir '/data'"), { code: 'ENOSPC' })],
])('a full disk is one sentence, met by %s', (_, error) => {
  const sentence = explain(error);
  expect(sentence).toMatch(/^The disk of the database is full\. Make room/);
  expect(sentence).not.toContain('\n');
});

test('a port that is taken is named, and everything else says what it says', () => {
  const taken = Object.assign(new Error('listen'), { code: 'EADDRINUSE', port: 8080 });
  expect(explain(taken)).toMatch(/^Port 8080 is taken/);
  expect(explain(new Error('another reason'))).toBe('another reason');
  expect(explain('a word')).toBe('a word');
});
