/**
 * The chain of receipts, and its check. An entry's hash covers its whole content and the hash of the entry before it, so
 * the hash of one entry is proof of every entry before. Pure: the caller brings SHA-256.
 */
import { canonicalJson } from './canonical-json.ts';
import type { ReceiptEntry } from './operations/receipts.ts';
import { NO_RECEIPT_HASH, RECEIPT_VERSION } from './operations/receipts.ts';

/** SHA-256 of UTF-8 text, as 64 hex digits. */
export type Sha256 = (text: string) => string;

export interface ReceiptLink {
  readonly sequence: number;
  readonly hash: string;
}

export const FIRST_LINK: ReceiptLink = { sequence: 0, hash: NO_RECEIPT_HASH };

/**
 * The hash of an entry, with any `hash` that it names itself.
 * @example
 * const { hash, ...rest } = entry;
 * const isSound = receiptHash(rest, sha256) === hash;
 */
export function receiptHash(entry: Omit<ReceiptEntry, 'hash'>, sha256: Sha256): string {
  const { hash: _, ...hashed } = entry as ReceiptEntry;
  const text = canonicalJson(hashed);
  if (text === null) throw new Error('a receipt is nested too deeply');
  return sha256(text);
}

/**
 * The canonical text of a new entry, from that of its body: its own fields are few, and in this order.
 * @example
 * const { hash, body, version, ...rest } = entry;
 * const hashed = receiptText(rest, canonicalJson(body) ?? '');
 */
export const receiptText = (entry: Omit<ReceiptEntry, 'hash' | 'body' | 'version'>, body: string): string => {
  const { agentId, kind, previousHash, recordedAt, sequence } = entry;
  const rest = JSON.stringify({ kind, previousHash, recordedAt, sequence, version: RECEIPT_VERSION });
  return `{"agentId":${JSON.stringify(agentId)},"body":${body},${rest.slice(1)}`;
};

/** The first entry that does not hold, and why. */
export interface ReceiptFault {
  readonly agentId: string;
  readonly sequence: number;
  readonly orderId: string | null;
  readonly problem: string;
}

/**
 * Entries of one agent in sequence, behind an entry that is known. @returns the last link, or the first fault
 * @example
 * const found = checkChain([entry], sha256);
 * if (!found.ok) throw new Error(found.fault.problem);
 */
export function checkChain(
  entries: readonly ReceiptEntry[],
  sha256: Sha256,
  from: ReceiptLink = FIRST_LINK,
): { readonly ok: true; readonly head: ReceiptLink } | { readonly ok: false; readonly fault: ReceiptFault } {
  let last = from;
  const agentId = entries[0]?.agentId;
  for (const entry of entries) {
    const problem = entry.agentId === agentId ? faultOf(entry, last, sha256) : 'it is of another agent';
    if (problem !== null) return { ok: false, fault: faultAt(entry, problem) };
    last = { sequence: entry.sequence, hash: entry.hash };
  }
  return { ok: true, head: last };
}

/**
 * A single entry, without its place in the chain.
 * @example
 * const fault = checkEntry(entry, sha256);
 */
export const checkEntry = (entry: ReceiptEntry, sha256: Sha256): ReceiptFault | null =>
  receiptHash(entry, sha256) === entry.hash ? null : faultAt(entry, ALTERED);

const ALTERED = 'its content does not have its hash: it was altered';

function faultOf(entry: ReceiptEntry, last: ReceiptLink, sha256: Sha256): string | null {
  if (entry.sequence !== last.sequence + 1)
    return `it follows entry ${last.sequence}: what belongs between them is missing or out of order`;
  if (entry.version !== RECEIPT_VERSION)
    return `its format is version ${entry.version}, which this check does not know`;
  if (receiptHash(entry, sha256) !== entry.hash) return ALTERED;
  if (entry.previousHash !== last.hash)
    return `it names another hash than that of entry ${last.sequence}: one of the two was replaced`;
  return null;
}

const faultAt = ({ agentId, sequence, body }: ReceiptEntry, problem: string): ReceiptFault => ({
  agentId,
  sequence,
  orderId: body?.orderId ?? null,
  problem,
});
