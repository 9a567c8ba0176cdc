/** Recorded answers of examples: short enough for a document, and comparable without their values. */

const ITEMS = 1;
const WORDS = 3;
const TEXT_CHARS = 2_000;

/** Lists cut to what shows their items, long texts to their beginning. */
export function cutLists(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, TEXT_CHARS);
  if (Array.isArray(value)) {
    const most = value.some((item) => typeof item === 'object') ? ITEMS : WORDS;
    return value.slice(0, most).map(cutLists);
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cutLists(each)]));
}

type Fields = Readonly<Record<string, unknown>>;

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'list' : typeof value);

/** Names of fields that an answer of this schema may lack: whether they are there depends on the moment. */
export function optionalIn(schema: unknown): ReadonlySet<string> {
  if (typeof schema !== 'object' || schema === null) return new Set();
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Fields;
    readonly required?: readonly string[];
  };
  return new Set([
    ...Object.keys(properties).filter((name) => !required.includes(name)),
    ...Object.values(schema).flatMap((part) => [...optionalIn(part)]),
  ]);
}

/**
 * Where two answers differ in names and types. Empty lists and null say nothing of what else could be there.
 * @param optional fields that only one of them may have
 */
export function differences(
  a: unknown,
  b: unknown,
  optional: ReadonlySet<string>,
  at = '',
): readonly string[] {
  if (a === null || b === null) return [];
  if (typeOf(a) !== typeOf(b)) return [`${at}: ${typeOf(a)}, ${typeOf(b)}`];
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === 0 || b.length === 0 ? [] : differences(a[0], b[0], optional, `${at}[]`);
  if (typeof a !== 'object') return [];
  const [left, right] = [a as Fields, b as Fields];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((name) => {
    if (left[name] !== undefined && right[name] !== undefined)
      return differences(left[name], right[name], optional, `${at}.${name}`);
    return optional.has(name) ? [] : [`${at}.${name} is missing in one of them`];
  });
}

const SECRET_FIELDS: ReadonlySet<string> = new Set(['apiKeyCode', 'secret']);
const MASKED = /[*.…]/;

/** For the record: no key, although none of them opens anything any more, and the usual address. */
export function withoutSecrets(value: unknown, address: string): unknown {
  const port = new URL(address).port;
  return JSON.parse(
    JSON.stringify(value, (name, each) => {
      if (typeof each !== 'string') return each;
      if (SECRET_FIELDS.has(name) && !MASKED.test(each)) return 'x'.repeat(each.length);
      return each.replaceAll(`:${port}`, ':8080');
    }),
  );
}

/** Of HTTP itself: no document describes them. */
const OF_HTTP =
  /^(access-control-.*|cache-control|connection|content-encoding|content-length|content-type|date|keep-alive|transfer-encoding|vary|x-accel-buffering)$/;

/** Headers of an answer that its description does not name. */
export const undescribed = (sent: Headers, described: readonly string[]): string[] => {
  const known = new Set(described.map((name) => name.toLowerCase()));
  return [...sent.keys()].filter((name) => !OF_HTTP.test(name) && !known.has(name));
};
