/** What a database URL may be, and what is said of one that is none; without the password. */
import { expect, test } from 'vitest';
import { readDatabaseUrl } from './database-url.ts';

const refusalOf = (url: string): string => {
  try {
    return JSON.stringify(readDatabaseUrl(url));
  } catch (error) {
    return (error as Error).message;
  }
};

test('an @ in the password does not make its end a host', () => {
  const said = refusalOf('postgres://desk:se@cret@db.example/desk');
  expect(said).toBe('the database URL has more than one @: write one in the user name or password as %40');
  expect(readDatabaseUrl('postgres://desk:se%40cret@db.example/desk')).toMatchObject({
    hosts: [{ host: 'db.example', port: 5432 }],
    password: 'se@cret',
  });
});

test('a broken percent-encoding is named, and not the password', () => {
  expect(refusalOf('postgres://desk:50%!@db.example/desk')).toBe(
    'the database URL has a broken percent-encoding: write a literal % as %25',
  );
});

test('a misspelt sslmode does not turn the check of the certificate off', () => {
  const tls = (mode: string) => readDatabaseUrl(`postgres://desk@db.example/desk?sslmode=${mode}`).tls;
  expect(refusalOf('postgres://desk@db.example/desk?sslmode=verify_full')).toBe(
    'the database URL has no known sslmode: disable, allow, prefer, require, verify-ca, verify-full',
  );
  expect(['disable', 'allow', 'prefer', 'require', 'no-verify', 'verify-ca', 'verify-full'].map(tls)).toEqual(
    [false, 'prefer', 'prefer', 'require', 'require', 'verify-full', 'verify-full'],
  );
});

test('several hosts, a socket and what libpq assumes', () => {
  expect(readDatabaseUrl('postgres://u@a:1,b:2/d').hosts).toEqual([
    { host: 'a', port: 1 },
    { host: 'b', port: 2 },
  ]);
  expect(readDatabaseUrl('postgres://u@/d?host=/run/pg&port=7').hosts).toEqual([
    { host: '/run/pg', port: 7 },
  ]);
  expect(readDatabaseUrl('postgres://u@/d').hosts).toEqual([{ host: 'localhost', port: 5432 }]);
});
