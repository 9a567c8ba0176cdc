/**
 * Checks receipts here, in the owner's browser, instead of believing the desk: every entry's hash over its content, and
 * every entry's link to the one before. The format is in docs/receipts.md.
 */
import type { ReceiptEntry, ReceiptHead } from '@bellwether/contract';
import { canonicalJson } from '@bellwether/contract/canonical-json';

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

export interface Verdict {
  /** `null`: everything that was checked is as it was recorded. */
  readonly fault: string | null;
  readonly checked: number;
}

async function faultOf(entry: ReceiptEntry): Promise<string | null> {
  const { hash, ...content } = entry;
  const text = canonicalJson(content);
  return text !== null && (await sha256(text)) === hash
    ? null
    : `Entry ${entry.sequence} was altered: its hash does not fit its content.`;
}

interface OrderReceiptCheck {
  readonly agentId: string;
  readonly orderId: string;
  readonly head: ReceiptHead;
}

/** The entries of one order: they need not follow each other in the chain. */
export async function verifyEntries(
  entries: readonly ReceiptEntry[],
  { agentId, orderId, head }: OrderReceiptCheck,
): Promise<Verdict> {
  let before: ReceiptEntry | null = null;
  for (const [checked, entry] of entries.entries()) {
    const isOther = entry.agentId !== agentId || entry.body.orderId !== orderId;
    const fault = isOther
      ? `Entry ${entry.sequence} is of another order.`
      : ((await faultOf(entry)) ?? faultBetween(before, entry));
    if (fault !== null) return { fault, checked };
    before = entry;
  }
  if (before !== null && before.sequence === head.sequence && before.hash !== head.hash)
    return {
      fault: `Entry ${before.sequence} is not the head that the desk names.`,
      checked: entries.length,
    };
  return { fault: null, checked: entries.length };
}

function faultBetween(before: ReceiptEntry | null, entry: ReceiptEntry): string | null {
  if (before === null) return null;
  if (entry.sequence <= before.sequence)
    return `Entry ${entry.sequence} comes after entry ${before.sequence}: the order was changed.`;
  if (entry.sequence === before.sequence + 1 && entry.previousHash !== before.hash)
    return `Entry ${entry.sequence} does not follow entry ${before.sequence}: one of them was replaced.`;
  return null;
}

interface ChainCheck {
  readonly agentId: string;
  /** The head that this browser found at its last check; a chain that was rewritten since does not contain it. */
  readonly remembered: ReceiptHead | null;
}

interface ChainPage {
  readonly entries: readonly ReceiptEntry[];
  readonly head: ReceiptHead;
}

/** Before the first entry. */
const START: ReceiptHead = { sequence: 0, hash: '0'.repeat(64) };

/** A whole chain, page by page: without a gap from the first entry to the head. */
export async function verifyChain(
  pages: AsyncIterable<ChainPage>,
  { agentId, remembered }: ChainCheck,
): Promise<Verdict & { readonly last: ReceiptHead }> {
  let last = START;
  for await (const { entries, head } of pages) {
    for (const entry of entries) {
      const fault = (await faultInChain(entry, last, agentId)) ?? faultOfKept(entry, remembered, head);
      if (fault !== null) return { fault, checked: last.sequence, last };
      last = { sequence: entry.sequence, hash: entry.hash };
    }
    if (entries.length === 0 && last.sequence < head.sequence)
      return { fault: endsAt(last.sequence, head.sequence), checked: last.sequence, last };
  }
  const isShort = remembered !== null && last.sequence < remembered.sequence;
  return { fault: isShort ? endsAt(last.sequence, remembered.sequence) : null, checked: last.sequence, last };
}

const endsAt = (sequence: number, expected: number): string =>
  `The chain ends at entry ${sequence}, but entry ${expected} was there: its end is missing.`;

async function faultInChain(entry: ReceiptEntry, last: ReceiptHead, agentId: string): Promise<string | null> {
  if (entry.agentId !== agentId) return `Entry ${entry.sequence} is of another agent.`;
  if (entry.sequence !== last.sequence + 1) return `Entry ${last.sequence + 1} is missing.`;
  if (entry.previousHash !== last.hash)
    return `Entry ${entry.sequence} does not follow the one before it: one of the two was replaced.`;
  return faultOf(entry);
}

/** Against what the desk names as its head, and what this browser kept. */
function faultOfKept(
  { sequence, hash }: ReceiptEntry,
  remembered: ReceiptHead | null,
  head: ReceiptHead,
): string | null {
  if (sequence === remembered?.sequence && hash !== remembered.hash)
    return `Entry ${sequence} is not the one that this browser saw before: the chain was rewritten.`;
  return sequence === head.sequence && hash !== head.hash
    ? `Entry ${sequence} is not the head that the desk names.`
    : null;
}
