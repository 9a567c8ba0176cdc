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
import { divide, formatMicro, MICRO, type Micro, PIPS } from '@bellwether/contract/decimals';
import {
  type Address,
  approvalCalls,
  type ContractCall,
  type ContractMarket,
  isPositionId,
  OLDER_NEG_RISK_ADAPTER,
  olderAdapterApprovalCall,
  POLYGON_EXCHANGES,
  positionContract,
  type SignatureType,
} from '@bellwether/protocol';
import { BoundedCache } from '../../domain/bounded-cache.ts';
import type { MarketRecord } from '../../domain/market.ts';
import { VenueUnavailable, within } from '../../domain/unavailable.ts';
import type { Accounts, Balance, BalanceQuestion, MarketData, VenueOrder } from '../venue.ts';
import { nextOf, type VenueHttp } from './http.ts';
import { l2Headers, type OwnedKeys } from './order-client.ts';
import { microOf, pipsOf, READ } from './translate-market.ts';

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

interface LiveAccountsOptions extends AccountSources {
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

// Questions of the adapter about accounts: the CLOB with an account's own credential, and the public positions.

const MAX_ORDER_PAGES = 200;
const MAX_POSITION_PAGES = 20;
/** The smallest order that may rest, of five shares, in millionths. */
const LEAST_MILLIONTHS = 5_000_000n;

/** Figures of the collateral, or of one token. */
interface AssetFigures {
  readonly balance: Micro;
  readonly allowances: ReadonlyMap<string, Micro>;
}

/** Needs of open orders: collateral for BUYs, and tokens by id for SELLs. */
interface Holds {
  readonly collateral: Micro;
  readonly tokens: ReadonlyMap<string, Micro>;
}

interface AccountSources {
  readonly clob: VenueHttp;
  readonly data: VenueHttp;
  readonly clock: { now(): number };
}

const without = (of: Micro, held: Micro): Micro => (of > held ? of - held : 0n);

/** Positions of Protocol V2 are another contract's. */
const assetTypeOf = (tokenId: string | null): string => {
  if (tokenId === null) return 'COLLATERAL';
  return isPositionId(BigInt(tokenId)) ? 'CONDITIONAL-V2' : 'CONDITIONAL';
};

function createQuestions({ clob, data, clock }: AccountSources) {
  const read = <T>(
    keys: OwnedKeys,
    path: string,
    query: Readonly<Record<string, string | number | undefined>>,
    check: (value: unknown) => T | null,
  ) => clob.read({ path, query, headers: l2Headers(keys, { method: 'GET', path }, clock.now()) }, check);
  const assetQuery = (keys: OwnedKeys, tokenId: string | null) => ({
    asset_type: assetTypeOf(tokenId),
    token_id: tokenId ?? undefined,
    signature_type: keys.signatureType,
  });

  return {
    async refresh(keys: OwnedKeys, tokenId: string | null): Promise<boolean> {
      const path = '/balance-allowance/update';
      const headers = l2Headers(keys, { method: 'GET', path }, clock.now());
      return (await clob.ask({ path, query: assetQuery(keys, tokenId), headers })).status < 300;
    },

    async balance(keys: OwnedKeys, tokenId: string | null): Promise<AssetFigures> {
      const found = await read(keys, '/balance-allowance', assetQuery(keys, tokenId), READ.balanceAllowance);
      if (found === null) throw new VenueUnavailable('The venue does not tell what the account has.');
      const allowances = Object.entries(found.allowances ?? {});
      return {
        balance: BigInt(found.balance),
        allowances: new Map(allowances.map(([spender, amount]) => [spender.toLowerCase(), BigInt(amount)])),
      };
    },

    async holds(keys: OwnedKeys, account: Address): Promise<Holds> {
      const path = '/data/orders';
      const rows = await clob.lists.all<unknown>({
        name: path,
        whose: keys.secrets.apiKey,
        mostPages: MAX_ORDER_PAGES,
        idOf: (row) => READ.openOrder(row)?.id ?? null,
        async ask(cursor) {
          const page = await read(keys, path, { next_cursor: cursor }, READ.ordersPage);
          return { rows: page?.data ?? [], next: nextOf(page?.next_cursor) };
        },
      });
      let needed = 0n;
      const tokens = new Map<string, Micro>();
      const orders = rows.flatMap((row) => READ.openOrder(row) ?? []);
      const sizeOf = unitOf(orders.map(({ original_size }) => String(original_size)));
      for (const order of orders) {
        if (order.maker_address.toLowerCase() !== account) continue;
        const left = without(sizeOf(order.original_size), sizeOf(order.size_matched ?? '0'));
        if (order.side === 'SELL') tokens.set(order.asset_id, (tokens.get(order.asset_id) ?? 0n) + left);
        else needed += divide(left * BigInt(pipsOf(order.price, 'ceil') ?? PIPS), BigInt(PIPS), 'ceil');
      }
      return { collateral: needed, tokens };
    },

    async positions(account: Address): Promise<ReadonlyMap<string, Micro>> {
      const path = '/v2/positions';
      const rows = await data.lists.all<unknown>({
        name: path,
        whose: account,
        mostPages: MAX_POSITION_PAGES,
        idOf: (row) => READ.dataPosition(row)?.token_id ?? null,
        async ask(cursor) {
          const query = { user: account, limit: 1_000, cursor };
          const page = await data.read({ path, query }, READ.dataPage);
          return { rows: page?.data ?? [], next: nextOf(page?.pagination?.next_cursor) };
        },
      });
      const held = new Map<string, Micro>();
      for (const row of rows) {
        const position = READ.dataPosition(row);
        if (position !== null) held.set(position.token_id, microOf(position.current_size));
      }
      return held;
    },
  };
}

/** How a list writes shares: as decimals, in some deployments all of them as whole millionths. */
function unitOf(sizes: readonly string[]): (text: string | number) => Micro {
  const areMillionths =
    sizes.length > 0 && sizes.every((size) => /^\d+$/.test(size) && BigInt(size) >= LEAST_MILLIONTHS);
  return areMillionths ? (text) => microOf(text) / MICRO : microOf;
}

// The last known figures by name, within bounds.

interface Figure<T> {
  readonly value: T;
  readonly at: number;
}

/** One question at a time for each, and a failed one keeps the old figure. */
function createFigures<T>(entries: number) {
  const bounds = { entries, weight: entries, weightOf: () => 1 };
  const kept = new BoundedCache<Figure<T>>(bounds);
  const outdated = new BoundedCache<true>(bounds);
  const asking = new Map<string, Promise<T>>();

  const start = (name: string, ask: () => Promise<T>): Promise<T> => {
    const answer: Promise<T> = ask()
      .then((value) => {
        kept.set(name, { value, at: performance.now() });
        // Figures that were asked for before the last change may not know of it.
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

// Amounts that orders have needed of an account's figures lately: the figures were read before the venue heard of those orders, or
// while it did.

const NAMES_KEPT = 50_000;
/** So long after it was judged an order may still reach the venue. */
const MAY_ARRIVE_MS = 6_000;
/** An account that places more at once is asked about. */
const MOST_NOTES = 200;

interface Note {
  readonly at: number;
  readonly amount: Micro;
}

function createNeedsNoted() {
  const kept = new BoundedCache<readonly Note[]>({
    entries: NAMES_KEPT,
    weight: NAMES_KEPT,
    weightOf: () => 1,
  });
  return {
    note(name: string, amount: Micro): void {
      const now = performance.now();
      const before = kept.get(name) ?? [];
      // The oldest of too many orders are put together, at the time of the next one: they count too long rather than too short.
      const [oldest, next, ...rest] = before;
      const notes =
        before.length < MOST_NOTES || oldest === undefined || next === undefined
          ? before
          : [{ at: next.at, amount: oldest.amount + next.amount }, ...rest];
      kept.set(name, [...notes, { at: now, amount }]);
    },
    /** Needs that are not in figures which were asked for at that time. */
    since(name: string, askedAt: number): Micro {
      const notes = (kept.get(name) ?? []).filter(({ at }) => at >= askedAt - MAY_ARRIVE_MS);
      kept.set(name, notes);
      return notes.reduce((sum, { amount }) => sum + amount, 0n);
    },
  };
}

// Approvals that a wallet must have given before the venue's contracts can move its money, as far as the venue shows them. The desk
// cannot approve anything: it says what is missing and which call gives it.

/** An order's answer waits for the reason no longer. */
const PATIENCE_MS = 1_500;

/** `unknown`: the venue does not say; the wallet may have approved it or not. */
export type Approval = 'given' | 'missing' | 'unknown';

type Contracted = Pick<MarketRecord, 'negRisk' | 'version'>;

/** The contract that takes the orders of a market. */
const orderContract = ({ negRisk, version }: Contracted): Address => {
  if (version === 'v2') return POLYGON_EXCHANGES.v3;
  return negRisk ? POLYGON_EXCHANGES.v2NegRisk : POLYGON_EXCHANGES.v2;
};

type Allowances = Pick<LiveAccounts, 'allowances' | 'outdated'>;

/** How the transactions of a wallet are sent, by its signature type. */
export const HOW_SENT: Readonly<Record<SignatureType, string>> = {
  0: 'Send it from the wallet itself.',
  1: 'Send it from the owner of the proxy wallet: the factory forwards it to the wallet.',
  2: 'Send it from the only owner of the Safe, whose own transaction is the approval; with several owners propose the inner call in the Safe instead.',
  3: 'The deposit wallet itself must make this call: sign it as one call of a DepositWallet Batch and give it to the relayer (POST /submit, type WALLET). Sent from any other address it does nothing for the wallet.',
};

interface PositionApproval {
  readonly market: ContractMarket;
  /** `null`: collateral. */
  readonly tokenId: string | null;
  /** All or none of tokens: any amount. */
  readonly needed: Micro;
}

/** Whether the contract that splits, merges and redeems may move the account's collateral or tokens. Never throws. */
export async function positionApproval(
  accounts: Allowances,
  account: Address,
  { market, tokenId, needed }: PositionApproval,
): Promise<Approval> {
  const allowed = await accounts.allowances(account, tokenId).catch(() => null);
  const amount = allowed?.get(positionContract(market));
  return amount === undefined ? 'unknown' : amount >= needed ? 'given' : 'missing';
}

/** The call that lets that contract move all collateral, or all outcome tokens, of the wallet that makes it. */
export function positionApprovalCall(market: ContractMarket, asset: 'collateral' | 'tokens'): ContractCall {
  const spender = positionContract(market);
  const call = approvalCalls().find((one) => one.asset === asset && one.spender === spender);
  if (call === undefined) throw new Error(`${spender} needs no approval`);
  return { to: call.to, data: call.data };
}

interface ShortageParts {
  readonly accounts: Allowances;
  readonly markets: Pick<MarketData, 'find'>;
}

/** @param words the venue's own, where they name a contract @returns `null`: the allowance is not why, or not known */
export type ShortageReason = (order: VenueOrder, words: string | null) => Promise<string | null>;

const SPENDER = /spender: (0x[0-9a-fA-F]{40})/;
const AMOUNT = /order amount[^:]*: (\d{1,20})/;

/**
 * Which approval is missing, where the venue has refused an order for want of balance or allowance, and the call that gives
 * it. Asking has the venue look at the chain again, so that an approval it did not know of counts for the next order.
 */
export function createShortageReason({ accounts, markets }: ShortageParts): ShortageReason {
  const ask = async ({ funder, conditionId, outcome, side, shares, spend, limit }: VenueOrder) => {
    const market = await markets.find(conditionId);
    if (market === null) return null;
    accounts.outdated(funder);
    const tokenId = side === 'BUY' ? null : market.tokenIds[outcome === 'YES' ? 0 : 1];
    const spender = orderContract(market);
    const allowed = (await accounts.allowances(funder, tokenId))?.get(spender);
    if (allowed === undefined) return null;
    const needed: Micro =
      side === 'BUY' ? (spend ?? (shares * BigInt(limit)) / BigInt(PIPS)) : /* all or none */ 1n;
    if (allowed >= needed) return null;
    const what =
      side === 'BUY'
        ? `The allowance is missing: the venue's contract ${spender} may move ${formatMicro(allowed)} pUSD of ${funder}, and the order needs ${formatMicro(needed)}.`
        : `The approval is missing: the venue's contract ${spender} may not move outcome tokens of ${funder} (setApprovalForAll).`;
    return `${what} ${grantOf(spender, { side, wallet: funder, amount: needed })}`;
  };
  return async (order, words) => {
    const named = words === null ? null : SPENDER.exec(words)?.[1];
    if (named == null) return within(PATIENCE_MS, ask(order));
    accounts.outdated(order.funder);
    const amount = BigInt(AMOUNT.exec(words ?? '')?.[1] ?? '0');
    const { side, funder: wallet } = order;
    return `${words}. ${grantOf(named.toLowerCase() as Address, { side, wallet, amount })}`;
  };
}

interface WantedApproval {
  readonly side: 'BUY' | 'SELL';
  readonly wallet: Address;
  /** Collateral that the order needs. */
  readonly amount: Micro;
}

/** Names the call for contracts that are pinned here, and for no other: a venue's answer must not say whom a wallet trusts. */
function grantOf(spender: Address, { side, wallet, amount }: WantedApproval): string {
  if (spender === OLDER_NEG_RISK_ADAPTER) {
    const { to, data } = olderAdapterApprovalCall(amount);
    return `This is the venue's older adapter, which it has retired and is reported to ask for all the same. Only with the express consent of the wallet's owner, and for this order alone, ${wallet} calls ${to} with data ${data}.`;
  }
  const asset = side === 'BUY' ? 'collateral' : 'tokens';
  const call = approvalCalls().find((one) => one.spender === spender && one.asset === asset);
  return call === undefined
    ? `This service knows no contract ${spender} of the venue: approve it only if the venue's own documentation names it.`
    : `The approval that ${wallet} makes once: call ${call.to} with data ${call.data}.`;
}
