/**
 * Parses a database URL: `postgres://user:password@host:5432/database?sslmode=require`, or a Unix socket in PostgreSQL's own spelling, `postgres://user@/database?host=/folder&port=5432`.
 *
 * Parameters that libpq, PostgreSQL's client library, knows and this does not, are refused: who writes them relies on them. Several hosts are
 * taken with `target_session_attrs=read-write` (or `primary`) alone: without it two servers that both accept writes would each get some of them.
 */
import type { ConnectionOptions as TlsOptions } from 'node:tls';

/** `prefer` falls back to no TLS when the server does not support it; `require` checks no certificate. */
export type Tls = false | 'prefer' | 'require' | 'verify-full' | TlsOptions;

export interface Endpoint {
  /** Starts with `/`: the folder of a socket. */
  readonly host: string;
  readonly port: number;
}

export interface DatabaseAddress {
  /** In the URL's order. */
  readonly hosts: readonly [Endpoint, ...Endpoint[]];
  /** Only a server that accepts writes is used. */
  readonly mustWrite: boolean;
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

/** Parameters that this client carries out itself. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  ...['host', 'port', 'options', 'ssl', 'sslmode', 'sslnegotiation'],
]);
/** Parameters of libpq of which only these values mean what this client does. */
const AS_WE_DO: Readonly<Record<string, readonly string[]>> = {
  sslrootcert: ['system'],
  channel_binding: ['prefer', 'disable'],
  gssencmode: ['prefer', 'disable'],
  target_session_attrs: ['any', 'read-write', 'primary'],
  load_balance_hosts: ['disable'],
  uselibpqcompat: ['true'],
};
/** The others of libpq. What is neither here nor above is a session setting, which the server itself refuses if it knows none. */
const REFUSED_PARAMETERS: ReadonlySet<string> = new Set([
  ...['hostaddr', 'dbname', 'user', 'password', 'passfile', 'service', 'servicefile', 'require_auth'],
  ...['connect_timeout', 'fallback_application_name', 'keepalives', 'keepalives_idle', 'keepalives_interval'],
  ...['keepalives_count', 'requirepeer', 'requiressl', 'replication', 'sslcompression', 'sslcert', 'sslkey'],
  ...['sslpassword', 'sslcertmode', 'sslcrl', 'sslcrldir', 'sslsni', 'sslkeylogfile', 'krbsrvname', 'gsslib'],
  ...['ssl_min_protocol_version', 'ssl_max_protocol_version', 'min_protocol_version', 'max_protocol_version'],
  ...['gssdelegation', 'scram_client_key', 'scram_server_key'],
]);
/** PostgreSQL's names of settings; an extension's has a dot. */
const SETTING = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?$/i;

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
  refuseUnknown(params);
  const isSetting = ([name]: readonly [string, string]): boolean =>
    !OWN_PARAMETERS.has(name) && !(name in AS_WE_DO);
  const mustWrite = (params.get('target_session_attrs') ?? 'any') !== 'any';
  const fallback = query === undefined ? 'localhost' : SOCKET_FOLDER;
  const named = hosts
    ? hosts.split(',').map((name) => decoded(name) ?? '')
    : (params.get('host') || fallback).split(',');
  return {
    hosts: hostsOf(named, params.get('port'), mustWrite),
    mustWrite,
    user: decoded(user),
    password: decoded(password),
    database: decoded(database),
    tls: tlsOf(params),
    isTlsDirect: params.get('sslnegotiation') === 'direct',
    settings: Object.fromEntries([...params].filter(isSetting)),
    options: params.get('options') ?? '',
  };
}

/** Names every parameter at once, and no value. */
function refuseUnknown(params: URLSearchParams): void {
  const given = [...params];
  const twice = [...new Set(given.map(([name]) => name).filter((name) => params.getAll(name).length > 1))];
  if (twice.length > 0)
    throw new Error(`the database URL has ${twice.join(', ')} more than once: keep one of them`);
  const isKnown = ([name, value]: readonly [string, string]): boolean =>
    AS_WE_DO[name]?.includes(value) ?? (!REFUSED_PARAMETERS.has(name) && SETTING.test(name));
  const refused = given.filter((one) => !isKnown(one)).map(([name]) => name);
  if (refused.length > 0)
    throw new Error(
      `the database URL has parameters that this service does not carry out: ${refused.join(', ')}. Remove them; docs/configuration.md lists what it does`,
    );
}

/** As libpq reads them: one port for all, or one for each. */
function hostsOf(
  names: readonly string[],
  ports: string | null,
  mustWrite: boolean,
): DatabaseAddress['hosts'] {
  const given = ports?.split(',') ?? [];
  if (given.length > 1 && given.length !== names.length)
    throw new Error(
      'the database URL names another number of ports than of hosts: write one for all, or one for each',
    );
  const [first, ...rest] = names.map((name, at) => hostOf(name, given[at] ?? given[0] ?? null));
  if (first === undefined) throw new Error('the database URL contains an invalid host');
  if (rest.length > 0 && !mustWrite)
    throw new Error(
      'the database URL names several hosts: add target_session_attrs=read-write, so that only the one that accepts writes is used',
    );
  return [first, ...rest];
}

function hostOf(text: string, port: string | null): Endpoint {
  // Text after the first @ is a part of the password: a name server and the log must not see it.
  if (text.includes('@'))
    throw new Error('the database URL has more than one @: write one in the user name or password as %40');
  const [, host, ownPort] = HOST_PARTS.exec(text) ?? [];
  if (host === undefined) throw new Error('the database URL contains an invalid host');
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(ownPort ?? port ?? PORT) };
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
