/**
 * The heartbeat of a live venue: once a key has sent one it must go on, or the venue cancels every open order of the key,
 * whoever placed it. So the desk sends it only for wallets whose owner wants that.
 */
import type { VenueId } from '../domain/market.ts';

/** A venue that has one. */
export interface HasHeartbeat {
  /** Seconds after the last heartbeat within which the venue has canceled. */
  readonly cancelsAfterS: number;
}

export interface HeartbeatLog {
  readonly venue: VenueId;
  /**
   * Takes or renews the lease with which one replica sends the heartbeats of the venue.
   * @returns the wallets whose keys are to be kept alive: none when another replica sends, and none whose agents are silent
   */
  lease(holder: string, forMs: number): Promise<readonly string[]>;
  /** Gives the lease up, so that another replica need not wait for its end. */
  release(holder: string): Promise<void>;
}
