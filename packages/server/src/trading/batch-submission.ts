/**
 * Collects the orders of one request that go to a venue which takes several at once, until each of the request is recorded or
 * refused. An order that was not recorded is never among them: the venue hears of nothing that the desk does not know.
 */
import type { SignedMessage, VenueAnswer, VenueOrder, VenueWith } from '../venues/venue.ts';

export type SubmitOrder = (
  venue: VenueWith<'signedOrders'>,
  order: VenueOrder,
  message: SignedMessage,
) => Promise<VenueAnswer>;

interface Waiting {
  readonly venue: VenueWith<'signedOrders'>;
  readonly outgoing: { readonly order: VenueOrder; readonly message: SignedMessage };
  readonly answer: PromiseWithResolvers<VenueAnswer>;
}

/** So long a recorded order waits for the others of its request: one that is judged slowly holds no other up. */
const LONGEST_WAIT_MS = 500;

export class BatchSubmission {
  #waiting: Waiting[] = [];
  #joined = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;
  #isOpen = true;

  /** Resolves when the next order waits here. */
  nextJoined(): Promise<void> {
    return this.#joined.promise;
  }

  readonly submit: SubmitOrder = (venue, order, message) => {
    if (venue.signedOrders.submitAll === undefined || !this.#isOpen)
      return venue.signedOrders.submit(order, message);
    const answer = Promise.withResolvers<VenueAnswer>();
    this.#waiting.push({ venue, outgoing: { order, message }, answer });
    this.#timer ??= setTimeout(() => this.#send(), LONGEST_WAIT_MS);
    this.#joined.resolve();
    this.#joined = Promise.withResolvers();
    return answer.promise;
  };

  /** No further order waits. */
  close(): void {
    this.#isOpen = false;
    this.#send();
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting.splice(0);
    for (const [venue, orders] of Map.groupBy(waiting, (one) => one.venue)) {
      const { submit, submitAll } = venue.signedOrders;
      const outgoing = orders.map((one) => one.outgoing);
      const answers =
        submitAll === undefined || outgoing.length === 1
          ? outgoing.map(({ order, message }) => submit(order, message))
          : submitAll(outgoing);
      for (const [at, { answer }] of orders.entries()) answer.resolve(answers[at] ?? { kind: 'unknown' });
    }
  }
}
