/** The venue's names of a market's outcomes, and a service that lies about which is which. */
import { outcomeTokens } from '@bellwether/protocol';
import {
  buildLimitOrder,
  buildMarketOrder,
  type KeyUse,
  type Market,
  OrderBuildError,
  PreparedOrderError,
  type PreparedPins,
  type PreparedTrade,
  Signer,
  tradeIntent,
  verifyPrepared,
} from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';
import { honestPrepared } from './dishonest-desk.ts';
import { MARKET } from './market.ts';

const KEY = `0x${'17'.repeat(32)}`;
const AGENT = '0190aaaa-0000-7000-8000-00000000000a';
const signerFor = (use?: KeyUse): Signer => Signer.fromPrivateKey(KEY, { use });
const [FIRST, SECOND] = outcomeTokens(MARKET.conditionId, false);

const marketOf = (outcomes: string[], clobTokenIds: string[] = [FIRST, SECOND]) =>
  ({
    ...MARKET,
    ...{ id: '1042', venue: 'polymarket', version: 'v1', outcomes, clobTokenIds },
  }) as unknown as Market;
const GAME = marketOf(['FaZe', 'illwill']);
/** The venue lists No first. */
const TURNED = marketOf(['Yes', 'No'], [SECOND, FIRST]);
const KNOWN = [SECOND, FIRST] as const;

const limitOrder = (
  market: Market,
  outcome: string,
  more: { use?: KeyUse; tokenIds?: readonly [string, string] } = {},
) => {
  const { use, ...rest } = more;
  const terms = { side: 'BUY', price: 0.4, size: 50 } as const;
  return buildLimitOrder({ signer: signerFor(use), market, outcome, ...terms, ...rest });
};

const intentOf = (outcome: string) =>
  tradeIntent({
    ...{ clientOrderId: 'entry-1', marketId: '1042', outcome, side: 'BUY' },
    ...{ price: 0.4, size: 50 },
  });

/** What is made of a prepared order that the service changed, or prepared for another market than the one that was looked up. */
function verified(
  outcome: string,
  {
    market = GAME,
    served = market,
    answered = outcome,
    ...pins
  }: {
    readonly market?: Market;
    readonly served?: Market;
    readonly answered?: string;
  } & Partial<PreparedPins>,
  changes: Partial<PreparedTrade> = {},
) {
  const signer = signerFor();
  const terms = { market: served, signer, agentId: AGENT };
  const intent = intentOf(outcome);
  const prepared = { ...honestPrepared({ ...intent, outcome: answered }, terms), ...changes };
  return verifyPrepared(prepared as PreparedTrade, intent, { agentId: AGENT, signer, market, ...pins });
}

function fault(work: () => unknown): PreparedOrderError {
  try {
    work();
  } catch (error) {
    if (error instanceof PreparedOrderError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('an order that names its outcome', () => {
  test.each([
    ['FaZe', 'YES'],
    ['faze', 'YES'],
    ['ｆａｚｅ', 'YES'],
    [' illwill ', 'NO'],
    ['YES', 'YES'],
    ['NO', 'NO'],
  ])('%s: is posted as %s, with its token', async (word, side) => {
    const built = await limitOrder(GAME, word);
    expect(built).toMatchObject({ outcome: side, order: { tokenId: side === 'YES' ? FIRST : SECOND } });
    const { body } = verified(word, {});
    expect(body).toMatchObject({ outcome: side, order: { tokenId: side === 'YES' ? FIRST : SECOND } });
  });

  test.each([
    ['Up', ['FaZe', 'illwill']],
    ['yes', ['FaZe', 'illwill']],
    ['Same', ['Same', 'same']],
    ['1', ['1', '0']],
    ['Yes', ['No', 'Yes']],
    ['FaZe', []],
  ])('%s is none of %j: nothing is signed, and both names are said', async (word, outcomes) => {
    const market = marketOf(outcomes);
    const both = [/YES is "/, /NO is "/];
    const failures = [
      await limitOrder(market, word).catch((error: unknown) => error),
      await buildMarketOrder({
        ...{ signer: signerFor(), market, outcome: word, side: 'SELL', worstPrice: 0.4, shares: 5 },
      }).catch((error: unknown) => error),
    ];
    expect(() => verified(word, { market, answered: 'YES' })).toThrow(OrderBuildError);
    for (const failure of failures) {
      expect(failure).toMatchObject({ code: 'outcome_name_mismatch' });
      for (const name of both) expect(String(failure)).toMatch(name);
    }
  });

  test('of a market that names none is YES or NO', async () => {
    const market = { ...MARKET, clobTokenIds: [FIRST, SECOND] };
    const order = { signer: signerFor(), market, side: 'BUY', price: 0.4, size: 50 } as const;
    expect(await buildLimitOrder({ ...order, outcome: 'NO' })).toMatchObject({ outcome: 'NO' });
    await expect(buildLimitOrder({ ...order, outcome: 'No' })).rejects.toMatchObject({
      code: 'outcome_name_mismatch',
    });
  });

  test('says long names of a stranger shortly', async () => {
    const long = 'x'.repeat(10_000);
    const failure = await limitOrder(marketOf([long, `${long}y`]), 'Up').catch((error: unknown) => error);
    expect(String(failure).length).toBeLessThan(400);
  });
});

describe('a service that prepares', () => {
  test('the other side of a name is found out, and so is another name of the side', () => {
    expect(fault(() => verified('FaZe', { answered: 'illwill' })).field).toBe('tokenId');
    expect(fault(() => verified('YES', {}, { outcomeName: 'illwill' })).field).toBe('outcomeName');
    expect(fault(() => verified('YES', {}, { outcomeName: null })).field).toBe('outcomeName');
    expect(fault(() => verified('YES', {}, { outcome: 'NO' })).field).toBe('outcome');
  });

  test('with names that changed since the market was looked up is not believed', () => {
    const turned = marketOf(['illwill', 'FaZe']);
    for (const word of ['FaZe', 'YES'])
      expect(() => verified(word, { served: turned, answered: word })).toThrow(PreparedOrderError);
  });

  test('for a market without names has no name either', () => {
    expect(verified('YES', { market: marketOf([]) }).body.outcome).toBe('YES');
    expect(fault(() => verified('YES', { market: marketOf([]) }, { outcomeName: 'Yes' })).field).toBe(
      'outcomeName',
    );
  });
});

describe('a market whose venue lists No first', () => {
  test('is traded by a key for paper, and by who knows its tokens', async () => {
    for (const [outcome, token] of [
      ['YES', SECOND],
      ['no', FIRST],
    ] as const) {
      expect((await limitOrder(TURNED, outcome, { use: 'paper' })).order.tokenId).toBe(token);
      expect((await limitOrder(TURNED, outcome, { use: 'live', tokenIds: KNOWN })).order.tokenId).toBe(token);
      expect(verified(outcome, { market: TURNED, tokenIds: KNOWN }).body.order.tokenId).toBe(token);
    }
    const other = marketOf(['Team A', 'No'], [SECOND, FIRST]);
    expect((await limitOrder(other, 'Team A', { use: 'paper' })).order.tokenId).toBe(SECOND);
  });

  test('is refused for any other key, with the next step', async () => {
    for (const use of [undefined, 'live'] as const) {
      const failure = await limitOrder(TURNED, 'YES', use === undefined ? {} : { use }).catch(
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({ code: 'tokens_differ' });
      expect(String(failure)).toContain(`bellwether mint confirm ${MARKET.conditionId} YES <token>`);
      expect(String(failure)).not.toContain(SECOND);
    }
    expect(fault(() => verified('YES', { market: TURNED })).field).toBe('tokenId');
  });

  test.each([
    ['FaZe', 'illwill'],
    ['No', 'Yes'],
    ['No', 'No'],
    ['Up', 'Down'],
  ])('is not one that calls them %s and %s: not even paper takes it', async (...names) => {
    const market = marketOf(names, [SECOND, FIRST]);
    await expect(limitOrder(market, 'YES', { use: 'paper' })).rejects.toMatchObject({
      code: 'tokens_differ',
    });
  });

  test('cannot be hidden from who knows its tokens, and names cannot contradict their order', async () => {
    const hidden = marketOf(['Yes', 'No']);
    for (const use of ['paper', 'live'] as const)
      await expect(limitOrder(hidden, 'YES', { use, tokenIds: KNOWN })).rejects.toMatchObject({
        code: 'tokens_differ',
      });
    expect(fault(() => verified('YES', { market: hidden, tokenIds: KNOWN })).field).toBe('tokenId');
    const contradicted = marketOf(['No', 'Yes']);
    await expect(limitOrder(contradicted, 'YES', { use: 'live' })).rejects.toMatchObject({
      code: 'tokens_differ',
    });
    // A paper exchange that listed it in an earlier release keeps its order.
    await limitOrder(contradicted, 'YES', { use: 'paper' });
  });

  test('takes no tokens but those of its condition, whatever is named', async () => {
    for (const tokenIds of [
      ['1', '2'],
      [SECOND, SECOND],
      [SECOND, '2'],
    ] as const) {
      const market = marketOf(['Yes', 'No'], [...tokenIds]);
      await expect(limitOrder(market, 'YES', { tokenIds })).rejects.toMatchObject({ code: 'tokens_differ' });
      await expect(limitOrder(TURNED, 'YES', { tokenIds })).rejects.toMatchObject({ code: 'tokens_differ' });
    }
  });
});
