/** The rows of landed transactions. */
import type { Row } from '@bellwether/durable';
import { parseJson, toJson } from './exact-json.ts';
import type { InnerInstructions, LandedMeta, LandedTransaction } from './types.ts';

type Inner = InnerInstructions['instructions'][number];

export const errOf = (text: string | null): unknown => (text === null ? null : parseJson(text));

/** From `slot::text, at_ms::text, err, meta, wire`. */
export const landedOf = (row: Row): LandedTransaction => ({
  slot: Number(row.slot),
  atMs: Number(row.at_ms),
  err: errOf(row.err),
  meta: metaFromJson(row.meta),
  wire: row.wire,
});

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

/** Parsed integers are numbers where a double represents them; these fields are always bigint. */
function metaFromJson(text: string): LandedMeta {
  const meta = parseJson(text) as Omit<LandedMeta, 'inner'> & {
    readonly returnData: { programId: string; data: string } | null;
    /** Missing in rows of earlier releases. */
    readonly inner?: readonly (Omit<InnerInstructions, 'instructions'> & {
      readonly instructions: readonly (Omit<Inner, 'data'> & { readonly data: string })[];
    })[];
  };
  const sheet = (from: LandedMeta['pre']): LandedMeta['pre'] => ({
    lamports: from.lamports.map(BigInt),
    tokens: from.tokens.map((token) => ({ ...token, amount: BigInt(token.amount) })),
  });
  return {
    ...meta,
    fee: BigInt(meta.fee),
    unitsConsumed: BigInt(meta.unitsConsumed),
    returnData:
      meta.returnData === null
        ? null
        : { programId: meta.returnData.programId, data: Buffer.from(meta.returnData.data, 'base64') },
    inner: (meta.inner ?? []).map(({ index, instructions }) => ({
      index,
      instructions: instructions.map((one) => ({ ...one, data: Buffer.from(one.data, 'base64') })),
    })),
    pre: sheet(meta.pre),
    post: sheet(meta.post),
  };
}

export const metaToJson = (meta: LandedMeta): string =>
  toJson({
    ...meta,
    inner:
      meta.inner.length === 0
        ? undefined
        : meta.inner.map(({ index, instructions }) => ({
            index,
            instructions: instructions.map((one) => ({ ...one, data: base64(one.data) })),
          })),
    returnData:
      meta.returnData === null
        ? null
        : { programId: meta.returnData.programId, data: base64(meta.returnData.data) },
  });
