/**
 * The paper venue as one of several replicas has it. Whoever holds the exchange's lock leads: its engine runs in that
 * process. The others follow: they send what concerns the exchange to the leader and try for the lead themselves, so
 * that it passes on when the leader dies. The desk sees one venue, whichever it is.
 *
 * A call is never sent twice. An order whose call got no answer is in doubt, like at any venue; it carries a deadline
 * that the venue holds, so what was once proved never received cannot be executed later.
 */
import type { JournalledExchange } from '@bellwether/exchange';
import type { Address } from '@bellwether/protocol';
import type { MarketData, SignedOrders, VenueAnswer } from '../../../ports/venue.ts';
import { balanceOf, type PlainBalance } from './balance.ts';
import type { ExchangeCalls } from './paper-venue.ts';
import type { SandboxCalls, SandboxHolder } from './sandbox-holder.ts';
import { decode, encode } from './wire.ts';

/** Where the leader is found, and told. */
export interface LeaderBoard {
  publish(url: string): Promise<void>;
  /** `null`: nobody has said so yet. `mine` when it was this replica. */
  find(): Promise<{ readonly url: string; readonly mine: boolean } | null>;
}

/** What a process that leads serves from its own memory. */
export interface LocalParts {
  readonly exchange: JournalledExchange;
  readonly venue: ExchangeCalls;
  readonly markets: MarketData;
  readonly sandbox: SandboxHolder;
}

export interface PaperBackend {
  readonly venue: ExchangeCalls;
  readonly markets: MarketData;
  /** Venue B's. */
  readonly sandbox: SandboxCalls;
  /** `null` while another replica leads. */
  local(): LocalParts | null;
  /** Where the doors' requests go while another replica leads. */
  leaderUrl(): string | null;
  /** Says where this replica can be called, once it listens. */
  listening(url: string): Promise<void>;
  /** Whether the exchange can be traded on through here, asked now: a leader elsewhere must answer. Never throws. */
  probe(): Promise<string>;
  /** `ready`, or why venue B cannot execute: its sandbox fills its orders on the exchange. */
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

export class VenueUnavailable extends Error {
  override readonly name = 'VenueUnavailable';
}

const FIRST_WAIT_MS = 2_000;
const RETRY_LEAD_MS = 500;
const CALL_TIMEOUT_MS = 4_000;
/** A leader that is asked whether it is there has less time than one that is asked to do something. */
const PING_TIMEOUT_MS = 600;
const CALL_PATH = '/internal/exchange';
/** These are answered here, whoever leads. */
const OWN = new Set([
  'announcesResolutions',
  'canBeId',
  'status',
  'verifyCredentials',
  'current',
  'ensure',
  'close',
]);

/** These change nothing, so they may be asked again. */
const READS = new Set(['balance', 'find', 'byToken', 'search', 'book']);

type AnyMethod = (...given: unknown[]) => unknown;

interface Call {
  readonly port: 'venue' | 'markets' | 'sandbox';
  readonly method: string;
  readonly args: readonly unknown[];
}

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
    const response = await fetch(url + CALL_PATH, {
      method: 'POST',
      headers: { 'x-bellwether-replica': proof, 'content-type': 'text/plain' },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    if (silent === url) silent = null;
    if (!response.ok) throw new VenueUnavailable(`The leading replica answered ${response.status}.`);
    const answer = decode(text);
    return call.method === 'balance' ? balanceOf(answer as PlainBalance) : answer;
  };

  /** Asks the leader for something small: one that is frozen is found out although nobody trades. */
  const ping = async (): Promise<void> => {
    const asked = leader;
    if (asked === null || remoteUrl() === null) return;
    try {
      await forward({ port: 'markets', method: 'find', args: [''] }, PING_TIMEOUT_MS);
    } catch {
      silent = asked;
    }
  };
  const look = async (): Promise<void> => {
    if (stopped) return;
    if (local === null) {
      local = await open(0);
      if (local !== null) log.info({}, 'this replica leads the paper exchange now');
    }
    if (local?.exchange.status === 'open') {
      await local.sandbox.ensure();
      if (ownUrl !== null && leader !== ownUrl) {
        await leaders.publish(ownUrl);
        leader = ownUrl;
      }
      return;
    }
    // Not leading, or the lead was lost and may be elsewhere by now.
    const found = await leaders.find();
    leader = found === null || found.mine ? null : found.url;
    await ping();
  };
  let looking: Promise<void> | null = null;
  const lookAround = (): Promise<void> => {
    looking ??= look().finally(() => {
      looking = null;
    });
    return looking;
  };
  await lookAround();
  const timer = setInterval(() => {
    lookAround().catch((error: unknown) => log.warn({ err: error }, 'looking for the exchange failed'));
  }, RETRY_LEAD_MS);
  timer.unref();

  /** The port's methods, each here or at the leader. */
  const either = <T extends object>(port: Call['port'], always: Partial<T>): T =>
    new Proxy({} as T, {
      get(_target, method) {
        if (typeof method !== 'string' || method === 'then') return undefined;
        if (method in always) return always[method as keyof T];
        return async (...args: unknown[]) => {
          const here = () => (leads() ? (local?.[port] as unknown as Record<string, AnyMethod>) : null);
          const own = here();
          if (own !== null) return own[method]?.(...args);
          const asked = leader;
          try {
            return await forward({ port, method, args });
          } catch (error) {
            silent = asked;
            log.warn({ err: error, method }, 'a call to the leading replica got no answer');
            // No proof either way for what changes something.
            const unknown: VenueAnswer = { kind: 'unknown' };
            if (method === 'submit' || method === 'cancel' || method === 'resolve') return unknown;
            // A read can be had elsewhere, if the lead has passed to this replica.
            await lookAround().catch(() => {});
            const taken = READS.has(method) ? here() : null;
            if (taken !== null) return taken[method]?.(...args);
            throw error instanceof VenueUnavailable
              ? error
              : new VenueUnavailable('The leading replica did not answer.');
          }
        };
      },
    });

  const status = (): string => {
    if (local !== null && leads()) return local.venue.status();
    if (remoteUrl() === null) return 'no replica leads the paper exchange';
    return remoteUrl() === silent ? 'the replica that leads the paper exchange does not answer' : 'ready';
  };

  return {
    venue: either<ExchangeCalls>('venue', {
      status,
      verifyCredentials: options.verifyCredentials,
    }),
    markets: either<MarketData>('markets', { announcesResolutions: true, canBeId: () => true }),
    sandbox: either<SandboxCalls>('sandbox', {}),
    local: () => (leads() ? local : null),
    leaderUrl: remoteUrl,
    async probe() {
      await ping();
      return status();
    },
    sandboxStatus() {
      const exchange = status();
      if (exchange !== 'ready') return exchange;
      // At a follower it is the leader's own business.
      const isOpen = local === null || !leads() || local.sandbox.current() !== null;
      return isOpen ? 'ready' : 'the sandbox is being opened';
    },
    async listening(url) {
      ownUrl = url;
      await lookAround();
    },
    async answer(text) {
      const call = decode(text) as Call;
      if (!leads() || local === null) throw new VenueUnavailable('This replica does not lead.');
      const method = (local[call.port] as unknown as Record<string, unknown> | undefined)?.[call.method];
      if (OWN.has(call.method) || typeof method !== 'function')
        throw new VenueUnavailable('There is no such call.');
      const answer: unknown = await method.apply(local[call.port], call.args);
      if (call.method !== 'balance') return encode(answer);
      const { available, held, tokens } = local.exchange.account(call.args[0] as Address);
      return encode({ available, held, tokens } satisfies PlainBalance);
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await looking?.catch(() => {});
      await local?.sandbox.close();
      await local?.exchange.close();
    },
  };
}
