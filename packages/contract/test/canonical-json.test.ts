import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../src/canonical-json.ts';

const canonical = (text: string) => canonicalJson(JSON.parse(text));

describe('one text for one value', () => {
  test('the example of RFC 8785, 3.2.3', () => {
    expect(
      canonical(
        '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
      ),
    ).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  test('keys are ordered by UTF-16 code units, as in RFC 8785, 3.2.3', () => {
    const keys = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6'];
    const text = canonicalJson(Object.fromEntries(keys.map((key) => [key, 0])));
    expect(Object.keys(JSON.parse(text as string)).length).toBe(keys.length);
    expect(
      [...(text as string).matchAll(/"((?:[^"\\]|\\.)*)":/g)].map(([, key]) => JSON.parse(`"${key}"`)),
    ).toEqual(['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']);
  });

  test('whitespace and order of keys do not count; everything else does', () => {
    const form = canonical('{"b":[1,{"d":2,"c":"x"}],"a":null}');
    expect(canonical(' { "a" : null ,\n "b": [1.0, {"c":"\\u0078","d":2e0}] }')).toBe(form);
    for (const other of [
      '{"b":[1,{"d":2,"c":"x"}]}',
      '{"b":[{"d":2,"c":"x"},1],"a":null}',
      '{"b":[1,{"d":"2","c":"x"}],"a":null}',
      '{"b":[1,{"d":2,"c":"X"}],"a":null}',
    ])
      expect(canonical(other)).not.toBe(form);
  });

  test('what is nested without end has no form, and does not overflow the stack', () => {
    const depth = 30_000;
    expect(canonical(`${'['.repeat(depth)}${']'.repeat(depth)}`)).toBeNull();
    expect(canonical(`${'['.repeat(90)}${']'.repeat(90)}`)).not.toBeNull();
  });
});
