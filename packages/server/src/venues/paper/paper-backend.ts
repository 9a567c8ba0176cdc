/**
 * The paper venue on one of several replicas. The replica that holds the exchange's lease leads: the engine runs in its
 * process. The others follow: they forward exchange calls to the leader and try to take the lead, so that another
 * replica takes over when the leader dies. The desk uses one venue in both cases.
 *
 * A call is never sent twice. An order whose call got no answer is in doubt, like at any venue; the venue enforces the
 * order's deadline, so an order that was proved never received cannot be executed later.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { VenueMoves, VenueUnavailable } from '../../domain/unavailable.ts';
import type { MarketData, SignedOrders } from '../venue.ts';
import { createCallSender } from './call-sender.ts';
import { type Call, createForwardedPort, LeadIsHere, runForwardedCall } from './forwarded-port.ts';
import { createInFlight } from './in-flight.ts';
import type { Leader, LeaderBoard } from './leader-board.ts';
import { forNextLeader, LEADER_CALLS, laneOf } from './leader-calls.ts';
import { type CallOutcome, createLeaderLine, NOT_LED } from './leader-line.ts';
import type { LocalParts } from './local-parts.ts';
import type { ExchangeCalls } from './paper-venue.ts';
import type { SandboxCalls } from './sandbox-holder.ts';
import type { Preparation, Standby } from './standby.ts';
import { createWaitingRoom, type Waiter } from './waiting-room.ts';
import { decode, encode } from './wire.ts';

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
  /** Resolves at once, unless the lead moves: then when it is known who has it. @throws VenueUnavailable for one too many */
  leadKnown(waiter: Waiter): Promise<void>;
  /** The same for the sandbox, which the next leader opens a moment later. */
  sandboxKnown(waiter: Waiter): Promise<void>;
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
  readonly standby: Pick<Standby<Preparation>, 'prepare' | 'end'>;
  /** Proves to the leader that the call is a replica's. */
  readonly sign: (call: { method: string; path: string; body: string }) => string;
  readonly verifyCredentials: SignedOrders['verifyCredentials'];
  readonly log: {
    warn(context: object, message: string): void;
    info(context: object, message: string): void;
  };
}

const FIRST_WAIT_MS = 2_000;
const RETRY_LEAD_MS = 250;
const CALL_TIMEOUT_MS = 4_000;
/** A ping gets less time than a call that does work. */
const PING_TIMEOUT_MS = 600;
/** No replica's name. */
const OWN = 'this one';
const AGAIN = Symbol('ask the next leader');
/** How long calls wait for the next leader at most; a request's own deadline may be earlier. */
const AWAIT_LEAD_MS = 10_000;
const AWAIT_SANDBOX_MS = 20_000;
/** How long the leader waits for another replica to be prepared, while it goes on leading. */
const PREPARED_MS = 5_000;
/** How long calls that run here may take before the lead is handed over. */
const FINISH_MS = 2_000;

export async function startPaperBackend(options: PaperBackendOptions): Promise<PaperBackend> {
  const { open, leaders, standby, log } = options;
  const inFlight = createInFlight();
  const openHere = async (waitMs: number): Promise<LocalParts | null> => {
    const opened = await open(waitMs);
    if (opened === null) return null;
    return {
      ...opened,
      async nextTurn() {
        const ended = inFlight.begin();
        try {
          const turn = await opened.nextTurn();
          return {
            ...turn,
            commit: () => turn.commit().finally(ended),
            giveUp: (cause) => turn.giveUp(cause).finally(ended),
          };
        } catch (error) {
          ended();
          throw error;
        }
      },
    };
  };
  let local = await openHere(FIRST_WAIT_MS);
  let leader: Leader | null = null;
  /** The last one that led. */
  let followed: string | null = null;
  /** The replica that said it leads no more: it never will again. */
  let gone: string | null = null;
  /** This replica gives the lead away, and does not take it again. */
  let leaves = false;
  /** This replica is about to end: another one is a better leader. */
  let ends = false;
  /** The replica whose sandbox is known to be open, and the last one that was asked. */
  let opener: { readonly replica: string; readonly isOpen: boolean } | null = null;
  let onPrepared: () => void = () => {};
  let ownUrl: string | null = null;
  let stopped = false;

  const leads = (): boolean => !leaves && local !== null && local.exchange.status === 'open';
  const remoteUrl = (): string | null => (leads() || leader?.url === ownUrl ? null : (leader?.url ?? null));
  const sender = createCallSender({ sign: options.sign, onSilent: () => moves() });
  const isSilent = (): boolean => sender.isSilent(remoteUrl());
  const leadRoom = createWaitingRoom({
    what: 'the next leader',
    mostMs: AWAIT_LEAD_MS,
    hasArrived: () => leads() || (remoteUrl() !== null && !isSilent()),
    // Not awaited: the look goes on with the sandbox, for which most calls need not wait.
    look: async () => void lookAround().catch(() => {}),
  });
  const sandboxRoom = createWaitingRoom({
    what: 'the sandbox',
    mostMs: AWAIT_SANDBOX_MS,
    hasArrived: () =>
      leads()
        ? local?.sandbox.current() !== null
        : remoteUrl() !== null &&
          !isSilent() &&
          opener?.isOpen === true &&
          opener.replica === leader?.replica,
    look: () => (remoteUrl() === null || isSilent() ? lookAround() : askForSandbox()),
  });
  const moves = (): void => {
    leadRoom.moves();
    sandboxRoom.moves();
  };
  const hasLeft = (replica: string): void => {
    gone = replica;
    if (leader?.replica === replica) leader = null;
    moves();
  };

  /** Another replica, or this one, has begun a term: what still waits for the former leader has no answer to expect. */
  const follow = (next: Leader): void => {
    if (next.replica !== followed) sender.endAll();
    followed = next.replica;
    leader = next;
  };
  const askLeader = createLeaderLine((url, calls) => sender.send(url, calls, CALL_TIMEOUT_MS));
  /** Asks the leader whether its sandbox is open. One that does not answer is left to the calls themselves. */
  const askForSandbox = async (): Promise<void> => {
    const asked = leader;
    const url = remoteUrl();
    if (url === null || asked === null) return;
    const call = { port: 'sandbox', method: 'isOpen', args: [] };
    const answer = await askLeader(url, call, laneOf(call)).catch(() => true);
    if (answer === NOT_LED) hasLeft(asked.replica);
    else opener = { replica: asked.replica, isOpen: answer !== false };
  };

  /** Waits until it is known whether the term of the leader that was asked is over. @throws the error while it is not */
  const callForNext = async (call: Call, asked: Leader, error: unknown): Promise<Call> => {
    await leadRoom.passed('desk');
    const isOver = leads() || (leader !== null && leader.replica !== asked.replica);
    const next = isOver ? forNextLeader(call) : null;
    if (next === null) throw error;
    return next;
  };
  const forward = async (first: Call): Promise<unknown> => {
    let call = first;
    for (;;) {
      await leadRoom.passed('desk');
      if (leads()) throw new LeadIsHere(call);
      const asked = leader;
      const url = remoteUrl();
      if (url === null || asked === null)
        throw new VenueUnavailable('No replica leads the paper exchange at the moment.');
      const answer = await askLeader(url, call, laneOf(call)).catch(async (error: unknown) => {
        call = await callForNext(call, asked, error);
        return AGAIN;
      });
      if (answer === AGAIN) continue;
      if (answer !== NOT_LED) return answer;
      // It has done nothing with the call, so the next leader may get it.
      hasLeft(asked.replica);
      if (call.port === 'sandbox') throw new VenueMoves('The sandbox moves to another replica.');
    }
  };

  /** Makes a small call to the leader, to detect a frozen one even without trades. */
  const pingNow = async (): Promise<void> => {
    const asked = leader;
    const url = remoteUrl();
    if (url === null || asked === null) return;
    const call = { port: 'markets', method: 'find', args: [''] };
    const answer = await sender.send(url, [call], PING_TIMEOUT_MS).catch(() => {});
    if (answer === NOT_LED) hasLeft(asked.replica);
  };
  let isPinging = false;
  /** One at a time: while calls wait, looks are frequent. */
  const ping = async (): Promise<void> => {
    if (isPinging) return;
    isPinging = true;
    await pingNow().finally(() => {
      isPinging = false;
    });
  };
  const publishOwn = async (): Promise<void> => {
    if (ownUrl === null || leader?.url === ownUrl) return;
    await leaders.publish(ownUrl);
    follow({ url: ownUrl, replica: OWN });
  };
  const warnOfFormer = (error: unknown): void =>
    log.warn({ err: error }, 'the sandbox of the earlier lead did not end in order');
  const look = async (): Promise<void> => {
    if (stopped) return;
    if (local === null && !leaves) {
      local = await openHere(0);
      if (local !== null) {
        sender.endAll();
        sandboxRoom.moves();
        log.info({}, 'this replica leads the paper exchange');
      }
    }
    if (leads() && local !== null) {
      // Others may trade on the exchange while the sandbox is being opened.
      await Promise.all([local.sandbox.ensure(), publishOwn()]);
      return;
    }
    // This replica does not lead, or has lost the lead to another one.
    const found = await leaders.find();
    if (found === null || found.mine || found.replica === gone) leader = null;
    else follow(found);
    // Not awaited: its database may not answer.
    if (leader !== null) local?.sandbox.endFormer().catch(warnOfFormer);
    if (leader !== null && leader.replica !== opener?.replica) {
      opener = { replica: leader.replica, isOpen: false };
      sandboxRoom.moves();
    }
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
  const prepare = async (): Promise<void> => {
    if (local !== null || ends || stopped) return;
    await standby.prepare();
    await leaders.announce('prepared');
  };
  const unlisten = await leaders.onNews((news) => {
    if (news === 'free' && !ends) lookNow();
    else if (news === 'prepared') onPrepared();
    else if (news === 'leaving')
      prepare().catch((error: unknown) => log.warn({ err: error }, 'preparing to lead failed'));
  });
  const successorIsPrepared = async (): Promise<void> => {
    const late = new AbortController();
    const prepared = new Promise<void>((resolve) => {
      onPrepared = resolve;
    });
    await leaders.announce('leaving');
    await Promise.race([prepared, sleep(PREPARED_MS, undefined, { signal: late.signal })]);
    late.abort();
  };

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
    // Said although calls wait: a proxy may have a better replica for them.
    if (isSilent()) return 'the replica that leads the paper exchange does not answer';
    // Calls wait for the next leader.
    if (leadRoom.isMoving() || remoteUrl() !== null) return 'ready';
    return 'no replica leads the paper exchange';
  };

  return {
    venue: createForwardedPort<ExchangeCalls, typeof LEADER_CALLS.venue>({
      ...route,
      port: 'venue',
      table: LEADER_CALLS.venue,
      here: () => here()?.venue ?? null,
      local: {
        status,
        keptSince: () => here()?.venue.keptSince() ?? null,
        verifyCredentials: options.verifyCredentials,
      },
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
      await pingNow();
      return status();
    },
    sandboxStatus() {
      const exchange = status();
      if (exchange !== 'ready') return exchange;
      // On a follower the leader is responsible for it. While it moves, calls wait.
      const isOpen = local === null || !leads() || local.sandbox.current() !== null;
      return isOpen || sandboxRoom.isMoving() ? 'ready' : 'the sandbox is being opened';
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
    leadKnown: leadRoom.passed,
    sandboxKnown: sandboxRoom.passed,
    keepOpen: (until) => inFlight.run(() => until),
    async handOver() {
      ends = true;
      if (!leads() || (await leaders.isAlone())) return;
      await successorIsPrepared();
      leaves = true;
      moves();
      await looking?.catch(() => {});
      await inFlight.idle(FINISH_MS);
      await closeHere();
      local = null;
      leader = null;
      await leaders.announce('free');
      moves();
      await sandboxRoom.passed('desk');
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      standby.end();
      // The pool closes it, too, where the database does not answer.
      unlisten().catch(() => {});
      await looking?.catch(() => {});
      await closeHere();
    },
  };
}
