/**
 * Holds every chain of receipts against itself, and against what is stored of the orders and fills. Names, for each agent, the
 * first row that was altered, deleted, added or moved. It proves nothing against somebody who rewrote a whole chain with its
 * rows: that takes a head that was kept elsewhere.
 */
import {
  canonicalJson,
  checkChain,
  FIRST_LINK,
  type ReceiptBody,
  type ReceiptEntry,
  type ReceiptLink,
  type Sha256,
} from '@bellwether/contract';
import type { OrderRow } from '../domain/records.ts';
import type { Sql } from '../platform/database/connection.ts';
import { entryOf } from './read.ts';
import { type AuditedOrder, type AuditReads, type LinkedReceipt, readForAudit } from './store.ts';
import { answeredRecord, askedRecord, fillRecord, journalRecord, stateRecord } from './write.ts';

export interface AuditFault {
  readonly agentId: string;
  /** The row: a receipt by its sequence, an order or a fill by its ids. */
  readonly row: string;
  readonly problem: string;
}

export interface AuditCounts {
  readonly agents: number;
  readonly entries: number;
  readonly orders: number;
}

interface AuditReport extends AuditCounts {
  /** At most one for each agent. */
  readonly faults: readonly AuditFault[];
}

const ROWS_PER_PAGE = 500;

interface AuditOptions {
  readonly sha256: Sha256;
  /** Heads that were kept elsewhere, by agent. */
  readonly kept?: ReadonlyMap<string, ReceiptLink>;
  /** Gets, after every page, what has been checked so far. */
  readonly onProgress?: (sofar: AuditCounts) => void;
}

/** An audit in progress. */
interface Audit extends Required<Pick<AuditOptions, 'sha256' | 'onProgress'>> {
  readonly reads: AuditReads;
  readonly report: { agents: number; entries: number; orders: number };
}

/** Audits the whole database, as of one moment. */
export const auditReceipts = (sql: Sql, options: AuditOptions): Promise<AuditReport> =>
  readForAudit(sql, (reads) => auditAll(reads, options));

async function auditAll(
  reads: AuditReads,
  { sha256, kept = new Map(), onProgress = () => {} }: AuditOptions,
): Promise<AuditReport> {
  const report = { agents: 0, entries: 0, orders: 0 };
  const audit: Audit = { reads, sha256, onProgress, report };
  const faults: AuditFault[] = [];
  const agents = await reads.agents();
  for (const agentId of agents) {
    const chain = await readChain(audit, agentId, kept.get(agentId));
    report.agents += 1;
    const found = chain.fault ?? (await orderFault(audit, agentId, chain.reported));
    if (found !== null) faults.push({ agentId, ...found });
  }
  return { ...report, faults: [...faults, ...vanished(agents, kept)] };
}

/** Only the kept head shows that there was an agent whose every row was deleted. */
function vanished(agents: readonly string[], kept: ReadonlyMap<string, ReceiptLink>): AuditFault[] {
  const present = new Set(agents);
  return [...kept].flatMap(([agentId, { sequence }]) =>
    present.has(agentId) || sequence === 0
      ? []
      : [
          {
            agentId,
            row: 'receipt 1',
            problem: `no entry of this agent is there, and the head that was kept is entry ${sequence}: the chain was deleted`,
          },
        ],
  );
}

type Fault = Omit<AuditFault, 'agentId'>;
type Fields = Readonly<Record<string, unknown>>;

/** Everything that the entries of an order say together. */
interface ReceiptedOrder {
  readonly sequence: number;
  asked: Fields | null;
  answered: Fields | null;
  state: Fields | null;
  journal: Fields | null;
  readonly fills: Map<string, Fields>;
  readonly reversed: Set<string>;
}

interface Chain {
  readonly fault: Fault | null;
  readonly reported: Map<string, ReceiptedOrder>;
}

/** @throws BrokenRow */
function readEntry(row: LinkedReceipt): ReceiptEntry {
  try {
    return entryOf(row);
  } catch {
    throw new BrokenRow(`receipt ${row.sequence}`, 'its content is no JSON: it was altered');
  }
}

class BrokenRow extends Error {
  readonly fault: Fault;

  constructor(row: string, problem: string) {
    super(`${row}: ${problem}`);
    this.fault = { row, problem };
  }
}

async function readChain(audit: Audit, agentId: string, kept: ReceiptLink | undefined): Promise<Chain> {
  const reported = new Map<string, ReceiptedOrder>();
  try {
    return { fault: await chainFault(audit, agentId, kept, reported), reported };
  } catch (error) {
    if (error instanceof BrokenRow) return { fault: error.fault, reported };
    throw error;
  }
}

/** Fills `reported` on the way. */
async function chainFault(
  { reads, sha256, report, onProgress }: Audit,
  agentId: string,
  kept: ReceiptLink | undefined,
  reported: Map<string, ReceiptedOrder>,
): Promise<Fault | null> {
  let last: ReceiptLink = FIRST_LINK;
  let hasKept = kept === undefined || kept.sequence === 0;
  for (;;) {
    const rows = await reads.page(agentId, last.sequence, ROWS_PER_PAGE);
    const entries = rows.map(readEntry);
    const checked = checkChain(entries, sha256, last);
    if (!checked.ok) return { row: `receipt ${checked.fault.sequence}`, problem: checked.fault.problem };
    for (const entry of entries) {
      if (entry.sequence === kept?.sequence && entry.hash !== kept.hash)
        return {
          row: `receipt ${entry.sequence}`,
          problem: 'it does not have the hash that was kept: the chain was rewritten',
        };
      hasKept ||= entry.sequence === kept?.sequence;
      addTo(reported, entry);
    }
    last = checked.head;
    report.entries += entries.length;
    onProgress(report);
    if (entries.length < ROWS_PER_PAGE) break;
  }
  const head = await reads.head(agentId);
  const isWhole =
    hasKept && (head ?? FIRST_LINK).sequence === last.sequence && (head ?? FIRST_LINK).hash === last.hash;
  const expected = hasKept ? head : kept;
  return isWhole
    ? null
    : {
        row: `receipt ${last.sequence + (expected != null && expected.sequence > last.sequence ? 1 : 0)}`,
        problem: `the chain ends at entry ${last.sequence}, and its recorded head is entry ${expected?.sequence ?? 0}: one of them was altered or deleted`,
      };
}

const keyOf = (fill: Fields): string => `${String(fill.walletAddress)} ${String(fill.tradeId)}`;

function addTo(reported: Map<string, ReceiptedOrder>, { sequence, body }: ReceiptEntry): void {
  const {
    orderId,
    asked,
    answered,
    state,
    journal,
    fills = [],
    recounted = [],
    reversed = [],
  }: ReceiptBody = body;
  if (orderId === undefined) return;
  const one = reported.get(orderId) ?? {
    ...{ sequence, asked: null, answered: null, state: null, journal: null },
    ...{ fills: new Map<string, Fields>(), reversed: new Set<string>() },
  };
  one.asked ??= asked ?? null;
  one.answered = answered ?? one.answered;
  one.state = state ?? one.state;
  one.journal = journal ?? one.journal;
  for (const fill of fills) one.fills.set(keyOf(fill), fill);
  for (const fill of recounted) {
    const before = one.fills.get(keyOf(fill));
    if (before !== undefined) one.fills.set(keyOf(fill), { ...before, realized: fill.realized });
  }
  for (const fill of reversed) {
    one.reversed.add(keyOf(fill));
    one.fills.delete(keyOf(fill));
  }
  reported.set(orderId, one);
}

async function orderFault(
  { reads, sha256, report, onProgress }: Audit,
  agentId: string,
  reported: Map<string, ReceiptedOrder>,
): Promise<Fault | null> {
  /** The fault of the order with the earliest receipt; of those without any, the first by id. */
  let first: { readonly sequence: number; readonly fault: Fault } | null = null;
  const note = (sequence: number, fault: Fault | null): void => {
    if (fault !== null && (first === null || sequence < first.sequence)) first = { sequence, fault };
  };
  const missing = new Map(reported);
  const ids = await reads.orderIds(agentId);
  const pending = await reads.pending(agentId);
  for (let from = 0; from < ids.length; from += ROWS_PER_PAGE) {
    for (const row of await reads.orders(agentId, ids.slice(from, from + ROWS_PER_PAGE))) {
      const { orderId } = row;
      const one = reported.get(orderId);
      missing.delete(orderId);
      const known = { reported: one, isPending: pending.has(orderId), beganAt: reads.beganAt, sha256 };
      note(one?.sequence ?? Number.MAX_SAFE_INTEGER, rowFault(row, known));
      report.orders += 1;
    }
    onProgress(report);
  }
  for (const [orderId, { sequence }] of missing)
    note(sequence, { row: `order ${orderId}`, problem: `it was deleted: receipt ${sequence} tells of it` });
  return (first as { readonly fault: Fault } | null)?.fault ?? null;
}

interface KnownReceipts {
  readonly reported: ReceiptedOrder | undefined;
  /** The log says something of it that is in no receipt yet. */
  readonly isPending: boolean;
  /** Orders recorded before then have no receipts, or incomplete ones. */
  readonly beganAt: number;
  readonly sha256: Sha256;
}

function rowFault(row: AuditedOrder, { reported, isPending, beganAt, sha256 }: KnownReceipts): Fault | null {
  const { order, transactionId } = row;
  const name = `order ${row.orderId}`;
  const altered = (changed: string | null): Fault | null =>
    changed === null ? null : { row: name, problem: `it was altered: ${changed}` };
  if (order === null)
    return {
      row: name,
      problem: 'it was altered: it holds what the desk never writes, such as a broken journal',
    };
  if (reported === undefined) {
    return isPending || row.isListed
      ? null
      : { row: name, problem: 'it has no receipt: its receipts were deleted, or it was added past the desk' };
  }
  const { asked, answered, state } = reported;
  const fault =
    altered(asked && difference(sureOf(asked), askedRecord(order, transactionId, sha256))) ??
    answerFault(name, answered, order.first) ??
    altered(journalFault(reported.journal, row, { isPending, sha256 }));
  if (fault !== null || isPending) return fault;
  const isOlder = order.createdAt < beganAt;
  return altered(state && difference(state, stateOf(order))) ?? (isOlder ? null : fillFault(row, reported));
}

/** Receipts without a name say YES of the outcome that the venue lists first: its token is what stays the same. */
const sureOf = ({ outcome, ...asked }: Fields): Fields =>
  'outcomeName' in asked ? { ...asked, outcome } : asked;

function answerFault(row: string, reported: Fields | null, first: OrderRow['first']): Fault | null {
  if (reported === null) return null;
  if (first === null) return { row, problem: 'its first answer was deleted' };
  const changed = difference(reported, answeredRecord(first));
  return changed === null ? null : { row, problem: `its first answer was altered: ${changed}` };
}

/**
 * The journal only grows: what a receipt covers stays. More is there only where the next receipt is not made yet, or of the
 * moment of the last change: what changes nothing else at the same moment is in no receipt.
 */
function journalFault(
  reported: Fields | null,
  { journal, order }: AuditedOrder,
  { isPending, sha256 }: Pick<KnownReceipts, 'isPending' | 'sha256'>,
): string | null {
  if (reported === null) return null;
  const { lines, earlier } = reported as { readonly lines: number; readonly earlier: number };
  const changed = difference(reported, journalRecord(journal, sha256, { lines, earlier }));
  if (changed !== null) return `its journal's ${changed}`;
  const added = [
    ...journal.lines
      .split('\n')
      .slice(lines, -1)
      .map((line) => (JSON.parse(line) as [number])[0]),
    ...journal.earlier.slice(earlier).map((entry) => Date.parse((entry as { readonly at: string }).at)),
  ];
  const isHonest = isPending || added.every((at) => at === order?.updatedAt);
  return isHonest ? null : `its journal has ${added.length} more entries than its receipts say`;
}

const stateOf = (order: OrderRow) =>
  stateRecord({
    status: order.status,
    filledSize: order.filled.toString(),
    filledAmount: order.cost.toString(),
    feePaid: order.fees.toString(),
    ...(order.errorCode === null ? {} : { errorCode: order.errorCode }),
  });

function fillFault({ orderId, fills }: AuditedOrder, reported: ReceiptedOrder): Fault | null {
  const left = new Map(reported.fills);
  for (const fill of fills) {
    const record: Fields = fillRecord(fill);
    const row = `fill ${fill.tradeId} of order ${orderId}`;
    const before = left.get(keyOf(record));
    left.delete(keyOf(record));
    if (before === undefined) return { row, problem: 'no receipt tells of it: it was added past the desk' };
    const changed = difference(before, record);
    if (changed !== null) return { row, problem: `it was altered: ${changed}` };
  }
  const [gone] = left.values();
  return gone === undefined
    ? null
    : {
        row: `fill ${String(gone.tradeId)} of order ${orderId}`,
        problem: 'it was deleted: a receipt tells of it',
      };
}

/** The first field that differs, by the receipt's order of fields. */
function difference(reported: Fields, stored: Fields): string | null {
  for (const name of Object.keys(reported)) {
    const [before, now] = [canonicalJson(reported[name]), canonicalJson(stored[name] ?? null)];
    if (before !== now) return `${name} is ${now}; its receipt says ${before}`;
  }
  return null;
}
