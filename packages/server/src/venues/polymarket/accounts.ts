/**
 * Holdings of accounts at the live venue. Figures are the CLOB's, asked with the agent's own credential; of an account
 * without one the public positions say its tokens, and nothing says its collateral. What is free is the balance without
 * what open orders need, the formula that the venue documents. Tokens that an account holds past the desk count as free
 * tokens here and never become positions of the desk.
 *
 * The venue answers from a cache of its own, which learns of deposits, approvals and fills only when it is asked to, and it
 * may be asked so only five times a second. So that is done where there is a reason: the venue has refused an order for want
 * of balance or allowance, an owner has done something on the chain, or an order is not covered by what the venue says. An
 * order that the last known figure covers waits for no question at all; what orders have needed since counts as spent.
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
import { createNeedsNoted } from './needs-noted.ts';

const ACCOUNTS_KEPT = 20_000;
const TOKENS_KEPT = 50_000;
/**
 * The venue judges every order anyway: a figure so young is good enough to explain a shortage before. It allows twenty such
 * questions a second from one address.
 */
const FRESH_MS = 5_000;
/** An order that the last known figure covers asks for nothing while the figure is so young. */
const KNOWN_MS = 60_000;
/** A venue that was asked to look at the chain says the same again when it is asked too soon. */
const LOOK_AGAIN_MS = 10_000;
/** Between two questions that an order leaves behind for the next one. */
const READ_AHEAD_MS = 1_000;
/** Between two looks at the chain only because fills should show in a balance that is read. */
const SHOW_FILLS_MS = 30_000;
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
  /** After a fill: the figures are asked for again. */
  traded(account: Address): void;
  /** After a refusal, a deposit or an approval: the next question has the venue look at the chain first. */
  outdated(account: Address): void;
}

export interface LiveAccountsOptions extends AccountSources {
  readonly keysOf: KeysOf;
  /** Shares of an outcome that the account has bought and that are not settled yet. */
  readonly unsettled?: UnsettledShares;
}

export type UnsettledShares = (
  account: Address,
  of: { readonly conditionId: string; readonly outcome: 'YES' | 'NO' },
) => Promise<Micro>;

/** When the question was sent, monotonic. */
interface Asked {
  readonly askedAt: number;
}

const nameOf = (account: Address, tokenId: string | null): string => `${account} ${tokenId ?? ''}`;
const heldOf = (held: Holds, tokenId: string | null): Micro =>
  tokenId === null ? held.collateral : (held.tokens.get(tokenId) ?? 0n);

export function createLiveAccounts(options: LiveAccountsOptions): LiveAccounts {
  const { keysOf } = options;
  const ask = createQuestions(options);
  const collateral = createFigures<AssetFigures & Asked>(ACCOUNTS_KEPT);
  const holds = createFigures<Holds & Asked>(ACCOUNTS_KEPT);
  const tokens = createFigures<AssetFigures & Asked>(TOKENS_KEPT);
  const shown = createFigures<ReadonlyMap<string, Micro>>(ACCOUNTS_KEPT);
  const keptTimes = () =>
    new BoundedCache<number>({ entries: TOKENS_KEPT, weight: TOKENS_KEPT, weightOf: () => 1 });
  /** By account and asset: when the venue last looked at the chain. */
  const lookedAt = keptTimes();
  /** By account: when it traded, and when something happened that the venue may not know. */
  const changedAt = keptTimes();
  const doubtedAt = keptTimes();
  const readAheadAt = keptTimes();
  const looking = new Map<string, Promise<void>>();
  const needs = createNeedsNoted();

  /** One look at a time for each asset: who comes meanwhile waits for that one. */
  const lookAtChain = (account: Address, keys: OwnedKeys, tokenId: string | null): Promise<void> => {
    const name = nameOf(account, tokenId);
    const before = looking.get(name);
    if (before !== undefined) return before;
    const at = performance.now();
    const look = ask
      .refresh(keys, tokenId)
      .then((isDone) => {
        if (isDone) lookedAt.set(name, at);
      })
      // Without it the figure is the venue's older one, which the venue itself would judge by.
      .catch(() => {})
      .finally(() => looking.delete(name));
    looking.set(name, look);
    return look;
  };
  const hasLookedSince = (account: Address, tokenId: string | null, time: number): boolean =>
    (lookedAt.get(nameOf(account, tokenId)) ?? Number.NEGATIVE_INFINITY) >= time;

  const asset = async (account: Address, keys: OwnedKeys, tokenId: string | null) => {
    const doubted = doubtedAt.get(account);
    if (doubted !== undefined && !hasLookedSince(account, tokenId, doubted))
      await lookAtChain(account, keys, tokenId);
    const askedAt = performance.now();
    return { ...(await ask.balance(keys, tokenId)), askedAt };
  };
  const collateralOf = (account: Address, keys: OwnedKeys, freshMs: number) =>
    collateral.get(account, freshMs, () => asset(account, keys, null));
  const holdsOf = (account: Address, keys: OwnedKeys, freshMs: number) =>
    holds.get(account, freshMs, async () => {
      const askedAt = performance.now();
      return { ...(await ask.holds(keys, account)), askedAt };
    });
  /** Another name after each change, so that tokens of many markets are forgotten at once. */
  const tokenName = (account: Address, tokenId: string): string =>
    `${nameOf(account, tokenId)} ${changedAt.get(account) ?? 0}`;
  const tokenOf = (account: Address, keys: OwnedKeys, tokenId: string, freshMs = FRESH_MS) =>
    tokens.get(tokenName(account, tokenId), freshMs, () => asset(account, keys, tokenId));
  const assetOf = (account: Address, keys: OwnedKeys, tokenId: string | null, freshMs = FRESH_MS) =>
    tokenId === null ? collateralOf(account, keys, freshMs) : tokenOf(account, keys, tokenId, freshMs);
  const knownAsset = (account: Address, tokenId: string | null) =>
    tokenId === null ? collateral.known(account) : tokens.known(tokenName(account, tokenId));

  const tokensIn = async (account: Address, { tokenIds }: MarketTokens) => {
    const keys = await keysOf(account);
    if (keys !== null) {
      const found = await Promise.all(tokenIds.map((tokenId) => tokenOf(account, keys, tokenId)));
      return found.map((figures) => figures.balance) as [Micro, Micro];
    }
    const held = await shown.get(account, FRESH_MS, () => ask.positions(account));
    return [held.get(tokenIds[0]) ?? 0n, held.get(tokenIds[1]) ?? 0n] as const;
  };

  /** Free amount by the last known figures, without what orders have needed since; `null`: not known well enough. */
  const freeByKnown = (account: Address, tokenId: string | null): Micro | null => {
    const owned = knownAsset(account, tokenId)?.value;
    const held = holds.known(account)?.value;
    if (owned === undefined || held === undefined) return null;
    const askedAt = Math.min(owned.askedAt, held.askedAt);
    const isOld = performance.now() - askedAt > KNOWN_MS;
    if (isOld || askedAt < (doubtedAt.get(account) ?? 0)) return null;
    const free = without(owned.balance, heldOf(held, tokenId));
    return without(free, needs.since(nameOf(account, tokenId), askedAt));
  };
  const readAhead = (account: Address, keys: OwnedKeys, tokenId: string | null): void => {
    const now = performance.now();
    const name = nameOf(account, tokenId);
    if (now - (readAheadAt.get(name) ?? Number.NEGATIVE_INFINITY) < READ_AHEAD_MS) return;
    readAheadAt.set(name, now);
    // Asked for where they are not fresh any more, and by one question for all who want to know.
    read(account, keys, tokenId, FRESH_MS).catch(() => {});
  };
  const read = async (account: Address, keys: OwnedKeys, tokenId: string | null, freshMs: number) => {
    const [held, owned] = await Promise.all([
      holdsOf(account, keys, freshMs),
      assetOf(account, keys, tokenId, freshMs),
    ]);
    return { held, free: without(owned.balance, heldOf(held, tokenId)) };
  };

  const balance = async (account: Address, question: BalanceQuestion): Promise<Balance> => {
    const { conditionId, tokenIds, pays, needed } = question;
    const keys = await keysOf(account);
    if (keys === null)
      throw new VenueUnavailable('The venue tells what an account has only to its own credential.');
    const tokenId = pays === 'collateral' ? null : tokenIds[pays === 'YES' ? 0 : 1];
    const answer = (free: Micro, held: Holds): Balance => {
      if (needed !== undefined && free >= needed) needs.note(nameOf(account, tokenId), needed);
      return {
        available: tokenId === null ? free : 0n,
        held: held.collateral,
        shares: (condition, outcome) => (condition === conditionId && outcome === pays ? free : 0n),
      };
    };
    const known = needed === undefined ? null : freeByKnown(account, tokenId);
    const heldNow = holds.known(account)?.value;
    if (needed !== undefined && known !== null && heldNow !== undefined && known >= needed) {
      readAhead(account, keys, tokenId);
      return answer(known, heldNow);
    }
    const found = await read(account, keys, tokenId, FRESH_MS);
    const isCovered = needed === undefined || found.free >= needed;
    if (isCovered) return answer(found.free, found.held);
    const short = async ({ free, held }: typeof found): Promise<Balance> => {
      const isShort = tokenId !== null && needed !== undefined && free < needed;
      const outcome = pays === 'YES' ? 'YES' : 'NO';
      const unsettled = isShort ? await options.unsettled?.(account, { conditionId, outcome }) : 0n;
      return { ...answer(free, held), ...(unsettled ? { unsettled } : {}) };
    };
    // The owner may have paid in, or the venue may not know of a purchase yet.
    if (hasLookedSince(account, tokenId, performance.now() - LOOK_AGAIN_MS)) return short(found);
    await lookAtChain(account, keys, tokenId);
    // A question that was on its way before the look would have the old answer.
    if (tokenId === null) collateral.forget(account);
    else tokens.forget(tokenName(account, tokenId));
    return short(await read(account, keys, tokenId, 0));
  };

  /** The venue's figure need not know of fills: who reads it sees them a while later, and no order waits for it. */
  const showFills = (account: Address, keys: OwnedKeys): void => {
    const changed = changedAt.get(account);
    if (changed === undefined || hasLookedSince(account, null, changed)) return;
    if (hasLookedSince(account, null, performance.now() - SHOW_FILLS_MS)) return;
    void lookAtChain(account, keys, null).then(() => collateral.forget(account));
  };

  /** Never throws: an account whose figure is not known has none. */
  const knownOf = async (account: Address, freshMs: number, patienceMs: number) => {
    await within(
      patienceMs,
      keysOf(account).then(async (keys) => {
        if (keys === null) return;
        showFills(account, keys);
        await Promise.all([collateralOf(account, keys, freshMs), holdsOf(account, keys, freshMs)]);
      }),
    );
    return { money: collateral.known(account), held: holds.known(account) };
  };

  const traded = (account: Address): void => {
    changedAt.set(account, performance.now());
    collateral.forget(account);
    holds.forget(account);
    shown.forget(account);
  };

  return {
    family: 'evm',
    balance,
    tokens: tokensIn,
    traded,
    outdated(account) {
      traded(account);
      doubtedAt.set(account, performance.now());
    },
    async allowances(account, tokenId) {
      const keys = await keysOf(account);
      if (keys === null) return null;
      return (await assetOf(account, keys, tokenId)).allowances;
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
