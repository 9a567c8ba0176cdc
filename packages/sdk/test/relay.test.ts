/** Requests for the relayer, from a service that changes one field of them, and a relayer that says its own terms. */
import {
  bytesToHex,
  outcomeTokens,
  ownerOf,
  type RelayTerms,
  relayRequest,
  type SignatureType,
} from '@bellwether/protocol';
import {
  type RelayPins,
  readRelayTerms,
  type SetResponse,
  Signer,
  signRelay,
  verifyRelay,
  type WalletAction,
  WalletCallsError,
} from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';
import { sendJson, standIn } from '../../../test/stand-in.ts';
import { walletCalls } from '../src/wallet-calls.ts';

const NOW = 1_764_000_000_000;
const DEADLINE = NOW / 1000 + 240;
const RELAY = `0x${'7e'.repeat(20)}`;
const OTHER = `0x${'1'.repeat(40)}`;
const conditionId = `0x${'5f'.repeat(32)}`;
const signer = Signer.fromPrivateKey(`0x${'4b'.repeat(32)}`);
const market = {
  ...{ conditionId, negRisk: false, version: 'v1' },
  clobTokenIds: [...outcomeTokens(conditionId, false)],
};
const SPLIT: WalletAction = { kind: 'split', amount: 25 };
type Type = Exclude<SignatureType, 0>;
type Record = NonNullable<SetResponse['relay']>;

const pinsOf = (type: Type): RelayPins => ({
  ...{ signer, wallet: signer.wallet(type), market },
  terms: { nonce: '5', relay: type === 1 ? RELAY : null },
  now: () => NOW,
});

const TERMS: { readonly [T in Type]: RelayTerms } = {
  1: { type: 'PROXY', nonce: 5n, relay: RELAY as never },
  2: { type: 'SAFE', nonce: 5n },
  3: { type: 'WALLET', nonce: 5n, deadlineS: DEADLINE },
};

/** What a desk answers that asked for these terms. */
function answerOf(
  type: Type,
  {
    action = SPLIT,
    terms = TERMS[type],
    isApproved = true,
  }: { action?: WalletAction; terms?: RelayTerms; isApproved?: boolean } = {},
) {
  const owner = ownerOf(signer.address, signer.wallet(type))!;
  const { calls } = walletCalls(action, pinsOf(type), isApproved);
  const { body, digest } = relayRequest(owner, calls, terms);
  const relay: Record = {
    ...{ type: terms.type, nonce: terms.nonce.toString(), chainId: 137 },
    deadline: new Date(DEADLINE * 1000).toISOString(),
    ...{ relay: terms.type === 'PROXY' ? terms.relay : null, digest: bytesToHex(digest), body },
  };
  return { orderId: '0xabc', status: 'unsigned', relay } as const;
}

/** The paths of every value in it. */
const pathsOf = (value: unknown, path: readonly string[] = []): readonly (readonly string[])[] =>
  typeof value !== 'object' || value === null
    ? [path]
    : Object.entries(value).flatMap(([name, one]) => pathsOf(one, [...path, name]));

function changedAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) {
    if (typeof value === 'number') return value + 1;
    if (typeof value !== 'string') return OTHER;
    if (value.endsWith('Z'))
      return value.replace(/\d\.000Z$/, (end) => (end[0] === '1' ? '2.000Z' : '1.000Z'));
    return value.endsWith('1') ? `${value.slice(0, -1)}2` : `${value.slice(0, -1)}1`;
  }
  const copy = structuredClone(value) as { [name: string]: unknown };
  copy[name] = changedAt(copy[name], rest);
  return copy;
}

describe.each([1, 2, 3] as const)('of a wallet of type %i', (type) => {
  test.each([true, false])('what was asked for is signed (approved before: %s)', async (isApproved) => {
    const answer = answerOf(type, { isApproved });
    const verified = verifyRelay(answer, SPLIT, pinsOf(type));
    expect(bytesToHex(verified.digest)).toBe(answer.relay.digest);
    expect(await signRelay(verified, signer)).toEqual({
      orderId: '0xabc',
      signature: await signer.signDigest(verified.digest),
    });
  });

  test('a difference in any field is refused by its name', () => {
    const honest = answerOf(type, { isApproved: false });
    const paths = pathsOf(honest.relay).filter(([name]) => name !== 'deadline' || type === 3);
    expect(paths.length).toBeGreaterThan(12);
    for (const path of paths) {
      const lie = { ...honest, relay: changedAt(honest.relay, path) as Record };
      expect(() => verifyRelay(lie, SPLIT, pinsOf(type)), path.join('.')).toThrow(WalletCallsError);
    }
  });

  test('a field that was added to the body, and one that was left out, are refused', () => {
    const { relay, ...answer } = answerOf(type);
    const added = { ...relay, body: { ...relay.body, value: '1' } };
    expect(() => verifyRelay({ ...answer, relay: added }, SPLIT, pinsOf(type))).toThrow('relay.body.value');
    const { nonce: _, ...rest } = relay.body;
    expect(() => verifyRelay({ ...answer, relay: { ...relay, body: rest } }, SPLIT, pinsOf(type))).toThrow(
      'relay.body.nonce',
    );
  });

  test('a whole request of another nonce, action, amount or time is refused', () => {
    const refused = (answer: ReturnType<typeof answerOf>, pins = pinsOf(type)) =>
      expect(() => verifyRelay(answer, SPLIT, pins)).toThrow(WalletCallsError);
    refused(answerOf(type, { terms: { ...TERMS[type], nonce: 6n } }));
    refused(answerOf(type, { action: { kind: 'split', amount: 25.000001 } }));
    refused(answerOf(type, { action: { kind: 'merge', amount: 25 } }));
    for (const now of [NOW - 91_000, NOW + 271_000])
      refused(answerOf(type), { ...pinsOf(type), now: () => now });
    for (const deadline of [
      DEADLINE,
      String(DEADLINE),
      'soon',
      new Date(DEADLINE * 1000 + 500).toISOString(),
    ]) {
      const { relay, ...rest } = answerOf(type);
      refused({ ...rest, relay: { ...relay, deadline } as Record });
    }
    if (type === 1) refused(answerOf(1, { terms: { type: 'PROXY', nonce: 5n, relay: OTHER as never } }));
  });
});

test('a desk that has nothing for the relayer is said so', () => {
  const { relay: _, ...answer } = answerOf(2);
  expect(() => verifyRelay(answer, SPLIT, pinsOf(2))).toThrow('nothing for the relayer');
  expect(() => verifyRelay({ ...answerOf(2), status: 'filled' }, SPLIT, pinsOf(2))).toThrow(WalletCallsError);
});

test('the terms are the relayer’s own words, and no others', async () => {
  const asked: string[] = [];
  let answer: unknown = { nonce: 7, address: RELAY };
  const relayerUrl = await standIn(({ url }, response) => {
    asked.push(url);
    sendJson(response, answer);
  });
  const read = (type: SignatureType) => readRelayTerms({ signer, wallet: signer.wallet(type), relayerUrl });
  expect([await read(1), await read(2), await read(3)]).toEqual([
    { nonce: '7', relay: RELAY },
    { nonce: '7', relay: null },
    { nonce: '7', relay: null },
  ]);
  expect(asked).toEqual([
    `/relay-payload?address=${signer.address}&type=PROXY`,
    `/nonce?address=${signer.address}&type=SAFE`,
    `/nonce?address=${signer.address}&type=WALLET`,
  ]);
  await expect(read(0)).rejects.toThrow('no proxy wallet, Safe or deposit wallet');
  for (const [type, said] of [
    [1, { nonce: '7' }],
    [2, { nonce: '-1' }],
    [2, {}],
    [2, null],
  ] as const) {
    answer = said;
    await expect(read(type)).rejects.toThrow('does not say its terms');
  }
});
