/** Checks receipts offline: nothing of this asks the service. */
import {
  checkChain,
  checkEntry,
  FIRST_LINK,
  type ReceiptEntry,
  type ReceiptFault,
  type ReceiptLink,
} from '@bellwether/contract';
import { sha256Hex } from '@bellwether/protocol';
import { BellwetherUsageError, NEED, needOptions } from './errors.ts';

export interface ReceiptsToVerify {
  /**
   * Takes entries of one agent: a whole chain in sequence (`listReceipts` page by page), or with `from` a later part of it; with `isPart`
   * the entries of one order (`getOrderReceipt`).
   */
  readonly entries: readonly ReceiptEntry[];
  /** The entry before the first one, as you have verified it. Default: the beginning of the chain. */
  readonly from?: ReceiptLink;
  /** A head that you kept: the chain must contain it. Without one, the owner of the database could have rewritten all of it. */
  readonly head?: ReceiptLink;
  /** The entries are some of a chain: each is checked alone. */
  readonly isPart?: boolean;
}

export type VerifiedReceipts =
  | { readonly ok: true; readonly head: ReceiptLink; readonly entries: number }
  | { readonly ok: false; readonly fault: ReceiptFault };

const FIELDS = ['version', 'agentId', 'sequence', 'previousHash', 'recordedAt', 'body', 'hash'];

/**
 * @returns the last link, to be kept, or the first entry that does not hold @throws BellwetherUsageError
 * @example
 * const { entries } = await client.listReceipts();
 * const found = verifyReceipts({ entries });
 * if (!found.ok) throw new Error(`receipt ${found.fault.sequence}: ${found.fault.problem}`);
 */
export function verifyReceipts(receipts: ReceiptsToVerify): VerifiedReceipts {
  needOptions('verifyReceipts', receipts, {
    entries: { what: 'a list of receipts, as listReceipts returns it', fits: Array.isArray },
  });
  const { entries, from = FIRST_LINK, head, isPart = false } = receipts;
  entries.forEach((entry, index) => {
    if (!NEED.object('', ...FIELDS).fits(entry))
      throw new BellwetherUsageError(
        `verifyReceipts needs entries: item ${index} is no receipt; it lacks one of ${FIELDS.join(', ')}.`,
      );
  });
  if (isPart) return partOf(entries);
  const checked = checkChain(entries, sha256Hex, from);
  if (!checked.ok) return checked;
  const fault = head === undefined ? null : headFault(entries, head, from);
  return fault === null ? { ok: true, head: checked.head, entries: entries.length } : { ok: false, fault };
}

function partOf(entries: readonly ReceiptEntry[]): VerifiedReceipts {
  for (const entry of entries) {
    const fault = checkEntry(entry, sha256Hex);
    if (fault !== null) return { ok: false, fault };
  }
  const last = entries.at(-1) ?? FIRST_LINK;
  return { ok: true, head: { sequence: last.sequence, hash: last.hash }, entries: entries.length };
}

/** A kept head that is older than `from` proves nothing here. */
function headFault(
  entries: readonly ReceiptEntry[],
  head: ReceiptLink,
  from: ReceiptLink,
): ReceiptFault | null {
  const there =
    head.sequence === from.sequence ? from : entries.find(({ sequence }) => sequence === head.sequence);
  if (there?.hash === head.hash || head.sequence < from.sequence) return null;
  const problem =
    there === undefined
      ? `the chain ends before entry ${head.sequence}, whose hash you kept: its end is missing`
      : 'it does not have the hash that you kept: the chain was rewritten';
  return { agentId: entries[0]?.agentId ?? '', sequence: head.sequence, orderId: null, problem };
}
