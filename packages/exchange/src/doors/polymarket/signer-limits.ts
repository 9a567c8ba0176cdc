/**
 * The venue's limits for a signer: one bucket of tokens for orders, one for cancels. Wire reference 2.14. A request that
 * costs more than there is gets 429 with the headers that name the limit, and nothing of it is done; only what a cancel of
 * many orders costs is known afterwards, so its bucket may go below zero.
 */

import { microToNumber } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import type { FastifyReply } from 'fastify';
import type { TradePlace } from '../../trade-history.ts';
import { accountsOf, type DoorExchange, WireError } from './requests.ts';

type SignerBucket = 'orders' | 'cancels';

interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

interface Tier {
  readonly name: string;
  /** Collateral that the signer traded as a maker in 30 days, from which on it has the tier. */
  readonly fromVolume: number;
  readonly orders: Rate;
  readonly cancels: Rate;
}

const tier = (
  name: string,
  fromVolume: number,
  orders: readonly [number, number],
  cancels: readonly [number, number],
): Tier => ({
  name,
  fromVolume,
  orders: { perSecond: orders[0], burst: orders[1] },
  cancels: { perSecond: cancels[0], burst: cancels[1] },
});

const TIERS: readonly [Tier, ...Tier[]] = [
  tier('Standard', 0, [40, 60], [80, 120]),
  tier('Copper', 30_000, [60, 90], [120, 180]),
  tier('Bronze', 50_000, [80, 120], [160, 240]),
  tier('Silver', 100_000, [200, 300], [400, 600]),
  tier('Gold', 500_000, [400, 600], [800, 1_200]),
  tier('Platinum', 2_500_000, [450, 675], [900, 1_350]),
  tier('Diamond', 5_000_000, [525, 787], [1_050, 1_575]),
  tier('Elite', 10_000_000, [600, 900], [1_200, 1_800]),
];

interface Bucket {
  tokens: number;
  at: number;
}

interface Signer {
  readonly orders: Bucket;
  readonly cancels: Bucket;
  tier: Tier;
}

/** Most signers in memory: beyond it, the least recently active one is dropped. */
const MAX_SIGNERS = 20_000;

export class TooManyOrders extends WireError {
  readonly retryAfterS: number;

  constructor(retryAfterS: number) {
    super(429, 'Too Many Requests');
    this.retryAfterS = retryAfterS;
  }
}

export class SignerLimits {
  readonly #now: (() => number) | null;
  readonly #signers = new Map<string, Signer>();

  /** @param now epoch milliseconds; `null`: there are no limits */
  constructor(now: (() => number) | null) {
    this.#now = now;
  }

  tierOf(signer: string): Tier {
    return this.#signers.get(signer)?.tier ?? TIERS[0];
  }

  setTier(signer: string, tier: Tier): void {
    if (this.#now !== null) this.#signerOf(signer, this.#now()).tier = tier;
  }

  /** Draws before the work, all or nothing. @throws TooManyOrders */
  draw(reply: FastifyReply, signer: string, name: SignerBucket, tokens: number): void {
    if (this.#now === null) return;
    const { bucket, rate, tier: held } = this.#filled(signer, name, this.#now());
    const isEnough = bucket.tokens >= tokens;
    if (isEnough) bucket.tokens -= tokens;
    this.#tell(reply, bucket, rate, held);
    if (isEnough) return;
    const missing = Math.min(tokens, rate.burst) - bucket.tokens;
    throw new TooManyOrders(Math.max(1, Math.ceil(missing / rate.perSecond)));
  }

  /** Draws for what was done, below zero if need be. */
  settle(reply: FastifyReply, signer: string, name: SignerBucket, tokens: number): void {
    if (this.#now === null) return;
    const { bucket, rate, tier: held } = this.#filled(signer, name, this.#now());
    bucket.tokens -= tokens;
    this.#tell(reply, bucket, rate, held);
  }

  #filled(signer: string, name: SignerBucket, at: number): { bucket: Bucket; rate: Rate; tier: Tier } {
    const found = this.#signerOf(signer, at);
    const [bucket, rate] = [found[name], found.tier[name]];
    const gained = (Math.max(0, at - bucket.at) / 1000) * rate.perSecond;
    bucket.tokens = Math.min(rate.burst, bucket.tokens + gained);
    bucket.at = at;
    return { bucket, rate, tier: found.tier };
  }

  #signerOf(signer: string, at: number): Signer {
    const known = this.#signers.get(signer);
    const full = (rate: Rate): Bucket => ({ tokens: rate.burst, at });
    const found = known ?? { orders: full(TIERS[0].orders), cancels: full(TIERS[0].cancels), tier: TIERS[0] };
    // The most recently active are at the end.
    this.#signers.delete(signer);
    this.#signers.set(signer, found);
    const [oldest] = this.#signers.keys();
    if (this.#signers.size > MAX_SIGNERS && oldest !== undefined) this.#signers.delete(oldest);
    return found;
  }

  /** When the bucket will be full again. */
  #tell(reply: FastifyReply, { tokens, at }: Bucket, rate: Rate, { name }: Tier): void {
    const fullAt = at / 1000 + (rate.burst - tokens) / rate.perSecond;
    reply
      .header('Poly-RateLimit-Remaining', String(Math.floor(tokens)))
      .header('Poly-RateLimit-Reset', String(Math.ceil(fullAt)))
      .header('Poly-RateLimit-Tier', name);
  }
}

// Which tier a signer has: by the collateral that its accounts traded as makers in thirty days. Wire reference 2.14.

const WINDOW_MS = 30 * 86_400_000;
/** As at the venue, a change may take so long to appear. */
const REFRESH_MS = 3 * 3_600_000;
const PAGE_TRADES = 1_000;
/** The most pages of one account: an account with more trades counts for their sum. */
const MOST_PAGES = 20;

interface TierNeeds {
  readonly exchange: () => DoorExchange | null;
  readonly now: () => number;
  readonly limits: SignerLimits;
  readonly onFault: (error: unknown) => void;
}

export class SignerTiers {
  readonly #needs: TierNeeds;
  readonly #lookedAt = new Map<Address, number>();

  constructor(needs: TierNeeds) {
    this.#needs = needs;
  }

  /** Looks again, if it was long ago; requests do not wait for it. */
  follow(signer: Address): void {
    const { now, exchange, limits, onFault } = this.#needs;
    const open = exchange();
    if (open === null || now() - (this.#lookedAt.get(signer) ?? 0) < REFRESH_MS) return;
    this.#lookedAt.delete(signer);
    this.#lookedAt.set(signer, now());
    const [oldest] = this.#lookedAt.keys();
    if (this.#lookedAt.size > MAX_SIGNERS && oldest !== undefined) this.#lookedAt.delete(oldest);
    volumeOf(open, signer, now() - WINDOW_MS)
      .then((volume) =>
        limits.setTier(signer, TIERS.findLast((tier) => volume >= tier.fromVolume) ?? TIERS[0]),
      )
      .catch(onFault);
  }
}

/** In whole collateral. */
async function volumeOf({ history }: DoorExchange, signer: Address, since: number): Promise<number> {
  let volume = 0n;
  for (const account of accountsOf(signer)) {
    let after: TradePlace | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const place = after === undefined ? {} : { after };
      const query = { account, role: 'maker', since, limit: PAGE_TRADES, ...place } as const;
      const trades = await history.trades(query);
      for (const { matches } of trades)
        for (const match of matches) if (match.account === account) volume += match.cost;
      after = trades.at(-1);
      if (trades.length < PAGE_TRADES) break;
    }
  }
  return microToNumber(volume);
}
