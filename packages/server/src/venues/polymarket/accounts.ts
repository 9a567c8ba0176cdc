/**
 * What accounts hold at the live venue. Figures are the CLOB's, asked with the agent's own credential; of an account
 * without one the public positions say its tokens, and nothing says its collateral. What is free is the balance without
 * what open orders need, the formula that the venue documents. Tokens that an account holds past the desk count as free
 * tokens here and never become positions of the desk.
 *
 * The venue answers from a cache of its own, which learns of deposits, approvals and fills only when it is asked to.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import { BoundedCache } from '../../domain/bounded-cache.ts';
import type { MarketRecord } from '../../domain/market.ts';
import { within } from '../../domain/patience.ts';
import { VenueUnavailable } from '../../domain/unavailable.ts';
import type { Accounts, Balance, BalanceQuestion } from '../venue.ts';
import {
  type AccountSources,
  type AssetFigures,
  createQuestions,
  type Holds,
  without,
} from './account-questions.ts';
import { createFigures } from './figures.ts';
import type { OwnedKeys } from './l2-headers.ts';

const ACCOUNTS_KEPT = 20_000;
const TOKENS_KEPT = 50_000;
/**
 * The venue judges every order anyway: a figure so young is good enough to explain a shortage before. It allows twenty such
 * questions a second from one address.
 */
const FRESH_MS = 5_000;
/** Who asked for a balance so recently may ask again at any moment. */
const ACTIVE_MS = 60_000;
const MAX_ACCOUNTS_PER_READ = 20;

export type KeysOf = (account: Address) => Promise<OwnedKeys | null>;

type MarketTokens = Pick<MarketRecord, 'conditionId' | 'tokenIds'>;

export interface LiveAccounts extends Accounts {
  /** The figure that the question is about, now. @throws VenueUnavailable */
  balance(account: Address, question: BalanceQuestion): Promise<Balance>;
  /**
   * How much of the account's collateral, or of a token, each contract may move, by lower-case address, as far as the venue
   * lists contracts; `null` without a credential.
   * @throws VenueUnavailable
   */
  allowances(account: Address, tokenId: string | null): Promise<ReadonlyMap<string, Micro> | null>;
  /** Tokens of a market, held by open orders or not. @throws VenueUnavailable */
  tokens(account: Address, market: MarketTokens): Promise<readonly [yes: Micro, no: Micro]>;
  /** After a fill, a deposit or an approval: the next question has the venue look at the chain again. */
  outdated(account: Address): void;
}

export interface LiveAccountsOptions extends AccountSources {
  readonly keysOf: KeysOf;
}

export function createLiveAccounts(options: LiveAccountsOptions): LiveAccounts {
  const { keysOf } = options;
  const ask = createQuestions(options);
  const collateral = createFigures<AssetFigures>(ACCOUNTS_KEPT);
  const holds = createFigures<Holds>(ACCOUNTS_KEPT);
  const tokens = createFigures<AssetFigures>(TOKENS_KEPT);
  const shown = createFigures<ReadonlyMap<string, Micro>>(ACCOUNTS_KEPT);
  /** When the venue's cache was last refreshed on purpose, per account and asset. */
  const refreshed = new BoundedCache<number>({
    entries: TOKENS_KEPT,
    weight: TOKENS_KEPT,
    weightOf: () => 1,
  });
  const activeAt = new BoundedCache<number>({
    entries: ACCOUNTS_KEPT,
    weight: ACCOUNTS_KEPT,
    weightOf: () => 1,
  });
  const changedAt = new BoundedCache<number>({
    entries: ACCOUNTS_KEPT,
    weight: ACCOUNTS_KEPT,
    weightOf: () => 1,
  });

  const asset = async (account: Address, keys: OwnedKeys, tokenId: string | null): Promise<AssetFigures> => {
    const name = `${account} ${tokenId ?? ''}`;
    const isRefreshed = (refreshed.get(name) ?? -1) >= (changedAt.get(account) ?? 0);
    if (!isRefreshed) {
      const at = performance.now();
      // Without it the figure is the venue's older one, which the venue itself would judge by.
      if (await ask.refresh(keys, tokenId).catch(() => false)) refreshed.set(name, at);
    }
    return ask.balance(keys, tokenId);
  };
  const collateralOf = (account: Address, keys: OwnedKeys, freshMs: number) =>
    collateral.get(account, freshMs, () => asset(account, keys, null));
  const holdsOf = (account: Address, keys: OwnedKeys, freshMs: number) =>
    holds.get(account, freshMs, () => ask.holds(keys, account));
  const assetOf = (account: Address, keys: OwnedKeys, tokenId: string) =>
    tokens.get(`${account} ${tokenId} ${changedAt.get(account) ?? 0}`, FRESH_MS, () =>
      asset(account, keys, tokenId),
    );
  const tokenOf = async (account: Address, keys: OwnedKeys, tokenId: string) =>
    (await assetOf(account, keys, tokenId)).balance;

  const tokensIn = async (account: Address, { tokenIds }: MarketTokens) => {
    const keys = await keysOf(account);
    if (keys !== null)
      return Promise.all([tokenOf(account, keys, tokenIds[0]), tokenOf(account, keys, tokenIds[1])]);
    const held = await shown.get(account, FRESH_MS, () => ask.positions(account));
    return [held.get(tokenIds[0]) ?? 0n, held.get(tokenIds[1]) ?? 0n] as const;
  };
  const balance = async (account: Address, question: BalanceQuestion): Promise<Balance> => {
    const { conditionId, tokenIds, pays } = question;
    const keys = await keysOf(account);
    if (keys === null)
      throw new VenueUnavailable('The venue tells what an account has only to its own credential.');
    activeAt.set(account, performance.now());
    const tokenId = pays === 'collateral' ? null : tokenIds[pays === 'YES' ? 0 : 1];
    const [held, owned] = await Promise.all([
      holdsOf(account, keys, FRESH_MS),
      tokenId === null
        ? collateralOf(account, keys, FRESH_MS).then((found) => found.balance)
        : tokenOf(account, keys, tokenId),
    ]);
    const free = without(owned, tokenId === null ? held.collateral : (held.tokens.get(tokenId) ?? 0n));
    return {
      available: tokenId === null ? free : 0n,
      held: held.collateral,
      shares: (condition, outcome) => (condition === conditionId && outcome === pays ? free : 0n),
    };
  };

  /** Never throws: an account whose figure is not known has none. */
  const knownOf = async (account: Address, freshMs: number, patienceMs: number) => {
    await within(
      patienceMs,
      keysOf(account).then(async (keys) => {
        if (keys !== null)
          await Promise.all([collateralOf(account, keys, freshMs), holdsOf(account, keys, freshMs)]);
      }),
    );
    return { money: collateral.known(account), held: holds.known(account) };
  };

  return {
    family: 'evm',
    balance,
    tokens: tokensIn,
    outdated(account) {
      changedAt.set(account, performance.now());
      collateral.forget(account);
      holds.forget(account);
      shown.forget(account);
      // The next order of an active account finds the new figures, or waits for questions that are on their way.
      const isActive = performance.now() - (activeAt.get(account) ?? Number.NEGATIVE_INFINITY) < ACTIVE_MS;
      if (isActive) void knownOf(account, FRESH_MS, 0);
    },
    async allowances(account, tokenId) {
      const keys = await keysOf(account);
      if (keys === null) return null;
      const found =
        tokenId === null ? collateralOf(account, keys, FRESH_MS) : assetOf(account, keys, tokenId);
      return (await found).allowances;
    },
    async balances(accounts, { freshMs, patienceMs }) {
      const asked = accounts.slice(0, MAX_ACCOUNTS_PER_READ) as readonly Address[];
      const found = await Promise.all(asked.map((account) => knownOf(account, freshMs, patienceMs)));
      const now = performance.now();
      let [total, available, age] = [0n, 0n, 0 as number | null];
      for (const { money, held } of found) {
        total += money?.value.balance ?? 0n;
        available += without(money?.value.balance ?? 0n, held?.value.collateral ?? 0n);
        const oldest = money === null || held === null ? null : now - Math.min(money.at, held.at);
        age = age === null || oldest === null ? null : Math.max(age, oldest);
      }
      return { total, available, ageMs: age };
    },
    async inMarket(account, market, { patienceMs }) {
      const mine = account as Address;
      const keys = await within(patienceMs, keysOf(mine));
      const [money, held, owned] = await Promise.all([
        keys === null ? null : within(patienceMs, collateralOf(mine, keys, FRESH_MS)),
        keys === null ? null : within(patienceMs, holdsOf(mine, keys, FRESH_MS)),
        within(patienceMs, tokensIn(mine, market)),
      ]);
      const free = (nth: 0 | 1) => without(owned![nth], held?.tokens.get(market.tokenIds[nth]) ?? 0n);
      return {
        available: money === null || held === null ? null : without(money.balance, held.collateral),
        free: owned === null || (keys !== null && held === null) ? null : { YES: free(0), NO: free(1) },
      };
    },
  };
}
