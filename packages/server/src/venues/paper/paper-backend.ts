/**
 * The paper venue on one of several replicas. The replica that holds the exchange's lease leads: the engine runs in its
 * process. The others follow: they forward exchange calls to the leader and try to take the lead, so that another
 * replica takes over when the leader dies (`lead.ts`). The desk uses one venue in both cases.
 *
 * A call is never sent twice. An order whose call got no answer is in doubt, like at any venue; the venue enforces the
 * order's deadline, so an order that was proved never received cannot be executed later.
 */
import { VenueUnavailable } from '../../domain/unavailable.ts';
import type { MarketData, SignedOrders, VenueJournal } from '../venue.ts';
import { ExchangeLead, type LeadOptions, type LocalParts, type Waiter } from './lead.ts';
import {
  type Call,
  type CallOutcome,
  createForwardedPort,
  decode,
  encode,
  LEADER_CALLS,
  runForwardedCall,
} from './leader-calls.ts';
import type { ExchangeCalls } from './paper-venue.ts';
import type { SandboxCalls } from './sandbox-holder.ts';

export interface PaperBackend extends Pick<VenueJournal, 'nextTurn'> {
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
  sandboxStatus(asker?: 'proxy'): string;
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
   * not lead, or no other is there.
   */
  handOver(): Promise<void>;
  stop(): Promise<void>;
}

interface PaperBackendOptions extends LeadOptions {
  readonly verifyCredentials: SignedOrders['verifyCredentials'];
}

export async function startPaperBackend(options: PaperBackendOptions): Promise<PaperBackend> {
  const lead = await ExchangeLead.start(options);
  const { log } = options;
  const route = {
    forward: (call: Call) => lead.forward(call),
    during: lead.inFlight.run,
    onUnanswered: (error: unknown, method: string) =>
      log.warn({ err: error, method }, 'a call to the leading replica got no answer'),
    findLeader: () => lead.lookAround(),
  };

  /** Runs another replica's call on the exchange that is open here. */
  const runHere = async (own: LocalParts, call: Call): Promise<CallOutcome> => {
    try {
      return { answer: (await runForwardedCall(LEADER_CALLS, own, call)) ?? null };
    } catch (error) {
      log.warn({ err: error, method: call.method }, 'a call of another replica failed');
      return { failed: true };
    }
  };

  return {
    venue: createForwardedPort<ExchangeCalls, typeof LEADER_CALLS.venue>({
      ...route,
      port: 'venue',
      table: LEADER_CALLS.venue,
      here: () => lead.here()?.venue ?? null,
      local: {
        status: (asker) => lead.status(asker),
        keptSince: () => lead.here()?.venue.keptSince() ?? null,
        verifyCredentials: options.verifyCredentials,
      },
    }),
    markets: createForwardedPort<MarketData, typeof LEADER_CALLS.markets>({
      ...route,
      port: 'markets',
      table: LEADER_CALLS.markets,
      here: () => lead.here()?.markets ?? null,
      local: { announcesResolutions: true, canBeId: () => true },
    }),
    sandbox: createForwardedPort<SandboxCalls, typeof LEADER_CALLS.sandbox>({
      ...route,
      port: 'sandbox',
      table: LEADER_CALLS.sandbox,
      here: () => lead.here()?.sandbox ?? null,
      local: {},
    }),
    opened: () => lead.opened,
    local: () => lead.here(),
    nextTurn: () => lead.nextTurn(),
    leaderUrl: () => lead.remoteUrl(),
    async probe() {
      await lead.ping();
      return lead.status('proxy');
    },
    sandboxStatus: (asker) => lead.sandboxStatus(asker),
    listening: (url) => lead.listening(url),
    async answer(text) {
      if (!lead.isHandingOver()) await lead.leadRoom.passed('desk');
      const own = lead.here();
      if (own === null && lead.isHandingOver()) return null;
      if (own === null) throw new VenueUnavailable('This replica does not lead.');
      return lead.inFlight.run(async () =>
        encode(await Promise.all((decode(text) as readonly Call[]).map((call) => runHere(own, call)))),
      );
    },
    leadKnown: lead.leadRoom.passed,
    sandboxKnown: lead.sandboxRoom.passed,
    keepOpen: (until) => lead.inFlight.run(() => until),
    handOver: () => lead.handOver(),
    stop: () => lead.stop(),
  };
}
