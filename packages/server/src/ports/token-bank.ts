/** Token buckets that replicas share. */
export interface BucketPolicy {
  readonly perSecond: number;
  readonly burst: number;
}

export interface TokenBank {
  /** Whether other replicas are alive: a single replica needs no lease. */
  isShared(): boolean;
  /** Takes up to `want` whole tokens from a bucket; a negative `want` returns them. */
  lease(
    bucket: string,
    policy: BucketPolicy,
    want: number,
  ): Promise<{ readonly granted: number; readonly remaining: number }>;
  /** Deletes buckets that have been idle for `idleS` seconds. */
  sweep(idleS: number): Promise<void>;
}
