/** Orders at a live venue: the record is the same for any news, in any order and number. */
import { WEBHOOK_EVENTS } from '@bellwether/contract';
import { openTransaction, transact } from '@bellwether/durable';
import { Check } from 'typebox/value';
import { beforeAll, describe, expect, test } from 'vitest';
import { NO_EVIDENCE } from '../../../test/one-agent.ts';
import type { OutcomeEvidence } from '../src/domain/evidence.ts';
import { type Accepted, writeGroup } from '../src/trading/outcomes.ts';
import type { TradeStatus } from '../src/venues/live-orders.ts';
import type { Observation } from '../src/venues/polymarket/order-wire.ts';
import {
  accepted,
  factsOf,
  journalOf,
  log,
  M,
  NOW,
  newWorld,
  openWorlds,
  orderOf,
  place,
  positionOf,
  resultsOf,
  returnedOf,
  sql,
  standing,
  tell,
  trade,
} from './live-order-world.ts';

beforeAll(openWorlds);

test('what a replica of an earlier release wrote of an order is read with the rest', async () => {
  const id = await place(await newWorld(), 'a');
  const earlier = [{ at: new Date(NOW).toISOString(), event: 'recorded', status: 'submitting' }];
  await sql`update orders set journal = journal || ${sql.json(earlier)} where order_id = ${id}`;
  await tell([accepted(id)]);
  expect((await journalOf(id)).map(({ event, status }) => `${event} → ${status}`)).toEqual([
    'recorded → submitting',
    'accepted → live',
  ]);
});

describe('the life of a settlement', () => {
  test('an order is matched until its trades are confirmed, and filled only then', async () => {
    const world = await newWorld();
    const id = await place(world, 'a');
    await tell([accepted(id)]);
    expect(await orderOf(id)).toMatchObject({ status: 'live', filled: 0n });
    await tell([trade(id, 't1', 'matched', 4n * M)]);
    expect(await orderOf(id)).toMatchObject({ status: 'partially_filled', filled: 4n * M, cost: 2n * M });
    await tell([trade(id, 't2', 'matched', 6n * M), standing(id, 'filled', 10n * M)]);
    expect(await orderOf(id)).toMatchObject({ status: 'matched', filled: 10n * M, cost: 5n * M });
    expect(await returnedOf(id)).toEqual([]);
    await tell([trade(id, 't2', 'confirmed', 6n * M)]);
    expect(await orderOf(id)).toMatchObject({ status: 'matched' });
    await tell([trade(id, 't1', 'mined', 4n * M), trade(id, 't1', 'confirmed', 4n * M)]);
    expect(await orderOf(id)).toMatchObject({ status: 'filled', filled: 10n * M, error_code: null });
    expect(await positionOf(world)).toMatchObject({ size: 10n * M, cost: 5n * M });
    expect(await factsOf(world)).toEqual(['live', 'partially_filled', 'fill', 'matched', 'fill', 'filled']);
  });

  test('a settlement that fails takes its fill back, returns its budget, and says so', async () => {
    const world = await newWorld();
    const id = await place(world, 'a');
    await tell([
      accepted(id),
      trade(id, 't1', 'matched', 10n * M, 4_000, 7n),
      standing(id, 'filled', 10n * M),
    ]);
    expect(await orderOf(id)).toMatchObject({ status: 'matched', filled: 10n * M });
    await tell([trade(id, 't1', 'retrying', 10n * M, 4_000, 7n)]);
    await tell([trade(id, 't1', 'failed', 10n * M, 4_000, 7n)]);
    expect(await orderOf(id)).toEqual(
      expect.objectContaining({
        status: 'settlement_failed',
        filled: 0n,
        cost: 0n,
        fees: 0n,
        error_code: 'settlement_failed',
      }),
    );
    expect(await positionOf(world)).toBeNull();
    expect(await resultsOf(world)).toEqual({ days: [], results: [] });
    expect(await returnedOf(id)).toEqual([{ trades: 0, amount: 5n * M }]);
    expect(await factsOf(world)).toEqual(['matched', 'fill', 'reversal', 'settlement_failed']);
    expect(await sql`select 1 from fills where order_id = ${id}`).toEqual([]);
  });

  test('of two trades one fails: the other stays, in position, amounts and budget', async () => {
    const world = await newWorld();
    const id = await place(world, 'a');
    const [one, two] = [
      (status: TradeStatus) => trade(id, 't1', status, 4n * M),
      (status: TradeStatus) => trade(id, 't2', status, 6n * M),
    ];
    await tell([accepted(id), one('matched'), two('matched'), standing(id, 'filled', 10n * M)]);
    await tell([two('failed')]);
    expect(await orderOf(id)).toMatchObject({ status: 'matched', filled: 4n * M, cost: 2n * M });
    await tell([one('confirmed')]);
    expect(await orderOf(id)).toMatchObject({ status: 'settlement_failed', filled: 4n * M, cost: 2n * M });
    expect(await positionOf(world)).toMatchObject({ size: 4n * M, cost: 2n * M, bought_size: 4n * M });
    expect(await returnedOf(id)).toEqual([{ trades: 0, amount: 3n * M }]);
  });

  test('a trade can fail while the rest of its order rests', async () => {
    const world = await newWorld();
    const id = await place(world, 'a');
    await tell([accepted(id), trade(id, 't1', 'matched', 4n * M)]);
    await tell([trade(id, 't1', 'failed', 4n * M)]);
    expect(await orderOf(id)).toMatchObject({ status: 'live', filled: 0n, cost: 0n });
    expect(await returnedOf(id)).toEqual([]);
    await tell([trade(id, 't2', 'confirmed', 6n * M), standing(id, 'canceled', 10n * M)]);
    expect(await orderOf(id)).toMatchObject({ status: 'settlement_failed', filled: 6n * M });
    expect(await returnedOf(id)).toEqual([{ trades: 0, amount: 2n * M }]);
  });

  test('a trade that is first heard of as failed never counts', async () => {
    const world = await newWorld();
    const id = await place(world, 'a');
    await tell([trade(id, 't1', 'failed'), trade(id, 't1', 'matched'), standing(id, 'filled', 10n * M)]);
    expect(await orderOf(id)).toMatchObject({ status: 'settlement_failed', filled: 0n });
    expect(await factsOf(world)).toEqual(['settlement_failed']);
  });

  test('an order that ended waits for the trades that the venue still owes', async () => {
    const world = await newWorld();
    const id = await place(world, 'a');
    await tell([accepted(id), standing(id, 'canceled', 4n * M)]);
    expect(await orderOf(id)).toMatchObject({ status: 'matched', filled: 0n });
    await tell([trade(id, 't1', 'confirmed', 4n * M)]);
    expect(await orderOf(id)).toMatchObject({ status: 'canceled', filled: 4n * M });
    expect(await returnedOf(id)).toEqual([{ trades: 0, amount: 3n * M }]);
  });

  test('who wants fills gets those that were taken back', async () => {
    const world = await newWorld();
    const [all, fills] = ['00000000-0000-4000-8000-0000000000a1', '00000000-0000-4000-8000-0000000000a2'];
    for (const [id, events] of [
      [all, ['*']],
      [fills, ['fill']],
    ] as const)
      await sql`insert into webhook_endpoints (id, agent_id, url, events, description, key_id, sealed_secret, created_at)
        values (${id}, ${world.agent}, 'https://example.com', ${[...events]}::text[], '', 1, '', now())`;
    const id = await place(world, 'a');
    await tell([accepted(id), trade(id, 't1', 'matched'), standing(id, 'filled', 10n * M)]);
    await sql`select queue_webhook_events(true)`;
    await tell([trade(id, 't1', 'failed')]);
    await sql`select queue_webhook_events(true)`;
    const reported = async (endpoint: string) =>
      (await sql`select type, data from webhook_deliveries where endpoint_id = ${endpoint} order by id`).map(
        ({ type, data }) => [type, data.size ?? data.status],
      );
    expect(await reported(fills)).toEqual([
      ['fill', 10],
      ['fill.reversed', 10],
    ]);
    expect(await reported(all)).toEqual([
      ['order.matched', 'matched'],
      ['fill', 10],
      ['fill.reversed', 10],
      ['order.settlement_failed', 'settlement_failed'],
    ]);
  });

  test('who reads of a fill only after it was taken back gets the same', async () => {
    const world = await newWorld();
    const endpoint = '00000000-0000-4000-8000-0000000000a3';
    const id = await place(world, 'a');
    await sql`insert into webhook_endpoints (id, agent_id, url, events, description, key_id, sealed_secret, created_at)
      values (${endpoint}, ${world.agent}, 'https://example.com', '{*}', '', 1, '', now())`;
    await tell([
      accepted(id),
      trade(id, 't1', 'matched', 10n * M, 5_000, 7n),
      standing(id, 'filled', 10n * M),
    ]);
    // A position shows only its state at the moment.
    const reported = async () =>
      sql`select e.seq, e.nth, e.type, e.event_id, e.data from stream_events(
          (select array_agg(f.seq order by f.seq) from facts f where f.agent_id = ${world.agent})) e
        where e.type <> 'position' order by e.seq, e.nth`;
    const before = await reported();
    expect(before.map(({ type }) => type)).toEqual(['order.matched', 'fill', 'fee', 'balance']);
    await tell([trade(id, 't1', 'failed', 10n * M, 5_000, 7n)]);
    const after = await reported();
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.slice(before.length).map(({ type }) => type)).toEqual([
      'fill.reversed',
      'balance',
      'order.settlement_failed',
    ]);
    await sql`select queue_webhook_events(true)`;
    const sent =
      await sql`select type, data from webhook_deliveries where endpoint_id = ${endpoint} order by id`;
    for (const { type, data } of sent)
      expect([type, Check(WEBHOOK_EVENTS[type]!.data, data)]).toEqual([type, true]);
    expect(sent.map(({ type }) => type)).toEqual([
      ...['order.matched', 'fill', 'fee', 'fill.reversed', 'order.settlement_failed'],
    ]);
  });

  test('an order that is where it was before a fill was taken back is sent with another id', async () => {
    const world = await newWorld();
    const id = await place(world, 'a');
    await tell([accepted(id)]);
    await tell([trade(id, 't1', 'matched', 4n * M)]);
    await tell([trade(id, 't2', 'matched', 2n * M)]);
    await tell([trade(id, 't2', 'failed', 2n * M)]);
    await tell([trade(id, 't1', 'failed', 4n * M)]);
    await tell([trade(id, 't3', 'matched', 4n * M)]);
    // Kept aside, because the order signed less: it changes nothing of the order.
    await tell([{ ...trade(id, 't4', 'matched', 4_000n * M), at: NOW + 9_000 }]);
    const reported = await sql`select e.type, e.event_id::text as id, e.data from stream_events(
        (select array_agg(f.seq order by f.seq) from facts f where f.agent_id = ${world.agent})) e
      where e.type like 'order.%' order by e.seq`;
    expect(reported.map(({ type, data }) => [type, data.filledSize])).toEqual([
      ...[
        ['order.live', 0],
        ['order.partially_filled', 4],
        ['order.partially_filled', 6],
      ],
      ...[
        ['order.partially_filled', 4],
        ['order.live', 0],
        ['order.partially_filled', 4],
      ],
    ]);
    // A receiver ignores an id that it has seen.
    expect(new Set(reported.map((event) => event.id)).size).toBe(reported.length);
    expect(Object.keys(reported[3]?.data)).toEqual(Object.keys(reported[1]?.data));
  });

  test('refusals of an order that follow each other are told once, and its later outcome by itself', async () => {
    const world = await newWorld();
    const id = await place(world, 'a');
    const become = (status: string, line = '') =>
      sql`update orders set status = ${status}, journal_lines = journal_lines || ${line}, updated_at = updated_at + interval '1 second'
        where order_id = ${id}`;
    const sendAgain = () => become('submitting', '[1,"sent_again","submitting"]\n');
    await become('rejected');
    for (const words of [
      ['rejected'],
      ['rejected'],
      ['delayed', 'rejected'],
      ['rejected'],
      ['unknown', 'rejected'],
    ]) {
      await sendAgain();
      for (const word of words) await become(word);
    }
    const told = await sql`select e.type, e.event_id::text as id, e.data from stream_events(
        (select array_agg(f.seq order by f.seq) from facts f where f.agent_id = ${world.agent})) e
      where e.type like 'order.%' order by e.seq`;
    expect(told.map(({ type }) => type.slice('order.'.length))).toEqual([
      ...['rejected', 'delayed', 'rejected', 'unknown', 'rejected'],
    ]);
    expect(new Set(told.map((event) => event.id)).size).toBe(told.length);
    expect(Object.keys(told[2]?.data)).toEqual(Object.keys(told[0]?.data));
  });

  test('an order that is sent again in the commit of its venue has what became of it there', async () => {
    const world = await newWorld();
    const id = await place(world, 'a');
    await sql`update orders set status = 'rejected' where order_id = ${id}`;
    const first = {
      success: true,
      status: 'matched',
      filled: 10n * M,
      cost: 5n * M,
      fees: 0n,
      errorCode: null,
    } as const;
    const again = {
      question: { orderId: id },
      recorded: { order: { createdAt: NOW + 1_000, agentId: world.agent, cancelAt: null }, reserves: 5n * M },
      ...{ day: '2026-06-01', isKnown: true, others: [], isAgain: true },
    } as unknown as Accepted;
    const outcome: OutcomeEvidence = {
      ...{ orderId: id, status: 'filled', first, at: NOW + 1_001 },
      ...{ filled: first.filled, cost: first.cost, fees: first.fees, errorCode: null },
      journal: [{ at: NOW + 1_001, event: 'filled', status: 'filled' }],
    };
    await transact(sql, (tx) => Promise.all(writeGroup(tx, { accepted: [again], budgets: [] }, [outcome])));
    expect(await orderOf(id)).toMatchObject({ status: 'filled', filled: 10n * M });
    expect((await journalOf(id)).map(({ event }) => event)).toEqual(['sent_again', 'filled']);
    expect(await sql`select trades from agent_results where agent_id = ${world.agent}`).toEqual([
      { trades: 1n },
    ]);
  });

  test('what was sold before the desk heard of its purchase is no longer held', async () => {
    const world = await newWorld();
    const [bought, sold] = [await place(world, 'b'), await place(world, 's', { side: 'SELL' })];
    const at = (one: Observation, ms: number): Observation => ({ ...one, at: NOW + ms });
    await tell([accepted(sold), at(trade(sold, 't', 'matched', 10n * M, 6_000), 1_200)]);
    expect(await positionOf(world)).toMatchObject({ size: 0n, realized: 0n });
    // Matched in the same second, heard of three seconds later.
    await tell([at(trade(bought, 't', 'matched', 10n * M, 5_000), 4_000)]);
    expect(await positionOf(world)).toMatchObject({ size: 0n, cost: 0n, realized: 1n * M, closed: true });
    expect(await resultsOf(world)).toMatchObject({ results: [{ realized: 1n * M, wins: 1n, losses: 0n }] });
  });

  test.each([
    ['of an order that rests', (id: string) => tell([accepted(id)])],
    ['of an order that one of them has just sent', async () => {}],
  ])(
    'two replicas that hear of different trades %s at once count both, one after the other',
    async (_, first) => {
      const world = await newWorld();
      const id = await place(world, 'a');
      await first(id);
      const holder = openTransaction(sql);
      await holder.tx`select 1 from orders where order_id = ${id} for no key update`;
      const both = Promise.all(
        ['t1', 't2'].map((tradeId) => tell([trade(id, tradeId, 'confirmed', 4n * M)])),
      );
      const waiting = () => sql`select 1 from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock'`;
      // Neither reads on while another holds the order.
      await expect.poll(async () => (await waiting()).count).toBe(2);
      await holder.rollback();
      expect(await both).toEqual([[], []]);
      expect(await orderOf(id)).toMatchObject({ filled: 8n * M, cost: 4n * M });
      expect(await positionOf(world)).toMatchObject({ size: 8n * M, cost: 4n * M });
    },
  );

  test('who sent an order and heard nothing answers with what another replica heard', async () => {
    const id = await place(await newWorld(), 'a');
    const sent = new Map([...(await log.find([id]))].map(([orderId, { order }]) => [orderId, order]));
    await tell([accepted(id)]);
    const heard = await log.update([id], () => null, sent);
    expect(heard.get(id)).toMatchObject({ order: { status: 'live' }, venue: { isFinal: false } });
  });

  test('what was sold of a failed purchase comes from the purchases that followed', async () => {
    const world = await newWorld();
    const reported = async (name: string, nth: number, side: 'BUY' | 'SELL', size: bigint, price: number) => {
      const id = await place(world, name, { side, shares: size, money: size });
      const { part, ...one } = trade(id, 't', 'matched', size, price) as Extract<
        Observation,
        { kind: 'trade' }
      >;
      await tell([
        accepted(id),
        { ...one, part: { ...part, matchedAt: NOW + nth * 1_000 } },
        standing(id, 'filled', size),
      ]);
      return id;
    };
    const failing = await reported('a', 1, 'BUY', 11n * M, 5_000);
    await reported('b', 2, 'SELL', 11n * M, 6_000);
    await reported('c', 3, 'BUY', 16n * M, 4_000);
    await tell([trade(failing, 't', 'failed', 11n * M)]);
    const expected = { size: 5n * M, cost: 2n * M, realized: 2_200_000n, bought_size: 16n * M };
    expect(await positionOf(world)).toMatchObject(expected);
    // And so when positions are computed anew for another reason.
    const other = await reported('d', 4, 'BUY', 1n * M, 5_000);
    await tell([trade(other, 't', 'failed', 1n * M)]);
    expect(await positionOf(world)).toMatchObject(expected);
  });

  test('orders that the desk does not have leave no trace', async () => {
    await tell([accepted('somebody else’s'), trade('somebody else’s', 't1', 'matched')]);
    expect(await sql`select 1 from venue_orders where order_id like 'somebody%'`).toEqual([]);
    expect(await sql`select 1 from venue_trades where order_id like 'somebody%'`).toEqual([]);
  });

  test('what contradicts an ended order changes nothing and is reported', async () => {
    const world = await newWorld();
    const id = await place(world, 'a');
    await tell([accepted(id), standing(id, 'canceled', 0n)]);
    expect(await tell([trade(id, 't9', 'matched')])).toEqual(['a trade of an order that has ended']);
    expect(await orderOf(id)).toMatchObject({ status: 'canceled', filled: 0n });
    expect(await positionOf(world)).toBeNull();
  });
});

describe('a record that cannot be written', () => {
  test('is refused with the error of its statement, and nothing of it is there', async () => {
    const world = await newWorld();
    const [good, bad] = [await place(world, 'a'), await place(world, 'b')];
    const change = (matched: bigint) => ({
      evidence: NO_EVIDENCE,
      ...{ reversals: [], trades: [] },
      venue: { matched, ended: null, isCounted: false, missingSince: null, isFinal: false },
    });
    const tooLarge = 2n ** 70n;
    await expect(
      log.update([good, bad], ({ order }) => change(order.orderId === bad ? tooLarge : 0n)),
    ).rejects.toThrow(/out of range/);
    for (const id of [good, bad]) expect((await log.find([id])).get(id)?.venue).toBeNull();
    // The connection is good for the next one.
    await log.update([good], () => change(0n));
    expect((await log.find([good])).get(good)?.venue).toMatchObject({ matched: 0n, isFinal: false });
  });
});

describe('any order of events', () => {
  const shuffled = <T>(items: readonly T[], random: () => number): T[] =>
    items
      .map((item) => [random(), item] as const)
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item);
  const seeded = (seed: number) => () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };

  test.each([
    ['with duplicates, and with failures among purchases and sales', 0],
    ['with purchases and sales that the desk hears of after later ones', 0.4],
  ])('%s, ends where the successful trades alone end', async (_what, lateShare) => {
    for (let seed = 1; seed <= 12; seed += 1) {
      const random = seeded(seed + 100 * lateShare);
      const [noisy, clean] = [await newWorld(), await newWorld()];
      // One after another in time; each may fail, and its failure may come after all others.
      const steps = Array.from({ length: 8 }, (_, nth) => ({
        name: `o${nth}`,
        side: nth % 3 === 2 ? ('SELL' as const) : ('BUY' as const),
        price: 3_000 + Math.floor(random() * 4_000),
        size: BigInt(1 + Math.floor(random() * 9)) * M,
        fee: BigInt(Math.floor(random() * 1_000)),
        fails: random() < 0.35,
        isLate: random() < lateShare,
      }));
      // Later purchases must bring what a failed one had brought to sell (see above): here nothing was sold of it.
      const lacks = (some: typeof steps): boolean => {
        const sum = (side: string, until: number) =>
          some.reduce((all, one, nth) => (nth <= until && one.side === side ? all + one.size : all), 0n);
        return some.some(({ side }, nth) => side === 'SELL' && sum('SELL', nth) > sum('BUY', nth));
      };
      if (lacks(steps.filter(({ side, fails }) => side === 'SELL' || !fails)))
        for (const one of steps) if (one.side === 'BUY') one.fails = false;
      const late: Observation[][] = [];
      for (const [nth, { name, side, price, size, fee, fails, isLate }] of steps.entries()) {
        const shift = (one: Observation): Observation => {
          const at = NOW + nth * 10_000;
          return one.kind === 'trade' ? { ...one, at, part: { ...one.part, matchedAt: at } } : { ...one, at };
        };
        const money = (size * BigInt(price)) / 10_000n;
        const [a, b] = [
          await place(noisy, name, { side, shares: size, money }),
          await place(clean, name, { side, shares: size, money }),
        ];
        const of = (id: string, status: TradeStatus) => shift(trade(id, 't', status, size, price, fee));
        const end = (id: string) => shift(standing(id, 'filled', size));
        const events = shuffled([accepted(a), of(a, 'matched'), of(a, 'matched'), end(a)], random).map(shift);
        if (isLate) late.push(events.map((one) => ({ ...one, at: NOW + 500_000 })));
        else await tell(events);
        late.push([of(a, fails ? 'failed' : 'confirmed'), of(a, 'mined'), of(a, 'matched')]);
        if (!fails) await tell([accepted(b), of(b, 'confirmed'), end(b)].map(shift));
      }
      for (const events of shuffled(late.flat(), random)) await tell([events]);
      expect({ seed, position: await positionOf(noisy), ...(await resultsOf(noisy)) }).toEqual({
        seed,
        position: await positionOf(clean),
        ...(await resultsOf(clean)),
      });
      for (const { name, fails } of steps)
        expect((await orderOf(`${noisy.wallet} ${name}`))?.status).toBe(
          fails ? 'settlement_failed' : 'filled',
        );
    }
  });
});
