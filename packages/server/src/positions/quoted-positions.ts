/** Positions of a wallet in quoted markets: sizes from the chain, cost from what the desk traded. */
import { type ChainPosition, outcomeName } from '@bellwether/contract';
import {
  MICRO,
  type Micro,
  microToNumber,
  notional,
  type Pips,
  pipsToNumber,
} from '@bellwether/contract/decimals';
import { parseSolanaAddress, type SolanaAddress } from '@bellwether/protocol';
import { endText, knownPrice } from '../domain/market.ts';
import type { Caller, PositionRow } from '../domain/records.ts';
import { refusal } from '../platform/refusal.ts';
import { filterOf, type HasVenues, quotingVenue } from '../venues/asking.ts';
import type { TickerMarket } from '../venues/quotes.ts';
import { type PositionNeeds, paidPrice, percentOf } from './positions.ts';

interface Wallets {
  readonly read: readonly SolanaAddress[];
  /** Those of them whose cost may be shown: an address that is only named may be anybody's. */
  readonly proved: ReadonlySet<SolanaAddress>;
}

/** @throws Refusal invalid_solana_address, wallet_not_found */
async function walletsFor(needs: PositionNeeds, caller: Caller, asked: string | undefined): Promise<Wallets> {
  const { named, proved: ofAgent } = await needs.wallets.solanaWallets(caller);
  const proved = new Set(ofAgent);
  if (asked === undefined)
    return { read: [...new Set(named === null ? ofAgent : [named, ...ofAgent])], proved };
  const wallet = parseSolanaAddress(asked);
  if (wallet === null) {
    throw refusal('invalid_solana_address', 'userPublicKey is not base58 of 32 bytes.', {
      path: 'userPublicKey',
    });
  }
  if (wallet !== named && !proved.has(wallet)) {
    throw refusal('wallet_not_found', "This wallet is none of your owner's, or out of this agent's reach.", {
      path: 'userPublicKey',
    });
  }
  return { read: [wallet], proved };
}

/**
 * Reads the wallet asked for, else every one that the agent reaches and the one that it names.
 * @throws Refusal invalid_solana_address, wallet_not_found, and what the venue's ports throw while they do not answer
 */
export async function chainPositions(
  needs: PositionNeeds,
  caller: Caller,
  asked: string | undefined,
): Promise<ChainPosition[]> {
  const { read, proved } = await walletsFor(needs, caller, asked);
  const known = read.filter((wallet) => proved.has(wallet));
  const [accounts, rows] = await Promise.all([
    Promise.all(read.map((wallet) => quotingVenue(needs).quotes.chain.outcomeAccounts(wallet))),
    known.length === 0 ? [] : needs.positions.held(known, filterOf(needs, [quotingVenue(needs)])),
  ]);
  // A wallet may have several accounts of one mint.
  const held = new Map<string, { wallet: SolanaAddress; mint: string; size: Micro }>();
  for (const { owner, mint, amount } of accounts.flat()) {
    if (amount === 0n) continue;
    const key = `${owner} ${mint}`;
    held.set(key, { wallet: owner, mint, size: (held.get(key)?.size ?? 0n) + amount });
  }
  const mints = [...new Set([...held.values()].map(({ mint }) => mint))];
  const markets =
    mints.length === 0
      ? new Map<string, TickerMarket | null>()
      : await quotingVenue(needs).quotes.marketsByMint(mints);
  const traded = new Map(rows.map((row) => [`${row.wallet} ${row.tokenId}`, row]));
  return [...held].flatMap(([key, { wallet, mint, size }]) => {
    const market = markets.get(mint);
    // Tokens of other programs and other venues are no positions here.
    if (market === undefined) return [];
    return [positionRecord(needs, { wallet, mint, size, market, row: traded.get(key) ?? null })];
  });
}

interface OnChain {
  readonly wallet: SolanaAddress;
  readonly mint: string;
  readonly size: Micro;
  /** `null`: the venue calls it its token, and names no market of it that can be read. */
  readonly market: TickerMarket | null;
  /** Position of what the desk traded of it. */
  readonly row: PositionRow | null;
}

/**
 * The size is the chain's. Cost and P&L are of the part that the desk bought: tokens that came otherwise cost nothing
 * here and gain nothing, and of a part that left otherwise its share of the cost is gone.
 */
function positionRecord(needs: HasVenues, { wallet, mint, size, market, row }: OnChain): ChainPosition {
  const known = market === null ? recorded(row) : listed(market, mint);
  const { marketId } = known;
  const ours = row === null ? 0n : size < row.size ? size : row.size;
  const cost = row === null || row.size === 0n ? 0n : (row.cost * ours) / row.size;
  const price: Pips = known.price ?? (row === null ? 0 : paidPrice(row));
  const gain = notional(ours, price, 'floor') - cost;
  return {
    venue: quotingVenue(needs).id,
    marketId,
    marketConditionId: marketId,
    conditionId: marketId,
    tokenId: mint,
    title: known.title,
    outcome: known.outcome,
    outcomeName: known.outcomeName,
    size: microToNumber(size),
    avgPrice: ours === 0n ? 0 : microToNumber((cost * MICRO) / ours),
    currentPrice: pipsToNumber(price),
    initialValue: microToNumber(cost),
    currentValue: microToNumber(notional(size, price, 'floor')),
    unrealizedPnl: microToNumber(gain),
    realizedPnl: microToNumber(row?.realized ?? 0n),
    fees: microToNumber(row?.fees ?? 0n),
    percentPnl: percentOf(gain, cost),
    redeemable: known.redeemable,
    mergeable: false,
    endDate: endText(known.endDate),
    walletAddress: wallet,
    marketTicker: marketId,
    mint,
    marketStatus: known.status,
  };
}

function listed(market: TickerMarket, mint: string) {
  const outcome = market.tokenIds[0] === mint ? 'YES' : 'NO';
  const price = market.pays[outcome] ?? knownPrice(market, outcome);
  return {
    ...{ marketId: market.id, title: market.question, endDate: market.endDate, status: market.phase, price },
    ...{ outcome, outcomeName: outcomeName(market.outcomes, outcome) },
    redeemable: market.phase === 'settled' && (market.pays[outcome] ?? 0) > 0,
  };
}

/** Of a token without a readable market: what the desk recorded as it traded it. */
const recorded = (row: PositionRow | null) => ({
  ...{ marketId: row?.conditionId ?? '', title: row?.market?.question ?? '' },
  ...{
    outcome: row?.outcome ?? '',
    outcomeName: row === null ? null : outcomeName(row.market?.outcomes, row.outcome),
  },
  ...{ endDate: row?.market?.endDate ?? null, status: 'unknown', redeemable: false },
  price: null,
});
