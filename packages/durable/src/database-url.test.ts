/** Valid database URLs, and the errors of invalid ones; without the password. */
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

const hostsOf = (url: string) =>
  readDatabaseUrl(url)
    .hosts.map(({ host, port }) => `${host} ${port}`)
    .join(', ');

test('one host, a socket and what libpq assumes', () => {
  expect(hostsOf('postgres://u@a:1/d')).toBe('a 1');
  expect(hostsOf('postgres://u@/d?host=/run/pg&port=7')).toBe('/run/pg 7');
  expect(hostsOf('postgres://u@/d')).toBe('localhost 5432');
  expect(hostsOf('postgres://u@/d?host=%2Frun%2F50%25&port=7')).toBe('/run/50% 7');
  expect(hostsOf('postgres://u@/d?host=%2Frun%2Fa%2525b&port=7')).toBe('/run/a%25b 7');
});

const WRITES = 'target_session_attrs=read-write';
test('several hosts, as libpq reads them', () => {
  expect(hostsOf(`postgres://u:secret@a:1,b:2/d?${WRITES}`)).toBe('a 1, b 2');
  expect(hostsOf(`postgres://u@a,[::1]:2/d?${WRITES}`)).toBe('a 5432, ::1 2');
  expect(hostsOf(`postgres://u@/d?host=/run/a,/run/b&port=7&${WRITES}`)).toBe('/run/a 7, /run/b 7');
  expect(hostsOf('postgres://u@/d?host=a,b&port=1,2&target_session_attrs=primary')).toBe('a 1, b 2');
  expect(readDatabaseUrl(`postgres://u@a/d?${WRITES}`).mustWrite).toBe(true);
  expect(refusalOf(`postgres://u:secret@a,b,c/d?port=1,2&${WRITES}`)).toMatch(
    /another number of ports than of hosts/,
  );
});

test.each(['postgres://u:secret@a:1,b:2/d', 'postgres://u:secret@/d?host=a,b&target_session_attrs=any'])(
  'several hosts of which any would do are refused: %s',
  (url) => {
    expect(refusalOf(url)).toMatch(
      /^the database URL names several hosts: add target_session_attrs=read-write/,
    );
    expect(refusalOf(url)).not.toContain('secret');
  },
);

test('what libpq would do and this client does not is refused, all of it at once; what means the same is accepted', () => {
  const said = refusalOf(
    'postgres://u@a/d?target_session_attrs=standby&connect_timeout=3&sslcert=x&sslmode=require',
  );
  expect(said).toContain('does not carry out: target_session_attrs, connect_timeout, sslcert. Remove them');
  expect(refusalOf('postgres://u@a/d?channel_binding=require')).toContain('channel_binding');
  expect(refusalOf('postgres://u@a/d?sslrootcert=/ca.pem')).toContain('sslrootcert');
  expect(refusalOf('postgres://u@a/d?bad-name=1')).toContain('bad-name');
  expect(refusalOf('postgres://u@a/d?sslmode=verify-full&sslmode=disable')).toContain(
    'sslmode more than once',
  );
  const url =
    'postgres://u@a/d?target_session_attrs=any&channel_binding=prefer&sslrootcert=system&search_path=desk';
  expect(readDatabaseUrl(url)).toMatchObject({ settings: { search_path: 'desk' }, tls: 'verify-full' });
});
