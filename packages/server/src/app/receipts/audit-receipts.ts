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
} from '@bellwether/contract';
import { sha256Hex } from '@bellwether/protocol';
import type { AuditedOrder, ReceiptAudit } from '../../ports/receipts.ts';
import { entryOf } from './read-receipts.ts';
import { answeredRecord, askedRecord, fillRecord, stateRecord } from './write-receipts.ts';

export interface AuditFault {
  readonly agentId: string;
  /** The row: a receipt by its sequence, an order or a fill by its ids. */
  readonly row: string;
  readonly problem: string;
}

export interface AuditReport {
  readonly agents: number;
  readonly entries: number;
  readonly orders: number;
  /** At most one for each agent. */
  readonly faults: readonly AuditFault[];
}

const ROWS_PER_PAGE = 500;

/** @param kept heads that were kept elsewhere, by agent */
export async function auditReceipts(
  audit: ReceiptAudit,
  kept: ReadonlyMap<string, ReceiptLink> = new Map(),
): Promise<AuditReport> {
  const report = { agents: 0, entries: 0, orders: 0 };
  const faults: AuditFault[] = [];
  const agents = await audit.agents();
  for (const agentId of agents) {
    const chain = await readChain(audit, agentId, kept.get(agentId));
    report.agents += 1;
    report.entries += chain.entries;
    const found = chain.fault ?? (await orderFault(audit, agentId, chain.told, report));
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

/** What the entries of an order say together. */
interface Told {
  readonly sequence: number;
  asked: Fields | null;
  answered: Fields | null;
  state: Fields | null;
  readonly fills: Map<string, Fields>;
  readonly reversed: Set<string>;
}

interface Chain {
  readonly entries: number;
  readonly fault: Fault | null;
  readonly told: Map<string, Told>;
}

async function readChain(
  audit: ReceiptAudit,
  agentId: string,
  kept: ReceiptLink | undefined,
): Promise<Chain> {
  const told = new Map<string, Told>();
  let last: ReceiptLink = FIRST_LINK;
  let hasKept = kept === undefined || kept.sequence === 0;
  for (;;) {
    const entries = (await audit.page(agentId, last.sequence, ROWS_PER_PAGE)).map(entryOf);
    const checked = checkChain(entries, sha256Hex, last);
    if (!checked.ok) {
      const { sequence, problem } = checked.fault;
      return { entries: last.sequence, fault: { row: `receipt ${sequence}`, problem }, told };
    }
    for (const entry of entries) {
      if (entry.sequence === kept?.sequence && entry.hash !== kept.hash)
        return {
          entries: last.sequence,
          fault: {
            row: `receipt ${entry.sequence}`,
            problem: 'it does not have the hash that was kept: the chain was rewritten',
          },
          told,
        };
      hasKept ||= entry.sequence === kept?.sequence;
      addTo(told, entry);
    }
    last = checked.head;
    if (entries.length < ROWS_PER_PAGE) break;
  }
  const head = await audit.head(agentId);
  const isWhole =
    hasKept && (head ?? FIRST_LINK).sequence === last.sequence && (head ?? FIRST_LINK).hash === last.hash;
  const expected = hasKept ? head : kept;
  const fault = isWhole
    ? null
    : {
        row: `receipt ${last.sequence + (expected != null && expected.sequence > last.sequence ? 1 : 0)}`,
        problem: `the chain ends at entry ${last.sequence}, and its recorded head is entry ${expected?.sequence ?? 0}: one of them was altered or deleted`,
      };
  return { entries: last.sequence, fault, told };
}

const keyOf = (fill: Fields): string => `${String(fill.walletAddress)} ${String(fill.tradeId)}`;

function addTo(told: Map<string, Told>, { sequence, body }: ReceiptEntry): void {
  const { orderId, asked, answered, state, fills = [], reversed = [] }: ReceiptBody = body;
  if (orderId === undefined) return;
  const one = told.get(orderId) ?? {
    ...{ sequence, asked: null, answered: null, state: null },
    ...{ fills: new Map<string, Fields>(), reversed: new Set<string>() },
  };
  one.asked ??= asked ?? null;
  one.answered = answered ?? one.answered;
  one.state = state ?? one.state;
  for (const fill of fills) one.fills.set(keyOf(fill), fill);
  for (const fill of reversed) {
    one.reversed.add(keyOf(fill));
    one.fills.delete(keyOf(fill));
  }
  told.set(orderId, one);
}

async function orderFault(
  audit: ReceiptAudit,
  agentId: string,
  told: Map<string, Told>,
  report: { orders: number },
): Promise<Fault | null> {
  /** The fault of the order with the earliest receipt; of those without any, the first by id. */
  let first: { readonly sequence: number; readonly fault: Fault } | null = null;
  const note = (sequence: number, fault: Fault | null): void => {
    if (fault !== null && (first === null || sequence < first.sequence)) first = { sequence, fault };
  };
  const missing = new Map(told);
  let after = '';
  for (;;) {
    const rows = await audit.orders(agentId, after, ROWS_PER_PAGE);
    for (const row of rows) {
      const { orderId } = row.order;
      const one = told.get(orderId);
      missing.delete(orderId);
      note(one?.sequence ?? Number.MAX_SAFE_INTEGER, rowFault(row, one, audit.beganAt));
    }
    report.orders += rows.length;
    if (rows.length < ROWS_PER_PAGE) break;
    after = (rows.at(-1) as AuditedOrder).order.orderId;
  }
  for (const [orderId, { sequence }] of missing)
    note(sequence, { row: `order ${orderId}`, problem: `it was deleted: receipt ${sequence} tells of it` });
  return (first as { readonly fault: Fault } | null)?.fault ?? null;
}

function rowFault(row: AuditedOrder, told: Told | undefined, beganAt: number): Fault | null {
  const { order, isPending, transactionId } = row;
  const name = `order ${order.orderId}`;
  const isOlder = order.createdAt < beganAt;
  if (told === undefined) {
    return isPending || isOlder
      ? null
      : { row: name, problem: 'it has no receipt: its receipts were deleted, or it was added past the desk' };
  }
  const asked =
    told.asked === null ? null : difference(told.asked, askedRecord(order, transactionId, sha256Hex));
  if (asked !== null) return { row: name, problem: `it was altered: ${asked}` };
  const answered =
    told.answered === null || order.first === null
      ? null
      : difference(told.answered, answeredRecord(order.first));
  if (answered !== null) return { row: name, problem: `its first answer was altered: ${answered}` };
  if (told.answered !== null && order.first === null)
    return { row: name, problem: 'its first answer was deleted' };
  if (isPending || isOlder) return null;
  const state = told.state === null ? null : difference(told.state, stateOf(row));
  if (state !== null) return { row: name, problem: `it was altered: ${state}` };
  return fillFault(row, told);
}

const stateOf = ({ order }: AuditedOrder) =>
  stateRecord({
    status: order.status,
    filledSize: order.filled.toString(),
    filledAmount: order.cost.toString(),
    feePaid: order.fees.toString(),
    ...(order.errorCode === null ? {} : { errorCode: order.errorCode }),
  });

function fillFault({ order, fills }: AuditedOrder, told: Told): Fault | null {
  const left = new Map(told.fills);
  for (const fill of fills) {
    const record: Fields = fillRecord(fill);
    const row = `fill ${fill.tradeId} of order ${order.orderId}`;
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
        row: `fill ${String(gone.tradeId)} of order ${order.orderId}`,
        problem: 'it was deleted: a receipt tells of it',
      };
}

/** The first field that differs, by the receipt's order of fields. */
function difference(told: Fields, stored: Fields): string | null {
  for (const name of Object.keys(told)) {
    const [before, now] = [canonicalJson(told[name]), canonicalJson(stored[name] ?? null)];
    if (before !== now) return `${name} is ${now}; its receipt says ${before}`;
  }
  return null;
}
