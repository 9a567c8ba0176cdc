/**
 * What accounts hold at the live venue. Figures are the CLOB's, asked with the agent's own credential; of an account
 * without one the public positions say its tokens, and nothing says its collateral. What is free is the balance without
 * what open orders need, the formula that the venue documents. Tokens that an account holds past the desk count as free
 * tokens here and never become positions of the desk.
 *
 * The venue answers from a cache of its own, which learns of deposits, approvals and fills only when it is asked to.
 */
import { divide, type Micro, PIPS } from '@bellwether/contract/decimals';
import type { Address, SignatureType } from '@bellwether/protocol';
import { BoundedCache } from '../../../domain/bounded-cache.ts';
import type { MarketRecord } from '../../../domain/market.ts';
import { within } from '../../../domain/patience.ts';
import { VenueUnavailable } from '../../../domain/unavailable.ts';
import type { Accounts, Balance, BalanceQuestion } from '../../../ports/venue.ts';
import type { VenueHttp } from './http.ts';
import { type AccountKeys, l2Headers } from './l2-headers.ts';
import { microOf, pipsOf } from './translate-market.ts';
import { READ } from './wire.ts';

const ACCOUNTS_KEPT = 20_000;
const TOKENS_KEPT = 50_000;
/**
 * The venue judges every order anyway: a figure so young is good enough to explain a shortage before. It allows twenty such
 * questions a second from one address.
 */
const FRESH_MS = 5_000;
/** Who asked for a balance so recently may ask again at any moment. */
const ACTIVE_MS = 60_000;
const MAX_ORDER_PAGES = 20;
const MAX_POSITION_PAGES = 5;
const MAX_ACCOUNTS_PER_READ = 20;
const LAST_CURSOR = 'LTE=';
/** What no order's size reaches in shares is a size in millionths. */
const MILLIONTHS_FROM = 1_000_000n;

/** The credential of an account that the desk may use, of whichever agent. */
export interface OwnedKeys extends AccountKeys {
  readonly signatureType: SignatureType;
}

export type KeysOf = (account: Address) => Promise<OwnedKeys | null>;

type MarketTokens = Pick<MarketRecord, 'conditionId' | 'tokenIds'>;

export interface LiveAccounts extends Accounts {
  /** The figure that the question is about, now. @throws VenueUnavailable */
  balance(account: Address, question: BalanceQuestion): Promise<Balance>;
  /** The account's collateral that each contract may move, by lower-case address; `null` without a credential. @throws VenueUnavailable */
  allowances(account: Address): Promise<ReadonlyMap<string, Micro> | null>;
  /** Tokens of a market, held by open orders or not. @throws VenueUnavailable */
  tokens(account: Address, market: MarketTokens): Promise<readonly [yes: Micro, no: Micro]>;
  /** After a fill, a deposit or an approval: the next question has the venue look at the chain again. */
  outdated(account: Address): void;
}

export interface LiveAccountsOptions {
  readonly clob: VenueHttp;
  readonly data: VenueHttp;
  readonly keysOf: KeysOf;
  readonly clock: { now(): number };
}

interface Collateral {
  readonly balance: Micro;
  readonly allowances: ReadonlyMap<string, Micro>;
}

/** What open orders need: collateral for BUYs, and tokens by id for SELLs. */
interface Holds {
  readonly collateral: Micro;
  readonly tokens: ReadonlyMap<string, Micro>;
}

export function createLiveAccounts(options: LiveAccountsOptions): LiveAccounts {
  const { keysOf } = options;
  const ask = createQuestions(options);
  const collateral = createFigures<Collateral>(ACCOUNTS_KEPT);
  const holds = createFigures<Holds>(ACCOUNTS_KEPT);
  const tokens = createFigures<Micro>(TOKENS_KEPT);
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

  const asset = async (account: Address, keys: OwnedKeys, tokenId: string | null): Promise<Collateral> => {
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
  const tokenOf = (account: Address, keys: OwnedKeys, tokenId: string) =>
    tokens.get(
      `${account} ${tokenId} ${changedAt.get(account) ?? 0}`,
      FRESH_MS,
      async () => (await asset(account, keys, tokenId)).balance,
    );

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
    async allowances(account) {
      const keys = await keysOf(account);
      return keys === null ? null : (await collateralOf(account, keys, FRESH_MS)).allowances;
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

const without = (of: Micro, held: Micro): Micro => (of > held ? of - held : 0n);

interface Figure<T> {
  readonly value: T;
  readonly at: number;
}

/** The last known figures by name; one question at a time for each, and a failed one keeps the old figure. */
function createFigures<T>(entries: number) {
  const bounds = { entries, weight: entries, weightOf: () => 1 };
  const kept = new BoundedCache<Figure<T>>(bounds);
  const outdated = new BoundedCache<true>(bounds);
  const asking = new Map<string, Promise<T>>();

  const start = (name: string, ask: () => Promise<T>): Promise<T> => {
    const answer: Promise<T> = ask()
      .then((value) => {
        kept.set(name, { value, at: performance.now() });
        // What was asked before the last change may not know of it.
        if (asking.get(name) === answer) outdated.delete(name);
        return value;
      })
      .finally(() => {
        if (asking.get(name) === answer) asking.delete(name);
      });
    asking.set(name, answer);
    return answer;
  };
  return {
    known: (name: string): Figure<T> | null => kept.get(name) ?? null,
    get(name: string, freshMs: number, ask: () => Promise<T>): Promise<T> {
      const figure = outdated.get(name) === undefined ? kept.get(name) : undefined;
      const age = figure === undefined ? Number.POSITIVE_INFINITY : performance.now() - figure.at;
      const already = asking.get(name);
      if (figure === undefined || age >= freshMs) return already ?? start(name, ask);
      // Asked for again halfway, so that who trades all the time never waits.
      if (age > freshMs / 2 && already === undefined) start(name, ask).catch(() => {});
      return Promise.resolve(figure.value);
    },
    forget(name: string): void {
      asking.delete(name);
      outdated.set(name, true);
    },
  };
}

function createQuestions({ clob, data, clock }: LiveAccountsOptions) {
  const read = <T>(
    keys: OwnedKeys,
    path: string,
    query: Readonly<Record<string, string | number | undefined>>,
    check: (value: unknown) => T | null,
  ) => clob.read({ path, query, headers: l2Headers(keys, { method: 'GET', path }, clock.now()) }, check);
  const assetQuery = (keys: OwnedKeys, tokenId: string | null) => ({
    asset_type: tokenId === null ? 'COLLATERAL' : 'CONDITIONAL',
    token_id: tokenId ?? undefined,
    signature_type: keys.signatureType,
  });

  return {
    async refresh(keys: OwnedKeys, tokenId: string | null): Promise<boolean> {
      const path = '/balance-allowance/update';
      const headers = l2Headers(keys, { method: 'GET', path }, clock.now());
      return (await clob.ask({ path, query: assetQuery(keys, tokenId), headers })).status < 300;
    },

    async balance(keys: OwnedKeys, tokenId: string | null): Promise<Collateral> {
      const found = await read(keys, '/balance-allowance', assetQuery(keys, tokenId), READ.balanceAllowance);
      if (found === null) throw new VenueUnavailable('The venue does not tell what the account has.');
      const allowances = Object.entries(found.allowances ?? {});
      return {
        balance: BigInt(found.balance),
        allowances: new Map(allowances.map(([spender, amount]) => [spender.toLowerCase(), BigInt(amount)])),
      };
    },

    async holds(keys: OwnedKeys, account: Address): Promise<Holds> {
      let cursor: string | undefined;
      let needed = 0n;
      const tokens = new Map<string, Micro>();
      for (let nth = 0; nth < MAX_ORDER_PAGES; nth++) {
        const page = await read(keys, '/data/orders', { next_cursor: cursor }, READ.ordersPage);
        for (const row of page?.data ?? []) {
          const order = READ.openOrder(row);
          if (order === null || order.maker_address.toLowerCase() !== account) continue;
          const left = without(sizeOf(order.original_size), sizeOf(order.size_matched ?? '0'));
          if (order.side === 'SELL') tokens.set(order.asset_id, (tokens.get(order.asset_id) ?? 0n) + left);
          else needed += divide(left * BigInt(pipsOf(order.price, 'ceil') ?? PIPS), BigInt(PIPS), 'ceil');
        }
        cursor = page?.next_cursor ?? undefined;
        if (cursor === undefined || cursor === '' || cursor === LAST_CURSOR) break;
      }
      return { collateral: needed, tokens };
    },

    async positions(account: Address): Promise<ReadonlyMap<string, Micro>> {
      const held = new Map<string, Micro>();
      let cursor: string | undefined;
      for (let nth = 0; nth < MAX_POSITION_PAGES; nth++) {
        const query = { user: account, limit: 1_000, cursor };
        const page = await data.read({ path: '/v2/positions', query }, READ.dataPage);
        for (const row of page?.data ?? []) {
          const position = READ.dataPosition(row);
          if (position !== null) held.set(position.token_id, microOf(position.current_size));
        }
        cursor = page?.pagination?.next_cursor ?? undefined;
        if (cursor === undefined) break;
      }
      return held;
    },
  };
}

/** Decimal shares, in some deployments whole millionths. */
function sizeOf(text: string | number): Micro {
  const isWhole = /^\d+$/.test(String(text));
  return isWhole && BigInt(text) >= MILLIONTHS_FROM ? BigInt(text) : microOf(text);
}
