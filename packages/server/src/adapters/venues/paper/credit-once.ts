/**
 * Remembers which wallets have their simulation balance. Every quote asks for it, and on a replica that follows each
 * asking is a call to the leader. What is given is durable and given for ever, so yes is never asked again; a failure
 * always is.
 */

type Credit = (wallet: string) => Promise<void>;

/** Some 100 bytes each. */
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
