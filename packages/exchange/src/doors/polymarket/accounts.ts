/** The accounts of an API key: the wallets that its address controls. */
import { type Address, type SignatureType, walletKindsOf } from '@bellwether/protocol';

/** Most addresses in memory: finding the wallets of one takes six hashes. */
const MAX_KNOWN = 2_000;
const known = new Map<Address, readonly Address[]>();

/** In the order of signature types, the newer deposit wallet before the older. */
export function accountsOf(eoa: Address): readonly Address[] {
  const found = known.get(eoa);
  if (found !== undefined) return found;
  const { proxy, safe, deposit } = walletKindsOf(eoa);
  const accounts = [eoa, proxy, safe, deposit.beacon, deposit.uups];
  known.set(eoa, accounts);
  const [oldest] = known.keys();
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  return accounts;
}

export const accountOfType = (eoa: Address, type: SignatureType): Address => accountsOf(eoa)[type]!;
