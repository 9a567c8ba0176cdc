/** Processor time of the PostgreSQL server under a data folder, read from the operating system. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Linux reports processor time in hundredths of a second. */
const MS_PER_TICK = 10;

interface Times {
  readonly parent: number;
  /** User and system time of the process. */
  readonly own: number;
  /** The same of its children that have ended. */
  readonly ended: number;
}

function timesOf(pid: string): Times | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return { parent, own: user + system, ended: endedUser + endedSystem };
  } catch {
    return null;
  }
}

/** Finds the folder of the cluster: the first one with a `postmaster.pid`. */
function postmasterOf(folder: string): number | null {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.name === 'postmaster.pid') return Number(readFileSync(path, 'utf8').split('\n')[0]);
    const found = entry.isDirectory() ? postmasterOf(path) : null;
    if (found !== null) return found;
  }
  return null;
}

/** @returns reads milliseconds used so far by the server and all its processes, ended ones included */
export function databaseClock(dataDir: string): () => number {
  const postmaster = postmasterOf(dataDir);
  if (postmaster === null) throw new Error(`no PostgreSQL server runs in ${dataDir}`);
  return () => {
    let ticks = 0;
    for (const pid of readdirSync('/proc')) {
      if (!/^\d+$/.test(pid)) continue;
      const times = timesOf(pid);
      if (times === null) continue;
      if (Number(pid) === postmaster) ticks += times.own + times.ended;
      else if (times.parent === postmaster) ticks += times.own;
    }
    return ticks * MS_PER_TICK;
  };
}
