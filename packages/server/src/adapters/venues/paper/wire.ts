/**
 * Calls between replicas as JSON text. Bigints and maps, which JSON lacks, are wrapped; all other values are plain JSON.
 */
const INTEGER = '$integer';
const MAP = '$map';

/** `undefined` is sent as null. */
export const encode = (value: unknown): string =>
  JSON.stringify(value ?? null, (_key, part: unknown) => {
    if (typeof part === 'bigint') return { [INTEGER]: part.toString() };
    if (part instanceof Map) return { [MAP]: [...part] };
    return part;
  });

/** @throws SyntaxError when the text is not JSON */
export const decode = (text: string): unknown =>
  JSON.parse(text, (_key, part: unknown) => {
    if (part === null || typeof part !== 'object') return part;
    const { [INTEGER]: integer, [MAP]: map } = part as Record<string, unknown>;
    if (typeof integer === 'string') return BigInt(integer);
    return Array.isArray(map) ? new Map(map as [unknown, unknown][]) : part;
  });
