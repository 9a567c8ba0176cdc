/** Whether signers are recovered on other threads. */
import { availableParallelism } from 'node:os';
import type { RecoverPublicKey } from '@bellwether/protocol';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { openRecoverPool, threadsFor } from '../platform/system/recover-pool.ts';
import type { RecoverElsewhere } from '../platform/system/recovery.ts';
import type { Stops } from './stopping.ts';

const STOP_MS = 500;

/** @returns `null` where no thread is to do it */
export function startRecoverPool({
  config,
  recover,
  log,
  stops,
}: {
  readonly config: Config;
  readonly recover: RecoverPublicKey;
  readonly log: Logger;
  readonly stops: Stops;
}): RecoverElsewhere | null {
  const threads = config.recoveryThreads ?? threadsFor(availableParallelism());
  if (threads === 0) return null;
  const pool = openRecoverPool({ threads, here: recover, log });
  stops.push('recovery', STOP_MS, pool.stop);
  return pool.recover;
}
