/** Markets of Protocol V2 in the paper world: which there are, their ids, and what worlds of earlier releases keep. */
import { conditionIdOf, eventIdOf, parsePositionId, positionIds } from '@bellwether/protocol';
import { describe, expect, test } from 'vitest';
import { resolutionRow } from '../src/doors/data/positions.ts';
import { decodeCommand, encodeCommand } from '../src/journal/commands.ts';
import { marketIds } from '../src/journal/recovery.ts';
import type { MarketView } from '../src/world/markets.ts';
import type { V2Share } from '../src/world/slots.ts';
import { World } from '../src/world/world.ts';

const START = Date.UTC(2026, 9, 1);
const SLOTS_BEFORE_V2 = 110;
const found = (v2Share?: V2Share, slots?: number): World =>
  World.begin('v2', 1_000, START, {
    ids: marketIds,
    v2Share,
    ...(slots === undefined ? {} : { slots }),
  }).world;
const ofV2 = (world: World): MarketView[] => [...world.markets()].filter(({ version }) => version === 'v2');

describe('a new world', () => {
  const markets = ofV2(found('few'));

  test('has eight: four of their own, two of them with names, and an event of three and "Other"', () => {
    const single = markets.filter(({ negRisk }) => !negRisk);
    expect(single.map(({ outcomes }) => outcomes[0] === 'Yes')).toEqual([true, true, false, false]);
    const event = markets.filter(({ negRisk }) => negRisk);
    expect(new Set(event.map(({ eventId }) => eventId)).size).toBe(1);
    const parts = event.map(({ tokenIds: [yes] }) => parsePositionId(BigInt(yes))!);
    expect(parts.map(({ module, arity, index }) => [module, arity, index])).toEqual([
      [2, 3, 0],
      [2, 3, 1],
      [2, 3, 2],
      [2, 3, 3],
    ]);
    expect(new Set(event.map(({ conditionId }) => eventIdOf(conditionId))).size).toBe(1);
    expect(event.map(({ question }) => question.startsWith('Will “Other”'))).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  test('their ids are what the venue’s validators take', () => {
    for (const { conditionId, tokenIds } of markets) {
      const position = parsePositionId(BigInt(tokenIds[0]))!;
      expect(conditionIdOf(position)).toBe(conditionId);
      expect(positionIds(conditionId)).toEqual(tokenIds);
    }
  });

  test('may have a third of them', () => {
    const world = found('third');
    const share = ofV2(world).length / [...world.markets()].length;
    expect(share).toBeGreaterThan(0.3);
    expect(share).toBeLessThan(0.37);
  });
});

test('successors of a market are of the same protocol, also after a restore', () => {
  const world = found('few');
  const first = new Set(ofV2(world).map(({ conditionId }) => conditionId));
  for (let day = 1; day < 6; day += 1) world.step(START + day * 86_400_000);
  const copy = World.restore(world.snapshot(), marketIds);
  expect(copy.snapshot()).toEqual(world.snapshot());
  for (let day = 6; day < 40; day += 1)
    for (let nth = 0; nth < 8; nth += 1) copy.step(START + day * 86_400_000 + nth * 1_000);
  const open = ofV2(copy).filter(({ status }) => status === 'open');
  expect(open).toHaveLength(8);
  expect(open.some(({ conditionId }) => !first.has(conditionId))).toBe(true);
  for (const { conditionId, tokenIds } of open) expect(positionIds(conditionId)).toEqual(tokenIds);
  copy.checkConservation();
});

test('a world of an earlier release has none, and lists none', () => {
  const world = found(undefined, SLOTS_BEFORE_V2);
  const copy = World.restore(world.snapshot(), marketIds);
  for (let day = 1; day < 10; day += 1) copy.step(START + day * 86_400_000);
  expect(ofV2(copy)).toEqual([]);
  expect([...copy.markets()].every(({ version }) => version === 'v1')).toBe(true);
});

test('the founding says how many, and an earlier one nothing', () => {
  const begin = { kind: 'begin', seed: 's', speed: 1_000, slots: 113, derivedTokens: true } as const;
  expect(decodeCommand(encodeCommand({ ...begin, v2Share: 'third' }))).toEqual({
    ...begin,
    v2Share: 'third',
  });
  expect(decodeCommand(encodeCommand(begin))).toEqual(begin);
});

test('its tokens are split, traded, merged and redeemed like those of V1', () => {
  const world = found('few');
  const [market] = ofV2(world);
  const { conditionId, endDate } = market!;
  const ANN = '0x00000000000000000000000000000000000000a1';
  const run = (command: Parameters<World['execute']>[0]) => world.execute(command, world.now);
  run({ kind: 'deposit', account: ANN, amount: 100_000_000n });
  run({ kind: 'split', account: ANN, conditionId, amount: 50_000_000n });
  run({ kind: 'merge', account: ANN, conditionId, amount: 20_000_000n });
  const order = { account: ANN, conditionId, side: 'BUY', limit: 9_900, postOnly: false } as const;
  const events = run({
    kind: 'place',
    order: {
      ...order,
      orderId: '0x01',
      outcome: 'YES',
      size: 5_000_000n,
      spend: 4_000_000n,
      timeInForce: 'FAK',
    },
  });
  expect(events.some(({ kind }) => kind === 'fill')).toBe(true);
  world.checkConservation();
  for (let nth = 0; world.market(conditionId)?.payout === undefined && nth < 200; nth += 1)
    world.step(endDate + nth * 60_000);
  const payout = world.market(conditionId)!.payout!;
  const { yes, no } = world.account(ANN).tokens.get(conditionId)!;
  expect([yes > 30_000_000n, no]).toEqual([true, 30_000_000n]);
  expect(run({ kind: 'redeem', account: ANN, conditionId })).toContainEqual({
    ...{ kind: 'redeemed', account: ANN, conditionId, yes, no },
    payout: payout === 'YES' ? yes : no,
  });
  world.checkConservation();
  const facts = world.facts(conditionId)!;
  expect(resolutionRow(facts, world.market(conditionId))).toMatchObject({
    ...{
      condition_id: conditionId,
      status: 'resolved',
      market_type: 'BINARY',
      resolution_source: 'reported',
    },
    payouts: payout === 'YES' ? [1_000_000, 0] : [0, 1_000_000],
  });
});
