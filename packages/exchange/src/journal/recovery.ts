/** Recovers the state: the newest intact snapshot, then every later command, in order and without a gap. */
import type { Tag } from '@bellwether/durable';
import { conditionIdOf, outcomeTokens, positionBaseHash } from '@bellwether/protocol';
import type { EngineEvent } from '../engine/commands.ts';
import type { MarketIds } from '../world/events.ts';
import { FIRST_SLOTS } from '../world/slots.ts';
import { World } from '../world/world.ts';
import { decodeCommand, type JournalCommand } from './commands.ts';
import { readSnapshot } from './snapshots.ts';

export interface Recovered {
  readonly world: World;
  /** Position of the last command. */
  readonly seq: number;
  /** Position of the snapshot that recovery started from; 0 without one. */
  readonly snapshotSeq: number;
}

/** A command that was replayed, and the world after it. */
export interface Replayed {
  readonly seq: number;
  readonly at: number;
  readonly events: readonly EngineEvent[];
  readonly world: World;
}

/** Fifteen milliseconds of work. */
const ROWS_PER_READ = 500;

interface RecoveryOptions {
  /** The last command to apply. */
  readonly upTo?: number;
  /** Receives every command that is applied. */
  readonly onReplayed?: (replayed: Replayed) => void;
  /** Called between the parts of the work. Lets others have the processor. */
  readonly pause?: () => Promise<void>;
  /** State that an earlier call recovered. Its world goes on; after a failure it is of no use. */
  readonly from?: Recovered | undefined;
}

/**
 * Reads through `database`. To lead from the state, it must be the lead's connection or one opened after the lead was
 * taken.
 * @returns undefined for an empty journal. @throws Error when the journal has a gap or is inconsistent.
 */
export async function recover(
  database: Tag,
  log: (message: string) => void,
  { upTo = Number.MAX_SAFE_INTEGER, onReplayed = () => {}, pause, from }: RecoveryOptions = {},
): Promise<Recovered | undefined> {
  const begun = from ?? (await restore(database, log, upTo));
  const snapshotSeq = begun?.snapshotSeq ?? 0;
  let world = begun?.world;
  let seq = begun?.seq ?? 0;
  for (;;) {
    const rows = await database`
      select seq, at_ms, command from exchange_journal
      where seq > ${String(seq)}::bigint and seq <= ${String(upTo)}::bigint order by seq limit ${ROWS_PER_READ}`;
    for (const row of rows) {
      if (Number(row.seq) !== seq + 1)
        throw new Error(`the journal of the paper exchange has a gap after ${seq}`);
      seq += 1;
      const at = Number(row.at_ms);
      const replayed = replay(world, decodeCommand(row.command as string), at);
      world = replayed.world;
      onReplayed({ seq, at, ...replayed });
    }
    if (rows.length < ROWS_PER_READ) break;
    await pause?.();
  }
  if (world === undefined) return undefined;
  world.checkConservation();
  return { world, seq, snapshotSeq };
}

async function restore(
  database: Tag,
  log: (message: string) => void,
  upTo: number,
): Promise<Recovered | undefined> {
  const snapshot = await readSnapshot(database, log, upTo);
  if (snapshot === undefined) return undefined;
  return {
    world: World.restore(snapshot.state, marketIds),
    seq: snapshot.seq,
    snapshotSeq: snapshot.seq,
  };
}

function replay(
  world: World | undefined,
  command: JournalCommand,
  at: number,
): Pick<Replayed, 'world' | 'events'> {
  if (command.kind === 'begin') {
    if (world !== undefined) throw new Error('the journal of the paper exchange begins twice');
    const begun = World.begin(command.seed, command.speed, at, {
      slots: command.slots ?? FIRST_SLOTS,
      ids: command.derivedTokens === true ? marketIds : undefined,
      v2Share: command.v2Share,
    });
    if (command.boundedSweeps === true) begun.world.boundSweeps();
    return begun;
  }
  if (world === undefined) throw new Error('the journal of the paper exchange does not begin');
  return { world, events: applyCommand(world, command, at) };
}

export type LaterCommand = Exclude<JournalCommand, { readonly kind: 'begin' }>;

/** Every command but the first, live and replayed alike. */
export function applyCommand(world: World, command: LaterCommand, at: number): EngineEvent[] {
  if (command.kind === 'sweep') return world.sweep(at);
  if (command.kind === 'reverse') return world.reverse(command, at);
  if (command.kind === 'mirror') return world.mirror(command.changes, at);
  if (command.kind !== 'step') return world.execute(command, at);
  if (command.boundedSweeps === true) world.boundSweeps();
  if (command.derivedTokens === true) world.deriveTokens(marketIds);
  return world.step(at, command.speed);
}

// The ids of a world's markets, as the venue's contracts make them.

export const marketIds: MarketIds = {
  tokensOf: outcomeTokens,
  v2ConditionsOf(data, markets) {
    if (markets === 1) {
      const baseHash = positionBaseHash(1, data);
      return [conditionIdOf({ module: 1, baseHash, arity: 0, index: 0 })];
    }
    // The last one is "Other", which the arity does not count.
    const event = { module: 2, baseHash: positionBaseHash(2, data), arity: markets - 1 } as const;
    return Array.from({ length: markets }, (_, index) => conditionIdOf({ ...event, index }));
  },
};
