/**
 * Parses a database URL: `postgres://user:password@host:5432/database?sslmode=require`, several hosts with commas
 * between them, or a Unix socket in PostgreSQL's own spelling, `postgres://user@/database?host=/folder&port=5432`.
 */
import type { ConnectionOptions as TlsOptions } from 'node:tls';

/** `prefer` falls back to no TLS when the server does not support it; `require` checks no certificate. */
export type Tls = false | 'prefer' | 'require' | 'verify-full' | TlsOptions;

export interface DatabaseAddress {
  /** In the order in which they are tried. A host that starts with `/` is the folder of a socket. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly tls: Tls;
  readonly isTlsDirect: boolean;
  /** Session settings, by PostgreSQL's names. */
  readonly settings: Readonly<Record<string, string>>;
  /** The `options` of the URL, unchanged. */
  readonly options: string;
}

const URL_PARTS = /^postgres(?:ql)?:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/;
const HOST_PARTS = /^(\[[^\]]+\]|[^:]*)(?::(\d+))?$/;
const PORT = 5432;
const SOCKET_FOLDER = '/var/run/postgresql';

/** Parameters of libpq, PostgreSQL's client library, that are not sent to the server. */
const CLIENT_PARAMETERS: ReadonlySet<string> = new Set([
  ...['host', 'port', 'options', 'ssl', 'sslmode', 'sslnegotiation', 'sslrootcert', 'sslcert', 'sslkey'],
  ...[
    'channel_binding',
    'gssencmode',
    'target_session_attrs',
    'connect_timeout',
    'passfile',
    'uselibpqcompat',
  ],
]);

const decoded = (text: string | undefined): string | undefined => {
  if (text === undefined || text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('the database URL has a broken percent-encoding: write a literal % as %25');
  }
};

/** `true` and `false` are of other clients, as is `no-verify`. */
const SSL_MODES: ReadonlySet<string> = new Set([
  ...['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'],
  ...['no-verify', 'true', 'false'],
]);

/** @throws Error that does not show the URL, which holds a password */
export function readDatabaseUrl(url: string): DatabaseAddress {
  const [found, user, password, hosts = '', database, query] = URL_PARTS.exec(url) ?? [];
  if (found === undefined)
    throw new Error('the database URL is not of the form postgres://user@host/database');
  const params = new URLSearchParams(query);
  const settings = Object.fromEntries([...params].filter(([name]) => !CLIENT_PARAMETERS.has(name)));
  return {
    hosts: hostsOf(
      decoded(hosts) || params.get('host') || (query === undefined ? 'localhost' : SOCKET_FOLDER),
      params.get('port'),
    ),
    user: decoded(user),
    password: decoded(password),
    database: decoded(database),
    tls: tlsOf(params),
    isTlsDirect: params.get('sslnegotiation') === 'direct',
    settings,
    options: params.get('options') ?? '',
  };
}

function hostsOf(list: string, port: string | null): DatabaseAddress['hosts'] {
  // What follows the first @ is a part of the password: a name server and the log must not see it.
  if (list.includes('@'))
    throw new Error('the database URL has more than one @: write one in the user name or password as %40');
  return list.split(',').map((one) => {
    const [, host, ownPort] = HOST_PARTS.exec(one) ?? [];
    if (host === undefined) throw new Error('the database URL contains an invalid host');
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(ownPort ?? port ?? PORT) };
  });
}

function tlsOf(params: URLSearchParams): Tls {
  const mode = params.get('sslmode') ?? params.get('ssl');
  const named = params.get('sslmode');
  if (named !== null && !SSL_MODES.has(named))
    throw new Error(`the database URL has no known sslmode: ${[...SSL_MODES].slice(0, 6).join(', ')}`);
  if (params.get('sslrootcert') === 'system') return 'verify-full';
  switch (mode) {
    case null:
    case 'disable':
    case 'false':
      return false;
    case 'prefer':
    case 'allow':
      return 'prefer';
    case 'true':
    case 'verify-ca':
    case 'verify-full':
      return 'verify-full';
    default:
      return 'require';
  }
}

/** The URL of a database behind a Unix socket. */
export const socketUrl = (
  where: { readonly socketDir: string; readonly port: number; readonly user: string },
  database: string,
): string =>
  `postgres://${where.user}@/${database}?host=${encodeURIComponent(where.socketDir)}&port=${where.port}`;
