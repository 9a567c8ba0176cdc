/**
 * The paper venue on one of several replicas. The replica that holds the exchange's lease leads: the engine runs in its
 * process. The others follow: they forward exchange calls to the leader and try to take the lead, so that another
 * replica takes over when the leader dies. The desk uses one venue in both cases.
 *
 * A call is never sent twice. An order whose call got no answer is in doubt, like at any venue; the venue enforces the
 * order's deadline, so an order that was proved never received cannot be executed later.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JournalledExchange } from '@bellwether/exchange';
import { VenueUnavailable } from '../../../domain/unavailable.ts';
import type { MarketData, SignedOrders } from '../../../ports/venue.ts';
import { type Call, createForwardedPort, LeadIsHere, runForwardedCall } from './forwarded-port.ts';
import { createInFlight } from './in-flight.ts';
import { LEADER_CALLS, type LeaderPorts, laneOf } from './leader-calls.ts';
import { type CallOutcome, createLeaderLine, NOT_LED, type SendCalls } from './leader-line.ts';
import type { createJoin, ExchangeCalls } from './paper-venue.ts';
import type { SandboxCalls, SandboxHolder } from './sandbox-holder.ts';
import { decode, encode } from './wire.ts';

/** Stores the leader's address. */
export interface LeaderBoard {
  publish(url: string): Promise<void>;
  /** `null`: no leader is recorded yet. `mine`: this replica recorded itself. */
  find(): Promise<{ readonly url: string; readonly replica: string; readonly mine: boolean } | null>;
  isAlone(): Promise<boolean>;
  announceFree(): Promise<void>;
  onFree(listener: () => void): Promise<() => Promise<void>>;
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
  /**
   * Answers another replica's calls, each for itself; `null` when this one has given the lead away.
   * @throws Error when it does not lead for another reason
   */
  answer(text: string): Promise<string | null>;
  /** Resolves at once, unless the lead is being handed over: then when it is known who has it, or after seconds. */
  leadKnown(): Promise<void>;
  /** The exchange is not handed over before. */
  keepOpen(until: Promise<unknown>): Promise<unknown>;
  /**
   * Gives the lead to another replica, and follows it. Calls that arrive meanwhile wait. Does nothing when this one does
   * not lead, or nobody else is there.
   */
  handOver(): Promise<void>;
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
/** The answer of a replica that has given the lead away: it has not looked at the call. */
const NOT_LED_HERE = 410;
/** No replica's name. */
const OWN = 'this one';
/** How long calls wait for the next leader: less than an order's own deadline. */
const AWAIT_LEAD_MS = 3_000;
const LOOK_AGAIN_MS = 20;
/** How long calls that run here may take before the lead is handed over. */
const FINISH_MS = 2_000;

export async function startPaperBackend(options: PaperBackendOptions): Promise<PaperBackend> {
  const { open, leaders, log } = options;
  const inFlight = createInFlight();
  const openHere = async (waitMs: number): Promise<LocalParts | null> => {
    const opened = await open(waitMs);
    if (opened === null) return null;
    return { ...opened, join: (work) => inFlight.run(() => opened.join(work)) };
  };
  let local = await openHere(FIRST_WAIT_MS);
  let leader: { readonly url: string; readonly replica: string } | null = null;
  /** The replica that said it leads no more: it never will again. */
  let gone: string | null = null;
  /** This replica gives the lead away, and does not take it again. */
  let leaves = false;
  let movesUntil = 0;
  /** The leader whose last call got no answer. */
  let silent: string | null = null;
  let ownUrl: string | null = null;
  let stopped = false;

  const leads = (): boolean => !leaves && local !== null && local.exchange.status === 'open';
  const remoteUrl = (): string | null => (leads() || leader?.url === ownUrl ? null : (leader?.url ?? null));
  /** Nobody leads for a moment, because the last leader has given the lead away. */
  const isMoving = (): boolean => !leads() && remoteUrl() === null && performance.now() < movesUntil;
  const nextLeader = async (): Promise<void> => {
    // The look goes on with the sandbox, for which most calls need not wait.
    while (isMoving() && !stopped) await Promise.race([lookAround().catch(() => {}), sleep(LOOK_AGAIN_MS)]);
  };
  const hasLeft = (replica: string): void => {
    gone = replica;
    movesUntil = performance.now() + AWAIT_LEAD_MS;
    if (leader?.replica === replica) leader = null;
  };

  const send = async (url: string, calls: readonly Call[], timeoutMs: number): ReturnType<SendCalls> => {
    const body = encode(calls);
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
      if (response.status === NOT_LED_HERE) return NOT_LED;
      if (!response.ok) throw new VenueUnavailable(`The leading replica answered ${response.status}.`);
      if (silent === url) silent = null;
      return decode(text) as readonly CallOutcome[];
    } catch (error) {
      silent = url;
      throw error;
    }
  };

  const askLeader = createLeaderLine((url, calls) => send(url, calls, CALL_TIMEOUT_MS));
  const forward = async (call: Call): Promise<unknown> => {
    for (;;) {
      await nextLeader();
      if (leads()) throw new LeadIsHere();
      const asked = leader;
      const url = remoteUrl();
      if (url === null || asked === null)
        throw new VenueUnavailable('No replica leads the paper exchange at the moment.');
      const answer = await askLeader(url, call, laneOf(call));
      if (answer !== NOT_LED) return answer;
      // It has done nothing with the call, so the next leader may get it.
      hasLeft(asked.replica);
    }
  };

  /** Makes a small call to the leader, to detect a frozen one even without trades. */
  const ping = async (): Promise<void> => {
    const asked = leader;
    const url = remoteUrl();
    if (url === null || asked === null) return;
    const call = { port: 'markets', method: 'find', args: [''] };
    if ((await send(url, [call], PING_TIMEOUT_MS).catch(() => {})) === NOT_LED) hasLeft(asked.replica);
  };
  const publishOwn = async (): Promise<void> => {
    if (ownUrl === null || leader?.url === ownUrl) return;
    await leaders.publish(ownUrl);
    leader = { url: ownUrl, replica: OWN };
  };
  const look = async (): Promise<void> => {
    if (stopped) return;
    if (local === null && !leaves) {
      local = await openHere(0);
      if (local !== null) log.info({}, 'this replica leads the paper exchange');
    }
    if (leads() && local !== null) {
      // Others may trade on the exchange while the sandbox is being opened.
      await Promise.all([local.sandbox.ensure(), publishOwn()]);
      return;
    }
    // This replica does not lead, or has lost the lead to another one.
    const found = await leaders.find();
    leader = found === null || found.mine || found.replica === gone ? null : found;
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
  const timer = setInterval(() => lookNow(), RETRY_LEAD_MS);
  timer.unref();

  const lookNow = (): void =>
    void lookAround().catch((error: unknown) => log.warn({ err: error }, 'looking for the exchange failed'));
  const unlisten = await leaders.onFree(lookNow);

  const route = {
    forward,
    during: inFlight.run,
    onUnanswered: (error: unknown, method: string) =>
      log.warn({ err: error, method }, 'a call to the leading replica got no answer'),
    findLeader: lookAround,
  };
  const here = (): LocalParts | null => (leads() ? local : null);

  const closeHere = async (): Promise<void> => {
    await local?.stopFeed?.();
    await local?.sandbox.close();
    await local?.exchange.close();
  };

  const status = (): string => {
    if (local !== null && leads()) return local.venue.status();
    // Calls wait for the next leader.
    if (isMoving()) return 'ready';
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
      const own = here();
      if (own === null && leaves) return null;
      if (own === null) throw new VenueUnavailable('This replica does not lead.');
      return inFlight.run(async () => {
        const run = async (call: Call): Promise<CallOutcome> => {
          try {
            return { answer: (await runForwardedCall(LEADER_CALLS, own, call)) ?? null };
          } catch (error) {
            log.warn({ err: error, method: call.method }, 'a call of another replica failed');
            return { failed: true };
          }
        };
        return encode(await Promise.all((decode(text) as readonly Call[]).map(run)));
      });
    },
    leadKnown: nextLeader,
    keepOpen: (until) => inFlight.run(() => until),
    async handOver() {
      if (!leads() || (await leaders.isAlone())) return;
      leaves = true;
      movesUntil = performance.now() + FINISH_MS + AWAIT_LEAD_MS;
      await looking?.catch(() => {});
      await inFlight.idle(FINISH_MS);
      await closeHere();
      local = null;
      leader = null;
      await leaders.announceFree();
      movesUntil = performance.now() + AWAIT_LEAD_MS;
      await nextLeader();
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      // The pool closes it, too, where the database does not answer.
      unlisten().catch(() => {});
      await looking?.catch(() => {});
      await closeHere();
    },
  };
}
