/** All accounts, and the totals that belong to no account. */
import type { Micro } from '@bellwether/contract/decimals';
import { Account } from './records.ts';
import type { AccountId } from './types.ts';

export class Ledger {
  readonly accounts = new Map<AccountId, Account>();
  /** Taker fees, and the rounding remainders of HALF redemptions. */
  fees: Micro = 0n;
  /** Sum of all deposits. */
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
