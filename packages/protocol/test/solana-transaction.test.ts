import { createPublicKey, verify } from 'node:crypto';
import {
  type AccountLookupMeta,
  type Address,
  decompileTransactionMessage,
  getBase64Encoder,
  getCompiledTransactionMessageCodec,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  isSigner,
  isWritable,
  MalformedTransaction,
  parseBase58,
  parseBase64Strict,
  parseTransaction,
  readTransaction,
  signatureFaults,
  type TransactionFault,
  toBase58,
  toBase64,
  transactionId,
  type VerifyEd25519,
  withSignature,
} from '../src/index.ts';
import { AccountRole, meta, ours, signedBase64, signerOf, someAddress } from './solana-kit.ts';

let signers: KeyPairSigner[];
beforeAll(async () => {
  signers = await Promise.all([1, 2, 3].map(signerOf));
});

const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const native: VerifyEd25519 = (publicKey, message, signature) =>
  verify(
    null,
    message,
    createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' }),
    signature,
  );

const faultOf = (read: () => unknown): TransactionFault | 'none' => {
  try {
    read();
    return 'none';
  } catch (error) {
    if (error instanceof MalformedTransaction) return error.fault;
    throw error;
  }
};

const lookup = (table: number, index: number, writable: boolean): AccountLookupMeta => ({
  address: someAddress(100 + table * 20 + index),
  addressIndex: index,
  lookupTableAddress: someAddress(90 + table),
  role: writable ? AccountRole.WRITABLE : AccountRole.READONLY,
});

const instruction = (
  program: number,
  data: Uint8Array,
  accounts: Instruction['accounts'] = [],
): Instruction => ({
  programAddress: someAddress(program),
  accounts: accounts ?? [],
  data,
});

interface Shape {
  readonly version: 'legacy' | 0;
  readonly signerCount: number;
  readonly instructions: readonly {
    readonly program: number;
    readonly data: Uint8Array;
    readonly accounts: readonly { readonly key: number; readonly role: number; readonly table: number }[];
  }[];
}

/** Keys below 3 are signers; the others have no known key. A table above 1 means no table. */
const shape: fc.Arbitrary<Shape> = fc.record({
  version: fc.constantFrom('legacy' as const, 0 as const),
  signerCount: fc.integer({ min: 1, max: 3 }),
  instructions: fc.array(
    fc.record({
      program: fc.integer({ min: 60, max: 64 }),
      data: fc.uint8Array({ maxLength: 40 }),
      accounts: fc.array(
        fc.record({
          key: fc.integer({ min: 0, max: 9 }),
          role: fc.integer({ min: 0, max: 1 }),
          table: fc.integer({ min: 0, max: 5 }),
        }),
        { maxLength: 5 },
      ),
    }),
    { maxLength: 4 },
  ),
});

const planOf = ({ version, signerCount, instructions }: Shape) => {
  const signing = signers.slice(0, signerCount);
  return {
    version,
    signers: signing,
    instructions: [
      ...instructions.map(({ program, data, accounts }) =>
        instruction(
          program,
          data,
          accounts.map(({ key, role, table }) => {
            const signer = signing[key];
            if (signer !== undefined) return meta(signer.address, role + AccountRole.READONLY_SIGNER);
            if (version === 0 && table < 2) return lookup(table, key, role === 1);
            return meta(someAddress(20 + key), role);
          }),
        ),
      ),
      // So that each of them really signs.
      instruction(
        65,
        new Uint8Array(),
        signing.map(({ address }) => meta(address, AccountRole.READONLY_SIGNER)),
      ),
    ],
  };
};

describe('what kit builds is read the same', () => {
  test('random messages', async () => {
    await fc.assert(
      fc.asyncProperty(shape, async (random) => {
        const base64 = await signedBase64(planOf(random));
        const wire = new Uint8Array(getBase64Encoder().encode(base64));
        const examiner = getTransactionDecoder().decode(wire);
        const compiled = getCompiledTransactionMessageDecoder().decode(examiner.messageBytes);
        if (compiled.version === 1) throw new Error('kit made a version 1');
        const tx = parseTransaction(base64);
        expect(tx.version).toBe(compiled.version);
        expect(tx.message).toEqual(new Uint8Array(examiner.messageBytes));
        expect(tx.accountKeys).toEqual(compiled.staticAccounts);
        expect(tx.recentBlockhash).toBe(compiled.lifetimeToken);
        expect(tx.requiredSignatures).toBe(compiled.header.numSignerAccounts);
        expect(Object.keys(examiner.signatures)).toEqual(tx.accountKeys.slice(0, tx.requiredSignatures));
        expect(Object.values(examiner.signatures)).toEqual(tx.signatures);
        expect(tx.instructions).toEqual(
          compiled.instructions.map((each) => ({
            program: compiled.staticAccounts[each.programAddressIndex],
            accounts: each.accountIndices ?? [],
            data: new Uint8Array(each.data ?? []),
          })),
        );
        const tables = 'addressTableLookups' in compiled ? (compiled.addressTableLookups ?? []) : [];
        expect(tx.lookups).toEqual(
          tables.map((each) => ({
            table: each.lookupTableAddress,
            writable: each.writableIndexes,
            readonly: each.readonlyIndexes,
          })),
        );
        expect(signatureFaults(tx)).toEqual([]);
        expect(toBase64(wire)).toBe(base64);
      }),
      { numRuns: 150 },
    );
  });

  test('roles of the accounts', async () => {
    await fc.assert(
      fc.asyncProperty(shape, async (random) => {
        const tx = parseTransaction(await signedBase64(planOf({ ...random, version: 'legacy' })));
        const compiled = getCompiledTransactionMessageDecoder().decode(tx.message);
        const metas = decompileTransactionMessage(compiled as never).instructions.flatMap(
          (each) => each.accounts ?? [],
        );
        for (const { address, role } of metas) {
          const index = tx.accountKeys.indexOf(ours(address as Address));
          expect(isSigner(tx, index)).toBe(role >= AccountRole.READONLY_SIGNER);
          expect(isWritable(tx, index)).toBe(role % 2 === 1);
        }
        expect(isWritable(tx, 0) && isSigner(tx, 0)).toBe(true);
        for (const outside of [-1, tx.accountKeys.length])
          expect(isWritable(tx, outside) || isSigner(tx, outside)).toBe(false);
      }),
      { numRuns: 50 },
    );
  });
});

describe('one bit', () => {
  test.each(['legacy', 0] as const)('of a signed %s transaction changed: never accepted', async (version) => {
    const accounts = [meta(someAddress(30), AccountRole.WRITABLE)];
    const looked = version === 0 ? [lookup(0, 3, true), lookup(1, 4, false)] : [];
    const wire = parseBase64Strict(
      await signedBase64({
        version,
        signers: signers.slice(0, 2),
        instructions: [
          instruction(60, Uint8Array.of(1, 2, 3), [
            ...accounts,
            ...looked,
            meta(signers[1]!.address, AccountRole.READONLY_SIGNER),
          ]),
        ],
      }),
    )!;
    expect(signatureFaults(readTransaction(wire))).toEqual([]);
    const counts = { malformed: 0, faulty: 0 };
    for (let bit = 0; bit < wire.length * 8; bit++) {
      const flipped = wire.slice();
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      let tx: ReturnType<typeof readTransaction>;
      try {
        tx = readTransaction(flipped);
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedTransaction);
        counts.malformed += 1;
        continue;
      }
      expect(signatureFaults(tx, native).length, `bit ${bit}`).toBeGreaterThan(0);
      // Plain JavaScript takes a thousand times as long; it must agree.
      if (bit % 37 === 0) expect(signatureFaults(tx)).toEqual(signatureFaults(tx, native));
      counts.faulty += 1;
    }
    expect(counts.malformed).toBeGreaterThan(20);
    expect(counts.faulty).toBeGreaterThan(1000);
  });
});

describe('malformed', () => {
  let wire: Uint8Array;
  /** One signer, one other key (the program), one instruction without accounts and with one byte of data. */
  const SIGNATURES_END = 65;
  beforeAll(async () => {
    const plan = { signers: signers.slice(0, 1), instructions: [instruction(60, Uint8Array.of(5))] };
    wire = parseBase64Strict(await signedBase64({ ...plan, version: 'legacy' }))!;
    expect(faultOf(() => readTransaction(wire))).toBe('none');
  });
  const withByte = (offset: number, value: number) => wire.with(SIGNATURES_END + offset, value);
  const spliced = (offset: number, remove: number, ...insert: number[]) => {
    const bytes = [...wire];
    bytes.splice(SIGNATURES_END + offset, remove, ...insert);
    return Uint8Array.from(bytes);
  };
  // Offsets in the message: header 0–2, key count 3, keys 4–67, blockhash 68–99, instruction count 100,
  // program 101, account count 102, data length 103, data 104.
  const read = (bytes: Uint8Array) => faultOf(() => readTransaction(bytes));

  test('cut at every byte', () => {
    for (let length = 0; length < wire.length; length++)
      expect(read(wire.slice(0, length)), String(length)).toBe('truncated');
    expect(read(Uint8Array.of(...wire, 0))).toBe('trailing_bytes');
  });

  test('lengths that are not in their shortest form, or lie', () => {
    expect(read(spliced(103, 1, 0x81, 0x00))).toBe('bad_length_prefix');
    expect(read(spliced(103, 1, 0x81, 0x80, 0x00))).toBe('bad_length_prefix');
    expect(read(spliced(103, 1, 0x80, 0x80, 0x04))).toBe('bad_length_prefix');
    expect(read(spliced(103, 1, 0xff, 0xff, 0xff))).toBe('bad_length_prefix');
    expect(read(spliced(103, 1, 0xff, 0xff, 0x03))).toBe('truncated');
    expect(read(spliced(3, 1, 0xff, 0xff, 0x03))).toBe('truncated');
  });

  test('headers that contradict the keys', () => {
    expect(read(withByte(0, 0))).toBe('bad_header');
    expect(read(withByte(0, 2))).toBe('bad_header');
    expect(read(withByte(0, 3))).toBe('bad_header');
    expect(read(withByte(1, 1))).toBe('bad_header');
    expect(read(withByte(2, 2))).toBe('bad_header');
    // The program's key twice instead of signer and program.
    expect(read(Uint8Array.of(...wire.slice(0, 69), ...wire.slice(101, 133), ...wire.slice(101)))).toBe(
      'bad_header',
    );
  });

  test('indices that point nowhere', () => {
    expect(read(withByte(101, 0))).toBe('bad_index');
    expect(read(withByte(101, 2))).toBe('bad_index');
    expect(read(spliced(102, 1, 1, 2))).toBe('bad_index');
    expect(read(spliced(102, 1, 1, 1))).toBe('none');
  });

  test('a lookup table without indexes', () => {
    const message = wire.slice(SIGNATURES_END);
    const v0 = (...tail: number[]) =>
      Uint8Array.of(...wire.slice(0, SIGNATURES_END), 0x80, ...message, ...tail);
    expect(read(v0(0))).toBe('none');
    expect(read(v0(1, ...new Uint8Array(32).fill(5), 0, 0))).toBe('bad_index');
    expect(read(v0(1, ...new Uint8Array(32).fill(5), 1, 7, 0))).toBe('none');
  });

  test('versions', () => {
    for (const first of [0x81, 0x82, 0xff]) expect(read(withByte(0, first))).toBe('version_not_supported');
    // Version 1 begins with its message.
    expect(read(Uint8Array.of(0x81, 1, 0, 1))).toBe('version_not_supported');
    expect(read(new Uint8Array(4000).fill(0x81, 0, 1))).toBe('version_not_supported');
    expect(faultOf(() => parseTransaction(toBase64(new Uint8Array(4000).fill(0x81, 0, 1))))).toBe(
      'version_not_supported',
    );
  });

  test('size and spelling', () => {
    const base64 = toBase64(wire);
    expect(faultOf(() => parseTransaction(base64))).toBe('none');
    expect(read(new Uint8Array(1233).fill(1))).toBe('too_long');
    expect(faultOf(() => parseTransaction('A'.repeat(1_000_000)))).toBe('too_long');
    const others = [
      '',
      ' ',
      base64.replace(/=+$/, ''),
      `${base64}\n`,
      ` ${base64}`,
      `${base64}====`,
      base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
      'ü',
    ].filter((text) => text !== base64);
    for (const text of others)
      expect(['not_base64', 'truncated']).toContain(faultOf(() => parseTransaction(text)));
    expect(faultOf(() => parseTransaction('AB=='))).toBe('not_base64');
  });

  test('any bytes at all: a fault or a transaction, never another error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (bytes, near) => {
        read(near ? Uint8Array.of(...wire.slice(0, SIGNATURES_END), ...bytes) : bytes);
      }),
      { numRuns: 2000 },
    );
  });

  test('one or two bytes changed: what is still read, Kit writes again as the same bytes', () => {
    const message = getCompiledTransactionMessageCodec();
    let accepted = 0;
    const change = fc.tuple(fc.nat(wire.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 2 }), fc.nat(3), (changes, extra) => {
        const bytes = Uint8Array.of(...wire, ...new Uint8Array(extra));
        for (const [offset, value] of changes) bytes[offset] = value;
        if (read(bytes) !== 'none') return;
        accepted += 1;
        const tx = readTransaction(bytes);
        expect(new Uint8Array(message.encode(message.decode(tx.message)))).toEqual(tx.message);
        expect(
          Uint8Array.of(tx.signatures.length, ...tx.signatures.flatMap((each) => [...each]), ...tx.message),
        ).toEqual(bytes);
      }),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(500);
  });
});

describe('signatures', () => {
  test('missing, invalid, and put in place', async () => {
    const plan = {
      version: 0 as const,
      signers,
      instructions: [
        instruction(
          60,
          new Uint8Array(),
          signers.map(({ address }) => meta(address, AccountRole.WRITABLE_SIGNER)),
        ),
      ],
    };
    const wire = parseBase64Strict(await signedBase64(plan))!;
    const tx = readTransaction(wire);
    expect(transactionId(tx)).toBe(toBase58(wire.slice(1, 65)));
    const [, second, third] = tx.accountKeys;
    const damaged = wire.slice();
    damaged.fill(0, 65, 129);
    damaged[129]! ^= 1;
    expect(signatureFaults(readTransaction(damaged))).toEqual([
      { kind: 'missing', signer: second },
      { kind: 'invalid', signer: third },
    ]);
    const mended = withSignature(damaged, third!, tx.signatures[2]!);
    expect(withSignature(mended, second!, tx.signatures[1]!)).toEqual(wire);
    expect(() => withSignature(wire, ours(someAddress(60)), tx.signatures[0]!)).toThrow(RangeError);
    expect(() => withSignature(wire, second!, new Uint8Array(63))).toThrow(RangeError);
  });

  test('the verifier that the caller passes decides', async () => {
    const base64 = await signedBase64({ version: 0, signers: signers.slice(0, 1), instructions: [] });
    const tx = parseTransaction(base64);
    const asked: Uint8Array[][] = [];
    expect(signatureFaults(tx, (...parts) => asked.push(parts) === 0)).toEqual([
      { kind: 'invalid', signer: signers[0]!.address },
    ]);
    expect(asked).toEqual([[parseBase58(signers[0]!.address), tx.message, tx.signatures[0]]]);
  });
});
