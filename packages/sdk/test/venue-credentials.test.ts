import { inspect } from 'node:util';
import { asAddress, clobAuthDigest, nobleRecover, recoverAddress } from '@bellwether/protocol';
import { createVenueCredentials, credentialRequest, Signer, VenueCredentialsError } from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';

const signer = Signer.generate();
const given = { apiKey: 'c0ffee00-0000', secret: 'c2VjcmV0', passphrase: 'pass-phrase' };

function venue(answers: Record<string, readonly [number, unknown]>) {
  const calls: string[] = [];
  const send = async (url: string, init: RequestInit): Promise<Response> => {
    const { pathname } = new URL(url);
    calls.push(`${init.method} ${pathname}`);
    const headers = new Headers(init.headers);
    const address = headers.get('POLY_ADDRESS');
    if (address !== null) {
      const digest = clobAuthDigest({
        address: asAddress(address),
        timestamp: headers.get('POLY_TIMESTAMP')!,
        nonce: BigInt(headers.get('POLY_NONCE')!),
        chainId: 137,
      });
      const recovered = recoverAddress(nobleRecover, digest, headers.get('POLY_SIGNATURE')!);
      expect(recovered).toEqual({ ok: true, address: signer.address });
    }
    const [status, body] = answers[`${init.method} ${pathname}`] ?? [404, { error: 'not found' }];
    return new Response(JSON.stringify(body), { status });
  };
  return { calls, options: { clobUrl: 'http://venue.test/paper/clob/', signer, fetch: send } };
}

const expected = { apiKey: given.apiKey, apiSecret: given.secret, apiPassphrase: given.passphrase };

describe('createVenueCredentials', () => {
  test('derives credentials that exist', async () => {
    const { calls, options } = venue({
      'GET /paper/clob/time': [200, 1_700_000_000],
      'GET /paper/clob/auth/derive-api-key': [200, given],
    });
    expect(await createVenueCredentials({ ...options, nonce: 3 })).toEqual(expected);
    expect(calls).toEqual(['GET /paper/clob/time', 'GET /paper/clob/auth/derive-api-key']);
  });

  test('creates credentials that do not exist', async () => {
    const { calls, options } = venue({
      'GET /paper/clob/auth/derive-api-key': [400, { error: 'Could not derive api key!' }],
      'POST /paper/clob/auth/api-key': [200, given],
    });
    expect(await createVenueCredentials(options)).toEqual(expected);
    expect(calls.at(-1)).toBe('POST /paper/clob/auth/api-key');
  });

  test('reports the reason of a refusal by the venue', async () => {
    const { options } = venue({
      'GET /paper/clob/auth/derive-api-key': [401, { error: 'Invalid L1 Request headers' }],
      'POST /paper/clob/auth/api-key': [401, { error: 'Invalid L1 Request headers' }],
    });
    const failed = await createVenueCredentials(options).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(VenueCredentialsError);
    expect(failed).toMatchObject({
      status: 401,
      message: 'the venue gave no credentials: Invalid L1 Request headers',
    });
  });

  test('prints no secret, but includes the secrets in its JSON', async () => {
    const { options } = venue({ 'GET /paper/clob/auth/derive-api-key': [200, given] });
    const credentials = await createVenueCredentials(options);
    for (const secret of [given.apiKey, given.secret, given.passphrase])
      expect(inspect({ credentials }, { depth: 9 })).not.toContain(secret);
    expect(JSON.parse(JSON.stringify(credentials))).toEqual(expected);
    expect(credentialRequest(signer, credentials, 1)).toEqual({
      ...expected,
      walletAddress: signer.wallet(1),
      signatureType: 1,
      polyAddress: signer.address,
    });
  });

  test('reports an unreachable venue', async () => {
    const down = async () => {
      throw new Error('with POLY_SIGNATURE inside');
    };
    const failed = await createVenueCredentials({ ...venue({}).options, fetch: down }).catch(
      (e: unknown) => e,
    );
    expect(failed).toBeInstanceOf(VenueCredentialsError);
    expect(inspect(failed, { depth: 9 })).not.toContain('POLY_SIGNATURE');
  });
});
