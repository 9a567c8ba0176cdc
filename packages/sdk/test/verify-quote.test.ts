import { createHash, createPublicKey, verify } from 'node:crypto';
import { inspect } from 'node:util';
import {
  parseBase58,
  parseTransaction,
  signatureFaults,
  toBase58,
  toBase64,
  USDC_MINT,
  utf8,
} from '@bellwether/protocol';
import {
  BellwetherClient,
  InvalidSolanaKey,
  type Quote,
  type QuoteAsk,
  QuoteError,
  SolanaSigner,
  UnsafeTransaction,
  type VerifyOptions,
} from '@bellwether/sdk';
import { createNoopSigner, type Instruction } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { describe, expect, test } from 'vitest';
import {
  buyQuote,
  handovers,
  kitAddress,
  NO_MINT,
  STRANGER,
  sellQuote,
  transfer,
  unsigned,
  YES_MINT,
} from './dishonest-desk.ts';

const SECRET = new Uint8Array(32).fill(5);
const signer = SolanaSigner.fromSecretKey(SECRET);
const wallet = signer.address;
const { venueB } = new BellwetherClient({ baseUrl: 'http://127.0.0.1:9' });

const BUY: QuoteAsk = { ticker: 'KXTEST-1-1', side: 'YES', action: 'BUY', amount: 5 };
const MINTS = [YES_MINT, NO_MINT] as const;
const SELL: QuoteAsk = { ticker: 'KXTEST-1-1', side: 'YES', action: 'SELL', shares: '3' };

function reasonsOf(quote: Quote, ask: QuoteAsk = BUY, options: Partial<VerifyOptions> = {}): string[] {
  try {
    venueB.verify(quote, ask, { wallet, mints: MINTS, ...options });
    return [];
  } catch (error) {
    if (!(error instanceof UnsafeTransaction)) throw error;
    expect(error.reasons.every(({ detail }) => error.message.includes(detail))).toBe(true);
    return error.reasons.map(({ code }) => code);
  }
}

const codeOf = (quote: Quote, ask: QuoteAsk = BUY): string => {
  try {
    venueB.verify(quote, ask, { wallet, mints: MINTS });
  } catch (error) {
    if (error instanceof QuoteError) return `${error.code} ${error.quoteErrorCode ?? ''}`.trim();
    throw error;
  }
  return 'accepted';
};

describe('the Solana key', () => {
  const keyFile = Uint8Array.of(...SECRET, ...parseBase58(wallet)!);

  test('is accepted in every encoding', () => {
    for (const key of [SECRET, toBase58(SECRET), keyFile, toBase58(keyFile), JSON.stringify([...keyFile])])
      expect(SolanaSigner.fromSecretKey(key).address).toBe(wallet);
  });

  test.each([
    ['too short', SECRET.subarray(1)],
    ['of another address', keyFile.with(40, 1)],
    ['not base58', '0OIl'],
    ['no key', ''],
    ['no bytes', JSON.stringify([...keyFile.slice(1), 256])],
    ['broken JSON', '[1,2'],
  ])('%s is refused without being quoted', (_, key) => {
    expect(() => SolanaSigner.fromSecretKey(key)).toThrow(InvalidSolanaKey);
    if (typeof key === 'string' && key.length > 1)
      expect(() => SolanaSigner.fromSecretKey(key)).not.toThrow(key);
  });

  test('is in no printed output', () => {
    const shown = [inspect(signer, { depth: 9, showHidden: true }), String(signer), JSON.stringify(signer)];
    for (const text of shown) {
      expect(text).toContain(wallet);
      expect(text).not.toContain(toBase58(SECRET));
      expect(text).not.toMatch(/5,\s*5,\s*5/);
    }
    expect(SolanaSigner.generate().address).not.toBe(SolanaSigner.generate().address);
  });

  test("its signatures verify by Node's own Ed25519", () => {
    const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), parseBase58(wallet)!]);
    const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
    const signature = parseBase58(signer.signMessage('challenge ü'))!;
    expect(verify(null, utf8('challenge ü'), publicKey, signature)).toBe(true);
    const other = SolanaSigner.generate();
    const foreign = unsigned(other.address, [transfer(other.address, 1n)]);
    expect(() => signer.signTransaction(Buffer.from(foreign, 'base64'))).toThrow(RangeError);
  });
});

describe('an honest quote', () => {
  test.each([
    ['BUY', buyQuote(wallet), BUY],
    ['SELL', sellQuote(wallet), SELL],
    ['taking less than asked', buyQuote(wallet, { inAmount: '5000000' }), BUY],
  ] as const)('%s passes, and its signature is right', (_, quote, ask) => {
    const verified = venueB.verify(quote, ask, { wallet, mints: MINTS });
    const signed = parseTransaction(venueB.sign(verified, signer));
    expect(signatureFaults(signed)).toEqual([]);
    expect(toBase64(signed.message)).toBe(toBase64(parseTransaction(quote.unsignedTransaction!).message));
    expect(() => venueB.sign(verified, SolanaSigner.generate())).toThrow(RangeError);
  });

  test('passes with mints given by the caller', () => {
    expect(reasonsOf(buyQuote(wallet), BUY, { mints: [YES_MINT, NO_MINT] })).toEqual([]);
    expect(reasonsOf(buyQuote(wallet), BUY, { mints: [NO_MINT, YES_MINT] })).toEqual(['wrong_mint']);
  });
});

describe('a quote that is not what was asked', () => {
  test.each<[string, Partial<Quote>, string[]]>([
    ['another market', { marketTicker: 'KXTEST-1-2' }, ['other_order']],
    ['another outcome', { side: 'NO' }, ['other_order']],
    ['another action', { action: 'SELL' }, ['other_order']],
    ['another amount', { scaledAmount: '5000001' }, ['other_order']],
    ['more taken', { inAmount: '5000001' }, ['input_exceeded']],
    ['nothing taken', { inAmount: '0' }, ['input_exceeded', 'input_exceeded']],
    ['no figure', { inAmount: '5e6' }, ['input_exceeded', 'input_exceeded']],
    ['no least return', { minOutAmount: '0' }, ['nothing_promised']],
    ['a least return above the expected one', { minOutAmount: '9000001' }, ['nothing_promised']],
    ['the other outcome for the money', { outputMint: NO_MINT }, ['wrong_mint']],
    ['other money', { inputMint: STRANGER }, ['wrong_mint']],
    ['one mint for both outcomes', { noMint: YES_MINT }, ['wrong_mint']],
    ['collateral as outcome', { noMint: USDC_MINT }, ['wrong_mint']],
  ])('%s', (_, changed, expected) => {
    expect(reasonsOf(buyQuote(wallet, changed))).toEqual(expected);
  });

  test('invalid mints are refused', () => {
    const changed = { yesMint: 'x', outputMint: 'x' };
    expect(reasonsOf(buyQuote(wallet, changed))).toEqual(['wrong_mint']);
  });

  test('all faults are listed', () => {
    const drain = unsigned(wallet, [transfer(wallet, 99_000_000n), transfer(wallet, 1n, { mint: YES_MINT })]);
    const changed = { marketTicker: 'other', minOutAmount: '0', unsignedTransaction: drain };
    expect(reasonsOf(buyQuote(wallet, changed))).toEqual([
      'other_order',
      'nothing_promised',
      'wrong_mint',
      'input_exceeded',
    ]);
  });
});

describe('a transaction that does more', () => {
  const source = createNoopSigner(kitAddress(wallet));
  const { approve, newOwner, close } = handovers(wallet);
  const hidden: readonly [string, Instruction, string][] = [
    ['pays a stranger too', transfer(wallet, 0n, { to: STRANGER }), 'sends_elsewhere'],
    ['takes one atom more', transfer(wallet, 1n), 'input_exceeded'],
    ['takes outcome tokens too', transfer(wallet, 1n, { mint: YES_MINT }), 'wrong_mint'],
    ['lets another key spend', approve, 'gives_rights_away'],
    ['gives the account away', newOwner, 'gives_rights_away'],
    ['closes the account', close, 'changes_account'],
    [
      'sends SOL',
      getTransferSolInstruction({ source, destination: kitAddress(STRANGER), amount: 1n }),
      'sends_elsewhere',
    ],
    [
      'calls an unknown program',
      { programAddress: kitAddress(STRANGER), data: new Uint8Array(), accounts: [] },
      'instruction_not_known',
    ],
  ];
  test.each(hidden)('%s', (_, extra, code) => {
    const unsignedTransaction = unsigned(wallet, [transfer(wallet, 5_000_000n), extra]);
    expect(reasonsOf(buyQuote(wallet, { unsignedTransaction }))).toEqual([code]);
  });

  test('only pays a stranger, or does nothing', () => {
    const only = (...instructions: Instruction[]) =>
      reasonsOf(buyQuote(wallet, { unsignedTransaction: unsigned(wallet, instructions) }));
    expect(only(transfer(wallet, 5_000_000n, { to: STRANGER }))).toEqual(['sends_elsewhere', 'no_order']);
    expect(only()).toEqual(['no_order']);
  });

  test('the bound is the quoted amount when it is below the requested one', () => {
    expect(reasonsOf(buyQuote(wallet, { inAmount: '4999999' }))).toEqual(['input_exceeded']);
  });

  test('is for another wallet', () => {
    const other = SolanaSigner.generate().address;
    expect(reasonsOf(buyQuote(other))).toEqual(['wallet_does_not_sign', 'no_order']);
  });

  test('SOL may be bounded more narrowly', () => {
    expect(reasonsOf(buyQuote(wallet), BUY, { maxLamports: 4_999n })).toEqual(['lamports_exceeded']);
    expect(reasonsOf(buyQuote(wallet), BUY, { maxLamports: 5_000n })).toEqual([]);
  });

  test.each(['', 'AAAA', 'not base64', `${buyQuote(wallet).unsignedTransaction}AAAA`])(
    'is not a transaction: %s',
    (unsignedTransaction) => {
      expect(reasonsOf(buyQuote(wallet, { unsignedTransaction }))).toEqual(['malformed']);
    },
  );
});

describe('which token an outcome is', () => {
  const WBTC = STRANGER;
  // Three of something else for "3 YES": the quote names it everywhere.
  const lie = sellQuote(wallet, {
    yesMint: WBTC,
    inputMint: WBTC,
    unsignedTransaction: unsigned(wallet, [transfer(wallet, 3_000_000n, { mint: WBTC })]),
  });

  test('is believed for keys that hold paper money alone', () => {
    expect(() => venueB.verify(lie, SELL, { wallet })).toThrow(QuoteError);
    expect(() => venueB.verify(lie, SELL, { wallet, use: 'live' })).toThrow(/Only the quote says/);
    const believed = venueB.verify(lie, SELL, { wallet, use: 'paper' });
    expect(believed).toMatchObject({ mint: WBTC, mintIsBelieved: true, takes: 3_000_000n });
    // The signer of this test is not marked.
    expect(() => venueB.sign(believed, signer)).toThrow(QuoteError);
    const paper = SolanaSigner.fromSecretKey(SECRET, { use: 'paper' });
    expect(signatureFaults(parseTransaction(venueB.sign(believed, paper)))).toEqual([]);
  });

  test('is known by the caller otherwise, by both or by the one of the order', () => {
    expect(reasonsOf(lie, SELL)).toContain('wrong_mint');
    expect(reasonsOf(lie, SELL, { mints: undefined as never, mint: YES_MINT })).toContain('wrong_mint');
    expect(reasonsOf(sellQuote(wallet), SELL, { mints: undefined as never, mint: YES_MINT })).toEqual([]);
    expect(reasonsOf(sellQuote(wallet), SELL, { mint: NO_MINT })).toContain('wrong_mint');
  });

  test('what is verified names itself by its bytes, and says what they take', () => {
    const quote = buyQuote(wallet, { quoteId: 'other', inAmount: '5000000' });
    const half = unsigned(wallet, [transfer(wallet, 2_500_000n)]);
    const verified = venueB.verify({ ...quote, unsignedTransaction: half }, BUY, { wallet, mints: MINTS });
    const { message } = parseTransaction(half);
    expect(verified).toMatchObject({
      digest: createHash('sha256').update(message).digest('hex'),
      takes: 2_500_000n,
      promises: null,
      mint: YES_MINT,
    });
  });
});

describe('nothing to sign', () => {
  test('previews, degraded and expired quotes', () => {
    const { unsignedTransaction, ...bare } = buyQuote(wallet);
    expect(codeOf({ ...bare, previewOnly: true })).toBe('quote_not_executable');
    const degraded = { ...bare, quoteErrorCode: 'market_closed', quoteErrorMessage: 'It is over.' };
    expect(codeOf(degraded)).toBe('quote_not_executable market_closed');
    expect(() => venueB.verify(degraded, BUY, { wallet, mints: MINTS })).toThrow('It is over.');
    expect(codeOf(buyQuote(wallet, { quoteErrorCode: 'kyc_required' }))).toBe(
      'quote_not_executable kyc_required',
    );
    expect(codeOf(buyQuote(wallet, { expiresAt: Date.now() - 1 }))).toBe('quote_expired');
    expect(codeOf(buyQuote(wallet))).toBe('accepted');
  });

  test.each([0, -1, '0.0000001', 'much', Number.NaN, '1e-7'])('the amount %s', (amount) => {
    expect(codeOf(buyQuote(wallet), { ...BUY, amount } as QuoteAsk)).toBe('invalid_amount');
  });

  test('a name instead of a side: it would pass for NO', () => {
    const named = { side: 'FaZe' } as unknown as { side: 'YES' };
    const quote = buyQuote(wallet, { ...named, outputMint: NO_MINT });
    expect(() => venueB.verify(quote, { ...BUY, ...named }, { wallet, mints: MINTS })).toThrow(
      'verify needs side: "YES" or "NO"',
    );
  });

  test('an invalid wallet', () => {
    expect(() => venueB.verify(buyQuote(wallet), BUY, { wallet: 'abc', mints: MINTS })).toThrow(QuoteError);
  });
});
