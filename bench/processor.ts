/**
 * Processor time from the operating system, of a process with all its threads, and of its embedded PostgreSQL with all its
 * processes. A busy machine disturbs it far less than the clock. Read from /proc, so only on Linux; elsewhere NaN.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Milliseconds, user and system. */
export interface Processor {
  readonly programMs: number;
  readonly postgresMs: number;
}

/** The kernel's unit for these fields is 1/100 s on every architecture that Node supports. */
const TICK_MS = 10;
/** Fields of /proc/<pid>/stat behind the name in parentheses, which may itself contain spaces. */
const PARENT = 1;
const USER = 11;
const SYSTEM = 12;
const CHILDREN_USER = 13;
const CHILDREN_SYSTEM = 14;

function statOf(pid: number | string): readonly number[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    return null;
  }
}

const sum = (stat: readonly number[] | null, fields: readonly number[]): number =>
  fields.reduce((total, field) => total + (stat?.[field] ?? Number.NaN), 0) * TICK_MS;

/** The server and its processes, those that have ended included: the server reaps them. */
function postgresMs(dataDir: string): number {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  if (!existsSync(file)) return Number.NaN;
  const server = Number(readFileSync(file, 'utf8').split('\n')[0]);
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = processes.map(statOf).filter((stat) => stat?.[PARENT] === server);
  return (
    sum(statOf(server), [USER, SYSTEM, CHILDREN_USER, CHILDREN_SYSTEM]) +
    children.reduce((total, stat) => total + sum(stat, [USER, SYSTEM]), 0)
  );
}

export const processorOf = (pid: number, dataDir: string): Processor => ({
  programMs: sum(statOf(pid), [USER, SYSTEM]),
  postgresMs: postgresMs(dataDir),
});

export const used = (from: Processor, to: Processor): Processor => ({
  programMs: to.programMs - from.programMs,
  postgresMs: to.postgresMs - from.postgresMs,
});
