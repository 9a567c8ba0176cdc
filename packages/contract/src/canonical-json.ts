/** RFC 8785: one text for one JSON value, for any order of its keys and its whitespace. */

const MAX_DEPTH = 100;

/**
 * @param value what JSON.parse gives @returns `null` when it is nested deeper than anything of ours
 * @example
 * canonicalJson({ b: 1, a: [2] }); // '{"a":[2],"b":1}'
 */
export function canonicalJson(value: unknown): string | null {
  try {
    return write(value, 0);
  } catch (error) {
    if (error instanceof TooDeep) return null;
    throw error;
  }
}

class TooDeep extends Error {}

function write(value: unknown, depth: number): string {
  // Numbers and strings: ECMAScript's own form is the one that the RFC prescribes.
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth >= MAX_DEPTH) throw new TooDeep();
  if (Array.isArray(value)) return `[${value.map((item) => write(item, depth + 1)).join(',')}]`;
  const members = Object.entries(value as Record<string, unknown>)
    // By UTF-16 code units, which is how JavaScript compares.
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${write(member, depth + 1)}`);
  return `{${members.join(',')}}`;
}
