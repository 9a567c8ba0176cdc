/**
 * The five calls of the Fireblocks REST API that signing needs. Every request carries its own token, signed with the API
 * user's RSA key over path, query and the exact bytes of the body. An answer states whether it is proof; the key and the
 * tokens must never reach a log, an error or an answer.
 */
import { createHash, createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { HttpReply, HttpSend } from '../../platform/outbound/outbound.ts';

export type ApiAnswer<T> =
  | { readonly kind: 'ok'; readonly value: T }
  /** Proof that nothing was done. */
  | { readonly kind: 'refused'; readonly status: number; readonly detail: string }
  /** Too many requests: nothing was done, and the call may be repeated. */
  | { readonly kind: 'later' }
  /** No proof either way. */
  | { readonly kind: 'unclear'; readonly detail: string };

const MaybeText = Type.Optional(Type.Union([Type.String(), Type.Null()]));

/** The answer of create and get; create sends `id` and `status` only. Unknown fields and statuses are accepted. */
const Transaction = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 128, pattern: '^[\\x21-\\x7e]+$' }),
  status: Type.String({ maxLength: 128 }),
  subStatus: MaybeText,
  txHash: MaybeText,
  signedMessages: Type.Optional(
    Type.Union([
      Type.Array(
        Type.Object({
          publicKey: MaybeText,
          signature: Type.Optional(Type.Union([Type.Object({ fullSig: MaybeText }), Type.Null()])),
        }),
      ),
      Type.Null(),
    ]),
  ),
});
export type FireblocksTransaction = Static<typeof Transaction>;

const VaultAddresses = Type.Object({
  addresses: Type.Array(
    Type.Object({ address: Type.String(), bip44AddressIndex: Type.Optional(Type.Number()) }),
  ),
});

const Cancelled = Type.Object({ success: Type.Boolean() });
const Fault = Type.Object({ message: MaybeText, code: Type.Optional(Type.Number()) });

export interface FireblocksClient {
  /** The API refuses a repeat with the same `externalTxId`; after `unclear` look it up and never send again. */
  create(
    body: Readonly<Record<string, unknown>> & { readonly externalTxId: string },
  ): FireblocksAnswer<typeof Transaction>;
  get(id: string): FireblocksAnswer<typeof Transaction>;
  byExternalId(externalTxId: string): FireblocksAnswer<typeof Transaction>;
  cancel(id: string): FireblocksAnswer<typeof Cancelled>;
  /** The first 50 addresses of a vault account's asset. */
  vaultAddresses(vaultId: string, assetId: string): FireblocksAnswer<typeof VaultAddresses>;
}

type FireblocksAnswer<S extends TSchema> = Promise<ApiAnswer<Static<S>>>;

export interface FireblocksClientOptions {
  /** The API's URL, with or without `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The API user's RSA private key. */
  readonly privateKeyPem: string;
  readonly now: () => number;
  readonly send: HttpSend;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
/** The API requires less than 30. */
const TOKEN_LIFE_S = 25;
const ADDRESSES_PER_PAGE = 50;
const MAX_DETAIL_CHARS = 200;

/** @throws Error when the key is not an RSA private key; the error does not quote it */
export function createFireblocksClient(options: FireblocksClientOptions): FireblocksClient {
  const { apiKey, now, send, timeoutMs = TIMEOUT_MS } = options;
  const key = rsaKey(options.privateKeyPem);
  const base = new URL(options.baseUrl.replace(/\/+$/, '').replace(/\/v1$/, ''));
  const prefix = `${base.pathname.replace(/\/$/, '')}/v1`;

  async function request<S extends TSchema>(
    method: 'GET' | 'POST',
    path: string,
    schema: S,
    body?: Readonly<Record<string, unknown>>,
  ): FireblocksAnswer<S> {
    const uri = prefix + path;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const token = tokenOf(key, apiKey, uri, text ?? '', now());
    let answer: HttpReply;
    try {
      answer = await send({
        method,
        url: base.origin + uri,
        headers: {
          'x-api-key': apiKey,
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(text === undefined ? {} : { body: text }),
        timeoutMs,
      });
    } catch {
      // Errors of the transport may contain addresses and headers.
      return { kind: 'unclear', detail: 'Fireblocks did not answer' };
    }
    return interpret(answer, schema);
  }

  return {
    create: (body) => request('POST', '/transactions', Transaction, body),
    get: (id) => request('GET', `/transactions/${encodeURIComponent(id)}`, Transaction),
    byExternalId: (id) =>
      request('GET', `/transactions/external_tx_id/${encodeURIComponent(id)}`, Transaction),
    cancel: (id) => request('POST', `/transactions/${encodeURIComponent(id)}/cancel`, Cancelled),
    vaultAddresses: (vaultId, assetId) =>
      request(
        'GET',
        `/vault/accounts/${encodeURIComponent(vaultId)}/${encodeURIComponent(assetId)}/addresses_paginated?limit=${ADDRESSES_PER_PAGE}`,
        VaultAddresses,
      ),
  };
}

function rsaKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new Error('The Fireblocks API key file does not hold a private key in PEM.');
  }
  if (key.asymmetricKeyType !== 'rsa') throw new Error('The Fireblocks API key must be an RSA private key.');
  return key;
}

/** A token for one request; the API's page on authentication defines the claims. */
function tokenOf(key: KeyObject, apiKey: string, uri: string, body: string, nowMs: number): string {
  const iat = Math.floor(nowMs / 1000);
  const claims = {
    uri,
    nonce: randomUUID(),
    iat,
    exp: iat + TOKEN_LIFE_S,
    sub: apiKey,
    bodyHash: createHash('sha256').update(body).digest('hex'),
  };
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
}

const CLIENT_ERROR = 400;
const SERVER_ERROR = 500;
const REQUEST_TIMEOUT = 408;
const TOO_MANY = 429;

function interpret<S extends TSchema>(
  { status, body }: { readonly status: number; readonly body: string },
  schema: S,
): ApiAnswer<Static<S>> {
  if (status === TOO_MANY) return { kind: 'later' };
  const value = parseJson(body);
  if (status >= 200 && status < 300) {
    if (Value.Check(schema, value)) return { kind: 'ok', value };
    return { kind: 'unclear', detail: 'Fireblocks answered something that is not understood' };
  }
  if (status < CLIENT_ERROR || status >= SERVER_ERROR || status === REQUEST_TIMEOUT)
    return { kind: 'unclear', detail: `Fireblocks answered with status ${status}` };
  const { message, code } = Value.Check(Fault, value) ? value : {};
  const said = [code === undefined ? '' : ` (code ${code})`, message ? `: ${printable(message)}` : ''];
  return { kind: 'refused', status, detail: `Fireblocks answered with status ${status}${said.join('')}` };
}

const printable = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, MAX_DETAIL_CHARS);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
