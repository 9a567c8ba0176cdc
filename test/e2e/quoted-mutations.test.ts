/**
 * The quoted transaction, changed in every way before it is submitted: each is refused with its own code,
 * and afterwards chain, orders and budgets are unchanged. The quoted transaction itself is still accepted.
 */
import {
  parseBase58,
  parseTransaction,
  type SolanaTransaction,
  toBase64,
  withSignature,
} from '@bellwether/protocol';
import { type Market, SolanaSigner } from '@bellwether/sdk';
import { getCompiledTransactionMessageDecoder, getCompiledTransactionMessageEncoder } from '@solana/kit';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { startTestService, type TestService } from '../harness.ts';
import { aSandboxMarket, newSandboxTrader, type SandboxTrader } from '../sandbox.ts';
import { manualClock } from '../world.ts';

const RUNS = 300;
const QUOTE_TTL_MS = 120_000;
const QUOTES = 4;
const SIGNATURE_AT = 1;
const MESSAGE_AT = 65;
/** Behind the version, three counts and the number of keys. */
const KEYS_AT = MESSAGE_AT + 5;
const KEY_BYTES = 32;
/** The order of the curve's base point, whose multiples turn one valid S into others. */
const GROUP_ORDER = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;

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
  const wire = by.signer.signTransaction(parseBytes(body.unsignedTransaction));
  return { by, quoteId: body.quoteId, wire, tx: parseTransaction(toBase64(wire)) };
}

const parseBytes = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, 'base64'));

/** Random numbers for a mutation; fast-check shrinks them. */
interface Dice {
  readonly at: number;
  readonly bit: number;
  readonly count: number;
}

interface Handed {
  readonly by?: SandboxTrader;
  readonly quoteId?: string;
  readonly text: string;
}

interface Mutation {
  readonly codes: readonly string[];
  readonly make: (quote: Signed, dice: Dice) => Handed | Uint8Array;
}

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
  const message = new Uint8Array(getCompiledTransactionMessageEncoder().encode(change(decoded) as never));
  const unsigned = new Uint8Array([1, ...new Uint8Array(64), ...message]);
  return quote.by.signer.signTransaction(unsigned);
}

interface Compiled {
  readonly version: 'legacy' | 0;
  readonly staticAccounts: readonly string[];
  readonly instructions: readonly Instruction[];
  readonly lifetimeToken: string;
}

interface Instruction {
  readonly programAddressIndex: number;
  readonly accountIndices?: readonly number[];
  readonly data?: Uint8Array;
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

/** The names appear when one fails. */
const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'a bit of the signature': { codes: INVALID, make: ({ wire }, dice) => flipped(wire, 1, 65, dice) },
  'a bit of the number of signatures': {
    codes: [...MALFORMED, ...VERSION],
    make: ({ wire }, dice) => flipped(wire, 0, 1, dice),
  },
  'a bit of the version': {
    codes: [...MALFORMED, ...VERSION],
    make: ({ wire }, dice) => flipped(wire, MESSAGE_AT, MESSAGE_AT + 1, dice),
  },
  'a bit of the header': {
    codes: [...MALFORMED, ...MISMATCH],
    make: ({ wire }, dice) => flipped(wire, MESSAGE_AT + 1, KEYS_AT, dice),
  },
  'a bit of a key': {
    codes: MISMATCH,
    make: (quote, dice) => flipped(quote.wire, KEYS_AT, blockhashAt(quote), dice),
  },
  'a bit of the blockhash': {
    codes: MISMATCH,
    make: (quote, dice) => flipped(quote.wire, blockhashAt(quote), instructionsAt(quote), dice),
  },
  'a bit of the instructions': {
    codes: [...MISMATCH, ...MALFORMED],
    make: (quote, dice) => flipped(quote.wire, instructionsAt(quote), quote.wire.length, dice),
  },
  'a bit of an instruction’s data, signed again': {
    codes: MISMATCH,
    make: (quote, dice) =>
      rebuilt(quote, (message) => {
        const chosen = pick(message.instructions, dice);
        const data = new Uint8Array(chosen.data ?? []);
        const spoiled = { ...chosen, data: flipped(data, 0, data.length, dice) };
        return {
          ...message,
          instructions: message.instructions.map((each) => (each === chosen ? spoiled : each)),
        };
      }),
  },
  'two accounts swapped, signed again': {
    codes: MISMATCH,
    make: (quote, { at, count }) =>
      rebuilt(quote, (message) => {
        const keys = [...message.staticAccounts];
        const a = 1 + (at % (keys.length - 1));
        const b = 1 + ((a + (count % (keys.length - 2))) % (keys.length - 1));
        [keys[a], keys[b]] = [keys[b]!, keys[a]!];
        return { ...message, staticAccounts: keys };
      }),
  },
  'an additional instruction, signed again': {
    codes: MISMATCH,
    make: (quote, dice) =>
      rebuilt(quote, (message) => ({
        ...message,
        instructions: [...message.instructions, pick(message.instructions, dice)],
      })),
  },
  'a missing instruction, signed again': {
    codes: MISMATCH,
    make: (quote, dice) =>
      rebuilt(quote, (message) => ({
        ...message,
        instructions: message.instructions.filter(
          (_, index) => index !== dice.at % message.instructions.length,
        ),
      })),
  },
  'the same as a legacy message, signed again': {
    codes: MISMATCH,
    make: (quote) => rebuilt(quote, (message) => ({ ...message, version: 'legacy' })),
  },
  'the layout of version 1': {
    codes: VERSION,
    make: ({ wire }, { bit }) => {
      const copy = wire.slice();
      copy[bit % 2 === 0 ? 0 : MESSAGE_AT] = 0x81;
      return copy;
    },
  },
  'bytes missing at the end': {
    codes: MALFORMED,
    make: ({ wire }, { at }) => wire.slice(0, 1 + (at % (wire.length - 1))),
  },
  'extra bytes at the end': {
    codes: MALFORMED,
    make: ({ wire }, { at, count }) =>
      new Uint8Array([...wire, ...new Uint8Array(1 + (count % 40)).fill(at)]),
  },
  'larger than a packet': {
    codes: MALFORMED,
    make: ({ wire }, { count }) => new Uint8Array([...wire, ...new Uint8Array(1_233 - wire.length + count)]),
  },
  'no signature': { codes: MISSING, make: (quote) => signedBy(quote, new Uint8Array(64)) },
  'no room for a signature': {
    codes: MALFORMED,
    make: ({ tx }) => new Uint8Array([0, ...tx.message]),
  },
  'the signature twice': {
    codes: MALFORMED,
    make: ({ wire, tx }) => new Uint8Array([2, ...signatureOf(wire), ...signatureOf(wire), ...tx.message]),
  },
  'the signature of another quote': {
    codes: INVALID,
    make: (quote, dice) => signedBy(quote, signatureOf(pick(others(quote), dice).wire)),
  },
  'the signature of another wallet': {
    codes: INVALID,
    make: (quote) => {
      const stranger = SolanaSigner.generate();
      const renamed = quote.wire.slice();
      renamed.set(parseBase58(stranger.address) as Uint8Array, KEYS_AT);
      return signedBy(quote, signatureOf(stranger.signTransaction(renamed)));
    },
  },
  'the same signature, encoded differently': {
    codes: INVALID,
    make: (quote) => signedBy(quote, malleatedSignature(signatureOf(quote.wire))),
  },
  'the transaction of another quote': {
    codes: MISMATCH,
    make: (quote, dice) => pick(others(quote), dice).wire,
  },
  'the transaction of another agent': { codes: MISMATCH, make: () => foreign.wire },
  'base64 that is not canonical': {
    codes: MALFORMED,
    make: ({ wire }, dice) => ({ text: spelled(wire, dice) }),
  },
  'not base64': {
    codes: MALFORMED,
    make: ({ wire }, { at }) => {
      const text = toBase64(wire);
      const cut = at % text.length;
      return { text: `${text.slice(0, cut)}*${text.slice(cut + 1)}` };
    },
  },
  'another agent’s quote': {
    codes: UNKNOWN,
    make: ({ wire }) => ({ by: other, text: toBase64(wire) }),
  },
  'an unknown quote': {
    codes: UNKNOWN,
    make: ({ quoteId, wire }) => ({
      quoteId: quoteId.replace(/.{4}$/, (end) => (end === '0000' ? '0001' : '0000')),
      text: toBase64(wire),
    }),
  },
};

/** The same bytes for a decoder that is not strict. */
function spelled(wire: Uint8Array, { bit }: Dice): string {
  const text = toBase64(wire);
  const padded = text.endsWith('=');
  switch (bit % 4) {
    case 0:
      return padded ? text.replace(/=+$/, '') : `${text}====`;
    case 1:
      return ` ${text}`;
    case 2:
      return `${text.slice(0, 8)} ${text.slice(8)}`;
    default:
      return `${text}=`;
  }
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
        const { codes, make } = MUTATIONS[name] as Mutation;
        const made = make(quote, dice);
        const { by, quoteId, text } = made instanceof Uint8Array ? { text: toBase64(made) } : made;
        const answer = await (by ?? quote.by).submit(quoteId ?? quote.quoteId, text);
        expect(codes, name).toContain(answer.body.code);
        expect(answer.status, name).toBe(codes === UNKNOWN ? 404 : 400);
        expect(await stateOf(), name).toEqual(before);
        tried.add(name);
      },
    ),
    { seed: 18, numRuns: RUNS },
  );
  expect([...tried].sort()).toEqual(names.sort());
});

test('afterwards the quoted transaction is accepted, once', async () => {
  const [late, ...used] = quotes as [Signed, ...Signed[]];
  const ticking = setInterval(() => clock.advance(200), 200);
  try {
    for (const { by, quoteId, wire } of [...used, foreign]) {
      const { body } = await by.submit(quoteId, toBase64(wire));
      expect(body).toMatchObject({ success: true, orderId: quoteId });
      expect(await by.ended(quoteId)).toMatchObject({ status: 'filled' });
    }
  } finally {
    clearInterval(ticking);
  }
  expect(await owner.client.getMe()).toMatchObject({ tradesToday: used.length });
  clock.advance(2_000);
  await service.sandbox.venue.tick();

  const before = await stateOf();
  for (const quote of used) {
    for (const wire of [late.wire, signedBy(quote, new Uint8Array(64)), quote.wire.slice(1)]) {
      const { status, body } = await owner.submit(quote.quoteId, toBase64(wire));
      expect([status, body.code]).toEqual([409, 'quote_already_used']);
    }
    const again = await owner.submit(quote.quoteId, toBase64(quote.wire));
    expect(again.body).toMatchObject({ success: true, orderId: quote.quoteId, status: 'submitted' });
  }
  clock.advance(QUOTE_TTL_MS);
  for (const wire of [late.wire, signedBy(late, new Uint8Array(64))]) {
    const { status, body } = await owner.submit(late.quoteId, toBase64(wire));
    expect([status, body.code]).toEqual([400, 'quote_expired']);
  }
  expect(await stateOf()).toEqual(before);
});
