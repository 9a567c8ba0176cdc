/** The paper exchange and the sandbox on its book, as this process runs or follows them. */
import { parseMicro } from '@bellwether/contract/decimals';
import {
  ExchangeLedElsewhere,
  type JournalledExchange,
  openExchange,
  type Recorder,
  systemClock,
} from '@bellwether/exchange';
import type { VenueKeys } from '@bellwether/exchange/doors/polymarket';
import { openSandbox, prepareSandbox } from '@bellwether/sandbox';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { VenueUnavailable } from '../domain/unavailable.ts';
import type { Clock } from '../platform/clock.ts';
import type { Sql } from '../platform/database/connection.ts';
import { createLeaderBoard } from '../platform/database/leader-board.ts';
import type { Meters } from '../platform/http/metrics.ts';
import { createPooledSend } from '../platform/outbound/pooled-send.ts';
import type { ReplicaCalls } from '../platform/system/replica-calls.ts';
import type { PositionsInPlay } from '../positions/index.ts';
import { AWAITED_SIGNATURES } from '../quoting/index.ts';
import type { VenueJournal } from '../trading/index.ts';
import { writeEvidence } from '../trading/index.ts';
import { startLiveMirror } from '../venues/paper/live-mirror.ts';
import { createLivePaperMarkets, onLiveBooks } from '../venues/paper/live-paper.ts';
import type { LocalParts } from '../venues/paper/local-parts.ts';
import { type PaperBackend, startPaperBackend } from '../venues/paper/paper-backend.ts';
import { createPaperMarketData } from '../venues/paper/paper-market-data.ts';
import { createExchangeCalls, createTurns, type ExchangeCalls } from '../venues/paper/paper-venue.ts';
import { createSandboxHolder } from '../venues/paper/sandbox-holder.ts';
import { createStandby } from '../venues/paper/standby.ts';
import { toEvidence } from '../venues/paper/translate.ts';
import { liveFeed } from '../venues/polymarket/feed.ts';
import { createPublicMarkets, type PolymarketUrls } from '../venues/polymarket/public-markets.ts';
import type { SignedOrders } from '../venues/venue.ts';

export interface PaperParts {
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

/** The exchange's journal, while this process leads; `null` where venue A is live, so that nothing is traded there. */
export const paperJournal = (
  { config, positions }: Pick<PaperParts, 'config' | 'positions'>,
  paper: PaperBackend,
): VenueJournal | null =>
  config.exchange.live === null ? journalOf(config.exchange.name, positions, paper) : null;

const journalOf = (venue: string, positions: PositionsInPlay, paper: PaperBackend): VenueJournal => ({
  venue,
  positions,
  isHere: () => paper.local() !== null,
  async nextTurn() {
    const local = paper.local();
    if (local === null) throw new VenueUnavailable('This replica does not lead the paper exchange.');
    return local.nextTurn();
  },
});

const recorderOf =
  (venue: string, positions: PositionsInPlay): Recorder =>
  async (entries, { sql, term }) => {
    const evidence = toEvidence(entries, venue);
    const folded = await positions.fold(sql, term, evidence);
    return (tx) => writeEvidence(tx, evidence, folded);
  };

/** What the platform's wallet is given on a sandbox chain where it has nothing: fees of a million charges. */
const PLATFORM_LAMPORTS = 10_000_000_000n;

export function startPaper(parts: PaperParts): Promise<PaperBackend> {
  const { config, sql, keys, positions, clock, log } = parts;
  const worldClock = { now: clock.now, every: systemClock.every };
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
        markets: config.paper.markets === null ? 'simulated' : 'live',
        leadWaitMs,
        clock: worldClock,
        log: note,
        onCommitMs: parts.meters.committed,
        // Behind a live venue A the exchange is only the liquidity of venue B's sandbox.
        ...(config.exchange.live === null ? { recorder: recorderOf(config.exchange.name, positions) } : {}),
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
        venue: config.exchange.name,
        gtdMinLeadS: config.paper.gtdMinLeadS,
      });
      const opened = { exchange, nextTurn, sandbox };
      if (config.paper.markets === null)
        return { ...opened, venue, markets: createPaperMarketData(exchange) };
      return {
        ...opened,
        ...(await onLiveMarkets({ exchange, venue, urls: config.paper.markets, clock, log })),
      };
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

interface LiveMarketParts extends Pick<PaperParts, 'clock' | 'log'> {
  readonly exchange: JournalledExchange;
  readonly venue: ExchangeCalls;
  readonly urls: PolymarketUrls;
}

/** The live venue's markets, traded on this exchange. */
async function onLiveMarkets(
  parts: LiveMarketParts,
): Promise<Required<Pick<LocalParts, 'venue' | 'markets' | 'stopFeed'>>> {
  const { exchange, venue, urls, clock, log } = parts;
  const pooled = createPooledSend();
  const open = createPublicMarkets({ name: 'the live venue', urls, send: pooled.send, clock, log });
  const { markets: live, books } = open;
  const mirror = await startLiveMirror({ exchange, feed: liveFeed(live, books), log });
  const calls = onLiveBooks(venue, { mirror });
  return {
    venue: { ...calls, status: () => (venue.status() === 'ready' ? open.status() : venue.status()) },
    markets: createLivePaperMarkets({ exchange, live, mirror }),
    async stopFeed() {
      await mirror.stop();
      await books.close();
      pooled.close();
    },
  };
}
