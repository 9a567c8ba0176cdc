/**
 * Virtual time. Everything that happens later (a timer, a packet, an answer of the database) is an event with the moment at which it is due,
 * and belongs to a process: one that is frozen gets its events when it thaws, one that is dead never. Events of one moment
 * come in an order that the seed decides.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Random } from './random.ts';

/** Processes of the simulation: a replica, the venue, the agents. */
export class SimulatedProcess {
  readonly name: string;
  /** How far its clock is ahead of virtual time. */
  skewMs = 0;
  isDead = false;
  isFrozen = false;
  readonly held: Event[] = [];

  constructor(name: string) {
    this.name = name;
  }
}

interface Event {
  at: number;
  readonly tie: number;
  readonly owner: SimulatedProcess | undefined;
  readonly label: string;
  run: (() => void) | null;
}

export interface Scheduled {
  cancel(): void;
}

const THAW_STEP_MS = 0.0001;
const FNV_PRIME = 0x01000193;

export class Scheduler {
  readonly #queue: Event[] = [];
  readonly #owners = new AsyncLocalStorage<SimulatedProcess>();
  readonly #ties: Random;
  readonly latency: Random;
  #now = 0;
  #count = 0;
  #hash = 0x811c9dc5;
  /** Called with each event that runs. */
  onEvent: ((at: number, owner: string, label: string) => void) | undefined;

  constructor(seed: number) {
    this.#ties = new Random(seed, 1);
    this.latency = new Random(seed, 2);
  }

  /** Virtual milliseconds since the start. */
  get now(): number {
    return this.#now;
  }

  get eventsRun(): number {
    return this.#count;
  }

  /** Two runs are the same as long as this is. Sizes are left out: texts hold the server's transaction ids, which grow from world to world. */
  get fingerprint(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0');
  }

  get owner(): SimulatedProcess | undefined {
    return this.#owners.getStore();
  }

  within<T>(owner: SimulatedProcess | undefined, work: () => T): T {
    return owner === undefined ? this.#owners.exit(work) : this.#owners.run(owner, work);
  }

  /** In the context of the process that asks. @param delayMs from now */
  after(delayMs: number, label: string, run: () => void, owner = this.owner): Scheduled {
    const event: Event = { at: this.#now + delayMs, tie: this.#ties.word(), owner, label, run };
    this.#push(event);
    return {
      cancel: () => {
        event.run = null;
      },
    };
  }

  thaw(owner: SimulatedProcess): void {
    owner.isFrozen = false;
    // First bytes stay first: the bytes of a connection are in order.
    for (const [nth, event] of owner.held.splice(0).entries())
      this.#push({ ...event, at: this.#now + nth * THAW_STEP_MS });
  }

  /** Runs the next event. @returns false when there is none before `until` */
  step(until: number): boolean {
    for (;;) {
      const [next] = this.#queue;
      if (next === undefined || next.at > until) {
        this.#now = Math.max(this.#now, until);
        return false;
      }
      this.#pop();
      const { run, owner } = next;
      if (run === null || owner?.isDead === true) continue;
      if (owner?.isFrozen === true) {
        owner.held.push(next);
        continue;
      }
      this.#now = Math.max(this.#now, next.at);
      this.#count += 1;
      this.#note(next);
      this.within(owner, run);
      return true;
    }
  }

  #note({ at, owner, label }: Event): void {
    this.onEvent?.(at, owner?.name ?? '', label);
    let hash = this.#hash;
    const add = (value: number): void => {
      hash = Math.imul(hash ^ value, FNV_PRIME);
    };
    add(Math.round(at * 1_000));
    for (let i = 0; i < label.length; i += 1) add(label.charCodeAt(i));
    this.#hash = hash;
  }

  #isBefore(a: Event, b: Event): boolean {
    return a.at < b.at || (a.at === b.at && a.tie < b.tie);
  }

  #push(event: Event): void {
    const queue = this.#queue;
    let at = queue.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(event, queue[parent] as Event)) break;
      queue[at] = queue[parent] as Event;
      at = parent;
    }
    queue[at] = event;
  }

  #pop(): void {
    const queue = this.#queue;
    const last = queue.pop() as Event;
    if (queue.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= queue.length) break;
      const right = queue[child + 1];
      if (right !== undefined && this.#isBefore(right, queue[child] as Event)) child += 1;
      if (!this.#isBefore(queue[child] as Event, last)) break;
      queue[at] = queue[child] as Event;
      at = child;
    }
    queue[at] = last;
  }
}
