/** Faults of the plan on the replicas, the network and the database's sessions while agents trade. */
import type { Desk } from './desk.ts';
import type { FaultKind, PlannedFault } from './plan.ts';
import type { SimulatedProcess } from './scheduler.ts';
import type { World } from './world.ts';

const MOST_SKEW_MS = 4_000;
const MOST_DELAY_MS = 300;
const SLOW_MS = 60;
/** The name of its process. */
export const VENUE = 'venue';

interface Stage {
  readonly world: World;
  readonly desk: Desk;
  readonly agents: SimulatedProcess;
}

type Work = (stage: Stage, fault: PlannedFault, target: SimulatedProcess, other: SimulatedProcess) => void;

/** Ends when its time is over, also when its process was replaced meanwhile. */
const later = ({ world }: Stage, { forMs }: PlannedFault, end: () => void): void => {
  world.scheduler.after(forMs, 'fault ends', end, undefined);
};

const FAULTS: Readonly<Record<FaultKind, Work>> = {
  kill: ({ desk }, { replica }, target) => void desk.restart(replica, target),
  freeze(stage, fault, target) {
    target.isFrozen = true;
    later(stage, fault, () => stage.world.scheduler.thaw(target));
  },
  cut_replicas: ({ world }, _, target, other) => {
    world.network.cut((one, two) => one === target && two === other);
  },
  cut_venue: ({ world }, _, target) => {
    world.network.cut((one, two) => one?.name === VENUE && two === target);
  },
  hold_session({ world }, { draw, forMs }, target) {
    const own = [...world.gate.sockets].filter(({ owner }) => owner === target);
    own[Math.floor(draw * own.length)]?.holdFor(forMs);
  },
  hold_notices({ world }, { forMs }, target) {
    for (const socket of world.gate.sockets)
      if (socket.owner === target && socket.isListening) socket.holdFor(forMs);
  },
  cut_agents: ({ world, agents }, _, target) => {
    world.network.cut((one, two) => one === agents && two === target);
  },
  silence(stage, fault, target, other) {
    stage.world.network.setFault(target, other, { delayMs: 0, isSilent: true });
    // Bytes were lost on the way, so what was sent afterwards must not arrive.
    later(stage, fault, () => {
      stage.world.network.setFault(target, other, null);
      stage.world.network.cut((one, two) => one === target && two === other);
      stage.world.network.cut((one, two) => one === other && two === target);
    });
  },
  delay(stage, fault, target) {
    const { world, agents } = stage;
    world.network.setFault(target, agents, { delayMs: fault.draw * MOST_DELAY_MS, isSilent: false });
    later(stage, fault, () => world.network.setFault(target, agents, null));
  },
  end_session({ world }, { draw }, target) {
    const own = [...world.gate.sockets].filter(({ owner, pid }) => owner === target && pid !== 0);
    const one = own[Math.floor(draw * own.length)];
    if (one !== undefined) world.aside(() => world.gate.terminate([one.pid]));
  },
  slow_database(stage, fault, target) {
    stage.world.gate.slowMs.set(target, SLOW_MS);
    later(stage, fault, () => stage.world.gate.slowMs.delete(target));
  },
  skew(_stage, { draw }, target) {
    target.skewMs = (draw * 2 - 1) * MOST_SKEW_MS;
  },
};

/** @returns how many of each kind there were, once the run is over */
export function scheduleFaults(stage: Stage, faults: readonly PlannedFault[]): Map<FaultKind, number> {
  const counts = new Map<FaultKind, number>();
  for (const fault of faults)
    stage.world.scheduler.after(
      fault.at,
      fault.kind,
      () => {
        const target = stage.desk.replicas[fault.replica]?.process;
        const other = stage.desk.replicas[1 - fault.replica]?.process;
        if (target === undefined || other === undefined || target.isDead) return;
        counts.set(fault.kind, (counts.get(fault.kind) ?? 0) + 1);
        FAULTS[fault.kind](stage, fault, target, other);
      },
      undefined,
    );
  return counts;
}

/** Nothing is disturbed any more. */
export function endFaults({ world, desk }: Stage): void {
  for (const { process } of desk.replicas) {
    if (process.isFrozen) world.scheduler.thaw(process);
    process.skewMs = 0;
    world.gate.slowMs.delete(process);
  }
  world.network.clearFaults();
}
