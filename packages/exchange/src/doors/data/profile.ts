/** The wallet behind an address, for clients that look for the one that holds its money. */
import { parseAddress, walletKindsOf } from '@bellwether/protocol';
import type { AccountId, PaperExchange } from '../../paper-exchange.ts';
import { invalid } from './data-error.ts';

const hasAnything = (exchange: Pick<PaperExchange, 'account'>, account: AccountId): boolean => {
  const { available, held, tokens } = exchange.account(account);
  return available > 0n || held > 0n || tokens.size > 0;
};

/** `null`: none of its proxy wallets holds anything. @throws DataError */
export function profileOf(exchange: Pick<PaperExchange, 'account'>, text: string) {
  const address = parseAddress(text);
  if (address === null) throw invalid('address must be 0x and 40 hex digits', 'address');
  const { proxy, safe, deposit } = walletKindsOf(address);
  const wallets = [safe, proxy, deposit.beacon, deposit.uups];
  const proxyAddress = wallets.find((wallet) => hasAnything(exchange, wallet));
  if (proxyAddress === undefined) return null;
  return { proxyAddress, isGnosisSafe: proxyAddress === safe };
}
