/** The service's secrets: from the master key, or two while it is rotated, everything else follows. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readFormerMasterKeyFile, readMasterKeyFile } from '@bellwether/durable/embedded';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Clock } from '../platform/clock.ts';
import {
  addCheck,
  type KeyCheck,
  keyChecks,
  nameCheck,
  opensCheck,
  rootSecret,
} from '../platform/database/belonging.ts';
import type { Sql } from '../platform/database/connection.ts';
import type { Secrets } from '../platform/secrets.ts';
import { createSecrets, deriveSecret, masterKeyName } from '../platform/system/secrets.ts';
import type { Stops } from './stopping.ts';

/** The newest first. */
type MasterKeys = readonly [Uint8Array, ...Uint8Array[]];

interface ServiceSecrets {
  readonly secrets: Secrets;
  /** The same for the life of the database. */
  readonly derive: (purpose: string) => Uint8Array;
  /** Secrets of the calls between replicas: they follow a rotation, so that the former key opens no door. */
  readonly replicaSecrets: () => readonly [KeyObject, ...KeyObject[]];
}

interface Parts {
  readonly config: Config;
  readonly masterKeys: MasterKeys;
  readonly sql: Sql;
  readonly clock: Clock;
  readonly stops: Stops;
  readonly log: Logger;
}

const LOOK_EVERY_MS = 1_000;
const STOP_MS = 250;
const fromHex = (hex: string): Buffer => Buffer.from(hex, 'hex');

/** @throws Error with a sentence when a file does not hold a key */
export function readMasterKeys({ masterKey, formerMasterKey, dataDir }: Config): MasterKeys {
  if (masterKey === null) mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const newest = masterKey === null ? readMasterKeyFile(dataDir) : fromHex(masterKey);
  const fromFile = masterKey === null ? readFormerMasterKeyFile(dataDir) : null;
  const former = formerMasterKey === null ? fromFile : fromHex(formerMasterKey);
  return former === null || former.equals(newest) ? [newest] : [newest, former];
}

/** @returns the key that a check was sealed with, of those that are known */
function keyOf(check: KeyCheck, keys: MasterKeys): Uint8Array | null {
  return keys.find((key) => opensCheck(createSecrets(key, Date.now), check)) ?? null;
}

const called = (name: string | null): string => (name === null ? 'another key' : `key ${name}`);

function expectKnown(checks: readonly KeyCheck[], keys: MasterKeys): void {
  const unknown = checks.filter((check) => keyOf(check, keys) === null);
  const [first] = unknown;
  if (first === undefined) return;
  const given = keys.map((key) => `key ${masterKeyName(key)}`).join(' and ');
  if (first === checks[0])
    throw new Error(
      `MASTER_KEY is not the one that this database was written with. Start with the right one: it needs ${called(first.name)}, and was given ${given}.`,
    );
  throw new Error(
    `The master key is being rotated, and some rows are still sealed with ${called(first.name)}. Set MASTER_KEY_OLD to it, or end the rotation first: npm run rotate-key.`,
  );
}

/** @throws Error with a sentence when the database was written with another key */
export async function openSecrets(parts: Parts): Promise<ServiceSecrets> {
  const { masterKeys, sql, clock, stops, log } = parts;
  const [newest, former = null] = masterKeys;
  await addFirstCheck(sql, newest);
  const checks = await keyChecks(sql);
  expectKnown(checks, masterKeys);
  const [active] = checks as [KeyCheck, ...KeyCheck[]];
  let sealing = keyOf(active, masterKeys) as Uint8Array;
  if (active.name === null) await nameCheck(sql, active, masterKeyName(sealing));

  const opening = createSecrets(newest, clock.now, { former });
  opening.sealWith(active.sealed.keyId, sealing);
  const oldest = keyOf(checks.at(-1) as KeyCheck, masterKeys) as Uint8Array;
  const root = fromHex(await rootSecret(sql, opening, Buffer.from(oldest).toString('hex')));
  const secrets = createSecrets(newest, clock.now, { former, root });
  secrets.sealWith(active.sealed.keyId, sealing);

  let keyId = active.sealed.keyId;
  const look = async (): Promise<void> => {
    const [top] = await keyChecks(sql);
    if (top === undefined || top.sealed.keyId === keyId) return;
    const key = keyOf(top, masterKeys);
    if (key === null)
      return log.error(
        { key: top.name },
        'the master key was rotated to one that this process does not know',
      );
    secrets.sealWith(top.sealed.keyId, key);
    sealing = key;
    keyId = top.sealed.keyId;
    log.info({ key: masterKeyName(key) }, 'the new master key seals from now on');
  };
  // Who knows one key has nothing to change to.
  if (former !== null) {
    const timer = setInterval(() => look().catch(() => {}), LOOK_EVERY_MS);
    timer.unref();
    stops.push('master key', STOP_MS, async () => clearInterval(timer));
  }

  const replicaSecret = (key: Uint8Array): KeyObject =>
    createSecretKey(deriveSecret(key, 'replica calls v2'));
  const bySealing = new Map(
    masterKeys.map((key): [Uint8Array, [KeyObject, ...KeyObject[]]] => [
      key,
      [replicaSecret(key), ...masterKeys.filter((other) => other !== key).map(replicaSecret)],
    ]),
  );
  return {
    secrets,
    derive: (purpose) => deriveSecret(root, purpose),
    replicaSecrets: () => bySealing.get(sealing) as [KeyObject, ...KeyObject[]],
  };
}

async function addFirstCheck(sql: Sql, key: Uint8Array): Promise<void> {
  if ((await keyChecks(sql)).length === 0)
    await addCheck(sql, createSecrets(key, Date.now), masterKeyName(key));
}
