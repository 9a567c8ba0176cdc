/**
 * The paper venue on one of several replicas. The replica that holds the exchange's lease leads: the engine runs in its
 * process. The others follow: they forward exchange calls to the leader and try to take the lead, so that another
 * replica takes over when the leader dies. The desk uses one venue in both cases.
 *
 * A call is never sent twice. An order whose call got no answer is in doubt, like at any venue; the venue enforces the
 * order's deadline, so an order that was proved never received cannot be executed later.
 */
import type { JournalledExchange } from '@bellwether/exchange';
import { VenueUnavailable } from '../../../domain/unavailable.ts';
import type { MarketData, SignedOrders } from '../../../ports/venue.ts';
import { type Call, createForwardedPort, runForwardedCall } from './forwarded-port.ts';
import { LEADER_CALLS, type LeaderPorts } from './leader-calls.ts';
import type { createJoin, ExchangeCalls } from './paper-venue.ts';
import type { SandboxCalls, SandboxHolder } from './sandbox-holder.ts';
import { decode, encode } from './wire.ts';

/** Stores the leader's address. */
export interface LeaderBoard {
  publish(url: string): Promise<void>;
  /** `null`: no leader is recorded yet. `mine`: this replica recorded itself. */
  find(): Promise<{ readonly url: string; readonly mine: boolean } | null>;
}

/** The objects that the leading process serves from its memory. */
export interface LocalParts extends LeaderPorts {
  readonly exchange: JournalledExchange;
  readonly join: ReturnType<typeof createJoin>;
  readonly sandbox: SandboxHolder;
  /** Stops what moves the exchange from outside, before it is closed. */
  readonly stopFeed?: () => Promise<void>;
}

export interface PaperBackend {
  readonly venue: ExchangeCalls;
  readonly markets: MarketData;
  readonly sandbox: SandboxCalls;
  /** `null` while another replica leads. */
  local(): LocalParts | null;
  /** Resolves when the sandbox is open too, where this process leads. @throws when it cannot be opened */
  opened(): Promise<void>;
  /** The target of the doors' requests while another replica leads. */
  leaderUrl(): string | null;
  /** Records this replica's address, once it listens. */
  listening(url: string): Promise<void>;
  /** Checks now whether this replica can trade on the exchange: a remote leader must answer. Never throws. */
  probe(): Promise<string>;
  /** `ready`, or why the sandbox cannot execute: it fills its orders on the exchange. */
  sandboxStatus(): string;
  /** Answers another replica's call. @throws Error when this one does not lead, or the call is unknown or late */
  answer(text: string): Promise<string>;
  stop(): Promise<void>;
}

export interface PaperBackendOptions {
  /** @returns null when another replica leads. */
  readonly open: (waitMs: number) => Promise<LocalParts | null>;
  readonly leaders: LeaderBoard;
  /** Proves to the leader that the call is a replica's. */
  readonly sign: (call: { method: string; path: string; body: string }) => string;
  readonly verifyCredentials: SignedOrders['verifyCredentials'];
  readonly log: {
    warn(context: object, message: string): void;
    info(context: object, message: string): void;
  };
}

const FIRST_WAIT_MS = 2_000;
const RETRY_LEAD_MS = 500;
const CALL_TIMEOUT_MS = 4_000;
/** A ping gets less time than a call that does work. */
const PING_TIMEOUT_MS = 600;
const CALL_PATH = '/internal/exchange';
export async function startPaperBackend(options: PaperBackendOptions): Promise<PaperBackend> {
  const { open, leaders, log } = options;
  let local = await open(FIRST_WAIT_MS);
  let leader: string | null = null;
  /** The leader whose last call got no answer. */
  let silent: string | null = null;
  let ownUrl: string | null = null;
  let stopped = false;

  const leads = (): boolean => local !== null && local.exchange.status === 'open';
  const remoteUrl = (): string | null => (leads() || leader === ownUrl ? null : leader);

  const forward = async (call: Call, timeoutMs = CALL_TIMEOUT_MS): Promise<unknown> => {
    const url = remoteUrl();
    if (url === null) throw new VenueUnavailable('No replica leads the paper exchange at the moment.');
    const body = encode(call);
    const proof = options.sign({ method: 'POST', path: CALL_PATH, body });
    try {
      const response = await fetch(url + CALL_PATH, {
        method: 'POST',
        headers: { 'x-bellwether-replica': proof, 'content-type': 'text/plain' },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await response.text();
      if (!response.ok) throw new VenueUnavailable(`The leading replica answered ${response.status}.`);
      if (silent === url) silent = null;
      return decode(text);
    } catch (error) {
      silent = url;
      throw error;
    }
  };

  /** Makes a small call to the leader, to detect a frozen one even without trades. */
  const ping = async (): Promise<void> => {
    if (remoteUrl() === null) return;
    await forward({ port: 'markets', method: 'find', args: [''] }, PING_TIMEOUT_MS).catch(() => {});
  };
  const look = async (): Promise<void> => {
    if (stopped) return;
    if (local === null) {
      local = await open(0);
      if (local !== null) log.info({}, 'this replica leads the paper exchange');
    }
    if (local?.exchange.status === 'open') {
      await local.sandbox.ensure();
      if (ownUrl !== null && leader !== ownUrl) {
        await leaders.publish(ownUrl);
        leader = ownUrl;
      }
      return;
    }
    // This replica does not lead, or has lost the lead to another one.
    const found = await leaders.find();
    leader = found === null || found.mine ? null : found.url;
    // Not awaited: a frozen leader would delay the next attempt to take over.
    void ping();
  };
  let looking: Promise<void> | null = null;
  const lookAround = (): Promise<void> => {
    looking ??= look().finally(() => {
      looking = null;
    });
    return looking;
  };
  const opened = lookAround();
  // The start awaits it, later.
  opened.catch(() => {});
  const timer = setInterval(() => {
    lookAround().catch((error: unknown) => log.warn({ err: error }, 'looking for the exchange failed'));
  }, RETRY_LEAD_MS);
  timer.unref();

  const route = {
    forward,
    onUnanswered: (error: unknown, method: string) =>
      log.warn({ err: error, method }, 'a call to the leading replica got no answer'),
    findLeader: lookAround,
  };
  const here = (): LocalParts | null => (leads() ? local : null);

  const status = (): string => {
    if (local !== null && leads()) return local.venue.status();
    if (remoteUrl() === null) return 'no replica leads the paper exchange';
    return remoteUrl() === silent ? 'the replica that leads the paper exchange does not answer' : 'ready';
  };

  return {
    venue: createForwardedPort<ExchangeCalls, typeof LEADER_CALLS.venue>({
      ...route,
      port: 'venue',
      table: LEADER_CALLS.venue,
      here: () => here()?.venue ?? null,
      local: { status, verifyCredentials: options.verifyCredentials },
    }),
    markets: createForwardedPort<MarketData, typeof LEADER_CALLS.markets>({
      ...route,
      port: 'markets',
      table: LEADER_CALLS.markets,
      here: () => here()?.markets ?? null,
      local: { announcesResolutions: true, canBeId: () => true },
    }),
    sandbox: createForwardedPort<SandboxCalls, typeof LEADER_CALLS.sandbox>({
      ...route,
      port: 'sandbox',
      table: LEADER_CALLS.sandbox,
      here: () => here()?.sandbox ?? null,
      local: {},
    }),
    opened: () => opened,
    local: here,
    leaderUrl: remoteUrl,
    async probe() {
      await ping();
      return status();
    },
    sandboxStatus() {
      const exchange = status();
      if (exchange !== 'ready') return exchange;
      // On a follower the leader is responsible for it.
      const isOpen = local === null || !leads() || local.sandbox.current() !== null;
      return isOpen ? 'ready' : 'the sandbox is being opened';
    },
    async listening(url) {
      ownUrl = url;
      await lookAround();
    },
    async answer(text) {
      const leader = here();
      if (leader === null) throw new VenueUnavailable('This replica does not lead.');
      return encode(await runForwardedCall(LEADER_CALLS, leader, decode(text) as Call));
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await looking?.catch(() => {});
      await local?.stopFeed?.();
      await local?.sandbox.close();
      await local?.exchange.close();
    },
  };
}
