import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bytesToHex,
  hexToBytes,
  parseBase58,
  parseEd25519Signature,
  parseSolanaAddress,
  personalMessageDigest,
  type SolanaAddress,
  toBase58,
  toBase64Url,
  utf8,
  verifySolanaMessage,
} from '../src/index.ts';

describe('base58', () => {
  test.each([
    ['', ''],
    ['00', '1'],
    ['0000', '11'],
    ['61', '2g'],
    ['626262', 'a3gV'],
    ['0000287fb4cd', '11233QC4'],
    ['73696d706c792061206c6f6e6720737472696e67', '2cFupjhnEsSn59qHXstmK2ffpLv2'],
    ['00'.repeat(32), '11111111111111111111111111111111'],
    // The system's clock account: a well-known key.
    [
      '06a7d51718c774c928566398691d5eb68b5eb8a39b4b6d5c73555b2100000000',
      'SysvarC1ock11111111111111111111111111111111',
    ],
  ])('%s is %s', (hex, text) => {
    expect(toBase58(hexToBytes(hex))).toBe(text);
    expect(bytesToHex(parseBase58(text)!)).toBe(`0x${hex}`);
  });

  test.each(['0', 'O', 'I', 'l', ' 2g', '2g\n', '2g+', 'x'.repeat(129)])('%j is not base58', (text) => {
    expect(parseBase58(text)).toBeNull();
  });

  test('encoded bytes decode to the same bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
        expect(parseBase58(toBase58(bytes))).toEqual(bytes);
      }),
    );
  });
});

describe('Solana messages', () => {
  // RFC 8032, 7.1, test 2: the one-byte message 0x72.
  const SECRET = hexToBytes('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb');
  const PUBLIC = hexToBytes('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c');
  const SIGNATURE = hexToBytes(
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  );
  const address = toBase58(PUBLIC) as SolanaAddress;

  test('the vector of the RFC verifies; anything else does not', () => {
    expect(bytesToHex(ed25519.getPublicKey(SECRET))).toBe(bytesToHex(PUBLIC));
    expect(verifySolanaMessage(address, 'r', SIGNATURE)).toBe(true);
    expect(verifySolanaMessage(address, 'R', SIGNATURE)).toBe(false);
    expect(verifySolanaMessage(address, 'r', SIGNATURE.with(3, 1))).toBe(false);
    expect(verifySolanaMessage(toBase58(PUBLIC.with(0, 1)) as SolanaAddress, 'r', SIGNATURE)).toBe(false);
    expect(verifySolanaMessage(address, 'r', SIGNATURE.subarray(1))).toBe(false);
    expect(verifySolanaMessage('11111111111111111111111111111111' as SolanaAddress, 'r', SIGNATURE)).toBe(
      false,
    );
  });

  test('a signature may be spelled in three ways', () => {
    for (const text of [
      bytesToHex(SIGNATURE),
      toBase58(SIGNATURE),
      toBase64Url(SIGNATURE),
      btoa(String.fromCharCode(...SIGNATURE)),
    ])
      expect(parseEd25519Signature(text)).toEqual(SIGNATURE);
    for (const text of ['', '0x12', toBase58(PUBLIC), `${bytesToHex(SIGNATURE)}00`, 'ü'])
      expect(parseEd25519Signature(text)).toBeNull();
  });

  test('an address has 32 bytes', () => {
    expect(parseSolanaAddress(address)).toBe(address);
    expect(parseSolanaAddress(toBase58(PUBLIC.subarray(1)))).toBeNull();
    expect(parseSolanaAddress(toBase58(SIGNATURE))).toBeNull();
    expect(parseSolanaAddress('not base58!')).toBeNull();
  });
});

test('personal messages are hashed with their length in bytes', () => {
  // As every wallet does it: ethers and viem document the first of these.
  expect(bytesToHex(personalMessageDigest('hello world'))).toBe(
    '0xd9eba16ed0ecae432b71fe008c98cc872bb4cc214d3220a36f365326cf807d68',
  );
  expect(personalMessageDigest('é')).not.toEqual(personalMessageDigest('e'));
  expect(utf8('é').length).toBe(2);
});
