/** What a person meant by the terms of an exit, before anything is signed: over HTTP, with the SDK and on the command line. */
import { join } from 'node:path';
import {
  BellwetherClient,
  type ExitRequest,
  type Market,
  PreparedOrderError,
  verifyExit,
  worstExitPrice,
} from '@bellwether/sdk';
import { deskPlace, readKeys } from '@bellwether/sdk/keystore';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { cli } from '../cli-process.ts';
import { bidOf, type ExitOrder, exitOrder, hold } from '../exits.ts';
import { newTrader, openMarkets, startTestService, type TestService, type Trader } from '../harness.ts';
import { dataFolder } from '../service-process.ts';

let service: TestService;
let market: Market;
let trader: Trader;
/** The keys of an agent of the command line, which holds the same shares. */
let env: Record<string, string>;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' });
  trader = await newTrader(service);
  market = (await openMarkets(trader.client))[0] as Market;
  await hold(trader, market, 60);
  const home = {
    BELLWETHER_URL: service.url,
    BELLWETHER_HOME: join(dataFolder(), 'keys'),
    BELLWETHER_PASSPHRASE: 'correct horse battery staple',
  };
  await cli(['init', '--name', 'person', '--json'], home);
  const keys = await readKeys(deskPlace(home), home.BELLWETHER_PASSPHRASE);
  env = {
    ...{ BELLWETHER_URL: service.url, BELLWETHER_HOME: home.BELLWETHER_HOME, BELLWETHER_KEY_USE: 'paper' },
    BELLWETHER_API_KEY: keys.apiKey,
    BELLWETHER_PRIVATE_KEY: keys.evm[0]?.privateKey as string,
  };
  await cli(['split', market.id, '60', '--yes'], env);
});
afterEach(() => void vi.restoreAllMocks());

const tick = (price: number) => Math.round(price * 100) / 100;
const below = (price: number) => ({ kind: 'price_at_or_below' as const, price });
const left = async () => (await trader.client.listExits({ status: 'open' })).map(({ exitId }) => exitId);
const signed = async (order: ExitOrder, trigger: object, more: object = {}) =>
  ({ ...(await exitOrder(trader, market, order)), trigger, ...more }) as ExitRequest & {
    order: { signature?: string };
  };
const unsigned = async (...terms: Parameters<typeof signed>) => {
  const { order, ...body } = await signed(...terms);
  const { signature: _, ...fields } = order;
  return { ...body, order: fields } as ExitRequest;
};
const post = (body: object) => trader.post('/markets/exits', body);
/** The bodies that this process sends to the desk. */
function sentBodies(): readonly string[] {
  const bodies: string[] = [];
  const real = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
    if (typeof init?.body === 'string') bodies.push(init.body);
    return real(input, init);
  });
  return bodies;
}

describe('a check', () => {
  const check = { validateOnly: true };

  test('takes an order that is not signed, says so, and answers the exit without an id', async () => {
    const { status, headers, body } = await post(await unsigned({ worst: 0.38 }, below(0.4), check));
    expect([status, headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect(body).toMatchObject({ status: 'validated', signatureChecked: false, worstPrice: 0.38, size: 10 });
    expect(body).toMatchObject({ trigger: below(0.4), watch: { distance: expect.any(Number) } });
    expect(body).not.toHaveProperty('exitId');
    expect(await left()).toEqual([]);
  });

  test('of a signed order checks the signature, as for clients that send one', async () => {
    const sound = await signed({ worst: 0.38 }, below(0.4), check);
    expect((await post(sound)).body).toMatchObject({ status: 'validated', signatureChecked: true });
    const other = await signed({ worst: 0.37 }, below(0.4), check);
    const forged = { ...sound, order: { ...sound.order, signature: other.order.signature } };
    expect((await post(forged)).body.code).toBe('invalid_order_payload');
    expect(await left()).toEqual([]);
  });

  test('refuses what leaving refuses, and a second wallet of another agent', async () => {
    const code = async (...terms: Parameters<typeof signed>) =>
      (await post(await unsigned(...terms))).body.code;
    expect(await code({ worst: 0.3 }, below(0.4), check)).toBe('exit_price_out_of_range');
    expect(await code({ worst: 0.38, size: 61 }, below(0.4), check)).toBe('insufficient_balance');
    expect(await code({ worst: 0.38 }, below(0.4), { ...check, expireAt: '2030-01-01T00:00:00Z' })).toBe(
      'invalid_request',
    );
    const stranger = await newTrader(service);
    const { order } = await exitOrder(stranger, market, { worst: 0.38 });
    const body = await unsigned({ worst: 0.38 }, below(0.4), check);
    const refused = await post({
      ...body,
      order: { ...body.order, maker: order.maker, signer: order.signer },
    });
    expect([refused.status, refused.body.code]).toEqual([403, 'credentials_not_registered']);
    const mixed = await post({ ...body, order: { ...body.order, maker: order.maker } });
    expect(mixed.body.code).toBe('invalid_order_payload');
  });

  test('alone goes without a signature: the field is named beside every other fault', async () => {
    const { status, body } = await post(await unsigned({ worst: 0.38 }, { kind: 'time', price: 0.4 }));
    expect([status, body.errors.map(({ path }: { path: string }) => path)]).toEqual([
      400,
      ['order.signature', 'trigger.price', 'trigger.at'],
    ]);
  });

  test('of an exit that is left already tells nothing of its id, and leaves nothing else', async () => {
    const request = await signed({ worst: 0.35 }, below(0.36));
    const { exitId } = await trader.client.leaveExit(request);
    const { body } = await post({ ...request, ...check });
    expect(body.status).toBe('validated');
    expect(body).not.toHaveProperty('exitId');
    expect(await left()).toEqual([exitId]);
    await trader.client.cancelExit({ exitId });
  });

  test('with the SDK keeps the signature on this machine', async () => {
    const request = await signed({ worst: 0.38 }, below(0.4));
    const bodies = sentBodies();
    const checked = await trader.client.leaveExit({ ...request, validateOnly: true });
    expect(checked.status).toBe('validated');
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).not.toContain(request.order.signature?.slice(2));
    expect(bodies[0]).not.toContain('"signature"');
  });

  test('on the command line shows the exit, and signs nothing', async () => {
    const bid = bidOf(service, market);
    const bodies = sentBodies();
    const terms = ['sell', market.id, 'YES', '--size', '10', '--price', '0.38', '--below', '0.4'];
    const { code, stdout, stderr } = await cli([...terms, '--group', 'pair', '--validate-only'], env);
    expect([code, stdout]).toEqual([0, expect.stringContaining('Nothing was signed or left')]);
    expect(stderr).toContain('sell 10 YES, at 0.38 or more a share');
    expect(stderr).toContain('the book pays 0.4 or less for 10 shares');
    expect(stderr).toMatch(new RegExp(`the book pays now +${bid}`));
    expect(stderr).not.toContain('fills now');
    const sent = bodies.filter((text) => text.includes('"trigger"'));
    expect(sent).toHaveLength(1);
    expect(sent.join()).not.toContain('"signature"');
    const program = await cli([...terms, '--validate-only', '--json'], env);
    expect(JSON.parse(program.stdout)).toMatchObject({
      exit: { status: 'validated', trigger: below(0.4) },
    });
    expect(program.stdout).not.toMatch(/exitId|signature/);
    const client = new BellwetherClient({ baseUrl: service.url, apiKey: env.BELLWETHER_API_KEY as string });
    expect(await client.listExits({})).toEqual([]);
  });

  test.each([
    ['another price', { worstPrice: 0.05 }],
    ['another trigger', { trigger: { kind: 'price_at_or_above', price: 0.4 } }],
    ['another order', { orderId: `0x${'1'.repeat(64)}` }],
    ['more shares', { size: 60 }],
  ])('that a hostile desk answers with %s is not signed', async (_what, lie) => {
    const real = globalThis.fetch;
    const signatures: string[] = [];
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      if (String(init?.body).includes('"signature"')) signatures.push(String(init?.body));
      const answer = await real(input, init);
      if (!String(init?.body).includes('"validateOnly":true')) return answer;
      return new Response(JSON.stringify({ ...((await answer.json()) as object), ...lie }), answer);
    });
    const terms = ['sell', market.id, 'YES', '--size', '10', '--price', '0.38', '--below', '0.4', '--yes'];
    const { code, stderr } = await cli(terms, env);
    expect([code, stderr]).toEqual([8, expect.stringContaining('another exit')]);
    expect(signatures).toEqual([]);
  });

  test('is compared with what is meant, field by field', async () => {
    const body = await unsigned({ worst: 0.38 }, below(0.4), check);
    const answer = (await post(body)).body;
    const meant = { orderId: answer.orderId, body: body as never, trigger: below(0.4) };
    expect([verifyExit(answer, meant), verifyExit({ ...answer, status: 'armed' }, meant)]).toEqual([
      true,
      false,
    ]);
    for (const trigger of [below(0.41), { kind: 'silence' as const }])
      expect(() => verifyExit(answer, { ...meant, trigger })).toThrow(PreparedOrderError);
  });
});

test('a trigger is of one of five kinds: another one does not compile, and is refused', async () => {
  // @ts-expect-error: no kind of this name
  const kind: ExitRequest['trigger']['kind'] = 'below';
  const { status, body } = await post(await signed({ worst: 0.38 }, { kind, price: 0.4 }));
  expect([status, body.errors[0].path]).toEqual([400, 'trigger.kind']);
});

describe('a group', () => {
  const group = 'position';
  const trigger = { kind: 'price_at_or_above' as const, price: 0.95 };

  test('is of one market and outcome: across them it is refused, with a name to take', async () => {
    const other = (await openMarkets(trader.client))[1] as Market;
    await hold(trader, other, 20);
    const { exitId } = await trader.client.leaveExit(await signed({ worst: 0.9 }, trigger, { group }));
    const inOther = async (more: object = {}) =>
      post({ ...(await exitOrder(trader, other, { worst: 0.9 })), trigger, group, ...more });
    for (const refused of [
      await inOther(),
      await inOther({ validateOnly: true }),
      await post(await signed({ worst: 0.9, outcome: 'NO' }, trigger, { group })),
    ]) {
      expect([refused.status, refused.body.code]).toEqual([400, 'exit_group_mismatch']);
      expect(refused.body).toMatchObject({
        detail: expect.stringContaining('another market or outcome'),
        errors: [expect.objectContaining({ path: 'group' })],
      });
    }
    // In its place, and once it has ended, the name is free.
    const replacing = await inOther({ replaces: exitId });
    expect(replacing.body).toMatchObject({ status: 'armed', group });
    await trader.client.cancelExit({ exitId: replacing.body.exitId });
  });

  test('is kept to that also where two are left at once', async () => {
    const requests = [
      await signed({ worst: 0.9 }, trigger, { group }),
      await signed({ worst: 0.9, outcome: 'NO' }, trigger, { group }),
    ];
    const { exits } = service.needs;
    const real = exits.leave.bind(exits);
    // Both have been checked before either is written.
    const both = Promise.withResolvers<void>();
    let waiting = 0;
    vi.spyOn(exits, 'leave').mockImplementation(async (...asked) => {
      waiting += 1;
      if (waiting === 2) both.resolve();
      await both.promise;
      return real(...asked);
    });
    const answers = await Promise.all(requests.map(post));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    for (const { body } of answers)
      if (body.exitId !== undefined) await trader.client.cancelExit({ exitId: body.exitId });
  });

  test('and the end of an exit are shown on the command line', async () => {
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const terms = ['--above', '0.95', '--price', '0.95', '--group', '101-yes', '--until', until];
    const { stdout } = await cli(
      ['sell', market.id, 'YES', '--size', '10', ...terms, '--yes', '--json'],
      env,
    );
    const table = (await cli(['exits'], env)).stdout;
    expect(table).toMatch(/GROUP +ENDS/);
    expect(table).toContain('101-yes');
    expect(table).toContain(until.slice(0, 16));
    await cli(['cancel-exit', JSON.parse(stdout).exitId], env);
  });
});

describe('a stop', () => {
  const sell = ['sell', 'MARKET', 'YES', '--size', '10', '--yes'];
  const sold = (...options: readonly string[]) =>
    cli([...sell.map((word) => (word === 'MARKET' ? market.id : word)), ...options], env);
  const codes = (warnings: readonly { readonly code: string }[]) => warnings.map(({ code }) => code);

  test("without a price takes the owner's distance below its trigger, not the book of now", async () => {
    const stop = tick(bidOf(service, market) - 0.1);
    const { code, stdout, stderr } = await sold('--below', String(stop), '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const exit = JSON.parse(stdout);
    // On the grid, and no further than the distance.
    const worst = Math.ceil(Math.round(stop * 0.9 * 10_000) / 100) / 100;
    expect(exit).toMatchObject({ status: 'armed', orderType: 'FAK', worstPrice: worst, warnings: [] });
    expect(exit.worstPrice).toBeLessThan(stop);
    await cli(['cancel-exit', exit.exitId], env);
  });

  test.each([
    [['--above', '0.9'], '--above needs --price'],
    [['--at', '2030-01-01T00:00:00Z'], '--at needs --price'],
    [['--before-end', '60'], '--before-end needs --price'],
    [['--on-silence'], '--on-silence needs --price'],
    [['--below', '0.4', '--slippage', '0.05'], '--slippage goes beyond the book of now'],
  ])('%j is refused before anything is signed, with the name of the option', async (options, said) => {
    const bodies = sentBodies();
    expect(await sold(...options)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
    expect(bodies).toEqual([]);
  });

  test.each(['FAK', 'FOK'] as const)(
    'of type %s above its trigger is refused, with the reason',
    async (type) => {
      const stop = 0.36;
      const request = await signed({ worst: tick(stop + 0.01), type }, below(stop));
      for (const validateOnly of [false, true]) {
        const { status, body } = await post({ ...request, validateOnly });
        expect([status, body.code, body.errors[0].path]).toEqual([400, 'exit_price_out_of_range', 'price']);
        expect(body.detail).toContain('could not sell');
        expect(body.fix).toContain('below 0.36');
      }
      await expect(trader.client.leaveExit(request)).rejects.toMatchObject({
        code: 'exit_price_out_of_range',
      });
      expect(await left()).toEqual([]);
      const bodies = sentBodies();
      const typed = await sold('--below', '0.36', '--worst-price', '0.37', '--type', type);
      expect(typed).toMatchObject({ code: 3, stderr: expect.stringContaining('could not sell') });
      expect(bodies.join()).not.toContain('"signature"');
    },
  );

  test('at its trigger may fill in part, above it rests: both are said, and left', async () => {
    const check = async (worst: number, type: 'FAK' | 'GTC') =>
      codes((await post(await unsigned({ worst, type }, below(0.36), { validateOnly: true }))).body.warnings);
    expect(await check(0.36, 'FAK')).toEqual(['exit_may_fill_in_part']);
    expect(await check(0.36, 'GTC')).toEqual([]);
    expect(await check(0.35, 'FAK')).toEqual([]);
    expect(await check(0.4, 'GTC')).toEqual(['exit_rests']);
    const { stderr } = await sold('--below', '0.36', '--price', '0.4', '--validate-only');
    expect(stderr).toMatch(/warning +It is a resting order and no stop/);
    const { exitId, warnings } = await trader.client.leaveExit(await signed({ worst: 0.4 }, below(0.36)));
    expect(codes(warnings)).toEqual(['exit_rests']);
    await trader.client.cancelExit({ exitId });
  });

  test('whose trigger holds already is said before it is left; so is a profit', async () => {
    const bid = bidOf(service, market);
    for (const trigger of [below(tick(bid + 0.02)), { kind: 'price_at_or_above', price: tick(bid - 0.02) }]) {
      const body = await unsigned({ worst: tick(bid - 0.02) }, trigger, { validateOnly: true });
      expect(codes((await post(body)).body.warnings)).toContain('trigger_holds_already');
    }
    const { stderr } = await sold('--below', String(tick(bid + 0.02)), '--validate-only');
    expect(stderr).toMatch(/warning +Its trigger holds now/);
  });

  test('of a desk that names a distance which no owner can set is not signed', async () => {
    const real = globalThis.fetch;
    const bodies: string[] = [];
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      if (typeof init?.body === 'string') bodies.push(init.body);
      const answer = await real(input, init);
      if (!String(input).endsWith('/agents/me')) return answer;
      const me = (await answer.json()) as { settings: object };
      return Response.json({ ...me, settings: { ...me.settings, exitDistancePercent: 99 } });
    });
    expect(await sold('--below', '0.4')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('--worst-price'),
    });
    expect(bodies).toEqual([]);
  });

  test.each([
    [0.72, 10, '0.01', 0.65],
    [0.725, 10, '0.001', 0.653],
    [0.725, 10, '0.0025', 0.6525],
    [0.4, 10, '0.1', 0.4],
    [0.02, 10, '0.01', 0.02],
    [0.5, 50, '0.01', 0.25],
  ])('at %d less %d %%, in ticks of %s, takes %d', (price, exitDistancePercent, tickSize, worst) => {
    expect(worstExitPrice({ price, exitDistancePercent, tickSize })).toBe(worst);
  });
});

test('the silence that sends some is set and switched off, as is redeeming', async () => {
  const answer = async (...args: string[]) =>
    JSON.parse((await cli(['limits', ...args, '--json'], env)).stdout);
  const client = new BellwetherClient({ baseUrl: service.url, apiKey: env.BELLWETHER_API_KEY as string });
  expect(await answer('set-silence', '600')).toMatchObject({ silenceSeconds: 600 });
  expect(await answer('set-auto-redeem', 'on')).toMatchObject({ autoRedeemEnabled: true });
  expect(await client.getSettings()).toMatchObject({ silenceSeconds: 600, autoRedeemEnabled: true });
  await answer('set-silence', 'off');
  await answer('set-auto-redeem', 'off');
  const wrong = await cli(['limits', 'set-silence', 'soon'], env);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('from 30 to 86400, or off') });
});

test('two triggers, or a group without one, are refused before anything is signed', async () => {
  const terms = ['sell', market.id, 'YES', '--size', '10', '--price', '0.05', '--yes', '--json'];
  const two = await cli([...terms, '--below', '0.05', '--on-silence'], env);
  expect(two).toMatchObject({ code: 2, stderr: expect.stringContaining('Give one of --below') });
  const none = await cli([...terms, '--group', 'position'], env);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('are for exits') });
});
