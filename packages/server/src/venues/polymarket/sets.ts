/**
 * Full sets at the live venue, and conversions in markets of Protocol V2. The desk holds no key that could make one: it says which
 * transactions make the wallet do so, its owner signs and sends them, and the Data API lists what the chain has of it.
 */
import type { Micro } from '@bellwether/contract/decimals';
import { paysOf } from '@bellwether/contract/positions';
import {
  type Address,
  type ContractCall,
  conditionsOfEvent,
  convertCall,
  mergeCall,
  ownerCalls,
  positionIds,
  redeemCall,
  redeemPositionCall,
  splitCall,
} from '@bellwether/protocol';
import type { MarketRecord } from '../../domain/market.ts';
import { VenueUnavailable } from '../../domain/unavailable.ts';
import type {
  MadeQuestion,
  MadeSet,
  MarketData,
  RedeemAnswer,
  RedeemedTokens,
  Redemption,
  Sets,
  UnsignedCall,
  VenueSet,
} from '../venue.ts';
import {
  type Approval,
  HOW_SENT,
  type KeysOf,
  type LiveAccounts,
  positionApproval,
  positionApprovalCall,
} from './accounts.ts';
import { nextOf, type VenueHttp } from './http.ts';
import type { OwnedKeys } from './order-client.ts';
import type { Relayer, Relaying } from './relayer.ts';
import { conditionOf, microOf, READ } from './translate-market.ts';

interface LiveSetsOptions {
  readonly markets: Pick<MarketData, 'find' | 'findAll'>;
  readonly accounts: Pick<LiveAccounts, 'balance' | 'outdated' | 'allowances'>;
  readonly data: Pick<VenueHttp, 'read' | 'lists'>;
  readonly keysOf: KeysOf;
  readonly chainId: number;
  /** `null`: there are no credentials of it. */
  readonly relayer: (Relayer & Relaying) | null;
  /** False: no transaction is handed out. */
  readonly sends: boolean;
}

const PATH = '/v2/activity';
const ROWS_PER_PAGE = 1_000;
const MAX_PAGES = 20;
const CONDITIONS_PER_QUESTION = 20;
const SECOND_MS = 1_000;
const TYPES = { split: 'SPLIT', merge: 'MERGE', convert: 'CONVERSION' } as const;
const CALLS = { split: splitCall, merge: mergeCall, convert: convertCall } as const;

const APPROVALS: Readonly<Record<Approval, string>> = {
  given: 'The wallet has approved this contract.',
  missing: 'The wallet has not approved this contract: that is the first thing done here.',
  unknown:
    'The wallet must have approved this contract once (pUSD for a split, outcome tokens for a merge or a conversion); the venue does not say whether it has. npm run doctor prints the approvals.',
};

/** A conversion goes by the contract's NO: of a market that the venue's names turn around it is not one of NO shares. */
const isConvertible = ({ conditionId, tokenIds }: MarketRecord): boolean =>
  conditionsOfEvent(conditionId) !== null && positionIds(conditionId)?.[1] === tokenIds[1];

const WITHOUT_GAS =
  ' Without the network’s price it goes through the venue’s relayer, for which the operator of this service sets POLYMARKET_RELAYER_API_KEY or POLYMARKET_BUILDER_API_KEY.';

export function createLiveSets(options: LiveSetsOptions): Sets {
  const { markets, accounts, keysOf, chainId, sends, relayer } = options;
  // Of an event of Protocol V1 the catalogue need not list every question; ids of Protocol V2 say how many there are.
  const others = async (market: MarketRecord): Promise<readonly MarketRecord[] | null> => {
    const { conditionId } = market;
    const wanted = (conditionsOfEvent(conditionId) ?? []).filter((one) => one !== conditionId);
    if (wanted.length === 0 || !isConvertible(market)) return null;
    const found = new Map((await markets.findAll(wanted)).map((market) => [market.conditionId, market]));
    const all = wanted.flatMap((one) => found.get(one) ?? []);
    return all.length === wanted.length && all.every(isConvertible) ? all : null;
  };
  return {
    converts: isConvertible,
    others,
    ...(relayer === null ? {} : { relayed: relayer }),
    async balance(account, question) {
      if (question === undefined) throw new Error('a balance of the live venue is of one market');
      if (question.pays !== 'sets') return accounts.balance(account, question);
      const [yes, no] = await Promise.all(
        (['YES', 'NO'] as const).map((pays) => accounts.balance(account, { ...question, pays })),
      );
      return {
        ...{ available: 0n, held: yes!.held },
        shares: (conditionId, outcome) => (outcome === 'YES' ? yes! : no!).shares(conditionId, outcome),
      };
    },

    async submit(set) {
      if (!sends) return { kind: 'rejected', reason: 'dry_run' };
      const { funder: account, conditionId, kind, amount } = set;
      const [market, keys] = await Promise.all([markets.find(conditionId), keysOf(account)]).catch(() => []);
      if (market == null || keys == null) return { kind: 'rejected', reason: 'venue_unavailable' };
      if (kind === 'convert') {
        const all = await others(market).catch(() => 'silent' as const);
        if (all === 'silent') return { kind: 'rejected', reason: 'venue_unavailable' };
        // What is not known cannot be booked.
        if (all === null) return { kind: 'rejected', reason: 'conversion_not_supported' };
      }
      const approval = await positionApproval(accounts, account, {
        market,
        ...(kind === 'split'
          ? { tokenId: null, needed: amount }
          : { tokenId: market.tokenIds[kind === 'convert' ? 1 : 0], needed: 1n }),
      });
      const owner = { eoa: keys.eoa, wallet: account, type: keys.signatureType };
      const action = CALLS[kind](market, amount);
      const asset = kind === 'split' ? 'collateral' : 'tokens';
      const approve = positionApprovalCall(market, asset);
      if (relayer !== null && owner.type !== 0) {
        // It costs nothing there, and without it nothing could be moved.
        const calls = approval === 'given' ? [action] : [approve, action];
        const relay = await relayer.prepare(owner, calls);
        if (relay === null) return { kind: 'rejected', reason: 'venue_unavailable' };
        return { kind: 'unsigned', transactions: [], relay };
      }
      const calls = approval === 'missing' ? [approve, action] : [action];
      const transactions = ownerCalls(owner, calls).map(
        ({ from, to, data }): UnsignedCall => ({
          ...{ from, to, data, value: '0', chainId },
          description: `${wordsOf(set)}, from ${from}. ${HOW_SENT[owner.type]}${owner.type === 0 ? '' : WITHOUT_GAS} ${APPROVALS[approval]}`,
        }),
      );
      return { kind: 'unsigned', transactions };
    },

    async made(account, { since, conditionIds, kinds }) {
      const found: MadeSet[] = [];
      for (let start = 0; start < conditionIds.length; start += CONDITIONS_PER_QUESTION) {
        const some = conditionIds.slice(start, start + CONDITIONS_PER_QUESTION);
        // One type a question is the only form that the venue filters reliably.
        for (const kind of kinds)
          found.push(...(await madeIn(options.data, { account, conditionIds: some, kind, since })));
      }
      // The venue's figures may be older than what was seen.
      if (found.length > 0) accounts.outdated(account);
      return found;
    },
  };
}

const wordsOf = ({ kind, amount }: VenueSet): string => {
  const sets = `${amount / 1_000_000n}.${String(amount % 1_000_000n).padStart(6, '0')}`;
  switch (kind) {
    case 'split':
      return `Split ${sets} pUSD into as many YES and NO shares`;
    case 'merge':
      return `Merge ${sets} YES and NO shares into as much pUSD`;
    case 'convert':
      return `Convert ${sets} NO shares into as many YES shares of each other market of the event`;
  }
};

async function madeIn(
  data: Pick<VenueHttp, 'read' | 'lists'>,
  {
    account,
    conditionIds,
    kind,
    since,
  }: Omit<MadeQuestion, 'kinds'> & { readonly account: Address; readonly kind: VenueSet['kind'] },
): Promise<MadeSet[]> {
  const [start, type] = [Math.floor(since / SECOND_MS), TYPES[kind]];
  const rows = await data.lists.all<unknown>({
    name: PATH,
    whose: account,
    mostPages: MAX_PAGES,
    idOf: () => null,
    async ask(cursor) {
      const condition = conditionIds.join(',');
      const query = { user: account, type, condition, start, limit: ROWS_PER_PAGE, cursor };
      const page = await data.read({ path: PATH, query }, READ.dataPage);
      return { rows: page?.data ?? [], next: nextOf(page?.pagination?.next_cursor) };
    },
  });
  const wanted = new Set(conditionIds);
  // A transaction that has a row for each outcome made one set of both.
  const made = new Map<string, MadeSet>();
  for (const row of rows) {
    const wire = READ.setActivity(row);
    // The filters are checked again: a row too many would book what never was.
    if (wire === null || wire.type !== type || wire.proxy_wallet.toLowerCase() !== account) continue;
    if (!/^0x[0-9a-fA-F]+$/.test(wire.condition_id) || wire.transaction_hash === '') continue;
    const conditionId = conditionOf(wire.condition_id);
    const at = wire.timestamp * SECOND_MS;
    if (!wanted.has(conditionId) || wire.timestamp < start) continue;
    // The rows of the YES shares that came of another market's NO shares are no conversion of this market.
    if (kind === 'convert' && wire.token_id !== positionIds(conditionId)?.[1]) continue;
    const amount: Micro = microOf(wire.size);
    const transactionHash = wire.transaction_hash.toLowerCase();
    made.set(`${transactionHash} ${conditionId}`, {
      ...{ kind, conditionId, amount, at, transactionHash },
    });
  }
  return [...made.values()];
}

// Redemption at the live venue. The desk holds no key that could: it says which call makes the wallet redeem, and the owner
// signs it. What the owner has redeemed is gone from the account, and the Data API lists the redemption.

interface LiveRedemptionOptions {
  readonly markets: Pick<MarketData, 'find'>;
  readonly accounts: Pick<LiveAccounts, 'tokens' | 'outdated' | 'allowances'>;
  readonly data: Pick<VenueHttp, 'read' | 'lists'>;
  readonly keysOf: KeysOf;
  readonly chainId: number;
  /** `null`: there are no credentials of the relayer. */
  readonly relaying: Relaying | null;
}

const BURNS = 'It burns everything the wallet holds of both outcomes and pays pUSD.';
const BURNS_ONE = 'It burns what the wallet holds of one outcome and pays pUSD.';

const APPROVALS_TO_REDEEM: Readonly<Record<Approval, string>> = {
  given: 'The wallet has approved this adapter for its outcome tokens.',
  missing:
    'The wallet has not approved this adapter for its outcome tokens: that is the first thing done here.',
  unknown:
    'The wallet must have approved this adapter for its outcome tokens once (setApprovalForAll). Whether it has could not be checked: the venue does not say.',
};

export function createLiveRedemption(options: LiveRedemptionOptions): Redemption {
  const { markets, accounts, keysOf, chainId, relaying } = options;
  /** @throws VenueUnavailable */
  const wantedOf = async (
    account: Address,
    conditionId: string,
  ): Promise<WantedRedemption | RedeemAnswer> => {
    const market = await markets.find(conditionId);
    if (market === null) throw new VenueUnavailable('The venue does not list the market now.');
    if (market.status !== 'resolved') return { kind: 'not_resolved' };
    // The last answer may be older than a redemption that the owner has just made.
    accounts.outdated(account);
    const [yes, no] = await accounts.tokens(account, market);
    if (yes + no === 0n) return { kind: 'redeemed', yes, no, payout: 0n };
    const keys = await keysOf(account);
    const tokenId = market.tokenIds[yes > 0n ? 0 : 1];
    const approval = await positionApproval(accounts, account, { tokenId, market, needed: 1n });
    return { market, account, keys, chainId, approval, held: [yes, no] };
  };
  return {
    redeemed: createRedeemedReads(options.data),
    async redeem(account, conditionId): Promise<RedeemAnswer> {
      const wanted = await wantedOf(account, conditionId);
      return 'kind' in wanted ? wanted : { kind: 'unsigned', transactions: unsigned(wanted) };
    },
    ...(relaying === null
      ? {}
      : {
          async relay(account: Address, conditionId: string) {
            const wanted = await wantedOf(account, conditionId);
            if ('kind' in wanted || wanted.keys === null || wanted.keys.signatureType === 0) return null;
            const { market, keys, approval } = wanted;
            const owner = { eoa: keys.eoa, wallet: account, type: keys.signatureType };
            // It costs nothing there, and without it nothing could be moved.
            const approve = approval === 'given' ? [] : [positionApprovalCall(market, 'tokens')];
            return relaying.prepare(owner, [...approve, ...redemptionCalls(wanted)]);
          },
        }),
  };
}

interface WantedRedemption {
  readonly market: MarketRecord;
  readonly account: Address;
  readonly keys: OwnedKeys | null;
  readonly chainId: number;
  readonly approval: Approval;
  readonly held: readonly [yes: Micro, no: Micro];
}

/** Protocol V2 redeems one outcome at a time, and by amount: those that pay, or, where none does, what is held. */
function redemptionCalls({ market, held }: Pick<WantedRedemption, 'market' | 'held'>): ContractCall[] {
  const { conditionId, negRisk, payout, tokenIds, version } = market;
  if (version !== 'v2') return [redeemCall(conditionId, negRisk)];
  const owned = ([0, 1] as const).filter((outcome) => held[outcome] > 0n);
  const paying = owned.filter(
    (outcome) => payout !== undefined && paysOf(payout, outcome === 0 ? 'YES' : 'NO') > 0n,
  );
  // The contract counts by its own order, which the venue's names may turn around.
  const first = positionIds(conditionId)?.[0] === tokenIds[0] ? 0 : 1;
  return (paying.length > 0 ? paying : owned).map((outcome) =>
    redeemPositionCall(conditionId, { outcome: outcome === first ? 0 : 1, amount: held[outcome] }),
  );
}

function unsigned(wanted: WantedRedemption): UnsignedCall[] {
  const { market, account, keys, chainId, approval } = wanted;
  const type = keys?.signatureType ?? 0;
  const owner = { eoa: keys?.eoa ?? account, wallet: account, type };
  const kind = market.negRisk ? 'a neg-risk market' : 'a market';
  const burns = market.version === 'v2' ? BURNS_ONE : BURNS;
  const redemptions = redemptionCalls(wanted);
  const calls =
    approval === 'missing' ? [positionApprovalCall(market, 'tokens'), ...redemptions] : redemptions;
  return ownerCalls(owner, calls).map(({ from, to, data }) => ({
    ...{ from, to, data, value: '0', chainId },
    description: `Redeem ${kind} that resolved ${market.payout}, from ${from}. ${HOW_SENT[type]} ${APPROVALS_TO_REDEEM[approval]} ${burns}`,
  }));
}

// Which tokens an account has redeemed, as the Data API lists its activity: one row for each outcome of a redemption. A
// row is proof, because it comes from a block; a balance that vanished is none, for tokens can be sent elsewhere. In Protocol V2
// a redemption names its amount, so that one transaction may have several rows of a token.

export function createRedeemedReads(
  data: Pick<VenueHttp, 'read' | 'lists'>,
): NonNullable<Redemption['redeemed']> {
  const rowsOf = (account: Address, conditionIds: readonly string[]): Promise<readonly Numbered[]> =>
    data.lists.all<Numbered>({
      name: PATH,
      whose: account,
      mostPages: MAX_PAGES,
      // Rows have no id; {@link addedUp} knows which repeat another.
      idOf: () => null,
      async ask(cursor) {
        // With a cursor the same filters are sent again.
        const condition = conditionIds.join(',');
        const query = { user: account, type: 'REDEEM', condition, limit: ROWS_PER_PAGE, cursor };
        const page = await data.read({ path: PATH, query }, READ.dataPage);
        return { rows: numbered(page?.data ?? []), next: nextOf(page?.pagination?.next_cursor) };
      },
    });

  return async (account, conditionIds) => {
    const rows: Numbered[] = [];
    for (let start = 0; start < conditionIds.length; start += CONDITIONS_PER_QUESTION)
      rows.push(...(await rowsOf(account, conditionIds.slice(start, start + CONDITIONS_PER_QUESTION))));
    return addedUp(rows, account, new Set(conditionIds));
  };
}

type Activity = NonNullable<ReturnType<typeof READ.activity>>;

interface Numbered {
  readonly wire: Activity;
  /** What it says, and how many that say the same stand before it on its page. */
  readonly key: string;
}

/** Pages may overlap, and rows have no id. Within one page no row comes twice: what is alike there is as many redemptions. */
function numbered(rows: readonly unknown[]): Numbered[] {
  const counts = new Map<string, number>();
  return rows.flatMap((row) => {
    const wire = READ.activity(row);
    if (wire === null) return [];
    const { token_id: tokenId, timestamp, transaction_hash: hash, size } = wire;
    const text = `${hash ?? timestamp} ${tokenId} ${microOf(size)}`;
    const nth = counts.get(text) ?? 0;
    counts.set(text, nth + 1);
    return [{ wire, key: `${text} ${nth}` }];
  });
}

/** Of rows that could be one, on two pages, one counts: a row too many would close a position. */
function addedUp(rows: readonly Numbered[], account: Address, wanted: ReadonlySet<string>): RedeemedTokens[] {
  const seen = new Set<string>();
  const tokens = new Map<string, RedeemedTokens>();
  for (const { wire, key } of rows) {
    // The filters are checked again.
    if (wire.type !== 'REDEEM' || wire.proxy_wallet.toLowerCase() !== account) continue;
    if (!/^0x[0-9a-fA-F]+$/.test(wire.condition_id) || !wanted.has(conditionOf(wire.condition_id))) continue;
    if (seen.has(key)) continue;
    seen.add(key);
    const { token_id: tokenId, timestamp } = wire;
    const before = tokens.get(tokenId) ?? { tokenId, size: 0n, at: 0 };
    const at = Math.max(before.at, timestamp * SECOND_MS);
    tokens.set(tokenId, { tokenId, size: before.size + microOf(wire.size), at });
  }
  return [...tokens.values()];
}
