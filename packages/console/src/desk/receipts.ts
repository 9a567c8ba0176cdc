/**
 * Checks receipts here, in the owner's browser, instead of believing the desk: every entry's hash over its content, and
 * every entry's link to the one before. The format is in docs/receipts.md.
 */
import type { ReceiptEntry, ReceiptHead } from '@bellwether/contract';

/** JSON in the form of RFC 8785: keys in the order of their UTF-16 units; numbers and texts as JavaScript writes them. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(',')}}`;
}

export async function sha256(text: string): Promise<string> {
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
  return (await sha256(canonical(content))) === hash
    ? null
    : `Entry ${entry.sequence} was altered: its hash does not fit its content.`;
}

/** The entries of one order: they need not follow each other in the chain. */
export async function verifyEntries(entries: readonly ReceiptEntry[], head: ReceiptHead): Promise<Verdict> {
  let before: ReceiptEntry | null = null;
  for (const [checked, entry] of entries.entries()) {
    const fault = (await faultOf(entry)) ?? faultBetween(before, entry);
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

export interface ChainCheck {
  /** What this browser found at its last check; a chain that was rewritten since does not lead to it. */
  readonly remembered: ReceiptHead | null;
  readonly first: string;
}

/** A whole chain, page by page: without a gap from the first entry to the head. */
export async function verifyChain(
  pages: AsyncIterable<{ readonly entries: readonly ReceiptEntry[]; readonly head: ReceiptHead }>,
  { remembered, first }: ChainCheck,
): Promise<Verdict & { readonly head: ReceiptHead | null }> {
  let expected = { sequence: 0, hash: first };
  let start = true;
  let head: ReceiptHead | null = null;
  for await (const page of pages) {
    head = page.head;
    for (const entry of page.entries) {
      const checked = expected.sequence;
      // Entries of long ago may have been pruned: the chain then begins later.
      if (!start && entry.sequence !== expected.sequence + 1)
        return { fault: `Entry ${expected.sequence + 1} is missing.`, checked, head };
      if ((!start || entry.sequence === 1) && entry.previousHash !== expected.hash)
        return { fault: `Entry ${entry.sequence} does not follow the one before it.`, checked, head };
      const fault = await faultOf(entry);
      if (fault !== null) return { fault, checked, head };
      if (remembered?.sequence === entry.sequence && remembered.hash !== entry.hash)
        return {
          fault: `Entry ${entry.sequence} is not the one that this browser saw before: the chain was rewritten.`,
          checked,
          head,
        };
      expected = { sequence: entry.sequence, hash: entry.hash };
      start = false;
    }
  }
  if (head !== null && expected.sequence < head.sequence)
    return {
      fault: `The chain ends at entry ${expected.sequence}, before its head ${head.sequence}.`,
      checked: expected.sequence,
      head,
    };
  if (remembered !== null && expected.sequence < remembered.sequence)
    return {
      fault: `This browser saw entry ${remembered.sequence} before; the chain ends at ${expected.sequence} now.`,
      checked: expected.sequence,
      head,
    };
  return { fault: null, checked: expected.sequence, head };
}
