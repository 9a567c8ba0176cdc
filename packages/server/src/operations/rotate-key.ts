/**
 * Rotates the master key while the service runs: every replica knows both keys, the new one seals from now on, then every
 * sealed row is sealed anew, and the old key is retired. It can be interrupted at any place and started again.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Sql, transact } from '@bellwether/durable';
import {
  addCheck,
  type KeyCheck,
  keyChecks,
  opensCheck,
  retireOthers,
  SEALED_TABLES,
} from '../platform/database/belonging.ts';
import { gaveWay } from '../platform/database/connection.ts';
import { replicasWithout } from '../platform/database/replica-watch.ts';
import { createSecrets, masterKeyName, type RotatingSecrets } from '../platform/system/secrets.ts';

interface Rotation {
  readonly sql: Sql;
  readonly newest: Uint8Array;
  readonly former: Uint8Array | null;
  /** Rows of one transaction. */
  readonly batch?: number;
  /** After each batch. */
  readonly onBatch?: (rows: number) => void;
}

interface RotationReport {
  /** Name of the key that seals now. */
  readonly name: string;
  readonly formerName: string | null;
  /** Sealed anew by this run. */
  readonly rows: number;
}

/** A rotation that cannot begin, as a sentence that says what to do. */
class RotationRefused extends Error {
  override readonly name = 'RotationRefused';
}

const BATCH = 200;
/** Longer than replicas need to notice which key seals: those that still seal with the old one do not meet its end. */
const NOTICE_MS = 2_500;
const AGAIN_MS = 100;

const opens = (key: Uint8Array | null, check: KeyCheck): boolean =>
  key !== null && opensCheck(createSecrets(key, Date.now), check);

/** @throws RotationRefused before anything is changed */
export async function rotateKey(rotation: Rotation): Promise<RotationReport> {
  const { sql, newest, former } = rotation;
  const name = masterKeyName(newest);
  const checks = await keyChecks(sql);
  const [top] = checks;
  if (top === undefined)
    throw new RotationRefused(
      'No service has started on this database yet. Start it once with the new key instead.',
    );
  const hasBegun = opens(newest, top);
  if (hasBegun && checks.length === 1) return { name, formerName: null, rows: 0 };
  const strange = checks.find((check) => !opens(newest, check) && !opens(former, check));
  if (strange !== undefined)
    throw new RotationRefused(
      `The database was written with ${strange.name === null ? 'a key' : `key ${strange.name}`} that is neither MASTER_KEY nor MASTER_KEY_OLD. Set MASTER_KEY to the new key and MASTER_KEY_OLD to the present one.`,
    );
  await expectAllKnow(sql, name);
  const keyId = hasBegun ? top.sealed.keyId : top.sealed.keyId + 1;
  const secrets = createSecrets(newest, Date.now, { former });
  secrets.sealWith(keyId, newest);
  if (!hasBegun) await addCheck(sql, secrets, name);
  const rows = await sealAll(rotation, secrets, keyId);
  return { name, formerName: former === null ? null : masterKeyName(former), rows };
}

async function expectAllKnow(sql: Sql, name: string): Promise<void> {
  const without = await replicasWithout(sql, name);
  if (without.length === 0) return;
  throw new RotationRefused(
    `${without.length} of the connected services do not know key ${name} (${without.join(', ')}). Restart each, then run this again. Where you set keys yourself, it needs MASTER_KEY with the new key and MASTER_KEY_OLD with the present one.`,
  );
}

async function sealAll(rotation: Rotation, secrets: RotatingSecrets, keyId: number): Promise<number> {
  const { sql } = rotation;
  const noticed = sleep(NOTICE_MS);
  let rows = 0;
  for (;;) {
    const sealed = await sealOnce(rotation, secrets, keyId);
    rows += sealed;
    if (sealed > 0) continue;
    await noticed;
    if (await transact(sql, (tx) => retireOthers(tx, keyId)).catch(whenBusy)) return rows;
    await sleep(AGAIN_MS);
  }
}

/** The tables' writers come first. */
function whenBusy(error: unknown): false {
  if (gaveWay(error)) return false;
  throw error;
}

/** One batch of every table. @returns how many rows it sealed */
async function sealOnce(
  { sql, batch = BATCH, onBatch = () => {} }: Rotation,
  secrets: RotatingSecrets,
  keyId: number,
): Promise<number> {
  let rows = 0;
  for (const table of SEALED_TABLES) {
    const done = await transact(sql, async (tx) => {
      const taken = await table.take(tx, keyId, batch);
      await Promise.all(
        taken.map(({ id, sealed, row }) =>
          table.write(tx, { id, sealed: secrets.seal(secrets.open(sealed, row), row) }),
        ),
      );
      return taken.length;
    });
    rows += done;
    if (done > 0) onBatch(done);
  }
  return rows;
}
