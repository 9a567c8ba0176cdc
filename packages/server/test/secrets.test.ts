import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  prepareMasterKeyFiles,
  readFormerMasterKeyFile,
  readMasterKeyFile,
  retireMasterKeyFile,
} from '@bellwether/durable/embedded';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSecrets } from '../src/platform/system/secrets.ts';

const NOW = 1_700_000_000_000;
const secrets = createSecrets(Buffer.alloc(32, 1), () => NOW);
const others = createSecrets(Buffer.alloc(32, 2), () => NOW);

describe('API keys', () => {
  const keys = Array.from({ length: 50 }, () => secrets.newApiKey());

  test('64 characters: bw_, 55 random, 6 of checksum', () => {
    for (const key of keys) {
      expect(key).toMatch(/^bw_[0-9A-Za-z]{61}$/);
      expect(secrets.isWellFormed(key)).toBe(true);
    }
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('every changed, swapped, added or missing character is detected', () => {
    const [key = ''] = keys;
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === 'A' ? 'B' : 'A';
      expect(secrets.isWellFormed(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
      expect(secrets.isWellFormed(key.slice(0, at) + key.slice(at + 1))).toBe(false);
    }
    expect(secrets.isWellFormed(`${key}A`)).toBe(false);
    expect(secrets.isWellFormed('')).toBe(false);
  });

  test('the database stores a hash under the master key', () => {
    const [key = ''] = keys;
    expect(secrets.hash(key)).toEqual(secrets.hash(key));
    expect(secrets.hash(key)).toHaveLength(32);
    expect(secrets.hash(key)).not.toEqual(others.hash(key));
  });
});

describe('sealed texts', () => {
  const sealed = secrets.seal('passphrase', 'credentials/1/0xaa');

  test('open only for their own row', () => {
    expect(secrets.open(sealed, 'credentials/1/0xaa')).toBe('passphrase');
    expect(() => secrets.open(sealed, 'credentials/2/0xaa')).toThrow();
  });

  test('do not open under another master key, nor with a bit changed', () => {
    expect(() => others.open(sealed, 'credentials/1/0xaa')).toThrow();
    for (let at = 0; at < sealed.bytes.length; at++) {
      const bytes = Uint8Array.from(sealed.bytes);
      bytes[at]! ^= 1;
      expect(() => secrets.open({ ...sealed, bytes }, 'credentials/1/0xaa')).toThrow();
    }
  });

  test('differ each time', () => {
    expect(secrets.seal('passphrase', 'row').bytes).not.toEqual(secrets.seal('passphrase', 'row').bytes);
  });
});

test('claim codes leave out letters that are easily misread', () => {
  for (let i = 0; i < 50; i++)
    expect(secrets.newClaimCode()).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
});

test('ids are UUIDs of version 7, which begin with their time', () => {
  const id = secrets.newId();
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(NOW);
});

test('the master key file is created once, readable by its owner only, and refused when invalid', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bw-key-'));
  try {
    const key = readMasterKeyFile(folder);
    expect(key).toHaveLength(32);
    expect(readMasterKeyFile(folder)).toEqual(key);
    expect(statSync(join(folder, 'master.key')).mode & 0o777).toBe(0o600);
    writeFileSync(join(folder, 'master.key'), 'half a k');
    expect(() => readMasterKeyFile(folder)).toThrow(/64 hex digits/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a rotation keeps the key of before, first to open with, then for the backups', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bw-key-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const before = readMasterKeyFile(folder);
  expect(readFormerMasterKeyFile(folder)).toBeNull();
  expect(prepareMasterKeyFiles(folder)).toBe(true);
  const after = readMasterKeyFile(folder);
  expect(after).not.toEqual(before);
  expect(readFormerMasterKeyFile(folder)).toEqual(before);
  // Begun twice, it would lose the key that everything is sealed with.
  expect(prepareMasterKeyFiles(folder)).toBe(false);
  expect([readMasterKeyFile(folder), readFormerMasterKeyFile(folder)]).toEqual([after, before]);
  const kept = retireMasterKeyFile(folder, 'name');
  expect(readFormerMasterKeyFile(folder)).toBeNull();
  expect(Buffer.from(readFileSync(kept, 'utf8').trim(), 'hex')).toEqual(before);
  expect(statSync(kept).mode & 0o777).toBe(0o600);
});
