/**
 * The exchange's door for clients of the venue's relayer: they have a wallet make calls without paying the network. The door verifies
 * what the wallet's owner signed as the wallets' contracts would, and does on the paper exchange what the calls say. Wire
 * reference 5.7.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { Sql } from '@bellwether/durable';
import {
  type Address,
  asAddress,
  parseAddress,
  type RecoverPublicKey,
  type RelayTerms,
  toChecksumAddress,
} from '@bellwether/protocol';
import type { FastifyError, FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { PaperExchange } from '../../paper-exchange.ts';
import { type Guarded, guardDoor, NulInUrl, sayWhen, TooManyRequests } from '../limits.ts';
import { type Faults, injectFaults } from '../polymarket/faults.ts';
import { EngineRestarts, jsonOf, parameter, WireError } from '../polymarket/requests.ts';
import { headerText, type VenueKeys } from '../polymarket/venue-keys.ts';
import { readSubmission, type Submission } from './submission.ts';

export interface RelayerDoorOptions {
  /** `null`: it is not open here. */
  readonly exchange: () => Pick<PaperExchange, 'execute' | 'orderRecord'> | null;
  readonly keys: VenueKeys;
  readonly relayed: RelayedStore;
  readonly recover: RecoverPublicKey;
  readonly chainId: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly guard: Guarded;
  /** Omitted: there are none. */
  readonly faults?: Faults;
}

const BODY_LIMIT_BYTES = 64 * 1024;
const DONE: ReadonlySet<string> = new Set(['split', 'merged', 'converted', 'redeemed']);
const TYPES: ReadonlySet<string> = new Set(['PROXY', 'SAFE', 'WALLET']);
/** Delivers for proxy wallets. */
const RELAY = asAddress(`0x${createHash('sha256').update('paper relay').digest('hex').slice(0, 40)}`);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const relayerDoor: FastifyPluginAsync<RelayerDoorOptions> = async (door, options) => {
  const { relayed, now, keys } = options;
  const mount = door.prefix;
  // HMACs cover the exact text.
  door.removeAllContentTypeParsers();
  door.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_LIMIT_BYTES }, (_request, body, done) =>
    done(null, body),
  );
  door.setErrorHandler((error: FastifyError | Error, request, reply) => {
    if (error instanceof EngineRestarts) return reply.code(503).send({ error: 'service is not ready' });
    if (error instanceof WireError) return reply.code(error.status).send({ error: error.message });
    if (error instanceof TooManyRequests) return sayWhen(reply, error).send({ error: error.message });
    if (error instanceof NulInUrl) return reply.code(400).send({ error: error.message });
    const status = 'statusCode' in error ? (error.statusCode ?? 500) : 500;
    if (status < 500) return reply.code(status).send({ error: 'invalid payload' });
    request.log.error({ err: error }, 'the relayer door failed');
    return reply.code(500).send({ error: 'internal error' });
  });
  guardDoor(door, options.guard);
  if (options.faults !== undefined) injectFaults(door, mount, options.faults);
  if (mount !== '')
    door.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not found' }));

  const whose = (request: FastifyRequest): { readonly address: Address; readonly type: string } => {
    const address = parseAddress(parameter(request, 'address'));
    const type = parameter(request, 'type');
    if (address === null || !TYPES.has(type)) throw new WireError(400, 'invalid address or type');
    return { address, type };
  };
  const nonceOf = async (request: FastifyRequest): Promise<string> => {
    const { address, type } = whose(request);
    return (await relayed.nextNonce(address, type)).toString();
  };

  door.get('/nonce', async (request) => ({ nonce: await nonceOf(request) }));
  door.get('/v1/account/transactions/params', async (request) => ({ nonce: await nonceOf(request) }));
  door.get('/relay-payload', async (request) => ({
    address: toChecksumAddress(RELAY),
    nonce: await nonceOf(request),
  }));
  // On paper every wallet that an owner has is there.
  door.get('/deployed', async (request) => {
    if (parseAddress(parameter(request, 'address')) === null) throw new WireError(400, 'invalid address');
    return { deployed: true };
  });
  door.get('/transaction', async (request) => {
    const row = await relayed.find(parameter(request, 'id'));
    return row === null ? [] : [wireOf(await advanced(options, row))];
  });
  door.get('/transactions', async (request) => {
    const builder = await builderOf(keys, request, mount);
    const rows = await relayed.list(builder);
    return Promise.all(rows.map(async (row) => wireOf(await advanced(options, row))));
  });
  door.post('/submit', async (request) => {
    const builder = await builderOf(keys, request, mount);
    const submission = readSubmission(jsonOf(String(request.body ?? '')), {
      ...{ recover: options.recover, chainId: options.chainId, now: now(), relay: RELAY },
    });
    if (options.exchange() === null) throw new EngineRestarts();
    const { owner, type, nonce, digest } = submission;
    const expected = await relayed.nextNonce(owner.eoa, type);
    const taken =
      nonce > expected
        ? null
        : await relayed.take(submission, { builder, hash: `0x${sha256(`hash ${digest}`)}` });
    if (taken === null) throw new WireError(400, `invalid nonce: expected ${expected}`);
    const row = await advanced(options, taken);
    return { transactionID: row.transaction_id, state: 'STATE_NEW', transactionHash: row.transaction_hash };
  });
};

/**
 * The account whose API key asks: with the key's headers for builders, or by the relayer's own pair of key and address.
 * @throws WireError
 */
async function builderOf(keys: VenueKeys, request: FastifyRequest, mount: string): Promise<Address> {
  const { headers, method, url } = request;
  const path = url.split('?', 1)[0] ?? '';
  const body = String(request.body ?? '');
  const builderKey = headerText(headers, 'poly_builder_api_key');
  if (builderKey !== '') {
    const found = await keys.authenticateBuilder(headers, {
      ...{ method, body },
      paths: [path, path.slice(mount.length)],
    });
    if (found !== null) return found.address;
  }
  const address = parseAddress(headerText(headers, 'relayer_api_key_address'));
  const key = headerText(headers, 'relayer_api_key');
  if (address !== null && key !== '' && (await keys.list(address)).includes(key)) return address;
  throw new WireError(401, 'invalid authorization');
}

/** Does what a transaction says, once: also when the process stopped between taking it and doing it. */
async function advanced(
  { exchange: open, relayed, recover, chainId }: RelayerDoorOptions,
  row: RelayedRow,
): Promise<RelayedRow> {
  if (row.state !== 'STATE_NEW') return row;
  const exchange = open();
  if (exchange === null) return row;
  const { effect, owner } = readSubmission(row.body, { recover, chainId, now: null, relay: RELAY });
  const state = effect === null ? 'STATE_CONFIRMED' : await executed(exchange, owner.wallet, { effect, row });
  await relayed.end(row.digest, state);
  return { ...row, state };
}

async function executed(
  exchange: Pick<PaperExchange, 'execute' | 'orderRecord'>,
  account: Address,
  {
    effect,
    row,
  }: {
    readonly effect: NonNullable<ReturnType<typeof readSubmission>['effect']>;
    readonly row: RelayedRow;
  },
): Promise<'STATE_CONFIRMED' | 'STATE_FAILED'> {
  const { kind, conditionId } = effect;
  // Its own name in the exchange: the same transaction has one effect.
  const orderId = `0x${sha256(`relayed ${row.digest}`)}`;
  const said = await exchange.execute(
    kind === 'redeem'
      ? { kind, account, conditionId }
      : { kind, account, conditionId, amount: effect.amount, orderId },
  );
  const isRepeated = said.some(
    (event) => event.kind === 'order_rejected' && event.reason === 'duplicate_order',
  );
  const events = isRepeated ? ((await exchange.orderRecord(orderId))?.events ?? []) : said;
  return events.some((event) => DONE.has(event.kind)) ? 'STATE_CONFIRMED' : 'STATE_FAILED';
}

/** As the venue lists it. */
function wireOf(row: RelayedRow) {
  const { body } = row;
  return {
    transactionID: row.transaction_id,
    transactionHash: row.transaction_hash,
    from: body.from,
    to: body.to,
    proxyAddress:
      body.proxyWallet ?? (body.depositWalletParams as { depositWallet?: string })?.depositWallet ?? '',
    data: body.data ?? '',
    nonce: row.nonce,
    value: '0',
    state: row.state,
    type: row.type,
    signature: body.signature,
    metadata: body.metadata ?? '',
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

// Transactions that the paper relayer took, by what their owners signed: each has one effect, also when the process stops in between.

/** Idempotent. */
export const RELAYED_SCHEMA = `
create table if not exists exchange_relayed (
  transaction_id uuid primary key,
  digest text not null unique,
  builder text not null,
  eoa text not null,
  type text not null,
  nonce numeric not null,
  state text not null,
  transaction_hash text not null,
  body jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index if not exists exchange_relayed_nonces on exchange_relayed (eoa, type, nonce)
  where state <> 'STATE_FAILED' and state <> 'STATE_INVALID';
create index if not exists exchange_relayed_builders on exchange_relayed (builder, created_at);
comment on table exchange_relayed is 'Transactions that the paper exchange''s relayer took.';
`;

type RelayState = 'STATE_NEW' | 'STATE_CONFIRMED' | 'STATE_FAILED';

interface RelayedRow {
  readonly transaction_id: string;
  readonly digest: string;
  readonly eoa: string;
  readonly type: RelayTerms['type'];
  readonly nonce: string;
  readonly state: RelayState;
  readonly transaction_hash: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const MOST_LISTED = 100;

export type RelayedStore = ReturnType<typeof createRelayedStore>;

export function createRelayedStore(sql: Sql) {
  const columns = sql`transaction_id::text, digest, eoa, type, nonce::text, state, transaction_hash, body, created_at, updated_at`;
  return {
    async nextNonce(eoa: Address, type: string): Promise<bigint> {
      const [row] = await sql<{ readonly next: string }[]>`
        select coalesce(max(nonce) + 1, 0)::text as next from exchange_relayed
        where eoa = ${eoa} and type = ${type} and state not in ('STATE_FAILED', 'STATE_INVALID')`;
      return BigInt(row?.next ?? '0');
    },

    /** @returns the transaction, which may have been taken before; `null`: another one has its nonce */
    async take(
      { digest, owner, type, nonce, body }: Submission,
      { builder, hash }: { readonly builder: Address; readonly hash: string },
    ): Promise<RelayedRow | null> {
      await sql`
        insert into exchange_relayed (transaction_id, digest, builder, eoa, type, nonce, state, transaction_hash, body)
        values (${randomUUID()}, ${digest}, ${builder}, ${owner.eoa}, ${type}, ${nonce.toString()}, 'STATE_NEW', ${hash},
          ${sql.json(body as never)})
        on conflict do nothing`;
      const [row] = await sql<RelayedRow[]>`select ${columns} from exchange_relayed where digest = ${digest}`;
      return row ?? null;
    },

    async find(id: string): Promise<RelayedRow | null> {
      const [row] = await sql<RelayedRow[]>`
        select ${columns} from exchange_relayed where transaction_id::text = ${id}`;
      return row ?? null;
    },

    /** The latest ones that these credentials submitted, newest first. */
    async list(builder: Address): Promise<readonly RelayedRow[]> {
      return sql<RelayedRow[]>`
        select ${columns} from exchange_relayed where builder = ${builder}
        order by created_at desc limit ${MOST_LISTED}`;
    },

    async end(digest: string, state: Exclude<RelayState, 'STATE_NEW'>): Promise<void> {
      await sql`update exchange_relayed set state = ${state}, updated_at = now()
        where digest = ${digest} and state = 'STATE_NEW'`;
    },
  };
}
