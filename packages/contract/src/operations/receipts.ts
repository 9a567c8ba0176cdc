/**
 * Receipts: what was asked of the desk, what it checked with which figures, what the venue answered, and the fills, as entries
 * of one chain per agent: each entry holds the hash of the one before it. The format is in docs/receipts.md.
 */
import { type Static, Type } from 'typebox';
import { canonicalJson } from '../canonical-json.ts';
import { Iso, Nullable, Uuid } from '../fields.ts';
import { operation } from '../operation.ts';
import { OrderIdText } from './trading.ts';

export const RECEIPT_LIMITS = {
  entriesPerPage: 500,
} as const;

/** The hash before the first entry of a chain. */
export const NO_RECEIPT_HASH = '0'.repeat(64);
export const RECEIPT_VERSION = 1;

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256, 64 hex digits' });

export const ReceiptHead = Type.Object(
  {
    sequence: Type.Integer({ description: 'of the last entry; 0 before the first' }),
    hash: Hash,
  },
  { description: 'keep it: a chain that does not lead to it was rewritten' },
);

export const ReceiptBody = Type.Object(
  {
    orderId: Type.Optional(Type.String()),
    asked: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'the terms of the order as it was recorded; in the first entry of an order',
      }),
    ),
    checked: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'the safeguards that bound it: limit, used and asked of each; in the first entry',
      }),
    ),
    exit: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'of an order that was left as a guarded exit: its trigger, and what sent it, with the prices and the book of that moment; in the first entry',
      }),
    ),
    answered: Type.Optional(
      Nullable(
        Type.Record(Type.String(), Type.Unknown(), { description: 'the first answer; null: none yet' }),
      ),
    ),
    state: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'status and totals of the order after this entry',
      }),
    ),
    fills: Type.Optional(
      Type.Array(Type.Record(Type.String(), Type.Unknown()), {
        description: 'fills that are new in this entry',
      }),
    ),
    reversed: Type.Optional(
      Type.Array(Type.Record(Type.String(), Type.Unknown()), {
        description: 'fills that never settled, taken back in this entry',
      }),
    ),
    recounted: Type.Optional(
      Type.Array(Type.Record(Type.String(), Type.Unknown()), {
        description: 'fills whose `realized` was counted anew, because a fill before them came or went',
      }),
    ),
    journal: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "how many lines the order's journal has, and their SHA-256",
      }),
    ),
    corrects: Type.Optional(
      Type.Integer({
        description:
          'sequence of an earlier entry whose state was written out of order: the state here holds',
      }),
    ),
  },
  { additionalProperties: true, description: 'money and prices are decimal texts' },
);

export const ReceiptEntry = Type.Object(
  {
    version: Type.Integer({ description: 'of the format' }),
    agentId: Type.String(),
    sequence: Type.Integer({ description: 'from 1, without gaps' }),
    previousHash: Hash,
    kind: Type.String({ description: 'order or refusal; a later version may add kinds' }),
    recordedAt: Iso,
    body: ReceiptBody,
    hash: Type.String({
      description: 'SHA-256 of the RFC 8785 form of this object without `hash`, as 64 hex digits',
    }),
  },
  { additionalProperties: true },
);

export const OrderReceipt = Type.Object({
  agentId: Type.String(),
  orderId: Type.String(),
  entries: Type.Array(ReceiptEntry, { description: 'those of this order, oldest first' }),
  head: ReceiptHead,
});

export const ReceiptPage = Type.Object({
  agentId: Type.String(),
  entries: Type.Array(ReceiptEntry, { description: 'in sequence' }),
  next: Nullable(Type.Integer({ description: '`after` of the next page; null: this is the last one' })),
  head: ReceiptHead,
});

const read = { unknownFields: 'refuse', status: 200 } as const;
const ofOwner = { ...read, tag: 'owners', permission: 'owner' } as const;

const pageQuery = Type.Object({
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: 'sequence of the last entry that you have',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: RECEIPT_LIMITS.entriesPerPage,
      default: RECEIPT_LIMITS.entriesPerPage,
    }),
  ),
});
const AgentId = Uuid;

export const getOrderReceipt = operation({
  ...read,
  id: 'getOrderReceipt',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'read',
  method: 'GET',
  path: '/markets/orders/{orderId}/receipt',
  summary: 'The receipt of one order, on any venue: its entries in the chain of this agent',
  description: 'Made behind the trade, within seconds. verifyReceipts of the SDK checks it offline.',
  params: Type.Object({ orderId: OrderIdText }),
  response: OrderReceipt,
  errors: ['order_not_found', 'receipt_not_found'],
});

export const listReceipts = operation({
  ...read,
  id: 'listReceipts',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'search',
  method: 'GET',
  path: '/agents/receipts',
  summary: "The whole chain of this agent's receipts, page by page",
  query: pageQuery,
  response: ReceiptPage,
  errors: [],
});

export const getOwnerOrderReceipt = operation({
  ...ofOwner,
  id: 'getOwnerOrderReceipt',
  rateClass: 'read',
  method: 'GET',
  path: '/owner/agents/{agentId}/orders/{orderId}/receipt',
  summary: "The receipt of an order of one of the owner's agents",
  params: Type.Object({ agentId: AgentId, orderId: OrderIdText }),
  response: OrderReceipt,
  errors: ['agent_not_found', 'order_not_found', 'receipt_not_found'],
});

export const listOwnerAgentReceipts = operation({
  ...ofOwner,
  id: 'listOwnerAgentReceipts',
  rateClass: 'search',
  method: 'GET',
  path: '/owner/agents/{agentId}/receipts',
  summary: "The whole chain of receipts of one of the owner's agents, page by page",
  params: Type.Object({ agentId: AgentId }),
  query: pageQuery,
  response: ReceiptPage,
  errors: ['agent_not_found'],
});

export type ReceiptHead = Static<typeof ReceiptHead>;
export type ReceiptBody = Static<typeof ReceiptBody>;
export type ReceiptEntry = Static<typeof ReceiptEntry>;
export type OrderReceipt = Static<typeof OrderReceipt>;
export type ReceiptPage = Static<typeof ReceiptPage>;

// The chain of receipts, and its check. An entry's hash covers its whole content and the hash of the entry before it, so
// the hash of one entry is proof of every entry before. Pure: the caller brings SHA-256.

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
