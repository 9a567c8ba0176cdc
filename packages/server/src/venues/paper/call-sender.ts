/**
 * Sends calls to the replica that leads, and knows which leader gave no answer to the last one. When another replica leads,
 * the calls that still wait for the former leader end: its term is over, so it cannot carry them out any more.
 */
import { VenueUnavailable } from '../../domain/unavailable.ts';
import type { Call } from './forwarded-port.ts';
import { type CallOutcome, NOT_LED, type SendCalls } from './leader-line.ts';
import { decode, encode } from './wire.ts';

const CALL_PATH = '/internal/exchange';
/** The answer of a replica that has given the lead away: it has not looked at the call. */
const NOT_LED_HERE = 410;

export interface CallSender {
  /** @throws when it is not known what became of them */
  send(url: string, calls: readonly Call[], timeoutMs: number): ReturnType<SendCalls>;
  /** Whether the last call to this address got no answer. */
  isSilent(url: string | null): boolean;
  /** Ends all calls, because another replica leads. */
  endAll(): void;
}

export interface CallSenderOptions {
  /** Proves to the leader that the call is a replica's. */
  readonly sign: (call: { method: string; path: string; body: string }) => string;
  /** A leader that answered before does not answer. */
  readonly onSilent: () => void;
}

export function createCallSender({ sign, onSilent }: CallSenderOptions): CallSender {
  const underWay = new Set<AbortController>();
  /** The leader whose last call got no answer. */
  let silent: string | null = null;

  const post = async (url: string, calls: readonly Call[], signal: AbortSignal): ReturnType<SendCalls> => {
    const body = encode(calls);
    const response = await fetch(url + CALL_PATH, {
      method: 'POST',
      headers: {
        'x-bellwether-replica': sign({ method: 'POST', path: CALL_PATH, body }),
        'content-type': 'text/plain',
      },
      body,
      redirect: 'error',
      signal,
    });
    const text = await response.text();
    if (response.status === NOT_LED_HERE) return NOT_LED;
    if (!response.ok) throw new VenueUnavailable(`The leading replica answered ${response.status}.`);
    return decode(text) as readonly CallOutcome[];
  };

  return {
    async send(url, calls, timeoutMs) {
      const ends = new AbortController();
      const timer = setTimeout(() => ends.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      underWay.add(ends);
      try {
        const answer = await post(url, calls, ends.signal);
        if (silent === url) silent = null;
        return answer;
      } catch (error) {
        const wasEnded = !underWay.has(ends);
        if (!wasEnded && silent !== url) {
          silent = url;
          onSilent();
        }
        throw error;
      } finally {
        clearTimeout(timer);
        underWay.delete(ends);
      }
    },
    isSilent: (url) => url !== null && url === silent,
    endAll() {
      const all = [...underWay];
      underWay.clear();
      for (const ends of all) ends.abort(new Error('another replica leads now'));
    },
  };
}
