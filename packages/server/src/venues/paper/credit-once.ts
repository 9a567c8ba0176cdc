/**
 * Remembers which wallets have their simulation balance. Every quote checks it, and on a follower each check is a call to
 * the leader. A credit is permanent, so a success is cached; a failure is not.
 */

type Credit = (wallet: string) => Promise<void>;

/** About 100 bytes each. */
const WALLETS_KEPT = 50_000;

export function creditOnce(credit: Credit): Credit {
  const credited = new Map<string, Promise<void>>();
  return (wallet) => {
    let asked = credited.get(wallet);
    if (asked === undefined) {
      if (credited.size >= WALLETS_KEPT) credited.clear();
      asked = credit(wallet);
      credited.set(wallet, asked);
      asked.catch(() => credited.delete(wallet));
    }
    return asked;
  };
}
