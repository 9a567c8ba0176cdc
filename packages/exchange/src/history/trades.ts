/**
 * The venue's trades and moves, folded from the journal's entries, with their ids and their settlement. One trade is
 * one taker order against one or several makers in one command; its number is that of its first match, so numbers
 * increase and every match belongs to the trade with the greatest number that is not above it. Pure.
 */

import { createHash } from 'node:crypto';
import type { EngineEvent, Outcome, Side } from '../paper-exchange.ts';
import type {
  AccountMove,
  Settlement,
  SettlementDelays,
  Taker,
  Trade,
  TradeMatch,
  TradePlace,
} from '../trade-history.ts';

type Fill = Extract<EngineEvent, { readonly kind: 'fill' }>;

/** The trades of one command. */
export function tradesOf(events: readonly EngineEvent[], at: number): Trade[] {
  const trades: (Trade & { readonly matches: TradeMatch[] })[] = [];
  let taking: Fill | undefined;
  for (const event of events) {
    if (event.kind !== 'fill') continue;
    if (event.liquidity === 'taker') {
      taking = event;
      continue;
    }
    // A match's two fills follow each other, the taker's first.
    if (taking?.matchId !== event.matchId)
      throw new Error(`match ${event.matchId} has a maker's fill without the taker's`);
    let trade = trades.at(-1);
    if (trade?.taker.orderId !== taking.orderId) {
      const { orderId, account, outcome, side, conditionId } = taking;
      trade = {
        number: event.matchId,
        at,
        conditionId,
        taker: { orderId, account, outcome, side },
        matches: [],
      };
      trades.push(trade);
    }
    const { orderId, account, outcome, side, price, size, cost } = event;
    trade.matches.push({
      ...{ orderId, account, outcome, side, price, size, cost },
      takerCost: taking.cost,
      takerFee: taking.fee,
    });
  }
  return trades;
}

/**
 * As one text, without what the row's columns say: the taker, then every match, by `|`; their parts by spaces. No id contains
 * either, and no part needs to be quoted on its way to the database.
 */
export const encodeTrade = ({ taker, matches }: Pick<Trade, 'taker' | 'matches'>): string => {
  let text = `${taker.orderId} ${taker.account} ${taker.outcome} ${taker.side}`;
  for (const { orderId, account, outcome, side, price, size, cost, takerCost, takerFee } of matches)
    text += `|${orderId} ${account} ${outcome} ${side} ${price} ${size} ${cost} ${takerCost} ${takerFee}`;
  return text;
};

export function decodeTrade(text: string): Pick<Trade, 'taker' | 'matches'> {
  const [taker = '', ...matches] = text.split('|');
  return { taker: partyOf(taker.split(' ')), matches: matches.map(matchOf) };
}

const partyOf = ([orderId, account, outcome, side]: readonly string[]): Taker => ({
  ...{ orderId: orderId!, account: account! },
  ...{ outcome: outcome as Outcome, side: side as Side },
});

function matchOf(text: string): TradeMatch {
  const parts = text.split(' ');
  const [price, size, cost, takerCost, takerFee] = parts.slice(4);
  return {
    ...partyOf(parts),
    price: Number(price),
    ...{ size: BigInt(size!), cost: BigInt(cost!) },
    ...{ takerCost: BigInt(takerCost!), takerFee: BigInt(takerFee!) },
  };
}

// Ids of trades in the venue's form, a UUID. An id follows from the world's seed and the trade's number, and says both: it
// needs no column and no index, and one that this exchange never made is recognised.

/** Bytes that carry the number. */
const NUMBER_BYTES = 6;
const GREATEST_NUMBER = 2 ** (8 * NUMBER_BYTES) - 1;

const digest = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** Version and variant bits of a random UUID, and ten bytes that follow from the number. */
function tailOf(seed: string, number: number): Buffer {
  const tail = digest('trade id', '\0', seed, '\0', String(number)).subarray(0, 16 - NUMBER_BYTES);
  tail[0] = (tail[0]! & 0x0f) | 0x40;
  tail[2] = (tail[2]! & 0x3f) | 0x80;
  return tail;
}

const masked = (seed: string, tail: Buffer, head: Buffer): Buffer => {
  const mask = digest('trade number', '\0', seed, '\0', tail);
  return Buffer.from(head.map((byte, at) => byte ^ mask[at]!));
};

export function tradeIdOf(seed: string, number: number): string {
  if (!Number.isSafeInteger(number) || number < 1 || number > GREATEST_NUMBER)
    throw new RangeError(`no trade has the number ${number}`);
  const tail = tailOf(seed, number);
  const head = Buffer.alloc(NUMBER_BYTES);
  head.writeUIntBE(number, 0, NUMBER_BYTES);
  const hex = Buffer.concat([masked(seed, tail, head), tail]).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** @returns undefined for an id that this exchange never made */
export function tradeNumberOf(seed: string, tradeId: string): number | undefined {
  const id = tradeId.toLowerCase();
  if (!UUID.test(id)) return undefined;
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
  const tail = bytes.subarray(NUMBER_BYTES);
  const number = masked(seed, tail, bytes.subarray(0, NUMBER_BYTES)).readUIntBE(0, NUMBER_BYTES);
  return number >= 1 && tailOf(seed, number).equals(tail) ? number : undefined;
}

// Changes of an account's collateral and tokens that are no trades.

type Amounts = Pick<AccountMove, 'kind' | 'conditionId' | 'yes' | 'no' | 'collateral'>;

/** A conversion is a move in each of its markets; what is used up comes first. */
function amountsOf(event: EngineEvent): readonly Amounts[] {
  switch (event.kind) {
    case 'deposited':
      return [{ kind: 'deposit', yes: 0n, no: 0n, collateral: event.amount }];
    case 'split':
      return [{ kind: 'split', yes: event.amount, no: event.amount, collateral: event.amount }];
    case 'merged':
      return [{ kind: 'merge', yes: event.amount, no: event.amount, collateral: event.amount }];
    case 'converted': {
      const { conditionId, amount, worth, made } = event;
      const kind = 'convert';
      return [
        { kind, conditionId, yes: 0n, no: amount, collateral: worth },
        ...made.map(
          (one) =>
            ({ kind, conditionId: one.conditionId, yes: amount, no: 0n, collateral: one.worth }) as const,
        ),
      ];
    }
    case 'redeemed':
      return [{ kind: 'redeem', yes: event.yes, no: event.no, collateral: event.payout }];
    default:
      return [];
  }
}

/** The moves of one command. The house's own are no part of entries. */
export function movesOf(
  events: readonly EngineEvent[],
  { seq, at }: { seq: number; at: number },
): AccountMove[] {
  const moves: AccountMove[] = [];
  for (const event of events) {
    if (!('account' in event)) continue;
    const market = 'conditionId' in event ? { conditionId: event.conditionId } : {};
    for (const amounts of amountsOf(event))
      moves.push({ account: event.account, at, seq, part: moves.length, ...market, ...amounts });
  }
  return moves;
}

// How far a trade has settled. The life follows from the trade's time and its fate, so no step of it is written:
// MATCHED → MINED → CONFIRMED after fixed delays; a trade that is going to fail is RETRYING from the time at which it
// should have been mined until it is reversed, and FAILED from then on. Where it cannot be reversed it settles after all.

export type Fate =
  | { readonly kind: 'settles' }
  | { readonly kind: 'fails' }
  | { readonly kind: 'failed' | 'settled_late'; readonly at: number };

export const SETTLEMENT_DELAYS: SettlementDelays = { minedAfterMs: 1_000, confirmedAfterMs: 3_000 };

export function settlementOf(
  trade: TradePlace,
  fate: Fate,
  { seed, now, delays }: { readonly seed: string; readonly now: number; readonly delays: SettlementDelays },
): Settlement {
  const { minedAfterMs, confirmedAfterMs } = delays;
  const dueAt = trade.at + minedAfterMs;
  if (fate.kind === 'failed') return { status: 'FAILED', since: fate.at };
  const minedAt = fate.kind === 'settled_late' ? fate.at : dueAt;
  if (now < dueAt) return { status: 'MATCHED', since: trade.at };
  if (fate.kind === 'fails' || now < minedAt) return { status: 'RETRYING', since: dueAt };
  const transactionHash = transactionHashOf(seed, trade.number);
  const confirmedAt = minedAt + Math.max(0, confirmedAfterMs - minedAfterMs);
  return now < confirmedAt
    ? { status: 'MINED', since: minedAt, transactionHash }
    : { status: 'CONFIRMED', since: confirmedAt, transactionHash };
}

const transactionHashOf = (seed: string, number: number): string =>
  `0x${createHash('sha256').update(`transaction\0${seed}\0${number}`).digest('hex')}`;

const FATES = ['settles', 'fails', 'failed', 'settled_late'] as const;
export const FATE_CODE = { settles: 0, fails: 1, failed: 2, settled_late: 3 } as const;

/** From the columns `fate` and `fate_ms`. */
export function fateOf(code: number, at: number | null): Fate {
  const kind = FATES[code];
  if (kind === undefined) throw new Error(`a trade has the unknown fate ${code}`);
  return kind === 'failed' || kind === 'settled_late' ? { kind, at: at ?? 0 } : { kind };
}
