/** A database that is an earlier state of itself, and a desk that was away: what comes back armed sells nothing, and what is armed is told. */
import { cpSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { BellwetherClient, type ExitTrigger, type Market } from '@bellwether/sdk';
import { pino } from 'pino';
import { beforeAll, expect, test } from 'vitest';
import { bidOf, passes, pushBidTo } from '../exits.ts';
import { aMarket, type TestService, type Trader } from '../harness.ts';
import { liveOrder, newLiveTrader, PROFILE, startLiveDesk, startVenue } from '../live-desk.ts';
import { copyDatabase, replaceDatabase } from '../postgres.ts';
import { runScript, waitFor } from '../service-process.ts';
import { temporaryFolder } from '../setup/clean-up.ts';
import { movingClock } from '../world.ts';

/** Of the venue and the desk. */
const clock = movingClock();
const folder = temporaryFolder();
/** Keeps the record of what the desk has seen of its database. */
const dataDir = join(folder, 'd');
const ASKED = { DATA_DIR: dataDir };
let venue: TestService;
let desk: TestService;
let trader: Trader;
/** Leaves an exit in whatever database it finds. */
let other: Trader;
let client: BellwetherClient;
let market: Market;
let exitId: string;
let stop: number;
/** Made while the exit was armed; later it was canceled. */
let copies: string[];
let log: string[] = [];

const held = (who = trader) => Number(venue.exchange.freeTokens(who.funder, market.conditionId, 'YES')) / 1e6;

/** On the desk's database, as it is now. */
async function startAgain(environment: Readonly<Record<string, string>>): Promise<void> {
  log = [];
  const { databaseUrl, masterKey } = desk;
  desk = await startLiveDesk(
    venue,
    { DATABASE_URL: databaseUrl, MASTER_KEY: masterKey, ...environment },
    { clock, logger: pino({ level: 'warn' }, { write: (line) => void log.push(line) }) },
  );
  client = new BellwetherClient({ baseUrl: desk.url, apiKey: trader.apiKey });
}

/** The desk's database is the one of the copy. */
async function startOnCopy(environment: Readonly<Record<string, string>>): Promise<void> {
  await desk.stop();
  await replaceDatabase(desk.databaseUrl, copies.pop() as string);
  await startAgain(environment);
}

async function suspendedAsRestored(): Promise<void> {
  expect(await client.getExit(exitId)).toMatchObject({ status: 'suspended', because: 'restored' });
  const { riskAlerts, exitChanges } = await client.getBriefing();
  expect(riskAlerts.find(({ code }) => code === 'exit_suspended')?.message).toContain('restored');
  expect(exitChanges?.map(({ type }) => type)).toContain('exit.suspended');
  await passes(desk, clock, 3_000);
  expect(held()).toBe(20);
}

async function leave(who: Trader, price: number, trigger: ExitTrigger): Promise<string> {
  const order = await liveOrder(who, market, { side: 'SELL', size: 10, price } as never);
  const { baseUrl, apiKey } = { baseUrl: desk.url, apiKey: who.apiKey };
  return (await new BellwetherClient({ baseUrl, apiKey }).leaveExit({ ...order, trigger })).exitId;
}

beforeAll(async () => {
  venue = await startVenue({}, { clock });
  desk = await startLiveDesk(venue, {}, { clock });
  trader = await newLiveTrader(desk, venue);
  other = await newLiveTrader(desk, venue);
  client = trader.client as BellwetherClient;
  market = await aMarket(client);
  for (const who of [trader, other]) {
    const buy = { side: 'BUY', size: 20, price: Number(market.bestAsk), type: 'FAK' } as never;
    await who.client.placeTrade(await liveOrder(who, market, buy));
  }
  expect(await waitFor(() => held() === 20 && held(other) === 20, 60_000)).toBe(true);
  stop = Math.round((bidOf(venue, market) - 0.03) * 100) / 100;
  exitId = await leave(trader, Math.round(stop * 95) / 100, { kind: 'price_at_or_below', price: stop });
  await desk.runJob('keep watch');
  await desk.stop();
  copies = [];
  for (let nth = 0; nth < 4; nth += 1) copies.push(await copyDatabase(desk.databaseUrl));
  await startAgain(ASKED);
  await client.cancelExit({ exitId });
  await desk.runJob('watch exits');
  await desk.runJob('keep watch');
  // Whatever is armed from now on is due.
  await pushBidTo(venue, { market, price: stop, profile: PROFILE });
});

test('a copy in the place of the database, under a desk that lives: its exits are suspended before one is sent', async () => {
  await replaceDatabase(desk.databaseUrl, copies.pop() as string);
  // It makes up for the change that the copy lacks.
  await expect
    .poll(() => leave(other, 0.9, { kind: 'price_at_or_above', price: 0.97 }).catch(() => null))
    .not.toBeNull();
  await expect
    .poll(() =>
      desk.runJob('watch exits').then(
        () => 'looked',
        () => 'lost',
      ),
    )
    .toBe('looked');
  await suspendedAsRestored();
  expect(log.join('')).toContain('the database was restored');
});

test('a start on a copy, beside the record of what was there: suspended, and the start says what else comes back', async () => {
  await startOnCopy(ASKED);
  await suspendedAsRestored();
  expect(log.join('')).toMatch(/Recovery codes .* passkeys .* API keys that were revoked are back/);
});

test('a start on a copy that nothing proves: armed; npm run after-copy suspends what runs, and what starts', async () => {
  await startOnCopy({});
  expect((await client.getExit(exitId)).status).toBe('armed');
  const env = { env: { DATABASE_URL: desk.databaseUrl } };
  const { code, stdout } = await runScript('scripts/after-copy.ts', [], env);
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Marked in the database of DATABASE_URL: .* armed \(1\)/),
  });
  await passes(desk, clock, 500);
  await suspendedAsRestored();

  await desk.stop();
  await replaceDatabase(desk.databaseUrl, copies.pop() as string);
  await runScript('scripts/after-copy.ts', [], env);
  await startAgain({});
  await suspendedAsRestored();
});

test('a folder that was copied is named at its start; one that was moved is not', async () => {
  await desk.stop();
  await startAgain(ASKED);
  await desk.stop();
  renameSync(dataDir, join(folder, 'moved'));
  await startAgain({ DATA_DIR: join(folder, 'moved') });
  expect(log.join('')).not.toContain('copy');
  await desk.stop();
  cpSync(join(folder, 'moved'), dataDir, { recursive: true });
  await startAgain(ASKED);
  expect(log.join('')).toContain('run npm run after-copy');
});

test('a desk that was away disarms nothing, and tells at once for how long', async () => {
  const armed = await leave(trader, 0.9, { kind: 'price_at_or_above', price: 0.97 });
  await desk.runJob('keep watch');
  await desk.stop();
  clock.advance(3 * 3_600_000);
  await startAgain(ASKED);
  expect((await client.getExit(armed)).status).toBe('armed');
  const told = expect.stringMatching(/^The desk was away from \S+ \S+ until \S+ \S+ UTC \(108\d\d seconds\)/);
  const away = { code: 'desk_was_away', severity: 'warning', message: told };
  expect((await client.getBriefing()).riskAlerts).toContainEqual(expect.objectContaining(away));
  // One that was frozen says it in its first turn.
  const ending = new AbortController();
  for await (const event of client.events({ signal: ending.signal })) {
    if (event.type === 'ready') {
      clock.advance(60_000);
      await desk.runJob('keep watch');
    }
    if (event.type !== 'risk') continue;
    expect(event.data).toMatchObject({ code: 'desk_was_away', message: expect.stringContaining('seconds') });
    ending.abort();
  }
  const [both] = (await client.getBriefing()).riskAlerts.filter(({ code }) => code === 'desk_was_away');
  expect(both?.message).toMatch(/\(6\d seconds\).*\(108\d\d seconds\)/);
  // All exits of another agent were suspended: nothing of it was looked at in any case.
  const theirs = new BellwetherClient({ baseUrl: desk.url, apiKey: other.apiKey });
  expect((await theirs.getBriefing()).riskAlerts.map(({ code }) => code)).not.toContain('desk_was_away');
});
