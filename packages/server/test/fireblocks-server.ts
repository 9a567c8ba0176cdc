/**
 * The part of Fireblocks that signing uses, on a local port: it checks every request's token as the API's page on
 * authentication says, applies a policy, moves a transaction through its statuses, and signs with a test key.
 * Tests switch faults on.
 */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
  verify,
} from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { readTransaction, type SolanaAddress, toBase58 } from '@bellwether/protocol';
import { type Asked, sendJson, standIn } from '../../../test/stand-in.ts';

interface Held {
  readonly id: string;
  readonly externalTxId: string;
  readonly operation: 'RAW' | 'PROGRAM_CALL';
  readonly message: Buffer;
  /** Statuses that the next reads return; the last one repeats. */
  statuses: { readonly status: string; readonly subStatus?: string }[];
}

interface Faults {
  /** Operations that the policy lets through. */
  allowed: readonly string[];
  /** Overrides the statuses after the creation. */
  statuses: readonly { readonly status: string; readonly subStatus?: string }[] | null;
  /** Answers a creation with 502: before or after it takes effect. */
  badGateway: 'off' | 'created' | 'not_created';
  /** Performs a creation without ever answering it. */
  silent: boolean;
  /** The number of requests to answer with 429 first. */
  busy: number;
  /** Names another key, signs with another key, or changes a byte. */
  signature: 'right' | 'other_key_named' | 'other_key' | 'spoiled' | 'missing';
}

export interface FireblocksServer {
  readonly url: string;
  readonly apiKey: string;
  readonly privateKeyPem: string;
  readonly address: SolanaAddress;
  readonly faults: Faults;
  readonly created: readonly { readonly externalTxId: string; readonly body: Record<string, unknown> }[];
  readonly canceled: readonly string[];
}

export const VAULT_ID = '7';
export const ASSET_ID = 'SOL_TEST';

const publicBytes = (key: KeyObject): Buffer =>
  Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url');

/** Refused by the API, with its codes: −1 bad signature, −2 no key, −3 no token, −4 wrong URL, −5 invalid, −6 wrong user. */
class TokenFault extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

function createTokenCheck(rsa: KeyObject, apiKey: string) {
  const seen = new Set<string>();
  return (request: Asked): void => {
    if (request.headers['x-api-key'] === undefined) throw new TokenFault(-2, 'no API key');
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const [head = '', claims = '', signature = ''] = token?.split('.') ?? [];
    if (token === undefined) throw new TokenFault(-3, 'no token');
    const parse = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString());
    if (parse(head).alg !== 'RS256') throw new TokenFault(-5, 'another algorithm');
    const isSigned = verify(
      'sha256',
      Buffer.from(`${head}.${claims}`),
      rsa,
      Buffer.from(signature, 'base64url'),
    );
    if (!isSigned) throw new TokenFault(-1, 'bad signature');
    const { uri, nonce, iat, exp, sub, bodyHash } = parse(claims);
    const now = Date.now() / 1000;
    if (uri !== request.url) throw new TokenFault(-4, `the token is for ${uri}`);
    if (sub !== apiKey || request.headers['x-api-key'] !== apiKey) throw new TokenFault(-6, 'another user');
    if (typeof nonce !== 'string' || nonce === '' || seen.has(nonce))
      throw new TokenFault(-5, 'a used nonce');
    if (!(iat <= now + 5 && iat > now - 30)) throw new TokenFault(-5, 'iat is not now');
    if (!(exp > now && exp <= iat + 30)) throw new TokenFault(-5, 'exp is past, or too late');
    if (bodyHash !== createHash('sha256').update(request.body).digest('hex'))
      throw new TokenFault(-5, 'another body');
    seen.add(nonce);
  };
}

export async function startFireblocks(): Promise<FireblocksServer> {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const vault = generateKeyPairSync('ed25519').privateKey;
  const stranger = generateKeyPairSync('ed25519').privateKey;
  const apiKey = randomUUID();
  const checkToken = createTokenCheck(rsa.publicKey, apiKey);
  const held = new Map<string, Held>();
  const created: { externalTxId: string; body: Record<string, unknown> }[] = [];
  const canceled: string[] = [];
  const faults: Faults = {
    allowed: ['RAW', 'PROGRAM_CALL'],
    statuses: null,
    badGateway: 'off',
    silent: false,
    busy: 0,
    signature: 'right',
  };
  const address = toBase58(publicBytes(vault)) as SolanaAddress;

  function create(body: Record<string, unknown>): Held | null {
    const externalTxId = String(body.externalTxId);
    if ([...held.values()].some((each) => each.externalTxId === externalTxId)) return null;
    const operation = body.operation as Held['operation'];
    const isBlocked = !faults.allowed.includes(operation);
    const done = operation === 'RAW' ? 'COMPLETED' : 'SIGNED';
    const usual = [{ status: 'SUBMITTED' }, { status: 'PENDING_SIGNATURE' }, { status: done }];
    const row: Held = {
      id: randomUUID(),
      externalTxId,
      operation,
      message: messageIn(body),
      statuses: isBlocked
        ? [{ status: 'SUBMITTED' }, { status: 'BLOCKED', subStatus: 'BLOCKED_BY_POLICY' }]
        : [...(faults.statuses ?? usual)],
    };
    created.push({ externalTxId, body });
    held.set(row.id, row);
    return row;
  }

  function look(row: Held) {
    const [now = { status: 'SUBMITTED' }] = row.statuses;
    if (row.statuses.length > 1) row.statuses = row.statuses.slice(1);
    const isDone = now.status === 'COMPLETED' || now.status === 'SIGNED';
    if (!isDone || faults.signature === 'missing')
      return { id: row.id, ...now, signedMessages: [], txHash: '' };
    const signature = sign(null, row.message, faults.signature === 'other_key' ? stranger : vault);
    if (faults.signature === 'spoiled') signature[3]! ^= 1;
    // Sources differ on where a sign-only program call has its signature; here it is the hash.
    if (row.operation === 'PROGRAM_CALL') return { id: row.id, ...now, txHash: toBase58(signature) };
    const named = faults.signature === 'other_key_named' ? stranger : vault;
    return {
      id: row.id,
      ...now,
      txHash: '',
      signedMessages: [
        {
          content: row.message.toString('hex'),
          algorithm: 'EDDSA_ED25519',
          derivationPath: [44, 501, 0, 0, 0],
          publicKey: publicBytes(named).toString('hex'),
          signature: { fullSig: signature.toString('hex') },
        },
      ],
    };
  }

  function answer(request: Asked, response: ServerResponse): void {
    const send = (status: number, value: unknown) => sendJson(response, value, status);
    try {
      checkToken(request);
    } catch (error) {
      const code = error instanceof TokenFault ? error.code : -5;
      send(401, { message: (error as Error).message, code });
      return;
    }
    if (faults.busy > 0) {
      faults.busy -= 1;
      send(429, { message: 'too many requests', code: 429 });
      return;
    }
    const [path = ''] = request.url.split('?');
    if (path === `/v1/vault/accounts/${VAULT_ID}/${ASSET_ID}/addresses_paginated`) {
      send(200, { addresses: [{ address, assetId: ASSET_ID, type: 'Permanent', bip44AddressIndex: 0 }] });
      return;
    }
    if (request.method === 'POST' && path === '/v1/transactions') {
      if (faults.badGateway === 'not_created') return void response.writeHead(502).end('Bad Gateway');
      const row = create(JSON.parse(request.body));
      if (faults.silent) return;
      if (faults.badGateway === 'created') return void response.writeHead(502).end('Bad Gateway');
      if (row === null)
        send(400, { message: 'The external tx id that was provided already exists', code: 1438 });
      else send(200, { id: row.id, status: row.statuses[0]?.status });
      return;
    }
    const [, external, id = '', cancel] =
      /^\/v1\/transactions\/(external_tx_id\/)?([^/]+)(\/cancel)?$/.exec(path) ?? [];
    const row =
      external === undefined
        ? held.get(id)
        : [...held.values()].find((each) => each.externalTxId === decodeURIComponent(id));
    if (row === undefined) send(404, { message: 'Not found', code: 1000 });
    else if (cancel !== undefined) {
      canceled.push(row.id);
      send(200, { success: true });
    } else send(200, look(row));
  }

  return {
    url: await standIn(answer),
    apiKey,
    privateKeyPem: rsa.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    address,
    faults,
    created,
    canceled,
  };
}

interface CreateBody {
  readonly operation: string;
  readonly source: { readonly type: string; readonly id: string };
  readonly assetId: string;
  readonly extraParameters: {
    readonly rawMessageData?: { readonly messages: readonly { readonly content: string }[] };
    readonly programCallData?: string;
    readonly signOnly?: boolean;
    readonly useDurableNonce?: boolean;
  };
}

/** The bytes to sign. @throws when the API would not accept the request */
function messageIn(body: unknown): Buffer {
  const { operation, source, assetId, extraParameters } = body as CreateBody;
  if (source.type !== 'VAULT_ACCOUNT' || source.id !== VAULT_ID || assetId !== ASSET_ID)
    throw new Error('no such vault wallet');
  if (operation === 'RAW') {
    const [only, ...more] = extraParameters.rawMessageData?.messages ?? [];
    if (only === undefined || more.length > 0 || !/^([0-9a-f]{2})+$/.test(only.content))
      throw new Error('RAW_MSG_EMPTY_OR_INVALID');
    return Buffer.from(only.content, 'hex');
  }
  const { programCallData = '', signOnly, useDurableNonce } = extraParameters;
  if (signOnly !== true || useDurableNonce !== false) throw new Error('this test signs only');
  return Buffer.from(readTransaction(new Uint8Array(Buffer.from(programCallData, 'base64'))).message);
}
