/** Missing options are named in a sentence: no call of the SDK ends in a TypeError of its insides. */
import * as sdk from '@bellwether/sdk';
import { BellwetherClient, BellwetherUsageError, Signer, SolanaSigner } from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';
import { MARKET } from './market.ts';

type AnyFunction = (...args: unknown[]) => unknown;

const isClass = (value: AnyFunction): boolean => /^class\b/.test(Function.prototype.toString.call(value));
const exported = Object.entries(sdk).filter(([, value]) => typeof value === 'function') as [
  string,
  AnyFunction,
][];
const functions = exported.filter(([, value]) => !isClass(value));
const EMPTY: readonly unknown[] = [undefined, null, {}, ''];

async function faultOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return null;
  } catch (error) {
    return error;
  }
}

const SENTENCE = /^[^\n]{15,400}[.)]$/;

function expectSentence(fault: unknown): void {
  if (fault === null) return;
  expect(fault).toBeInstanceOf(Error);
  expect(fault).not.toBeInstanceOf(TypeError);
  expect((fault as Error).message).not.toMatch(/\[object|is not a function|reading '|is not iterable/);
}

const client = () =>
  new BellwetherClient({
    baseUrl: 'http://desk.example',
    fetch: async () => new Response('{}'),
    wait: async () => {},
  });

describe('a function that is called with nothing says what it needs', () => {
  test('there are some', () => expect(functions.length).toBeGreaterThan(8));

  test.each(functions)('%s', async (_name, call) => {
    for (const empty of EMPTY) expectSentence(await faultOf(() => call(empty)));
    for (const empty of EMPTY) expectSentence(await faultOf(() => call(client(), empty)));
  });
});

describe('so does each method', () => {
  const chained: readonly [string, object][] = [
    ['client', client()],
    ['client.venueB', client().venueB],
    ['Signer', Signer],
    ['a signer', Signer.generate()],
    ['SolanaSigner', SolanaSigner],
    ['a Solana signer', SolanaSigner.generate()],
  ];
  const namesOf = (value: object): string[] => {
    const own = typeof value === 'function' ? value : Object.getPrototypeOf(value);
    const names = Object.getOwnPropertyNames(own);
    const above = Object.getPrototypeOf(own);
    return typeof value === 'function' || above === Object.prototype
      ? names
      : [...names, ...Object.getOwnPropertyNames(above)];
  };
  const methods = chained.flatMap(([of, value]) =>
    namesOf(value)
      .filter((name) => !['constructor', 'prototype', 'name', 'length', 'venueB', 'options'].includes(name))
      .filter((name) => typeof (value as Record<string, unknown>)[name] === 'function')
      .map((name) => [`${of}.${name}`, value as Record<string, AnyFunction>, name] as const),
  );

  test('there are many', () => expect(methods.length).toBeGreaterThan(60));

  test.each(methods)('%s', async (_title, value, name) => {
    for (const empty of EMPTY) expectSentence(await faultOf(() => value[name]?.(empty)));
  });
});

describe('the sentence names the option', () => {
  const signer = Signer.generate();
  const order = { signer, market: MARKET, outcome: 'YES', side: 'BUY', price: 0.5, size: 10 };
  const without = (name: string) => ({ ...order, [name]: undefined }) as never;

  test.each(Object.keys(order))('an order without %s', async (name) => {
    const fault = await faultOf(() => sdk.buildLimitOrder(without(name)));
    expect(fault).toBeInstanceOf(BellwetherUsageError);
    expect((fault as Error).message).toContain(`buildLimitOrder needs ${name}`);
    expect((fault as Error).message).toMatch(SENTENCE);
  });

  test.each([
    [undefined, 'BellwetherClient needs baseUrl'],
    [{}, 'BellwetherClient needs baseUrl'],
    [{ baseUrl: undefined, apiKey: 'bw_secret' }, 'BellwetherClient needs baseUrl'],
    [{ baseUrl: 'localhost:8080' }, 'http:// or https://'],
    [{ baseUrl: 'http://u:p@desk.example' }, 'without a user name'],
  ])('a client of %j', async (options, message) => {
    const fault = await faultOf(() => new BellwetherClient(options as never));
    expect(fault).toBeInstanceOf(BellwetherUsageError);
    expect((fault as Error).message).toContain(message);
    expect((fault as Error).message).not.toMatch(/bw_secret|u:p/);
  });

  test('a parameter of a path is not sent as the word "undefined"', async () => {
    const fault = await faultOf(() => client().getMarket(undefined as never));
    expect(fault).toBeInstanceOf(BellwetherUsageError);
    expect((fault as Error).message).toMatch(/^getMarket needs id: .+ it is undefined\.$/);
  });

  test('an object where a text belongs is not sent as "[object Object]"', async () => {
    const fault = await faultOf(() => client().getOrder({ orderId: '0x1' } as never));
    expect((fault as Error).message).toMatch(/^getOrder needs orderId: .+ it is an object\.$/);
  });
});
