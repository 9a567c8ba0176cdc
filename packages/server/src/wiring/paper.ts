/** The paper exchange and the sandbox on its book, as this process runs or follows them. */
import { parseMicro } from '@bellwether/contract/decimals';
import { ExchangeLedElsewhere, openExchange, type Recorder, systemClock } from '@bellwether/exchange';
import type { VenueKeys } from '@bellwether/exchange/doors/polymarket';
import { openSandbox, prepareSandbox } from '@bellwether/sandbox';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Clock } from '../platform/clock.ts';
import type { Sql } from '../platform/database/connection.ts';
import { createLeaderBoard } from '../platform/database/replica-watch.ts';
import type { Meters } from '../platform/http/metrics.ts';
import type { ReplicaCalls } from '../platform/system/replica-calls.ts';
import type { PositionsInPlay } from '../positions/index.ts';
import { AWAITED_SIGNATURES } from '../quoting/index.ts';
import { writeEvidence } from '../trading/index.ts';
import {
  createExchangeCalls,
  createPaperMarketData,
  createSandboxHolder,
  createStandby,
  createTurns,
  type LocalParts,
  type PaperBackend,
  startPaperBackend,
  toEvidence,
} from '../venues/paper/index.ts';
import type { SignedOrders, VenueJournal } from '../venues/venue.ts';

interface PaperParts {
  readonly config: Config;
  readonly sql: Sql;
  readonly keys: VenueKeys;
  readonly positions: PositionsInPlay;
  readonly clock: Clock;
  readonly replicaId: string;
  readonly meters: Pick<Meters, 'committed'>;
  /** Proves to the leader that a call is a replica's. */
  readonly sign: ReplicaCalls['sign'];
  readonly log: Logger;
  /** The platform's wallet: it pays the network for the fees that it charges. */
  readonly platformWallet: string;
}

/** The venue whose orders the paper exchange executes. */
function traderOf({ venues }: Config) {
  const [trader, other] = venues.filter(({ paperExchange }) => paperExchange !== undefined);
  if (other !== undefined)
    throw new Error(`${trader?.id} and ${other.id} both trade on the paper exchange; one venue can.`);
  return trader;
}

/** The exchange's journal, as its venue's; `null` where no venue trades on it. */
export function paperJournal(config: Config, paper: PaperBackend): VenueJournal | null {
  const trader = traderOf(config);
  if (trader === undefined) return null;
  return { venue: trader.id, isHere: () => paper.local() !== null, nextTurn: paper.nextTurn };
}

const recorderOf =
  (venue: string, positions: PositionsInPlay): Recorder =>
  async (entries, { sql, term }) => {
    const evidence = toEvidence(entries, venue);
    const folded = await positions.fold(sql, term, evidence);
    return (tx) => writeEvidence(tx, evidence, folded);
  };

/** Stands for the venue of orders that there are none of. */
const UNTRADED = '';

/** Lamports that the platform's wallet is given on a sandbox chain where it has nothing: fees of a million charges. */
const PLATFORM_LAMPORTS = 10_000_000_000n;

export function startPaper(parts: PaperParts): Promise<PaperBackend> {
  const { config, sql, keys, positions, clock, log } = parts;
  const worldClock = { now: clock.now, every: systemClock.every };
  const trader = traderOf(config);
  const followLive = trader?.paperExchange?.followLive ?? null;
  const note = (message: string, details?: unknown) => log.warn({ details }, message);
  const verifyCredentials: SignedOrders['verifyCredentials'] = async (given) =>
    (await keys.verify(given))?.address ?? null;

  const standby = createStandby(() => prepareSandbox(sql));
  const open = async (leadWaitMs: number): Promise<LocalParts | null> => {
    try {
      const exchange = await openExchange({
        sql,
        seed: String(config.paper.seed),
        speed: config.paper.speed,
        v2Share: config.paper.v2Share,
        autoStep: config.paper.world,
        markets: followLive === null ? 'simulated' : 'live',
        leadWaitMs,
        clock: worldClock,
        log: note,
        onCommitMs: parts.meters.committed,
        // Where no venue trades on it, the exchange is only the liquidity of the sandbox.
        ...(trader === undefined ? {} : { recorder: recorderOf(trader.id, positions) }),
      });
      const venue = createExchangeCalls({
        exchange,
        verifyCredentials,
        gtdMinLeadS: config.paper.gtdMinLeadS,
        now: clock.now,
        log,
      });
      const sandbox = createSandboxHolder({
        exchange,
        simulationBalance: parseMicro(config.paper.simulationBalance, 'floor'),
        now: clock.now,
        open: async () => {
          const opened = await openSandbox({
            sql,
            exchange,
            seed: exchange.seed,
            clock: worldClock,
            switches: config.paper.sandbox,
            awaited: AWAITED_SIGNATURES,
            prepared: standby.take(),
            log: note,
          });
          await opened.venue.credit(parts.platformWallet, 0n, PLATFORM_LAMPORTS);
          return opened;
        },
      });
      const nextTurn = createTurns({
        exchange,
        venue: trader?.id ?? UNTRADED,
        gtdMinLeadS: config.paper.gtdMinLeadS,
      });
      const opened = { exchange, nextTurn, sandbox };
      return followLive === null
        ? { ...opened, venue, markets: createPaperMarketData(exchange) }
        : { ...opened, ...(await followLive({ exchange, venue, clock, log })) };
    } catch (error) {
      if (error instanceof ExchangeLedElsewhere && config.databaseUrl !== null) return null;
      throw error;
    }
  };

  return startPaperBackend({
    open,
    leaders: createLeaderBoard(sql, parts.replicaId),
    standby,
    sign: parts.sign,
    verifyCredentials,
    log,
  });
}
