/** Where a newcomer's folder, or what surrounds it, is not what one expects: the service starts on it, keeps what it wrote, and leaves nothing. */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { call } from '../harness.ts';
import { dataFolder, postgresOf, startProcess, startRefused } from '../service-process.ts';

interface Odd {
  readonly dataDir: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Done between the first run and the second. */
  readonly between?: () => void;
}

const named =
  (name: string, env = {}) =>
  (parent: string): Odd => ({ dataDir: join(parent, name), env });
const LONG = 'x'.repeat(100);
/** A folder for sockets is made elsewhere, where this one's path is too long for them. */
const withTemporary = (TMPDIR: string) => named(LONG, { TMPDIR });

const ODD: Readonly<Record<string, (parent: string) => Odd>> = {
  'a comma': named('a,b'),
  'an escaped percent sign': named('100%25'),
  'a percent sign alone': named('50%'),
  quotes: named('it\'s "data"'),
  'spaces around it': named(' my data '),
  'another script': named('données 日本 ✓'),
  'what shells and URLs read': named('a#b?c&d;e$HOME\\f*|<>`g`'),
  'an address': named('me@home:5432'),
  'a line break': named('two\nlines'),
  'a path that is too long for a socket': named(LONG),
  'no folder for temporary files': withTemporary('/nowhere/at/all'),
  'a comma in the folder for temporary files': (parent) => {
    const temporary = join(parent, 't,t');
    mkdirSync(temporary);
    return withTemporary(temporary)(parent);
  },
  'a link': (parent) => {
    mkdirSync(join(parent, 'there'));
    symlinkSync(join(parent, 'there'), join(parent, 'link'));
    return { dataDir: join(parent, 'link') };
  },
  'a relative path and a slash': (parent) => ({ dataDir: `${relative(process.cwd(), parent)}/x/../y/` }),
  'permissions that a copy has opened': (parent) => ({
    dataDir: join(parent, 'data'),
    between() {
      for (const name of ['', 'postgres', 'postgres/base', 'master.key'])
        chmodSync(join(parent, 'data', name), 0o777);
    },
  }),
  'settings of another PostgreSQL': named('data', {
    ...{
      PGHOST: 'db.example',
      PGPORT: '1',
      PGUSER: 'x',
      PGDATABASE: 'y',
      PGPASSWORD: 'z',
      PGSSLMODE: 'require',
    },
    ...{ PGOPTIONS: '-c nothing=1', PGDATA: '/nowhere', PGTZ: 'Nowhere/City', LD_LIBRARY_PATH: '/nowhere' },
  }),
  'a language, a zone and a home that do not exist': named('data', {
    ...{
      LANG: 'xx_YY.UTF-8',
      LC_ALL: 'xx_YY.UTF-8',
      LC_MESSAGES: 'de_DE',
      TZ: 'Nowhere/City',
      HOME: '/nowhere',
    },
  }),
};

test.each(Object.entries(ODD))('a start with %s', async (_, make) => {
  const { dataDir, env = {}, between = () => {} } = make(dataFolder());
  for (const isFirst of [true, false]) {
    const service = await startProcess({ dataDir, env, makesCluster: isFirst });
    expect((await call(service, 'GET', '/readyz')).status).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.exit()).toEqual({ code: 0, signal: null });
    expect(postgresOf(dataDir)).toEqual([]);
    if (isFirst) between();
  }
});

/** What no start can use, with what it says. */
const UNUSABLE: Readonly<Record<string, (parent: string) => readonly [string, RegExp]>> = {
  'a file': (parent) => {
    writeFileSync(join(parent, 'file'), '');
    return [join(parent, 'file'), /it is a file. Set DATA_DIR to another/];
  },
  'a database of another release': (parent) => {
    mkdirSync(join(parent, 'postgres'));
    writeFileSync(join(parent, 'postgres', 'PG_VERSION'), '9.6\n');
    return [parent, /made by PostgreSQL 9\.6, and this release runs \d+/];
  },
  'a folder in a file': (parent) => {
    writeFileSync(join(parent, 'file'), '');
    return [join(parent, 'file', 'data'), /it lies in a file. Set DATA_DIR to another/];
  },
};

test.each(Object.entries(UNUSABLE))('a start on %s says so in one sentence', async (_, make) => {
  const [dataDir, says] = make(dataFolder());
  const { exit, output } = await startRefused({ dataDir });
  expect(exit).toEqual({ code: 1, signal: null });
  expect(output).toMatch(/^Bellwether cannot start: [^\n]+\n$/);
  expect(output).toMatch(says);
});
