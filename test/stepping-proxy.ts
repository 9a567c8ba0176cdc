/**
 * A TCP proxy of the test database that knows at which step of a group of trades the journal's connection is, so that a
 * test can end the service, or the database, exactly there, or do something else meanwhile.
 */
import { createConnection, createServer, type Socket } from 'node:net';
import { afterFile } from './setup/clean-up.ts';

/** A simple query of the wire protocol. */
const query = (text: string): Buffer => {
  const size = Buffer.alloc(4);
  size.writeInt32BE(4 + text.length + 1);
  return Buffer.concat([Buffer.from('Q'), size, Buffer.from(`${text}\0`)]);
};
const BEGIN = query('begin');
const COMMIT = query('commit');
const COMMITTED = Buffer.from('COMMIT\0');
/** Every commit of the journal has it; its text passes once on each connection. */
const JOURNAL_ONLY = Buffer.from('assert_term(');
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

export interface Stop extends Place {
  /** Called in the middle of forwarding: nothing else passes after it on the journal's connection. */
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
  ids: ReadonlySet<string>;
  readonly act: (ids: ReadonlySet<string>) => Promise<void> | null;
}

/** What is done with bytes: `rest` passes, at once or after `held`; without `held` nothing passes after it. */
interface Reached {
  readonly rest: Buffer;
  readonly held: Promise<void> | null;
}

const NOTHING = Buffer.alloc(0);

/** @param socketUrl of the database: `postgres://user@/database?host=/folder&port=5432` */
export async function startSteppingProxy(socketUrl: string): Promise<SteppingProxy> {
  const [, user, database, parameters] = /^postgres:\/\/([^@]*)@\/([^?]*)\?(.*)$/.exec(socketUrl) ?? [];
  const where = new URLSearchParams(parameters);
  const path = `${where.get('host')}/.s.PGSQL.${where.get('port')}`;
  const sockets = new Set<Socket>();
  let armed: Armed | null = null;

  const reached = (bytes: Buffer, rest: Buffer): Reached => {
    const { act, ids } = armed as Armed;
    armed = null;
    const held = act(ids);
    return { rest: held === null ? rest : bytes, held };
  };
  const fromService = (bytes: Buffer): Reached | null => {
    if (armed === null) return null;
    const { step, afterGroups = 0 } = armed;
    const begins = bytes.includes(BEGIN);
    const at = bytes.indexOf(COMMIT);
    if (begins && at < 0) {
      armed.groups += 1;
      armed.ids = new Set(bytes.toString('latin1').match(HEX));
    }
    if (armed.groups <= afterGroups || (begins && at >= 0)) return null;
    if (begins && step === STEPS[0]) return reached(bytes, NOTHING);
    if (at >= 0 && step === STEPS[2]) return reached(bytes, bytes.subarray(0, at));
    if (at >= 0 && step === STEPS[3]) return reached(bytes, bytes);
    return null;
  };
  const fromDatabase = (bytes: Buffer): Reached | null => {
    if (armed === null || armed.groups <= (armed.afterGroups ?? 0)) return null;
    const isCommitted = bytes.includes(COMMITTED);
    const isThere = armed.step === (isCommitted ? STEPS[4] : STEPS[1]);
    return isThere ? reached(bytes, NOTHING) : null;
  };

  const server = createServer((client) => {
    const upstream = createConnection(path);
    let isJournal = false;
    let isOver = false;
    const pass = (from: Socket, to: Socket, look: (bytes: Buffer) => Reached | null): void => {
      sockets.add(from);
      from.on('data', (bytes: Buffer) => {
        if (isOver) return;
        isJournal ||= from === client && bytes.includes(JOURNAL_ONLY);
        const { rest, held } = (isJournal ? look(bytes) : null) ?? { rest: bytes, held: undefined };
        if (held !== null && held !== undefined) {
          from.pause();
          void held.then(() => {
            to.write(rest);
            from.resume();
          });
          return;
        }
        // As if the network had gone at that moment.
        isOver = held === null;
        if (rest.length > 0) to.write(rest);
      });
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on('error', () => {});
    };
    pass(client, upstream, fromService);
    pass(upstream, client, fromDatabase);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  afterFile('pools', () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `postgres://${user}@127.0.0.1:${port}/${database}`,
    stopAt: ({ act, ...place }) =>
      new Promise((stopped) => {
        armed = {
          ...place,
          groups: 0,
          ids: new Set(),
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
          ids: new Set(),
          act: (ids) => new Promise((release) => held({ ids, release })),
        };
      }),
  };
}
