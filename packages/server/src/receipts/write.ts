/**
 * Makes receipts behind the trades, from the log of facts. One entry says what is new of an order since its last one; what was
 * asked and checked is in its first.
 *
 * Trades go first: this takes a twentieth of the time, and more the later receipts are: half of it from five seconds on, which is
 * enough for as many trades as a desk can take.
 */

import { canonicalJson, FIRST_LINK, type ReceiptBody, receiptText, type Sha256 } from '@bellwether/contract';
import { formatMicro, formatPips } from '@bellwether/contract/decimals';
import { type OrderStatus, reachable } from '../domain/lifecycle.ts';
import type { OrderRow } from '../domain/records.ts';
import type { Job } from '../platform/scheduler.ts';
import { checkedRecord } from '../trading/index.ts';
import type { ReceiptNeeds } from './read.ts';
import type {
  DoubtfulPiece,
  DoubtfulReceipts,
  OrderChange,
  OrderFact,
  ReceiptFill,
  ReceiptMatter,
  ReceiptPiece,
  ReceiptPlace,
  ReceiptRow,
  StoredJournal,
} from './store.ts';

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
function createReceiptWriter({ clock, receipts, sha256 }: ReceiptNeeds): () => Promise<void> {
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

// Puts entries behind the chains of their agents.

interface NewEntry {
  readonly order: Pick<OrderRow, 'agentId' | 'orderId'>;
  readonly recordedAt: number;
  readonly body: ReceiptBody;
}

function linkEntries(
  entries: readonly NewEntry[],
  heads: ReadonlyMap<string, ReceiptPlace>,
  sha256: Sha256,
): ReceiptRow[] {
  const last = new Map<string, ReceiptPlace>(heads);
  return entries.map(({ order: { agentId, orderId }, recordedAt, body: content }) => {
    const { sequence, hash: previousHash } = last.get(agentId) ?? FIRST_LINK;
    const entry = {
      agentId,
      sequence: sequence + 1,
      previousHash,
      kind: 'order',
      recordedAt: new Date(recordedAt).toISOString(),
    };
    const body = canonicalJson(content) as string;
    const hash = sha256(receiptText(entry, body));
    last.set(agentId, { sequence: entry.sequence, hash });
    return { agentId, sequence: entry.sequence, kind: entry.kind, orderId, recordedAt, body, hash };
  });
}

// Corrects receipts that were made while the log could tell an order's changes in the wrong order: the last entry of such an
// order says an earlier state than the order has. A further entry says the state that holds, and which entry it corrects; no
// entry is overwritten.
//
// It must not cover up what somebody altered. So it corrects only what the lifecycle allows to come later, and only
// where the receipts themselves, or the log, have the state that the order has now.

/** So few that trades do not notice. */
const ORDERS_PER_TURN = 200;

/** @returns one turn of the job, which has nothing to do once all receipts were looked at */
function createReceiptCorrector({ receipts, sha256 }: ReceiptNeeds) {
  let isDone = false;
  return async (): Promise<void> => {
    if (isDone) return;
    isDone = !(await receipts.correct(ORDERS_PER_TURN, (piece) => linkCorrections(piece, sha256)));
  };
}

type Fields = Readonly<Record<string, unknown>>;

interface ReceiptedState {
  readonly sequence: number;
  readonly state: Fields | null;
  readonly answered: Fields | null;
}

/** Statuses to which a venue's first answer may lead at once, by its word. */
const ANSWERED: Readonly<Record<string, readonly OrderStatus[]>> = {
  live: ['live', 'partially_filled'],
  matched: ['matched', 'filled', 'partially_filled', 'partially_filled_closed'],
  delayed: ['delayed'],
};

export const linkCorrections = ({ doubtful, heads }: DoubtfulPiece, sha256: Sha256): ReceiptRow[] =>
  linkEntries(
    doubtful.flatMap((one) => correctionOf(one) ?? []),
    heads,
    sha256,
  );

function correctionOf({ order, receipts, isLogged }: DoubtfulReceipts): NewEntry | null {
  const reported = receipts.map(reportedOf);
  const last = reported.findLast((one) => one?.state != null);
  // An entry that is no receipt any more was altered, and the audit names it.
  if (last == null || reported.includes(null)) return null;
  const state = stateOf(order);
  if (isSame(last.state, state) || !isLater(order, last.state as Fields)) return null;
  const isProven =
    isLogged ||
    reported.some((one) => isSame(one?.state, state)) ||
    reported.some((one) => hasAnswered(one, state));
  return isProven
    ? {
        order,
        recordedAt: order.updatedAt,
        body: { orderId: order.orderId, state, corrects: last.sequence },
      }
    : null;
}

function reportedOf({
  sequence,
  body,
}: {
  readonly sequence: number;
  readonly body: string;
}): ReceiptedState | null {
  try {
    const { state, answered } = JSON.parse(body) as ReceiptBody;
    return { sequence, state: state ?? null, answered: answered ?? null };
  } catch {
    return null;
  }
}

const stateOf = ({ status, filled, cost, fees, errorCode }: OrderRow) => ({
  status,
  filled: formatMicro(filled),
  cost: formatMicro(cost),
  fees: formatMicro(fees),
  errorCode,
});

type State = ReturnType<typeof stateOf>;
const FIGURES = ['filled', 'cost', 'fees', 'errorCode'] as const;

const isSame = (reported: Fields | null | undefined, state: State): boolean =>
  reported != null &&
  reported.status === state.status &&
  FIGURES.every((name) => reported[name] === state[name]);

const isLater = (order: OrderRow, reported: Fields): boolean =>
  reachable(order.kind, reported.status as OrderStatus).includes(order.status);

const hasAnswered = (reported: ReceiptedState | null, state: State): boolean => {
  const answer = reported?.answered;
  if (answer == null || !FIGURES.every((name) => answer[name] === state[name])) return false;
  return answer.success === true
    ? (ANSWERED[String(answer.status)] ?? []).includes(state.status)
    : state.status === 'rejected';
};

// Receipts follow trades within a second.

export const receiptJobs = (needs: ReceiptNeeds): readonly Job[] => [
  { name: 'write receipts', everyMs: 250, run: createReceiptWriter(needs) },
  { name: 'correct receipts', everyMs: 500, run: createReceiptCorrector(needs) },
];
