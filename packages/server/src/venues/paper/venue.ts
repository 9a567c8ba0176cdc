/** The paper exchange as a venue: signed orders, redemption, price history and paper money. */

import type { Micro } from '@bellwether/contract/decimals';
import { type Address, asAddress } from '@bellwether/protocol';
import { within } from '../../domain/patience.ts';
import type { PriceHistory } from '../price-history.ts';
import type { Accounts, Balance, MarketData, PaperCredit, SignedOrders, Venue } from '../venue.ts';
import { creditOnce } from './credit-once.ts';
import type { ExchangeCalls } from './paper-venue.ts';

export interface PaperVenueOptions extends Pick<SignedOrders, 'signing' | 'rules'> {
  readonly id: string;
  readonly exchange: ExchangeCalls;
  readonly markets: MarketData;
  readonly history: PriceHistory;
  readonly simulationBalance: Micro;
  readonly credentials: NonNullable<PaperCredit['credentials']>;
  /** Whether an account has had its simulation balance, as the evidence of the deposit noted it. */
  readonly isCredited: (account: Address) => Promise<boolean>;
}

export function createPaperVenue(options: PaperVenueOptions): Venue {
  const { id, exchange, markets, history, signing, rules, simulationBalance, isCredited } = options;
  const { verifyCredentials, balance, submit, resolve, keptSince } = exchange;
  return {
    id,
    backend: 'paper',
    status: exchange.status,
    markets,
    accounts: createAccounts(exchange),
    signedOrders: { signing, rules, verifyCredentials, balance, submit, resolve, keptSince },
    cancel: { orders: exchange.cancel },
    sets: {
      balance,
      converts: () => true,
      submit: exchange.submitSet,
    },
    redemption: { redeem: exchange.redeem },
    history,
    paper: {
      // The credit is recorded in the transaction that makes the deposit durable.
      credit: creditOnce(async (text) => {
        const account = asAddress(text);
        if (!(await isCredited(account))) await exchange.deposit(account, simulationBalance, 'simulation');
      }),
      credentials: options.credentials,
      faucet: (account, amount, drawId) => exchange.deposit(asAddress(account), amount, 'faucet', drawId),
    },
  };
}

/** Balances are in memory, here or on the leading replica, so they are read every time. */
function createAccounts({ balance }: Pick<ExchangeCalls, 'balance'>): Accounts {
  return {
    family: 'evm',
    async balances(accounts, { patienceMs }) {
      const found = await within(patienceMs, Promise.all(accounts.map((one) => balance(asAddress(one)))));
      if (found === null) return { total: 0n, available: 0n, ageMs: null };
      const available = found.reduce((sum, one) => sum + one.available, 0n);
      return { available, total: found.reduce((sum, one) => sum + one.held, available), ageMs: 0 };
    },
    async inMarket(account, { conditionId }, { patienceMs }) {
      const found = await within(patienceMs, balance(asAddress(account)));
      if (found === null) return { available: null, free: null };
      const free = (outcome: 'YES' | 'NO') => (found as Balance).shares(conditionId, outcome);
      return { available: found.available, free: { YES: free('YES'), NO: free('NO') } };
    },
  };
}
