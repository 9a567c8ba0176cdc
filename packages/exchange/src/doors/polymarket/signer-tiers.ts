/** Which tier a signer has: by the collateral that its accounts traded as makers in thirty days. Wire reference 2.14. */
import { microToNumber } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import type { TradePlace } from '../../trade-history.ts';
import { accountsOf } from './accounts.ts';
import type { DoorExchange } from './door-options.ts';
import { type SignerLimits, TIERS } from './signer-limits.ts';

const WINDOW_MS = 30 * 86_400_000;
/** As at the venue, a change may take so long to appear. */
const REFRESH_MS = 3 * 3_600_000;
const PAGE_TRADES = 1_000;
/** The most pages of one account: an account with more trades counts for their sum. */
const MOST_PAGES = 20;
/** Most signers whose last look is remembered. */
const MAX_SIGNERS = 20_000;

export interface TierNeeds {
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
