/**
 * Full sets at the live venue, and conversions in markets of Protocol V2. The desk holds no key that could make one: it says which
 * transactions make the wallet do so, its owner signs and sends them, and the Data API lists what the chain has of it.
 */
import type { Micro } from '@bellwether/contract/decimals';
import {
  type Address,
  conditionsOfEvent,
  convertCall,
  mergeCall,
  ownerCalls,
  positionIds,
  splitCall,
} from '@bellwether/protocol';
import type { MarketRecord } from '../../domain/market.ts';
import type { MadeQuestion, MadeSet, MarketData, Sets, UnsignedCall, VenueSet } from '../venue.ts';
import type { KeysOf, LiveAccounts } from './accounts.ts';
import { type Approval, HOW_SENT, positionApproval, positionApprovalCall } from './approvals.ts';
import type { VenueHttp } from './http.ts';
import { nextOf } from './paging.ts';
import type { Relayer, Relaying } from './relayer.ts';
import { conditionOf, microOf } from './translate-market.ts';
import { READ } from './wire.ts';

export interface LiveSetsOptions {
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
