/**
 * Makes receipts behind the trades, from the log of facts. One entry says what is new of an order since its last one; what was
 * asked and checked is in its first.
 *
 * Trades go first: this takes a twentieth of the time, and more the later receipts are: half of it from five seconds on, which is
 * enough for as many trades as a desk can take.
 */
import { canonicalJson, type ReceiptBody, type Sha256 } from '@bellwether/contract';
import { formatMicro, formatPips } from '@bellwether/contract/decimals';
import type { OrderRow } from '../domain/records.ts';
import type { Clock } from '../platform/clock.ts';
import { checkedRecord } from '../trading/index.ts';
import { linkEntries } from './link.ts';
import type {
  OrderChange,
  OrderFact,
  ReceiptFill,
  ReceiptMatter,
  ReceiptPiece,
  ReceiptRow,
  ReceiptStore,
  StoredJournal,
} from './store.ts';

export interface WriteReceiptsNeeds {
  readonly clock: Clock;
  readonly receipts: Pick<ReceiptStore, 'extend'>;
  readonly sha256: Sha256;
}

/** So few that no request notices the time. */
const FACTS_PER_PIECE = 200;
const LEAST_SHARE = 1 / 20;
const MOST_SHARE = 1 / 2;
/** Receipts as late as this would take all of the time. */
const WHOLE_SHARE_LATE_MS = 10_000;
/** A stop waits for a turn: it takes this long at most, and one piece more. */
const TURN_MS = 125;
/** Another replica is at it. */
const LOST_REST_MS = 2_000;

/** @returns one turn of the job */
export function createReceiptWriter({ clock, receipts, sha256 }: WriteReceiptsNeeds): () => Promise<void> {
  let share = LEAST_SHARE;
  /** What its share of the time has left for it. Below zero a piece took more, which is waited for. */
  let leftMs = TURN_MS;
  let countedAt = performance.now();
  const count = (spent: 0 | 1): void => {
    const before = countedAt;
    countedAt = performance.now();
    leftMs = Math.min(TURN_MS, leftMs + (countedAt - before) * (share - spent));
  };
  return async () => {
    count(0);
    while (leftMs > 0) {
      const done = await receipts.extend(FACTS_PER_PIECE, (piece) => linkReceipts(piece, sha256));
      count(1);
      if (!done.isMine) leftMs = -LOST_REST_MS * share;
      if (!done.isMine || done.newestAt === null) return;
      const lateMs = clock.now() - done.newestAt;
      share = Math.min(MOST_SHARE, Math.max(LEAST_SHARE, lateMs / WHOLE_SHARE_LATE_MS));
      if (done.facts < FACTS_PER_PIECE) return;
    }
  };
}

/** The entries of a piece of the log, each behind the one before it of its agent. */
export const linkReceipts = ({ matters, heads }: ReceiptPiece, sha256: Sha256): ReceiptRow[] =>
  linkEntries(
    matters.map((matter) => ({
      order: matter.order,
      recordedAt: Math.max(...matter.facts.map(({ at }) => at)),
      body: bodyOf(matter, sha256),
    })),
    heads,
    sha256,
  );

const micro = (text: string | undefined): string => formatMicro(BigInt(text ?? '0'));
const isOf =
  <K extends OrderFact['kind']>(kind: K) =>
  (fact: OrderFact): fact is Extract<OrderFact, { kind: K }> =>
    fact.kind === kind;

function bodyOf(
  { order, transactionId, isFirst, exit, journal, facts }: ReceiptMatter,
  sha256: Sha256,
): ReceiptBody {
  const state = facts.filter(isOf('order')).at(-1);
  const fills = facts.filter(isOf('fill')).flatMap(({ fill }) => (fill === null ? [] : [fillRecord(fill)]));
  const recounted = facts
    .filter(isOf('recount'))
    .flatMap(({ fill }) => (fill === null ? [] : [gainRecord(fill)]));
  const reversed = facts.filter(isOf('reversal')).map(({ payload }) => ({
    tradeId: payload.tradeId ?? '',
    walletAddress: payload.walletAddress ?? '',
    size: micro(payload.size),
    cost: micro(payload.cost),
    fee: micro(payload.fee),
  }));
  return {
    orderId: order.orderId,
    ...(isFirst ? { asked: askedRecord(order, transactionId, sha256), checked: checkedOf(order) } : {}),
    ...(isFirst && exit !== null ? { exit: { ...exit } } : {}),
    ...(order.first === null ? {} : { answered: answeredRecord(order.first) }),
    ...(state === undefined ? {} : { state: stateRecord(state.payload) }),
    ...(fills.length === 0 ? {} : { fills }),
    ...(recounted.length === 0 ? {} : { recounted }),
    ...(reversed.length === 0 ? {} : { reversed }),
    journal: journalRecord(journal, sha256),
  };
}

/** The terms of an order that never change. */
export const askedRecord = (order: OrderRow, transactionId: string | null, sha256: Sha256) => ({
  kind: order.kind,
  venue: order.venue,
  marketId: order.marketId,
  marketConditionId: order.conditionId,
  marketQuestion: order.question,
  tokenId: order.tokenId,
  outcome: order.outcome,
  // Where it is missing, the outcome may be in the order in which the venue lists them: the token says which it is.
  ...(order.outcomeName === null ? {} : { outcomeName: order.outcomeName }),
  side: order.side,
  orderType: order.timeInForce,
  isLimitOrder: order.isLimitOrder,
  postOnly: order.postOnly,
  price: formatPips(order.price),
  limit: formatPips(order.limit),
  shares: formatMicro(order.shares),
  amount: formatMicro(order.money),
  feeAmount: formatMicro(order.feeAmount),
  funder: order.funder,
  walletAddress: order.walletAddress,
  expiration: order.expiration === null ? null : new Date(order.expiration).toISOString(),
  reasoningDigest: order.reasoning === null ? null : sha256(order.reasoning),
  source: order.source,
  skillSlug: order.skillSlug,
  requestId: order.requestId,
  createdAt: new Date(order.createdAt).toISOString(),
  transactionId,
});

/** Figures by which the desk judged it, as its journal keeps them. */
const checkedOf = (order: OrderRow): Record<string, unknown> =>
  checkedRecord(order.journal.find(({ event }) => event === 'recorded')?.checked ?? {});

export const answeredRecord = (first: NonNullable<OrderRow['first']>) => ({
  success: first.success,
  status: first.status,
  filled: formatMicro(first.filled),
  cost: formatMicro(first.cost),
  fees: formatMicro(first.fees),
  errorCode: first.errorCode,
});

export const stateRecord = (change: OrderChange) => ({
  status: change.status,
  filled: micro(change.filledSize),
  cost: micro(change.filledAmount),
  fees: micro(change.feePaid),
  errorCode: change.errorCode ?? null,
});

const gainRecord = ({ tradeId, wallet, realized }: ReceiptFill) => ({
  tradeId: String(tradeId),
  walletAddress: wallet,
  realized: formatMicro(realized),
});

/** Record of the first entries of the journal, which only grows. @param only so many; default: all */
export function journalRecord(
  { earlier, lines }: StoredJournal,
  sha256: Sha256,
  only: { readonly lines?: number; readonly earlier?: number } = {},
) {
  const all = lines.split('\n').slice(0, -1);
  const [first, before] = [all.slice(0, only.lines), earlier.slice(0, only.earlier)];
  return {
    lines: first.length,
    digest: sha256(first.map((line) => `${line}\n`).join('')),
    earlier: before.length,
    ...(before.length === 0 ? {} : { earlierDigest: sha256(canonicalJson(before) as string) }),
  };
}

export const fillRecord = (fill: ReceiptFill) => ({
  tradeId: String(fill.tradeId),
  walletAddress: fill.wallet,
  price: formatPips(fill.price),
  size: formatMicro(fill.size),
  cost: formatMicro(fill.cost),
  fee: formatMicro(fill.fee),
  realized: formatMicro(fill.realized),
  liquidity: fill.liquidity,
  matchKind: fill.matchKind,
  filledAt: new Date(fill.filledAt).toISOString(),
});
