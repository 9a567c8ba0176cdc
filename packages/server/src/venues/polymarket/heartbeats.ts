/**
 * Sends the venue's heartbeat for the keys of wallets whose owners want it. Without one for ten seconds the venue cancels every
 * open order of the key, which is what the owner wants of a desk that is dead, frozen or cut off, and of agents that are silent.
 * Wire reference 2.11.
 *
 * One replica sends, by a lease that is renewed before each round: a process that was frozen, or has lost its database, sends
 * nothing more. A successor has begun within the ten seconds.
 */
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { HasHeartbeat, HeartbeatLog } from '../venue.ts';
import type { VenueReply } from './http.ts';
import type { Keyring, OrderClient, OwnedKeys } from './order-client.ts';
import { isFields } from './order-wire.ts';

/** The venue looks every five seconds for keys that have said nothing for ten. */
export const HEARTBEAT: HasHeartbeat = { cancelsAfterS: 15 };

export interface HeartbeatTimes {
  readonly tickMs: number;
  readonly leaseMs: number;
  readonly beatMs: number;
}

/** A holder that dies right before its next heartbeat is replaced after beatMs + leaseMs + tickMs. */
const HEARTBEAT_TIMES: HeartbeatTimes = { tickMs: 1_000, leaseMs: 3_000, beatMs: 3_000 };
/** A heartbeat without an answer is sent again. */
const ANSWER_MS = 2_500;
const REFUSED = 400;
const OK = 200;

interface HeartbeatParts {
  readonly log: HeartbeatLog;
  readonly client: Pick<OrderClient, 'beat'>;
  readonly keyring: Pick<Keyring, 'of' | 'refresh'>;
  readonly holder: string;
  readonly logger: OutboundLog;
  readonly times?: HeartbeatTimes;
}

interface Heartbeats {
  counts(): Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

/** A key that is kept alive. */
interface Line {
  readonly walletAddress: string;
  key: OwnedKeys;
  /** Of the last heartbeat; '' at first. */
  id: string;
  nextAt: number;
  isBeating: boolean;
  /** The last one was not taken. */
  isInTrouble: boolean;
}

const now = (): number => performance.now();

export function startHeartbeats(parts: HeartbeatParts): Heartbeats {
  const { log, client, keyring, holder, logger } = parts;
  const times = parts.times ?? HEARTBEAT_TIMES;
  /** By API key. */
  const lines = new Map<string, Line>();
  /** Until then no other replica sends. */
  let heldUntil = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  let ticking: Promise<void> | null = null;
  let sent = 0;
  let failed = 0;

  const mayBeat = (): boolean => !isStopped && now() < heldUntil;

  /** @returns the id that the venue answers, or wants; `null` without either */
  const send = async (line: Line): Promise<{ readonly isTaken: boolean; readonly id: string } | null> => {
    const outcome = await client.beat(line.key, line.id, ANSWER_MS);
    if (outcome.kind !== 'answered') return null;
    const id = idIn(outcome.reply);
    if (id !== null && outcome.reply.status === OK) return { isTaken: true, id };
    if (id !== null && outcome.reply.status === REFUSED) return { isTaken: false, id };
    // It may have been rotated.
    await keyring.refresh(line.walletAddress, line.key);
    return null;
  };

  const beat = async (line: Line): Promise<void> => {
    line.isBeating = true;
    line.nextAt = now() + times.beatMs;
    try {
      let answer = await send(line);
      if (answer !== null) line.id = answer.id;
      // An answer was lost, or another replica or program has sent for this key: the venue says which id it waits for.
      if (answer?.isTaken === false && mayBeat()) answer = await send(line);
      if (answer !== null) line.id = answer.id;
      if (answer?.isTaken === true) {
        sent += 1;
        line.isInTrouble = false;
        return;
      }
    } catch (error) {
      logger.warn({ error: (error as Error).name }, 'a heartbeat could not be sent');
    } finally {
      line.isBeating = false;
    }
    line.nextAt = 0;
    failed += 1;
    if (!line.isInTrouble)
      logger.warn(
        { wallet: line.walletAddress },
        'the venue did not take a heartbeat: it cancels every order of the key unless it takes one soon',
      );
    line.isInTrouble = true;
  };

  const tick = async (): Promise<void> => {
    const askedAt = now();
    const wallets = await log.lease(holder, times.leaseMs);
    heldUntil = wallets.length === 0 ? Number.NEGATIVE_INFINITY : askedAt + times.leaseMs;
    const found = await Promise.all(
      wallets.map(async (wallet) => [wallet, await keyring.of(wallet).catch(() => null)] as const),
    );
    const kept = new Set<string>();
    for (const [walletAddress, key] of found) {
      if (key === null) continue;
      const { apiKey } = key.secrets;
      // Several wallets can have one key.
      if (kept.has(apiKey)) continue;
      kept.add(apiKey);
      const known = lines.get(apiKey);
      const fresh = { id: '', nextAt: 0, isBeating: false, isInTrouble: false };
      if (known === undefined) lines.set(apiKey, { walletAddress, key, ...fresh });
      else known.key = key;
    }
    for (const apiKey of lines.keys()) if (!kept.has(apiKey)) lines.delete(apiKey);
    for (const line of lines.values())
      if (mayBeat() && !line.isBeating && line.nextAt <= now()) void beat(line);
  };

  const timer = setInterval(() => {
    if (isStopped) return;
    ticking ??= tick()
      .catch((error: unknown) =>
        logger.warn({ error: (error as Error).name }, 'the lease of heartbeats could not be renewed'),
      )
      .finally(() => {
        ticking = null;
      });
  }, times.tickMs);
  timer.unref();

  return {
    counts: () => ({ heartbeat_keys: lines.size, heartbeats_sent: sent, heartbeats_failed: failed }),
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await ticking;
      lines.clear();
      await log.release(holder).catch(() => {});
    },
  };
}

const idIn = ({ value }: VenueReply): string | null =>
  isFields(value) && typeof value.heartbeat_id === 'string' ? value.heartbeat_id : null;
