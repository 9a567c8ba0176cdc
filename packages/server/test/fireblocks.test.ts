/** Signing with Fireblocks, against a server that makes the real one's checks; and with the service's local key. */
import { createHash, createPrivateKey, randomBytes, randomUUID, sign } from 'node:crypto';
import {
  parseBase58,
  type SolanaAddress,
  toBase58,
  verifyEd25519,
  withSignature,
} from '@bellwether/protocol';
import { beforeEach, describe, expect, test } from 'vitest';
import { createFireblocksSigning, type FireblocksOptions } from '../src/fees/fireblocks.ts';
import { createLocalSigning, type SigningProvider } from '../src/fees/signing-provider.ts';
import { fetchSend } from '../src/platform/outbound/http.ts';
import { ASSET_ID, type FireblocksServer, startFireblocks, VAULT_ID } from './fireblocks-server.ts';

let fireblocks: FireblocksServer;
let warnings: { context: Readonly<Record<string, unknown>>; message: string }[];

beforeEach(async () => {
  fireblocks = await startFireblocks();
  warnings = [];
});

const options = (over: Partial<FireblocksOptions> = {}): FireblocksOptions => ({
  baseUrl: fireblocks.url,
  apiKey: fireblocks.apiKey,
  privateKeyPem: fireblocks.privateKeyPem,
  vaultId: VAULT_ID,
  assetId: ASSET_ID,
  mode: 'raw',
  address: fireblocks.address,
  now: Date.now,
  send: fetchSend,
  log: { warn: (context, message) => warnings.push({ context, message }) },
  pauseMs: 5,
  recoverMs: 150,
  timeoutMs: 2_000,
  ...over,
});

/** A legacy transaction of one signer and one instruction without accounts. */
function transaction(signer: SolanaAddress): { message: Uint8Array; wire: Uint8Array } {
  const message = Uint8Array.from([
    ...[1, 0, 1, 2],
    ...parseBase58(signer)!,
    ...randomBytes(32),
    ...randomBytes(32),
    ...[1, 1, 0, 1, 9],
  ]);
  return { message, wire: Uint8Array.from([1, ...new Uint8Array(64), ...message]) };
}

const request = (over: Partial<Parameters<SigningProvider['sign']>[0]> = {}) => ({
  ...transaction(fireblocks.address),
  externalId: randomUUID(),
  note: 'a fee',
  deadline: Date.now() + 60_000,
  ...over,
});

describe.each(['raw', 'program_call'] as const)('%s', (mode) => {
  test('signs the message, and the signature is valid in the transaction', async () => {
    const provider = await createFireblocksSigning(options({ mode }));
    const asked = request();
    const answer = await provider.sign(asked);
    if (answer.kind !== 'signed') throw new Error(JSON.stringify(answer));
    expect(verifyEd25519(parseBase58(provider.address)!, asked.message, answer.signature)).toBe(true);
    expect(withSignature(asked.wire, provider.address, answer.signature).slice(1, 65)).toEqual(
      answer.signature,
    );
    expect(fireblocks.created).toMatchObject([
      { externalTxId: asked.externalId, body: { operation: mode === 'raw' ? 'RAW' : 'PROGRAM_CALL' } },
    ]);
    expect(warnings).toEqual([]);
  });

  test('reports a refusal by the policy', async () => {
    fireblocks.faults.allowed = [mode === 'raw' ? 'PROGRAM_CALL' : 'RAW'];
    const provider = await createFireblocksSigning(options({ mode }));
    const answer = await provider.sign(request());
    expect(answer).toMatchObject({
      kind: 'blocked_by_policy',
      id: expect.any(String),
      detail: expect.stringContaining('BLOCKED_BY_POLICY'),
    });
  });

  test('rejects a signature over another message', async () => {
    const provider = await createFireblocksSigning(options({ mode }));
    for (const signature of ['spoiled', 'other_key', 'missing'] as const) {
      fireblocks.faults.signature = signature;
      expect(await provider.sign(request())).toMatchObject({
        kind: 'failed',
        detail: 'what Fireblocks returned is no signature of the message',
      });
    }
  });
});

test('rejects a signature that names another key', async () => {
  fireblocks.faults.signature = 'other_key_named';
  const provider = await createFireblocksSigning(options());
  expect(await provider.sign(request())).toMatchObject({
    kind: 'failed',
    detail: 'Fireblocks signed with another key than the configured one',
  });
});

describe('a creation request without an answer', () => {
  test.each([
    ['502 after it was done', { badGateway: 'created' }],
    ['no answer after the creation', { silent: true }],
  ] as const)('%s: found by the external id, and not sent again', async (_why, faults) => {
    Object.assign(fireblocks.faults, faults);
    const provider = await createFireblocksSigning(options({ timeoutMs: 200 }));
    expect(await provider.sign(request())).toMatchObject({ kind: 'signed' });
    expect(fireblocks.created.length).toBe(1);
  });

  test('502 and nothing created: looked up, then abandoned', async () => {
    fireblocks.faults.badGateway = 'not_created';
    const provider = await createFireblocksSigning(options());
    const started = Date.now();
    expect(await provider.sign(request())).toEqual({
      kind: 'failed',
      id: null,
      detail: 'Fireblocks answered with status 502',
    });
    expect(Date.now() - started).toBeGreaterThanOrEqual(140);
    expect(fireblocks.created).toEqual([]);
  });

  test('a repeated request finds the first one', async () => {
    const provider = await createFireblocksSigning(options());
    const asked = request();
    const first = await provider.sign(asked);
    expect(await provider.sign(asked)).toEqual(first);
    expect(first.kind).toBe('signed');
    expect(fireblocks.created.length).toBe(1);
  });

  test('a rate limit is waited out', async () => {
    const provider = await createFireblocksSigning(options());
    fireblocks.faults.busy = 4;
    expect(await provider.sign(request())).toMatchObject({ kind: 'signed' });
    expect(fireblocks.created.length).toBe(1);
  });
});

describe('statuses', () => {
  type Status = { status: string; subStatus?: string };
  const after = (...statuses: Status[]) => afterWithin(60_000, ...statuses);
  const afterWithin = async (ms: number, ...statuses: Status[]) => {
    fireblocks.faults.statuses = [{ status: 'SUBMITTED' }, ...statuses];
    const provider = await createFireblocksSigning(options());
    return provider.sign(request({ deadline: Date.now() + ms }));
  };

  test.each([
    ['REJECTED', 'REJECTED_BY_USER'],
    ['CANCELLED', 'CANCELLED_BY_USER'],
    ['FAILED', 'RAW_MSG_LEN_INVALID'],
    ['TIMEOUT', ''],
  ])('%s ends the request with the sub-status', async (status, subStatus) => {
    expect(await after({ status, subStatus })).toMatchObject({
      kind: 'failed',
      id: expect.any(String),
      detail: `${status} ${subStatus}`.trim(),
    });
    expect(fireblocks.canceled).toEqual([]);
  });

  test('a reason that repeats the status is said once', async () => {
    expect(await after({ status: 'BLOCKED', subStatus: 'BLOCKED_BY_POLICY' })).toMatchObject({
      kind: 'blocked_by_policy',
      detail: 'BLOCKED_BY_POLICY',
    });
  });

  test('BLOCKED with any other reason counts as the policy', async () => {
    expect(await after({ status: 'BLOCKED', subStatus: 'SOMETHING_NEW' })).toMatchObject({
      kind: 'blocked_by_policy',
      detail: 'BLOCKED_BY_POLICY: BLOCKED SOMETHING_NEW',
    });
  });

  test('an unknown status is waited out, with a warning', async () => {
    expect(
      await after({ status: 'PONDERING' }, { status: 'PONDERING' }, { status: 'COMPLETED' }),
    ).toMatchObject({
      kind: 'signed',
    });
    expect(warnings.map(({ context }) => context.status)).toEqual(['PONDERING']);
  });

  test('a request without approval is canceled at the deadline', async () => {
    expect(await afterWithin(1_500, { status: 'PENDING_AUTHORIZATION' })).toMatchObject({
      kind: 'failed',
      detail: 'no signature in time; the last status was PENDING_AUTHORIZATION',
    });
    expect(fireblocks.canceled.length).toBe(1);
  });
});

describe('the start', () => {
  test('refuses a vault with another key', async () => {
    const { address } = createLocalSigning(randomBytes(32));
    await expect(createFireblocksSigning(options({ address }))).rejects.toThrow(
      `has the address ${fireblocks.address}, not ${address}`,
    );
  });

  test('refuses an unknown vault and an unreachable server', async () => {
    await expect(createFireblocksSigning(options({ vaultId: '8' }))).rejects.toThrow('status 404');
    await expect(createFireblocksSigning(options({ baseUrl: 'http://127.0.0.1:9' }))).rejects.toThrow(
      'Fireblocks did not answer',
    );
  });

  test.each([
    ['no PEM', 'secret-that-must-not-be-shown'],
    ['no RSA key', createEd25519Pem()],
  ])('refuses a key file with %s, without printing its content', async (_why, privateKeyPem) => {
    const failure = await createFireblocksSigning(options({ privateKeyPem })).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(String(failure)).toMatch(/Fireblocks API key/);
    expect(String((failure as Error).stack)).not.toContain('must-not-be-shown');
    expect(String((failure as Error).stack)).not.toContain('BEGIN PRIVATE KEY');
  });

  test('accepts the base URL with its version, too', async () => {
    const provider = await createFireblocksSigning(options({ baseUrl: `${fireblocks.url}/v1/` }));
    expect(await provider.sign(request())).toMatchObject({ kind: 'signed' });
  });
});

function createEd25519Pem(): string {
  const head = Buffer.from('302e020100300506032b657004220420', 'hex');
  const key = createPrivateKey({ key: Buffer.concat([head, randomBytes(32)]), format: 'der', type: 'pkcs8' });
  return key.export({ format: 'pem', type: 'pkcs8' }).toString();
}

/** The fake server itself is tested: if it accepted everything, the tests above would prove little. */
describe('the fake server refuses', () => {
  const uri = `/v1/transactions/external_tx_id/${randomUUID()}`;
  /** @param claims others than the right ones, by seconds from now */
  const send = (
    claims: Record<string, unknown> | ((now: number) => Record<string, unknown>) = {},
    headers: Record<string, string> = {},
    alg = 'RS256',
  ) => {
    const iat = Math.floor(Date.now() / 1000);
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const body = {
      uri,
      nonce: randomUUID(),
      iat,
      exp: iat + 25,
      sub: fireblocks.apiKey,
      bodyHash: createHash('sha256').update('').digest('hex'),
      ...(typeof claims === 'function' ? claims(iat) : claims),
    };
    const signed = `${part({ alg, typ: 'JWT' })}.${part(body)}`;
    const signature = sign('sha256', Buffer.from(signed), fireblocks.privateKeyPem).toString('base64url');
    return fetch(fireblocks.url + uri, {
      headers: { 'x-api-key': fireblocks.apiKey, authorization: `Bearer ${signed}.${signature}`, ...headers },
    });
  };
  test('no correct request', async () => {
    expect((await send()).status).toBe(404);
  });

  test.each([
    ['another path', () => ({ uri: '/v1/transactions' })],
    ['another user', () => ({ sub: 'somebody' })],
    ['another body', () => ({ bodyHash: createHash('sha256').update('x').digest('hex') })],
    ['a token that is too old', (now: number) => ({ iat: now - 100, exp: now - 75 })],
    ['a token from the future', (now: number) => ({ iat: now + 100, exp: now + 125 })],
    ['a token that is valid too long', (now: number) => ({ exp: now + 55 })],
    ['a token that has expired', (now: number) => ({ exp: now - 1 })],
  ])('%s', async (_why, claims) => {
    expect((await send(claims)).status).toBe(401);
  });

  test('a used nonce, a foreign signature, another algorithm, a missing key or token', async () => {
    const nonce = randomUUID();
    expect((await send({ nonce })).status).toBe(404);
    expect((await send({ nonce })).status).toBe(401);
    expect((await send({}, {}, 'none')).status).toBe(401);
    expect((await send({}, { 'x-api-key': 'somebody' })).status).toBe(401);
    expect((await send({}, { authorization: '' })).status).toBe(401);
    const other = await startFireblocks();
    await expect(createFireblocksSigning(options({ privateKeyPem: other.privateKeyPem }))).rejects.toThrow(
      'status 401 (code -1): bad signature',
    );
  });
});

test('signatures of a local key verify against its address', async () => {
  const secret = randomBytes(32);
  const provider = createLocalSigning(secret);
  const { message, wire } = transaction(provider.address);
  const answer = await provider.sign({ message, wire, externalId: 'a-1', note: '', deadline: 0 });
  if (answer.kind !== 'signed') throw new Error(answer.kind);
  expect(answer.id).toBe('a-1');
  expect(verifyEd25519(parseBase58(provider.address)!, message, answer.signature)).toBe(true);
  expect(createLocalSigning(secret).address).toBe(provider.address);
  expect(() => createLocalSigning(randomBytes(31))).toThrow('32 bytes');
  expect(toBase58(parseBase58(provider.address)!)).toBe(provider.address);
});
