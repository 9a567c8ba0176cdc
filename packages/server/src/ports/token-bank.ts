/** Token buckets that replicas share. */
export interface BucketPolicy {
  readonly perSecond: number;
  readonly burst: number;
}

export interface TokenBank {
  /** Whether other replicas are alive: else nobody needs to ask. */
  isShared(): boolean;
  /** Takes up to `want` whole tokens out of a bucket; a negative `want` puts them back. */
  lease(
    bucket: string,
    policy: BucketPolicy,
    want: number,
  ): Promise<{ readonly granted: number; readonly remaining: number }>;
  /** Forgets buckets that nobody has drawn from for so long. */
  sweep(idleS: number): Promise<void>;
}
