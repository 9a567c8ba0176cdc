/**
 * The quoted transaction, changed in every way before it is submitted: each is refused with its own code,
 * and afterwards chain, orders and budgets are unchanged. The quoted transaction itself is still accepted.
 */
import {
  parseBase58,
  parseTransaction,
  parseTransactionBytes,
  type SolanaTransaction,
  toBase64,
  withSignature,
} from '@bellwether/protocol';
import { type Market, SolanaSigner } from '@bellwether/sdk';
import { getCompiledTransactionMessageDecoder, getCompiledTransactionMessageEncoder } from '@solana/kit';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { type RawAnswer, startTestService, type TestService } from '../harness.ts';
import { aSandboxMarket, newSandboxTrader, type SandboxTrader } from '../sandbox.ts';
import { manualClock } from '../world.ts';

const RUNS = 300;
const QUOTES = 4;
const SIGNATURE_AT = 1;
const MESSAGE_AT = 65;
/** Behind the version, three counts and the number of keys. */
const KEYS_AT = MESSAGE_AT + 5;
const KEY_BYTES = 32;
/** The order of the curve's base point, whose multiples turn one valid S into others. */
const GROUP_ORDER = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;

/** Guards the transactions of several wallets. */
const LIGHTHOUSE = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';

/** Stands still, so that no quote expires during the test. */
const clock = manualClock();
let service: TestService;
let sql: Sql;
let market: Market;
let owner: SandboxTrader;
let other: SandboxTrader;
let quotes: Signed[];
let foreign: Signed;

interface Signed {
  readonly by: SandboxTrader;
  readonly quoteId: string;
  readonly wire: Uint8Array;
  readonly tx: SolanaTransaction;
}

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  sql = openPool(service.databaseUrl, { max: 2 });
  owner = await newSandboxTrader(service);
  other = await newSandboxTrader(service);
  market = await aSandboxMarket(owner.client);
  quotes = [];
  for (let i = 0; i < QUOTES; i += 1) quotes.push(await quoted(owner));
  foreign = await quoted(other);
});
afterAll(() => sql?.end());

async function quoted(by: SandboxTrader): Promise<Signed> {
  const { body } = await by.quote({ marketTicker: market.id, side: 'YES', action: 'BUY', amount: 10 });
  const wire = by.signer.signTransaction(parseTransactionBytes(body.unsignedTransaction));
  return { by, quoteId: body.quoteId, wire, tx: parseTransaction(toBase64(wire)) };
}

/** Random numbers for a mutation; fast-check shrinks them. */
interface Dice {
  readonly at: number;
  readonly bit: number;
  readonly count: number;
}

/** What is submitted instead: other bytes, a text that is not their canonical base64, or all of it. */
type Handed = Uint8Array | string | { readonly by: SandboxTrader; readonly quoteId: string };
const flipped = (wire: Uint8Array, from: number, to: number, { at, bit }: Dice): Uint8Array => {
  const copy = wire.slice();
  const index = from + (at % (to - from));
  copy[index]! ^= 1 << bit;
  return copy;
};

const blockhashAt = ({ tx }: Signed): number => KEYS_AT + tx.accountKeys.length * KEY_BYTES;
const instructionsAt = (quote: Signed): number => blockhashAt(quote) + KEY_BYTES;

/** The message that `change` makes of the quoted one, as the kit writes it, signed by the wallet. */
function rebuilt(quote: Signed, change: (message: Compiled) => Compiled): Uint8Array {
  const decoded = getCompiledTransactionMessageDecoder().decode(quote.tx.message) as unknown as Compiled;
  const message = getCompiledTransactionMessageEncoder().encode(change(decoded) as never);
  return quote.by.signer.signTransaction(new Uint8Array([1, ...new Uint8Array(64), ...message]));
}

interface Compiled {
  readonly version: 'legacy' | 0;
  readonly header: { readonly numReadonlyNonSignerAccounts: number };
  readonly staticAccounts: readonly string[];
  readonly instructions: readonly { readonly programAddressIndex?: number; readonly data?: Uint8Array }[];
}

const pick = <T>(items: readonly T[], { at }: Dice): T => items[at % items.length] as T;
const others = (quote: Signed): readonly Signed[] => quotes.filter((each) => each !== quote);
const signatureOf = (wire: Uint8Array): Uint8Array => wire.slice(SIGNATURE_AT, MESSAGE_AT);
const signedBy = (quote: Signed, signature: Uint8Array): Uint8Array =>
  withSignature(quote.wire, quote.by.wallet, signature);

/** The same R with S + L: the same equation, encoded differently. */
function malleatedSignature(signature: Uint8Array): Uint8Array {
  const copy = Buffer.from(signature);
  const s = BigInt(`0x${Buffer.from(copy.subarray(32)).reverse().toString('hex')}`) + GROUP_ORDER;
  Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse().copy(copy, 32);
  return new Uint8Array(copy);
}

const MISMATCH = ['transaction_mismatch'];
const MALFORMED = ['transaction_malformed'];
const INVALID = ['transaction_signature_invalid'];
const MISSING = ['transaction_not_signed'];
const VERSION = ['transaction_version_not_supported'];
const UNKNOWN = ['quote_not_found'];

/** By a name that appears when one fails: the codes that may refuse it, and what is submitted. */
const MUTATIONS: Readonly<
  Record<string, readonly [codes: readonly string[], make: (quote: Signed, dice: Dice) => Handed]>
> = {
  'a bit of the signature': [INVALID, ({ wire }, dice) => flipped(wire, SIGNATURE_AT, MESSAGE_AT, dice)],
  'a bit of the number of signatures': [
    [...MALFORMED, ...VERSION],
    ({ wire }, dice) => flipped(wire, 0, SIGNATURE_AT, dice),
  ],
  'a bit of the version': [
    [...MALFORMED, ...VERSION],
    ({ wire }, dice) => flipped(wire, MESSAGE_AT, MESSAGE_AT + 1, dice),
  ],
  'a bit of the header': [
    [...MALFORMED, ...MISMATCH],
    ({ wire }, dice) => flipped(wire, MESSAGE_AT + 1, KEYS_AT, dice),
  ],
  'a bit of a key': [MISMATCH, (quote, dice) => flipped(quote.wire, KEYS_AT, blockhashAt(quote), dice)],
  'a bit of the blockhash': [
    MISMATCH,
    (quote, dice) => flipped(quote.wire, blockhashAt(quote), instructionsAt(quote), dice),
  ],
  'a bit of the instructions': [
    [...MISMATCH, ...MALFORMED],
    (quote, dice) => flipped(quote.wire, instructionsAt(quote), quote.wire.length, dice),
  ],
  'a bit of an instruction’s data, signed again': [
    MISMATCH,
    (quote, dice) =>
      rebuilt(quote, (message) => {
        const chosen = pick(message.instructions, dice);
        const data = new Uint8Array(chosen.data ?? []);
        const spoiled = { ...chosen, data: flipped(data, 0, data.length, dice) };
        return {
          ...message,
          instructions: message.instructions.map((each) => (each === chosen ? spoiled : each)),
        };
      }),
  ],
  'two accounts swapped, signed again': [
    MISMATCH,
    (quote, { at, count }) =>
      rebuilt(quote, (message) => {
        const keys = [...message.staticAccounts];
        const a = 1 + (at % (keys.length - 1));
        const b = 1 + ((a + (count % (keys.length - 2))) % (keys.length - 1));
        [keys[a], keys[b]] = [keys[b]!, keys[a]!];
        return { ...message, staticAccounts: keys };
      }),
  ],
  'an additional instruction, signed again': [
    MISMATCH,
    (quote, dice) =>
      rebuilt(quote, (message) => ({
        ...message,
        instructions: [...message.instructions, pick(message.instructions, dice)],
      })),
  ],
  'a missing instruction, signed again': [
    MISMATCH,
    (quote, { at }) =>
      rebuilt(quote, (message) => ({
        ...message,
        instructions: message.instructions.toSpliced(at % message.instructions.length, 1),
      })),
  ],
  'the same as a legacy message, signed again': [
    MISMATCH,
    (quote) => rebuilt(quote, (message) => ({ ...message, version: 'legacy' })),
  ],
  'the layout of version 1': [
    VERSION,
    ({ wire }, { bit }) => wire.with(bit % 2 === 0 ? 0 : MESSAGE_AT, 0x81),
  ],
  'bytes missing at the end': [MALFORMED, ({ wire }, { at }) => wire.slice(0, 1 + (at % (wire.length - 1)))],
  'extra bytes at the end': [
    MALFORMED,
    ({ wire }, { at, count }) => new Uint8Array([...wire, ...new Uint8Array(1 + (count % 40)).fill(at)]),
  ],
  'larger than a packet': [
    MALFORMED,
    ({ wire }, { count }) => new Uint8Array([...wire, ...new Uint8Array(1_233 - wire.length + count)]),
  ],
  'no signature': [MISSING, (quote) => signedBy(quote, new Uint8Array(64))],
  'no room for a signature': [MALFORMED, ({ tx }) => new Uint8Array([0, ...tx.message])],
  'the signature twice': [
    MALFORMED,
    ({ wire, tx }) => new Uint8Array([2, ...signatureOf(wire), ...signatureOf(wire), ...tx.message]),
  ],
  'the signature of another quote': [
    INVALID,
    (quote, dice) => signedBy(quote, signatureOf(pick(others(quote), dice).wire)),
  ],
  'the signature of another wallet': [
    INVALID,
    (quote) => {
      const stranger = SolanaSigner.generate();
      const renamed = quote.wire.slice();
      renamed.set(parseBase58(stranger.address) as Uint8Array, KEYS_AT);
      return signedBy(quote, signatureOf(stranger.signTransaction(renamed)));
    },
  ],
  'the same signature, encoded differently': [
    INVALID,
    (quote) => signedBy(quote, malleatedSignature(signatureOf(quote.wire))),
  ],
  'the transaction of another quote': [MISMATCH, (quote, dice) => pick(others(quote), dice).wire],
  'the transaction of another agent': [MISMATCH, () => foreign.wire],
  'base64 that is not canonical': [MALFORMED, ({ wire }, dice) => spelled(toBase64(wire), dice)],
  'not base64': [
    MALFORMED,
    ({ wire }, { at }) => {
      const text = toBase64(wire);
      const cut = at % text.length;
      return `${text.slice(0, cut)}*${text.slice(cut + 1)}`;
    },
  ],
  'another agent’s quote': [UNKNOWN, ({ quoteId }) => ({ by: other, quoteId })],
  'an unknown quote': [
    UNKNOWN,
    ({ by, quoteId }) => ({
      by,
      quoteId: quoteId.replace(/.{4}$/, (end) => (end === '0000' ? '0001' : '0000')),
    }),
  ],
};

/** The same bytes for a decoder that is not strict. */
const spelled = (text: string, dice: Dice): string =>
  pick(
    [
      text.endsWith('=') ? text.replace(/=+$/, '') : `${text}====`,
      ` ${text}`,
      `${text.slice(0, 8)} ${text.slice(8)}`,
      `${text}=`,
    ],
    { ...dice, at: dice.bit },
  );

/** What a refusal says besides its code. */
function expectAdvice({ code, detail, diagnosis, context }: RawAnswer['body'], { by }: Signed): void {
  if (code === 'transaction_malformed') expect(context.fault).toEqual(expect.any(String));
  if (![...MISSING, ...INVALID].includes(code)) return;
  expect(detail).toBe('Invalid order payload');
  expect(diagnosis).toMatchObject({ check: expect.any(String), signer: by.wallet });
}

/** All state that a submit could change. */
async function stateOf(): Promise<unknown> {
  const [row] = await sql`
    select (select count(*)::int from sandbox_transactions) as broadcast,
      (select count(*)::int from orders) as orders,
      (select count(*)::int from chain_orders) as chain_orders,
      (select json_agg(s order by s.agent_id)::text from safeguards s) as budgets,
      (select md5(string_agg(address || lamports || encode(data, 'hex'), ',' order by address))
        from sandbox_accounts) as accounts`;
  return row;
}

test('a changed transaction is refused with its fault, without effect', {
  timeout: 120_000,
}, async () => {
  const before = await stateOf();
  const names = Object.keys(MUTATIONS);
  const tried = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...names),
      fc.nat(QUOTES - 1),
      fc.record({ at: fc.nat(1_000_000), bit: fc.nat(7), count: fc.nat(1_000) }),
      async (name, index, dice) => {
        const quote = quotes[index] as Signed;
        const [codes, make] = MUTATIONS[name] as (typeof MUTATIONS)[string];
        const made = make(quote, dice);
        const text = made instanceof Uint8Array ? toBase64(made) : made;
        const answer =
          typeof text === 'string'
            ? await quote.by.submit(quote.quoteId, text)
            : await text.by.submit(text.quoteId, toBase64(quote.wire));
        expect(codes, name).toContain(answer.body.code);
        expect(answer.status, name).toBe(codes === UNKNOWN ? 404 : 400);
        expectAdvice(answer.body, quote);
        expect(await stateOf(), name).toEqual(before);
        tried.add(name);
      },
    ),
    { seed: 18, numRuns: RUNS },
  );
  expect([...tried].sort()).toEqual(names.sort());
  const { trades } = await owner.client.listAgentTrades({ venue: 'kalshi', limit: 200 });
  const noted = trades.filter(({ status, errorCode }) => `${status} ${errorCode}` === `denied ${MISMATCH}`);
  expect(noted.length).toBeGreaterThanOrEqual(3);
});

test('a program that a wallet added to the transaction is named', async () => {
  const quote = quotes[0] as Signed;
  const wire = rebuilt(quote, ({ header, staticAccounts, instructions, ...rest }) => ({
    ...rest,
    header: { ...header, numReadonlyNonSignerAccounts: header.numReadonlyNonSignerAccounts + 1 },
    staticAccounts: [...staticAccounts, LIGHTHOUSE],
    instructions: [...instructions, { programAddressIndex: staticAccounts.length, data: new Uint8Array(3) }],
  }));
  const { body } = await quote.by.submit(quote.quoteId, toBase64(wire));
  expect(body).toMatchObject({
    code: 'transaction_mismatch',
    detail: expect.stringContaining(`of ${LIGHTHOUSE}.`),
    fix: expect.stringContaining('Your wallet added them.'),
  });
});

test('afterwards the quoted transaction is accepted, once', async () => {
  const ticking = setInterval(() => clock.advance(200), 200);
  try {
    for (const { by, quoteId, wire } of [...quotes, foreign]) {
      const { body } = await by.submit(quoteId, toBase64(wire));
      expect(body).toMatchObject({ success: true, orderId: quoteId });
      expect(await by.ended(quoteId)).toMatchObject({ status: 'filled' });
    }
  } finally {
    clearInterval(ticking);
  }
  expect(await owner.client.getMe()).toMatchObject({ tradesToday: QUOTES });
  clock.advance(2_000);
  await service.sandbox.venue.tick();

  const before = await stateOf();
  for (const { quoteId, wire } of quotes) {
    const { body } = await owner.submit(quoteId, toBase64(wire));
    expect(body).toMatchObject({ success: true, orderId: quoteId, status: 'submitted' });
  }
  expect(await stateOf()).toEqual(before);
});
