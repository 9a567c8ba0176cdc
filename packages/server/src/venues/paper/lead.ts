/**
 * Who leads the paper exchange, as one replica sees it. A replica is in one of three states:
 *
 * - It *leads*: the engine runs here (`here()`), and the board names this replica's address. When its lease runs out, because
 *   the process or the database stood still, it does not lead until it has renewed it, or learns who leads instead.
 * - It *follows*: another replica leads (`remoteUrl()`), or none is known. Every quarter of a second it looks around: it tries to
 *   take the lead, and otherwise reads the board. It pings the leader, so that it notices a frozen one without trades.
 * - It *hands over*: it was asked to stop, gave the lead away, and never takes it again.
 *
 * Between two leaders, and until a lease is renewed, calls wait in a waiting room, one for the exchange and one for the
 * sandbox, which the next leader opens a moment later. A leader that says it no longer leads has done nothing with the
 * call; one that does not answer may have, so `forward` repeats only calls of which the next leader knows the outcome.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JournalledExchange } from '@bellwether/exchange';
import { VenueMoves, VenueUnavailable } from '../../domain/unavailable.ts';
import type { VenueTurn } from '../venue.ts';
import {
  type Call,
  type CallSender,
  createCallSender,
  createLeaderLine,
  forNextLeader,
  type LeaderPorts,
  LeadIsHere,
  laneOf,
  NOT_LED,
} from './leader-calls.ts';
import type { createTurns } from './paper-venue.ts';
import type { SandboxHolder } from './sandbox-holder.ts';

export interface LeadOptions {
  /** @returns null when another replica leads. */
  readonly open: (waitMs: number) => Promise<LocalParts | null>;
  readonly leaders: LeaderBoard;
  readonly standby: Pick<Standby<Preparation>, 'prepare' | 'end'>;
  /** Proves to the leader that the call is a replica's. */
  readonly sign: (call: { method: string; path: string; body: string }) => string;
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

export class ExchangeLead {
  readonly #options: LeadOptions;
  readonly #sender: CallSender;
  readonly #askLeader: ReturnType<typeof createLeaderLine>;
  readonly #timer: NodeJS.Timeout;
  /** Calls and turns that run here: the exchange is not closed under them. */
  readonly inFlight: InFlight;
  readonly leadRoom: WaitingRoom;
  readonly sandboxRoom: WaitingRoom;
  /** Resolves after the first look, with the sandbox open where this replica leads. */
  readonly opened: Promise<void>;

  #local: LocalParts | null;
  #leader: Leader | null = null;
  /** The last replica that led. */
  #followed: string | null = null;
  /** The replica that said it leads no more: it never will again. */
  #formerLeader: string | null = null;
  /** This replica gives the lead away, and does not take it again. */
  #isHandingOver = false;
  /** This replica is about to end: another one is a better leader. */
  #isStopping = false;
  #isStopped = false;
  /** The replica that was last asked whether its sandbox is open, and its answer. */
  #sandboxOf: { readonly replica: string; readonly isOpen: boolean } | null = null;
  #ownUrl: string | null = null;
  #looking: Promise<void> | null = null;
  #isPinging = false;
  #onPrepared: () => void = () => {};
  #unlisten: () => void = () => {};

  static async start(options: LeadOptions): Promise<ExchangeLead> {
    const inFlight = createInFlight();
    const local = await options.open(FIRST_WAIT_MS);
    const lead = new ExchangeLead(options, inFlight, local);
    await lead.#listen();
    return lead;
  }

  private constructor(options: LeadOptions, inFlight: InFlight, local: LocalParts | null) {
    this.#options = options;
    this.inFlight = inFlight;
    this.#local = local;
    this.#sender = createCallSender({ sign: options.sign, onSilent: () => this.#moves() });
    this.#askLeader = createLeaderLine((url, calls) => this.#sender.send(url, calls, CALL_TIMEOUT_MS));
    this.leadRoom = createWaitingRoom({
      what: 'the next leader',
      mostMs: AWAIT_LEAD_MS,
      hasArrived: () => this.leads() || this.#answers(),
      leftAt: () => this.#lapsedAt(),
      // Not awaited: the look goes on with the sandbox, for which most calls need not wait.
      look: async () => void this.lookAround().catch(() => {}),
    });
    this.sandboxRoom = createWaitingRoom({
      what: 'the sandbox',
      mostMs: AWAIT_SANDBOX_MS,
      hasArrived: () => this.#hasSandbox(),
      leftAt: () => this.#lapsedAt(),
      look: () => this.#lookForSandbox(),
    });
    this.opened = this.#open();
    // The start awaits it, later.
    this.opened.catch(() => {});
    this.#timer = setInterval(() => this.#lookNow(), RETRY_LEAD_MS);
    this.#timer.unref();
  }

  /** The exchange runs in this process and accepts calls. */
  leads(): boolean {
    return !this.#isHandingOver && this.#local !== null && this.#local.exchange.status === 'open';
  }

  /** `null` while another replica leads. */
  here(): LocalParts | null {
    return this.leads() ? this.#local : null;
  }

  /** The exchange's next turn, counted as work that runs here. @throws VenueUnavailable while it is not here */
  async nextTurn(): Promise<VenueTurn> {
    const local = this.here();
    if (local === null) throw new VenueUnavailable('This replica does not lead the paper exchange.');
    const ended = this.inFlight.begin();
    return local.nextTurn(ended).catch((error: unknown) => {
      ended();
      throw error;
    });
  }

  /** The leader's address; `null` while this replica leads, or none is known. */
  remoteUrl(): string | null {
    return this.leads() || this.#leader?.url === this.#ownUrl ? null : (this.#leader?.url ?? null);
  }

  isHandingOver(): boolean {
    return this.#isHandingOver;
  }

  /** The last call to the leader got no answer. */
  isSilent(): boolean {
    return this.#sender.isSilent(this.remoteUrl());
  }

  #lapsedAt(): number | null {
    return this.#local?.exchange.lapsedAt ?? null;
  }

  #answers(): boolean {
    return this.remoteUrl() !== null && !this.isSilent();
  }

  /** Here, or at the replica that leads. */
  #hasSandbox(): boolean {
    if (this.leads()) return this.#local?.sandbox.current() !== null;
    const known = this.#sandboxOf;
    return this.#answers() && known?.isOpen === true && known.replica === this.#leader?.replica;
  }

  #lookForSandbox(): Promise<void> {
    return this.#answers() ? this.#askForSandbox() : this.lookAround();
  }

  #moves(): void {
    this.leadRoom.moves();
    this.sandboxRoom.moves();
  }

  /** The replica says that it leads no more. */
  #hasLeft(replica: string): void {
    this.#formerLeader = replica;
    if (this.#leader?.replica === replica) this.#leader = null;
    this.#moves();
  }

  /** Another replica, or this one, has begun a term: calls that still wait for the former leader have no answer to expect. */
  #follow(next: Leader): void {
    if (next.replica !== this.#followed) this.#sender.endAll();
    this.#followed = next.replica;
    this.#leader = next;
  }

  /**
   * A start that takes longer than the lease finds it run out, and the board may still name who led before this process: it looks
   * again until it is known who leads.
   */
  async #open(): Promise<void> {
    const until = performance.now() + AWAIT_SANDBOX_MS;
    await this.lookAround();
    while (this.#local !== null && !this.#hasSandbox() && !this.#isStopped && performance.now() < until) {
      await sleep(RETRY_LEAD_MS);
      await this.#lookForSandbox().catch(() => {});
    }
  }

  /** Takes the lead when it is free, else finds out who has it. One look at a time, shared by all who ask for one. */
  lookAround(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  #lookNow(): void {
    this.lookAround().catch((error: unknown) =>
      this.#options.log.warn({ err: error }, 'looking for the exchange failed'),
    );
  }

  async #look(): Promise<void> {
    if (this.#isStopped) return;
    if (this.#local === null && !this.#isHandingOver) await this.#tryToLead();
    const local = this.here();
    // Others may trade on the exchange while the sandbox is being opened.
    if (local !== null) await Promise.all([local.sandbox.ensure(), this.#publishOwn()]);
    else await this.#findLeader();
  }

  async #tryToLead(): Promise<void> {
    this.#local = await this.#options.open(0);
    if (this.#local === null) return;
    this.#sender.endAll();
    this.sandboxRoom.moves();
    this.#options.log.info({}, 'this replica leads the paper exchange');
  }

  async #publishOwn(): Promise<void> {
    if (this.#ownUrl === null || this.#leader?.url === this.#ownUrl) return;
    await this.#options.leaders.publish(this.#ownUrl);
    this.#follow({ url: this.#ownUrl, replica: OWN });
  }

  /** This replica does not lead, or has lost the lead to another one. */
  async #findLeader(): Promise<void> {
    const { leaders, log } = this.#options;
    const found = await leaders.find();
    if (found === null || found.mine || found.replica === this.#formerLeader) this.#leader = null;
    else this.#follow(found);
    if (this.#leader !== null) {
      // Not awaited: its database may not answer.
      this.#local?.sandbox
        .endFormer()
        .catch((error: unknown) =>
          log.warn({ err: error }, 'the sandbox of the earlier lead did not end in order'),
        );
      if (this.#leader.replica !== this.#sandboxOf?.replica) {
        this.#sandboxOf = { replica: this.#leader.replica, isOpen: false };
        this.sandboxRoom.moves();
      }
    }
    // Not awaited: a frozen leader would delay the next attempt to take over.
    void this.#pingOnce();
  }

  /** Makes a small call to the leader, to detect a frozen one even without trades. */
  async ping(): Promise<void> {
    const asked = this.#leader;
    const url = this.remoteUrl();
    if (url === null || asked === null) return;
    const call = { port: 'markets', method: 'find', args: [''] };
    const answer = await this.#sender.send(url, [call], PING_TIMEOUT_MS).catch(() => {});
    if (answer === NOT_LED) this.#hasLeft(asked.replica);
  }

  /** One at a time: while calls wait, looks are frequent. */
  async #pingOnce(): Promise<void> {
    if (this.#isPinging) return;
    this.#isPinging = true;
    await this.ping().finally(() => {
      this.#isPinging = false;
    });
  }

  /** Asks the leader whether its sandbox is open. One that does not answer is left to the calls themselves. */
  async #askForSandbox(): Promise<void> {
    const asked = this.#leader;
    const url = this.remoteUrl();
    if (url === null || asked === null) return;
    const call = { port: 'sandbox', method: 'isOpen', args: [] };
    const answer = await this.#askLeader(url, call, laneOf(call)).catch(() => true);
    if (answer === NOT_LED) this.#hasLeft(asked.replica);
    else this.#sandboxOf = { replica: asked.replica, isOpen: answer !== false };
  }

  /**
   * Sends a call to the leader, or to the next one when this one has left.
   * @throws LeadIsHere when this replica has taken the lead
   * @throws VenueMoves when the sandbox moves: its caller may ask again
   * @throws the error of a call whose outcome is not known
   */
  async forward(first: Call): Promise<unknown> {
    let call = first;
    for (;;) {
      await this.leadRoom.passed('desk');
      if (this.leads()) throw new LeadIsHere(call);
      const asked = this.#leader;
      const url = this.remoteUrl();
      if (url === null || asked === null)
        throw new VenueUnavailable('No replica leads the paper exchange at the moment.');
      const answer = await this.#askLeader(url, call, laneOf(call)).catch(async (error: unknown) => {
        call = await this.#callForNext(call, asked, error);
        return AGAIN;
      });
      if (answer === AGAIN) continue;
      if (answer !== NOT_LED) return answer;
      // It has done nothing with the call, so the next leader may get it.
      this.#hasLeft(asked.replica);
      if (call.port === 'sandbox') throw new VenueMoves('The sandbox moves to another replica.');
    }
  }

  /** Waits until it is known whether the term of the leader that was asked is over. @throws the error while it is not */
  async #callForNext(call: Call, asked: Leader, error: unknown): Promise<Call> {
    await this.leadRoom.passed('desk');
    const isOver = this.leads() || (this.#leader !== null && this.#leader.replica !== asked.replica);
    const next = isOver ? forNextLeader(call) : null;
    if (next === null) throw error;
    return next;
  }

  /** `ready`, or why this replica cannot trade on the exchange. */
  status(asker?: 'proxy'): string {
    const local = this.here();
    if (local !== null) return local.venue.status();
    const isSilent = this.isSilent();
    const isAway = isSilent || this.#lapsedAt() !== null;
    // Calls wait for the next leader, but a proxy may have a better replica for them.
    if (this.leadRoom.isMoving() && !(isAway && asker === 'proxy')) return 'ready';
    if (isSilent) return 'the replica that leads the paper exchange does not answer';
    return this.remoteUrl() === null ? 'no replica leads the paper exchange' : 'ready';
  }

  /** `ready`, or why the sandbox cannot execute: it fills its orders on the exchange. */
  sandboxStatus(asker?: 'proxy'): string {
    const exchange = this.status(asker);
    if (exchange !== 'ready') return exchange;
    // On a follower the leader is responsible for it. While it moves, calls wait.
    const isOpen = this.here()?.sandbox.current() !== null;
    return isOpen || this.sandboxRoom.isMoving() ? 'ready' : 'the sandbox is being opened';
  }

  /** Records this replica's address, once it listens. */
  async listening(url: string): Promise<void> {
    this.#ownUrl = url;
    await this.lookAround();
  }

  async #listen(): Promise<void> {
    const { leaders, log } = this.#options;
    this.#unlisten = await leaders.onNews((news) => {
      if (news === 'free' && !this.#isStopping) this.#lookNow();
      else if (news === 'prepared') this.#onPrepared();
      else if (news === 'leaving')
        this.#prepare().catch((error: unknown) => log.warn({ err: error }, 'preparing to lead failed'));
    });
  }

  /** Makes itself the better next leader, because the present one is about to leave. */
  async #prepare(): Promise<void> {
    if (this.#local !== null || this.#isStopping || this.#isStopped) return;
    await this.#options.standby.prepare();
    await this.#options.leaders.announce('prepared');
  }

  async #successorIsPrepared(): Promise<void> {
    const late = new AbortController();
    const prepared = new Promise<void>((resolve) => {
      this.#onPrepared = resolve;
    });
    await this.#options.leaders.announce('leaving');
    await Promise.race([prepared, sleep(PREPARED_MS, undefined, { signal: late.signal })]);
    late.abort();
  }

  /**
   * Gives the lead to another replica, and follows it. Calls that arrive meanwhile wait. Does nothing when this one does
   * not lead, or no other is there.
   */
  async handOver(): Promise<void> {
    this.#isStopping = true;
    if (!this.leads() || (await this.#options.leaders.isAlone())) return;
    await this.#successorIsPrepared();
    this.#isHandingOver = true;
    this.#moves();
    await this.#looking?.catch(() => {});
    await this.inFlight.idle(FINISH_MS);
    await this.#closeHere();
    this.#local = null;
    this.#leader = null;
    await this.#options.leaders.announce('free');
    this.#moves();
    await this.sandboxRoom.passed('desk');
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#options.standby.end();
    // The pool closes it, too, where the database does not answer.
    this.#unlisten();
    await this.#looking?.catch(() => {});
    await this.#closeHere();
  }

  async #closeHere(): Promise<void> {
    await this.#local?.stopFeed?.();
    await this.#local?.sandbox.close();
    await this.#local?.exchange.close();
  }
}

// Where replicas find the one that leads, and what they announce to each other about the lead.

interface Leader {
  readonly url: string;
  readonly replica: string;
}

interface LeaderBoard {
  publish(url: string): Promise<void>;
  /** `null`: no leader is recorded yet. `mine`: this replica recorded itself. */
  find(): Promise<(Leader & { readonly mine: boolean }) | null>;
  isAlone(): Promise<boolean>;
  announce(news: LeadNews): Promise<void>;
  onNews(listener: (news: LeadNews) => void): Promise<() => void>;
}

type LeadNews = 'leaving' | 'prepared' | 'free';

// Parts of the replica that leads the paper exchange.

/** The objects that the leading process serves from its memory. */
export interface LocalParts extends LeaderPorts {
  readonly exchange: JournalledExchange;
  readonly nextTurn: ReturnType<typeof createTurns>;
  readonly sandbox: SandboxHolder;
  /** Stops what moves the exchange from outside, before it is closed. */
  readonly stopFeed?: () => Promise<void>;
}

// Parts that a replica that may soon lead has loaded before: for a while, because they take memory.
// The opening of the sandbox takes them over.

interface Preparation {
  readonly ready: Promise<void>;
  end(): void;
}

interface Standby<P extends Preparation> {
  /** Resolves when everything is loaded, and begins to load it if necessary. @throws when it cannot be loaded */
  prepare(): Promise<void>;
  /** The preparation, which is then the caller's, or `null`. */
  take(): P | null;
  end(): void;
}

/** Longer than a leader takes to end once it has said that it will. */
const KEPT_MS = 60_000;

export function createStandby<P extends Preparation>(begin: () => P): Standby<P> {
  let kept: { readonly preparation: P; readonly timer: NodeJS.Timeout } | null = null;

  const take = (): P | null => {
    if (kept === null) return null;
    const { preparation, timer } = kept;
    clearTimeout(timer);
    kept = null;
    return preparation;
  };
  const end = (): void => take()?.end();
  return {
    async prepare() {
      kept?.timer.refresh();
      kept ??= { preparation: begin(), timer: setTimeout(end, KEPT_MS).unref() };
      await kept.preparation.ready.catch((error: unknown) => {
        end();
        throw error;
      });
    },
    take,
    end,
  };
}

// Work that must end before what it works on is closed.

interface InFlight {
  run<T>(work: () => Promise<T>): Promise<T>;
  /** @returns to be called when it is over, once */
  begin(): () => void;
  /** Resolves when nothing runs, at the latest after `withinMs`. */
  idle(withinMs: number): Promise<void>;
}

function createInFlight(): InFlight {
  let count = 0;
  let onIdle: () => void = () => {};
  const ended = (): void => {
    count -= 1;
    if (count === 0) onIdle();
  };
  return {
    run(work) {
      count += 1;
      return work().finally(ended);
    },
    begin() {
      count += 1;
      return ended;
    },
    async idle(withinMs) {
      if (count === 0) return;
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      const late = new AbortController();
      await Promise.race([idle, sleep(withinMs, undefined, { signal: late.signal })]);
      late.abort();
    },
  };
}

// Where calls wait while the lead, or the sandbox, moves from one replica to another: until it has arrived, at most for
// `mostMs`, and at most so many of them. One look is made for all of them.

/** Only a few unknown callers may wait, so that they cannot take the places of the desk's own calls. */
export type Waiter = 'desk' | 'external';

export interface WaitingRoom {
  /** From now on it is on its way. */
  moves(): void;
  /** It has not arrived, and may still. */
  isMoving(): boolean;
  /** Resolves at once unless it moves, else when it has arrived or the time is over. @throws VenueUnavailable for one too many */
  passed(waiter: Waiter): Promise<void>;
}

interface WaitingRoomOptions {
  /** Named in errors. */
  readonly what: string;
  readonly mostMs: number;
  readonly hasArrived: () => boolean;
  /** When it went without `moves`, a number of its own each time; `null` while it has not. */
  readonly leftAt: () => number | null;
  /** Finds out where it is. */
  readonly look: () => Promise<unknown>;
}

const MOST_WAITING: Readonly<Record<Waiter, number>> = { desk: 5_000, external: 1_000 };
const LOOK_AGAIN_MS = 20;

export function createWaitingRoom(options: WaitingRoomOptions): WaitingRoom {
  const { what, mostMs, hasArrived, look } = options;
  const waiting = { desk: 0, external: 0 };
  let until = 0;
  let seenLeft: number | null = null;
  let watching: Promise<unknown> | null = null;

  const moves = (): void => {
    until = performance.now() + mostMs;
  };
  const isMoving = (): boolean => {
    const leftAt = options.leftAt();
    // Counted from the first look: who went may have stood still for longer than calls wait.
    if (leftAt !== null && leftAt !== seenLeft) moves();
    seenLeft = leftAt ?? seenLeft;
    return performance.now() < until && !hasArrived();
  };
  const lookUntilArrived = async (): Promise<void> => {
    for (;;) {
      await Promise.all([look().catch(() => {}), sleep(LOOK_AGAIN_MS)]);
      if (!isMoving()) return;
    }
  };
  const watch = async (): Promise<void> => {
    const over = new AbortController();
    // A look may hang as long as the database does.
    await Promise.race([
      lookUntilArrived(),
      sleep(Math.max(0, until - performance.now()), undefined, { signal: over.signal }),
    ]);
    over.abort();
  };

  return {
    moves,
    isMoving,
    async passed(waiter) {
      if (!isMoving()) return;
      if (waiting[waiter] >= MOST_WAITING[waiter])
        throw new VenueUnavailable(`Too many calls wait for ${what}: try again in a second.`);
      waiting[waiter] += 1;
      try {
        while (isMoving()) {
          watching ??= watch().finally(() => {
            watching = null;
          });
          await watching;
        }
      } finally {
        waiting[waiter] -= 1;
      }
    },
  };
}
