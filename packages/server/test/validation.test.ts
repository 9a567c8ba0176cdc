/** The errors that a client gets for invalid fields, from the validator that the server uses. */
import { PRINTABLE, TradeRequest } from '@bellwether/contract';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { fieldErrors } from '../src/platform/http/validation.ts';
import { compileFor } from '../src/platform/http/validators.ts';
import { signedRequest } from './drafts.ts';

function messages(schema: object, value: unknown, part = 'body'): string[] {
  const validate = compileFor(schema, 'body');
  validate(value);
  return fieldErrors((validate.errors ?? []) as never, part).map(({ message }) => message);
}

const SCHEMA = Type.Object(
  {
    name: Type.String({ maxLength: 3, pattern: PRINTABLE }),
    code: Type.Optional(Type.String({ minLength: 2, pattern: '^[a-z]*$' })),
    side: Type.Optional(Type.Union([Type.Literal('BUY'), Type.Literal('SELL')])),
    salt: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: '^[0-9]+$' })])),
    inner: Type.Optional(Type.Object({ size: Type.Number({ exclusiveMinimum: 0 }) })),
  },
  { additionalProperties: false },
);

test.for([
  ['a missing field', {}, ['name is required']],
  ['a wrong type', { name: 5 }, ['name must be string']],
  ['too many characters', { name: 'abcd' }, ['name must have at most 3 characters']],
  ['too few', { name: 'a', code: 'x' }, ['code must have at least 2 characters']],
  ['a pattern', { name: 'a', code: 'XX' }, ['code must match ^[a-z]*$']],
  [
    'a control character',
    { name: 'a\u0007' },
    ['name must not contain control characters (line breaks are among them) or broken Unicode'],
  ],
  ['a choice', { name: 'a', side: 'HOLD' }, ['side must be one of BUY, SELL']],
  ['a choice of types, in the matching branch', { name: 'a', salt: -1 }, ['salt must be >= 0']],
  ['a choice of types, in its other branch', { name: 'a', salt: 'x' }, ['salt must match ^[0-9]+$']],
  ['none of the types', { name: 'a', salt: null }, ['salt must be integer or string']],
  ['an unknown field', { name: 'a', nmae: 'b' }, ['nmae is not a known field (did you mean "name"?)']],
  [
    'unknown fields without a similar name, with the known ones listed once',
    { name: 'a', xxxxxx: 1, yyyyyy: 2 },
    ['xxxxxx is not a known field (known are name, code, side, salt, inner)', 'yyyyyy is not a known field'],
  ],
  ['a field of a field', { name: 'a', inner: { size: 0 } }, ['inner.size must be > 0']],
  [
    'all at once',
    { side: 'HOLD', inner: {} },
    ['name is required', 'side must be one of BUY, SELL', 'inner.size is required'],
  ],
  ['not an object', [], ['body must be object']],
] as const)('%s', ([, value, expected]) => {
  expect(messages(SCHEMA, value).sort()).toEqual([...expected].sort());
});

test('the error for an entirely wrong trade names every field once and repeats no value', async () => {
  const sound = await signedRequest();
  expect(messages(TradeRequest, sound)).toEqual([]);
  const sent = {
    ...sound,
    outcome: 'hunter2',
    orderSize: 'hunter2',
    order: { ...sound.order, signatureType: 'hunter2', maker: 'hunter2', salt: 'hunter2' },
  };
  const said = messages(TradeRequest, sent);
  for (const path of ['outcome', 'orderSize', 'order.signatureType', 'order.maker', 'order.salt'])
    expect(said.filter((text) => text.startsWith(`${path} `))).toHaveLength(1);
  expect(said.join()).not.toContain('hunter2');
});
