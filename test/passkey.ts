/**
 * An authenticator in software, and a person's browser as the service sees it: it creates passkeys (ES256, no
 * attestation), signs in with them, keeps the session cookie and sends its origin.
 */
import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { call, type RawAnswer, type TestService } from './harness.ts';

const sha256 = (data: Uint8Array | string): Buffer => createHash('sha256').update(data).digest();
const text = (data: Uint8Array | string): string => Buffer.from(data).toString('base64url');

/** The part of CBOR that attestations need: maps of short texts, integers and bytes. */
function cbor(value: unknown): Buffer {
  const head = (major: number, n: number): Buffer =>
    n < 24
      ? Buffer.from([(major << 5) | n])
      : n < 256
        ? Buffer.from([(major << 5) | 24, n])
        : Buffer.from([(major << 5) | 25, n >> 8, n & 255]);
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  const entries = [...(value as Map<unknown, unknown>)];
  return Buffer.concat([head(5, entries.length), ...entries.flatMap(([k, v]) => [cbor(k), cbor(v)])]);
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

export interface Passkey {
  readonly id: Buffer;
  readonly key: KeyObject;
  readonly cose: Buffer;
}

function newPasskey(): Passkey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const cose = cbor(
    new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x as string, 'base64url')],
      [-3, Buffer.from(y as string, 'base64url')],
    ]),
  );
  return { id: randomBytes(32), key: privateKey, cose };
}

export class Visitor {
  readonly #service: Pick<TestService, 'url'>;
  readonly origin: string;
  passkey: Passkey = newPasskey();
  cookie: string | null = null;
  counter = 0;
  /** The last Set-Cookie header. */
  lastSetCookie = '';

  /** @param origin where a service of another process is published */
  constructor(service: TestService);
  constructor(service: Pick<TestService, 'url'>, origin: string);
  constructor(service: Pick<TestService, 'url'> & Partial<TestService>, origin?: string) {
    this.#service = service;
    this.origin = origin ?? new URL((service as TestService).needs.publicUrl).origin;
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<RawAnswer> {
    const answer = await call(this.#service, method, path, {
      ...(body === undefined ? {} : { body }),
      headers: {
        origin: this.origin,
        ...(this.cookie === null ? {} : { cookie: this.cookie }),
        ...headers,
      },
    });
    const set = answer.headers.get('set-cookie');
    if (set !== null) {
      this.lastSetCookie = set;
      const pair = set.split(';')[0] ?? '';
      this.cookie = pair.endsWith('=') ? null : pair;
    }
    return answer;
  }

  #authData(flags: number, rest: Uint8Array = Buffer.alloc(0)): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(this.counter);
    return Buffer.concat([sha256(new URL(this.origin).hostname), Buffer.from([flags]), count, rest]);
  }

  #clientData(type: string, challenge: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.origin, crossOrigin: false }));
  }

  #answer(response: Record<string, string>) {
    const id = text(this.passkey.id);
    return { response: { id, rawId: id, type: 'public-key', response } };
  }

  registration(challenge: string, flags = USER_PRESENT | USER_VERIFIED) {
    const { id, cose } = this.passkey;
    const size = Buffer.from([id.length >> 8, id.length & 255]);
    const authData = this.#authData(
      flags | HAS_CREDENTIAL,
      Buffer.concat([Buffer.alloc(16), size, id, cose]),
    );
    const attestation = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]);
    return this.#answer({
      clientDataJSON: text(this.#clientData('webauthn.create', challenge)),
      attestationObject: text(cbor(attestation)),
    });
  }

  signature(challenge: string, flags = USER_PRESENT | USER_VERIFIED) {
    const clientData = this.#clientData('webauthn.get', challenge);
    const authData = this.#authData(flags);
    const signed = createSign('sha256').update(Buffer.concat([authData, sha256(clientData)]));
    return this.#answer({
      clientDataJSON: text(clientData),
      authenticatorData: text(authData),
      signature: text(signed.sign(this.passkey.key)),
    });
  }

  async register(name: string): Promise<RawAnswer> {
    const { body } = await this.send('POST', '/owner/passkey/register-options', { name });
    return this.send('POST', '/owner/passkey/register', this.registration(body.challenge));
  }

  /** The word of the present passkey to the challenge of `path`. */
  async word(path: string, body?: unknown) {
    return this.signature((await this.send('POST', path, body)).body.challenge);
  }

  /** Adds a passkey with the word of the present one, which stays the present one. @returns the new one */
  async addPasskey(name?: string): Promise<Passkey> {
    const word = await this.word('/owner/passkeys/passkey-options');
    const { body } = await this.send('POST', '/owner/passkeys/register-options', word);
    const present = this.passkey;
    const added = newPasskey();
    this.passkey = added;
    const answer = this.registration(body.challenge);
    this.passkey = present;
    const registered = await this.send('POST', '/owner/passkeys/register', { ...answer, name });
    if (registered.status !== 200)
      throw new Error(`the passkey was not added: ${registered.status} ${registered.body.code}`);
    return added;
  }

  async newRecoveryCode(): Promise<string> {
    const word = await this.word('/owner/recovery-code/passkey-options');
    return (await this.send('POST', '/owner/recovery-code', word)).body.recoveryCode;
  }

  /** Uses the code on another device: its new passkey is the present one from then on. */
  async recover(code: string): Promise<RawAnswer> {
    this.passkey = newPasskey();
    const { body } = await this.send('POST', '/owner/recovery/register-options', { code });
    return this.send('POST', '/owner/recovery', { code, ...this.registration(String(body.challenge)) });
  }

  async signIn(): Promise<RawAnswer> {
    const { body } = await this.send('POST', '/owner/passkey/sign-in-options');
    return this.send('POST', '/owner/passkey/sign-in', this.signature(body.challenge));
  }
}
