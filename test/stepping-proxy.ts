/**
 * A TCP proxy of the test database that knows at which step of a group of trades a connection is, so that a test can end
 * the service, or the database, exactly there, or do something else meanwhile.
 */
import { databaseTarget, type Passage, startTcpProxy } from './tcp-proxy.ts';

/** A simple query of the wire protocol. */
const query = (text: string): Buffer => {
  const size = Buffer.alloc(4);
  size.writeInt32BE(4 + text.length + 1);
  return Buffer.concat([Buffer.from('Q'), size, Buffer.from(`${text}\0`)]);
};
/** A transaction begins with the first statement of its pipeline, which is prepared. */
const BEGIN = Buffer.from('\0begin_transaction\0');
const COMMIT = query('commit');
const ROLLBACK = query('rollback');
const COMMITTED = Buffer.from('COMMIT\0');
const ROLLED_BACK = Buffer.from('ROLLBACK\0');
/** Follows either. */
const READY = Buffer.from('Z\0\0\0\x05I');
/** In a statement of every group that is recorded there; its text passes once on each connection. */
const MARKS = {
  /** On the connection of the venue's journal: where this process leads. */
  journal: Buffer.from('assert_term('),
  /** On a connection of the pool: where another process leads. */
  pool: Buffer.from('for no key update skip locked'),
};
const HEX = /0x[0-9a-f]{64}/g;

/** Where a group is stopped. */
export const STEPS = [
  'before it has locked and read',
  'after it has read',
  'with its writes on their way, and no commit',
  'with its commit on its way',
  'after its commit, before the answers',
] as const;
export type Step = (typeof STEPS)[number];

interface Place {
  readonly step: Step;
  /** The first groups pass. */
  readonly afterGroups?: number;
}

interface Stop extends Place {
  /** Called in the middle of forwarding: nothing else passes after it on that connection. */
  readonly act: () => void;
}

export interface Held {
  /** Every id that the group's reads named. */
  readonly ids: ReadonlySet<string>;
  /** Lets the group go on. */
  release(): void;
}

export interface SteppingProxy {
  /** The database behind it, as a DATABASE_URL. */
  readonly url: string;
  /** From now on. @returns resolves when the group was stopped, with every id that its reads named */
  stopAt(stop: Stop): Promise<ReadonlySet<string>>;
  /** From now on. @returns resolves when the group is held there: nothing passes on its connection, nothing is lost */
  holdAt(place: Place): Promise<Held>;
}

interface Armed extends Place {
  groups: number;
  readonly act: (ids: ReadonlySet<string>) => Promise<void> | null;
}

/** A transaction of a connection that is not answered yet. */
interface Running {
  /** Orders of a group; `null` for any other transaction. */
  readonly ids: ReadonlySet<string> | null;
  /** The fault that was armed when it began, and its number since then. */
  readonly armed: Armed | null;
  readonly nth: number;
  isEnding: boolean;
}

/** Where the texts are in the bytes, in their order. */
function placesOf(bytes: Buffer, texts: readonly Buffer[]): { readonly at: number; readonly text: Buffer }[] {
  const places: { at: number; text: Buffer }[] = [];
  for (const text of texts)
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length))
      places.push({ at, text });
  return places.sort((a, b) => a.at - b.at);
}

/** @param socketUrl of the database: `postgres://user@/database?host=/folder&port=5432` */
export async function startSteppingProxy(
  socketUrl: string,
  where: keyof typeof MARKS = 'journal',
): Promise<SteppingProxy> {
  let armed: Armed | null = null;

  const isStoppedAt = (step: Step, one: Running | undefined): one is Running & { ids: ReadonlySet<string> } =>
    one?.ids != null && armed?.step === step && one.armed === armed && one.nth > (armed.afterGroups ?? 0);
  const reached = (ids: ReadonlySet<string>, bytes: Buffer, cut: { now: number; ended: number }): Passage => {
    const { act } = armed as Armed;
    armed = null;
    const held = act(ids);
    return held === null
      ? { now: bytes.subarray(0, cut.ended), later: bytes.subarray(bytes.length), held }
      : { now: bytes.subarray(0, cut.now), later: bytes.subarray(cut.now), held };
  };

  const fromService = (bytes: Buffer, running: Running[]): Passage | null => {
    const places = placesOf(bytes, [BEGIN, COMMIT, ROLLBACK]);
    for (const [index, { at, text }] of places.entries()) {
      if (text === BEGIN) {
        const isWhole = (places[index + 1]?.text ?? BEGIN) !== BEGIN;
        const named = isWhole ? null : bytes.subarray(at).toString('latin1').match(HEX);
        // The journal's own writes may come in two parts: they name no order in the first.
        if (named !== null && armed !== null) armed.groups += 1;
        const ids = named && new Set(named);
        const one: Running = { ids, armed, nth: armed?.groups ?? 0, isEnding: false };
        running.push(one);
        if (isStoppedAt(STEPS[0], one)) return reached(one.ids, bytes, { now: at, ended: at });
        continue;
      }
      const one = running.find(({ isEnding }) => !isEnding);
      if (one === undefined) continue;
      one.isEnding = true;
      if (text === ROLLBACK) continue;
      if (isStoppedAt(STEPS[2], one)) return reached(one.ids, bytes, { now: at, ended: at });
      if (isStoppedAt(STEPS[3], one)) return reached(one.ids, bytes, { now: at, ended: at + COMMIT.length });
    }
    return null;
  };
  const fromDatabase = (bytes: Buffer, running: Running[]): Passage | null => {
    let passed = 0;
    for (const { at, text } of placesOf(bytes, [COMMITTED, ROLLED_BACK])) {
      const one = running.shift();
      if (text === COMMITTED && isStoppedAt(STEPS[4], one))
        return reached(one.ids, bytes, { now: passed, ended: passed });
      passed = at + text.length + READY.length;
    }
    const [one] = running;
    const hasMore = bytes.length > passed && one?.isEnding === false;
    return hasMore && isStoppedAt(STEPS[1], one)
      ? reached(one.ids, bytes, { now: passed, ended: passed })
      : null;
  };

  const { target, urlAt } = databaseTarget(socketUrl);
  const { port } = await startTcpProxy(target, () => {
    const running: Running[] = [];
    let hasGroups = false;
    return {
      fromClient(bytes) {
        hasGroups ||= bytes.includes(MARKS[where]);
        return hasGroups ? fromService(bytes, running) : null;
      },
      fromServer: (bytes) => (hasGroups ? fromDatabase(bytes, running) : null),
    };
  });
  return {
    url: urlAt(port),
    stopAt: ({ act, ...place }) =>
      new Promise((stopped) => {
        armed = {
          ...place,
          groups: 0,
          act: (ids) => {
            act();
            stopped(ids);
            return null;
          },
        };
      }),
    holdAt: (place) =>
      new Promise((held) => {
        armed = {
          ...place,
          groups: 0,
          act: (ids) => new Promise((release) => held({ ids, release })),
        };
      }),
  };
}
