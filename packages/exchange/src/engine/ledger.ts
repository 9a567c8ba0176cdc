/** All accounts, and the totals that belong to none of them. */
import type { Micro } from '@bellwether/contract/decimals';
import { Account } from './records.ts';
import type { AccountId } from './types.ts';

export class Ledger {
  readonly accounts = new Map<AccountId, Account>();
  /** Taker fees, and what rounding left over from HALF redemptions. */
  fees: Micro = 0n;
  /** Everything ever deposited. */
  deposits: Micro = 0n;

  open(id: AccountId): Account {
    let account = this.accounts.get(id);
    if (account === undefined) {
      account = new Account(id);
      this.accounts.set(id, account);
    }
    return account;
  }
}
