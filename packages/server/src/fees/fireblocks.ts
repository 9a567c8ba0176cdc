/**
 * Signs with a key that Fireblocks keeps. A signature is requested once per external id, awaited until its status is
 * final or its deadline passes, and verified here before it is used. Fireblocks never broadcasts: RAW signs bytes, and
 * program calls are sign-only; so an abandoned attempt cannot move anything later.
 *
 * The life of an attempt: created (once; after a lost answer it is looked up by the external id) → waiting → signed,
 * blocked by the policy, or failed. Only the primary status decides; an unknown one counts as waiting.
 */

import { createHash, createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseBase58, parseHex, type SolanaAddress, verifyEd25519 } from '@bellwether/protocol';
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { HttpReply, HttpSend } from '../platform/outbound/http.ts';
import type { SigningAnswer, SigningProvider } from './signing-provider.ts';

export interface FireblocksOptions extends FireblocksClientOptions {
  readonly vaultId: string;
  /** SOL on mainnet, SOL_TEST on devnet: selects curve and derivation. */
  readonly assetId: string;
  readonly mode: 'raw' | 'program_call';
  /** The key that the vault must have. */
  readonly address: SolanaAddress;
  readonly log: { warn(context: Readonly<Record<string, unknown>>, message: string): void };
  /** The first pause between two polls; later pauses grow. */
  readonly pauseMs?: number;
  /** How long to search for a transaction whose creation got no answer. */
  readonly recoverMs?: number;
}

const PAUSE_MS = 250;
const MAX_PAUSE_MS = 3_000;
const PAUSE_GROWTH = 1.6;
const RECOVER_MS = 15_000;
const NOT_FOUND = 404;
const BLOCKED_BY_POLICY = 'BLOCKED_BY_POLICY';

const SIGNED = new Set(['COMPLETED', 'SIGNED']);
const FAILED = new Set(['REJECTED', 'CANCELLED', 'FAILED', 'TIMEOUT']);
const WAITING = new Set([
  'SUBMITTED',
  'PENDING',
  'PENDING_AML_SCREENING',
  'PENDING_ENRICHMENT',
  'PENDING_AUTHORIZATION',
  'PENDING_SIGNATURE',
  'PENDING_3RD_PARTY',
  'PENDING_3RD_PARTY_MANUAL_APPROVAL',
  'QUEUED',
  'CANCELLING',
]);

type Request = Parameters<SigningProvider['sign']>[0];
type SigningOutcome<K extends SigningAnswer['kind']> = Extract<SigningAnswer, { kind: K }>;

/**
 * Looks up the vault's address first.
 * @throws Error when the vault has another key, or Fireblocks does not answer: the service must not start
 */
export async function createFireblocksSigning(options: FireblocksOptions): Promise<SigningProvider> {
  const client = createFireblocksClient(options);
  await requireVaultKey(client, options);
  return {
    kind: 'fireblocks',
    address: options.address,
    async sign(request) {
      try {
        const created = await createOnce(client, options, request);
        return 'kind' in created ? created : await awaitSignature(client, options, request, created);
      } catch (error) {
        options.log.warn({ fault: (error as Error).name }, 'signing with Fireblocks failed');
        return failed(null, 'the signing provider could not be asked');
      }
    },
  };
}

async function requireVaultKey(client: FireblocksClient, options: FireblocksOptions): Promise<void> {
  const { vaultId, assetId, address } = options;
  const where = `vault account ${vaultId}, asset ${assetId}`;
  const answer = await client.vaultAddresses(vaultId, assetId);
  if (answer.kind !== 'ok') {
    const why = answer.kind === 'later' ? 'too many requests' : answer.detail;
    throw new Error(`The address of Fireblocks ${where} could not be looked up: ${why}.`);
  }
  // Both modes sign with the account's first key.
  const first = answer.value.addresses.filter(({ bip44AddressIndex = 0 }) => bip44AddressIndex === 0);
  if (first.some((found) => found.address === address)) return;
  const found = first.map((row) => row.address).join(', ') || 'none';
  throw new Error(
    `Fireblocks ${where} has the address ${found}, not ${address}: correct FIREBLOCKS_ADDRESS or FIREBLOCKS_VAULT_ID.`,
  );
}

const failed = (id: string | null, detail: string): SigningOutcome<'failed'> => ({
  kind: 'failed',
  id,
  detail,
});

const blocked = (id: string | null, detail: string): SigningOutcome<'blocked_by_policy'> => ({
  kind: 'blocked_by_policy',
  id,
  detail: detail.includes(BLOCKED_BY_POLICY) ? detail : `${BLOCKED_BY_POLICY}: ${detail}`,
});

const bodyOf = ({ vaultId, assetId, mode }: FireblocksOptions, request: Request) => ({
  operation: mode === 'raw' ? 'RAW' : 'PROGRAM_CALL',
  assetId,
  source: { type: 'VAULT_ACCOUNT', id: vaultId },
  note: request.note,
  externalTxId: request.externalId,
  extraParameters:
    mode === 'raw'
      ? { rawMessageData: { messages: [{ content: Buffer.from(request.message).toString('hex') }] } }
      : {
          programCallData: Buffer.from(request.wire).toString('base64'),
          signOnly: true,
          useDurableNonce: false,
        },
});

/** Growing pauses; `false` once `until` has passed. */
function createPauses({ now, pauseMs = PAUSE_MS }: FireblocksOptions, until: number) {
  let pause = pauseMs;
  return async (): Promise<boolean> => {
    const left = until - now();
    if (left <= 0) return false;
    await sleep(Math.min(pause, left));
    pause = Math.min(pause * PAUSE_GROWTH, MAX_PAUSE_MS);
    return now() < until;
  };
}

async function createOnce(
  client: FireblocksClient,
  options: FireblocksOptions,
  request: Request,
): Promise<FireblocksTransaction | SigningAnswer> {
  const pause = createPauses(options, request.deadline);
  do {
    const answer = await client.create(bodyOf(options, request));
    if (answer.kind === 'ok') return answer.value;
    if (answer.kind === 'unclear') return recover(client, options, request, answer.detail);
    if (answer.kind === 'refused') {
      // The API also refuses a repeat: then the first transaction exists.
      const first = await client.byExternalId(request.externalId);
      if (first.kind === 'ok') return first.value;
      return answer.detail.includes(BLOCKED_BY_POLICY)
        ? blocked(null, answer.detail)
        : failed(null, answer.detail);
    }
  } while (await pause());
  return failed(null, 'Fireblocks takes no more requests at the moment');
}

/** The creation got no answer and may have happened: look it up, never send it again. */
async function recover(
  client: FireblocksClient,
  options: FireblocksOptions,
  { externalId, deadline }: Request,
  detail: string,
): Promise<FireblocksTransaction | SigningAnswer> {
  const until = Math.min(deadline, options.now() + (options.recoverMs ?? RECOVER_MS));
  const pause = createPauses(options, until);
  do {
    const found = await client.byExternalId(externalId);
    if (found.kind === 'ok') return found.value;
    if (found.kind === 'refused' && found.status !== NOT_FOUND) return failed(null, found.detail);
  } while (await pause());
  return failed(null, detail);
}

async function awaitSignature(
  client: FireblocksClient,
  options: FireblocksOptions,
  request: Request,
  created: FireblocksTransaction,
): Promise<SigningAnswer> {
  const pause = createPauses(options, request.deadline);
  const warned = new Set<string>();
  let { status, subStatus } = created;
  const { id } = created;
  do {
    // Only a get returns signatures.
    const answer = await client.get(id);
    if (answer.kind === 'ok') {
      ({ status, subStatus } = answer.value);
      const end = endOf(answer.value, request.message, options.address);
      if (end !== null) return end;
      if (!WAITING.has(status) && !warned.has(status)) {
        warned.add(status);
        options.log.warn({ id, status, subStatus }, 'Fireblocks sent an unexpected status');
      }
    }
  } while (await pause());
  await client.cancel(id);
  return failed(id, `no signature in time; the last status was ${spelled(status, subStatus)}`);
}

/** "BLOCKED BLOCKED_BY_POLICY" says one thing twice. */
const spelled = (status: string, subStatus: string | null | undefined): string =>
  (subStatus ? (subStatus === BLOCKED_BY_POLICY ? subStatus : `${status} ${subStatus}`) : status).replaceAll(
    /[^\x20-\x7e]/g,
    '?',
  );

/** The outcome of a transaction's status; `null` while it is not final. */
function endOf(
  transaction: FireblocksTransaction,
  message: Uint8Array,
  address: SolanaAddress,
): SigningAnswer | null {
  const { id, status, subStatus } = transaction;
  if (status === 'BLOCKED' || subStatus === BLOCKED_BY_POLICY) return blocked(id, spelled(status, subStatus));
  if (FAILED.has(status)) return failed(id, spelled(status, subStatus));
  if (!SIGNED.has(status)) return null;
  return signatureOf(transaction, message, address);
}

/** The signature is in `signedMessages` or in `txHash`, depending on the mode: returns the one that verifies. */
function signatureOf(
  { id, signedMessages, txHash }: FireblocksTransaction,
  message: Uint8Array,
  address: SolanaAddress,
): SigningAnswer {
  const publicKey = parseBase58(address)!;
  const ours = Buffer.from(publicKey).toString('hex');
  const others = (signedMessages ?? []).filter(
    (each) => each.publicKey && each.publicKey.toLowerCase() !== ours,
  );
  const spellings = [
    ...(signedMessages ?? [])
      .filter((each) => !others.includes(each))
      .map((each) => parseHex(each.signature?.fullSig ?? '')),
    parseBase58(txHash ?? ''),
  ];
  for (const signature of spellings) {
    if (signature?.length === 64 && verifyEd25519(publicKey, message, signature))
      return { kind: 'signed', id, signature };
  }
  if (others.length > 0) return failed(id, 'Fireblocks signed with another key than the configured one');
  return failed(id, 'what Fireblocks returned is no signature of the message');
}

// The five calls of the Fireblocks REST API that signing needs. Every request carries its own token, signed with the API
// user's RSA key over path, query and the exact bytes of the body. An answer states whether it is proof; the key and the
// tokens must never reach a log, an error or an answer.

type ApiAnswer<T> =
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
type FireblocksTransaction = Static<typeof Transaction>;

const VaultAddresses = Type.Object({
  addresses: Type.Array(
    Type.Object({ address: Type.String(), bip44AddressIndex: Type.Optional(Type.Number()) }),
  ),
});

const Cancelled = Type.Object({ success: Type.Boolean() });
const Fault = Type.Object({ message: MaybeText, code: Type.Optional(Type.Number()) });

interface FireblocksClient {
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

interface FireblocksClientOptions {
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
function createFireblocksClient(options: FireblocksClientOptions): FireblocksClient {
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
