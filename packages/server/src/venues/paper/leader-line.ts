/**
 * The follower's line to the replica that leads. A request costs both replicas several times what most calls cost, so
 * the calls of one turn of the event loop travel together. Reads do not wait for orders, and a call that can take long
 * travels alone.
 */
import { VenueUnavailable } from '../../domain/unavailable.ts';
import type { Call } from './forwarded-port.ts';

/** Outcome of a call that the leader received. */
export type CallOutcome = { readonly answer: unknown } | { readonly failed: true };

/** The answer of a replica that has given the lead away: it has not looked at the calls. */
export const NOT_LED = Symbol('not led there');

/** `null`: the call travels alone. */
export type Lane = 'reads' | 'orders' | null;

/** Sends calls in one request. @throws when it is not known what became of them */
export type SendCalls = (
  url: string,
  calls: readonly Call[],
) => Promise<readonly CallOutcome[] | typeof NOT_LED>;

/** More of them than a turn brings under load; their text stays far below what the leader reads. */
const CALLS_AT_ONCE = 64;

interface ForwardedCall {
  readonly call: Call;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** @returns asks for one call: its answer, or NOT_LED. @throws when no answer came, or the leader failed on the call */
export function createLeaderLine(send: SendCalls): (url: string, call: Call, lane: Lane) => Promise<unknown> {
  const waiting = new Map<string, ForwardedCall[]>();

  const sendAll = async (url: string, batch: readonly ForwardedCall[]): Promise<void> => {
    try {
      const outcomes = await send(
        url,
        batch.map(({ call }) => call),
      );
      for (const [place, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes === NOT_LED ? { answer: NOT_LED } : outcomes[place];
        if (outcome !== undefined && 'answer' in outcome) resolve(outcome.answer);
        else reject(new VenueUnavailable('The leading replica could not answer the call.'));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  return (url, call, lane) =>
    new Promise((resolve, reject) => {
      const one: ForwardedCall = { call, resolve, reject };
      if (lane === null) return void sendAll(url, [one]);
      const key = `${lane} ${url}`;
      const batch = waiting.get(key);
      if (batch !== undefined && batch.length < CALLS_AT_ONCE) return void batch.push(one);
      const begun = [one];
      waiting.set(key, begun);
      setImmediate(() => {
        if (waiting.get(key) === begun) waiting.delete(key);
        void sendAll(url, begun);
      });
    });
}
