/**
 * The service as a separate process, started as a person starts it. Every process started here, and the PostgreSQL
 * of its data folder, has ended after the file, even when tests fail.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterFile, shownOnFailure } from './setup/clean-up.ts';
import { copyCluster } from './setup/copy-cluster.ts';

const ROOT = join(import.meta.dirname, '..');
/** The programs, and the arguments with which npm starts them. */
const PROGRAMS = {
  service: { main: join('packages', 'server', 'src', 'main.ts'), npm: ['start'] },
  exchange: { main: join('packages', 'sandbox', 'src', 'main.ts'), npm: ['run', 'exchange'] },
} as const;
const READY = /is ready \((\d+\.\d) s\)/;
const READY_TIMEOUT_MS = 120_000;
const EXIT_TIMEOUT_MS = 60_000;

/** Other load on the machine must not count as overload, and no request is late by it: a test that wants either narrows these. */
export const WIDE_OPEN = {
  MAX_TRADES_IN_FLIGHT: '10000',
  MAX_REQUESTS_IN_FLIGHT: '100000',
  REQUEST_DEADLINE_MS: '120000',
};

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ServiceProcess {
  readonly url: string;
  readonly port: number;
  /** The process that was started: npm, or node itself. */
  readonly child: ChildProcess;
  /** The output so far, both streams. */
  output(): string;
  /** From the start of the process to the banner. */
  readonly readyMs: number;
  exit(): Promise<Exit>;
}

export interface ProcessOptions {
  readonly dataDir?: string;
  readonly program?: keyof typeof PROGRAMS;
  readonly via?: 'npm' | 'node';
  readonly env?: Readonly<Record<string, string>>;
  readonly port?: number;
  /** The folder of a copy of this repository, whose sources are run as they are; npm runs the sources, too. */
  readonly root?: string;
  /** Lets the service create its cluster, as on its first start; otherwise it finds one with its empty tables. */
  readonly makesCluster?: boolean;
}

/** A folder with a short path: the socket's path must fit into a hundred bytes. */
export function dataFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'bw-'));
  // Processes started on it have been killed by then.
  afterFile('pools', async () => {
    signalPostgres(folder, 'SIGKILL');
    await waitFor(() => postgresOf(folder).length === 0, 30_000);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/**
 * A free port that the system gives to no other process: those that it chooses itself begin at 32768, and until the service
 * listens, seconds later, one of them may have gone to another test.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

/** Starts it without waiting until it is ready. In its own process group, as a terminal does. */
export async function launch(options: ProcessOptions & { readonly port: number }): Promise<{
  child: ChildProcess;
  output: () => string;
  exit: () => Promise<Exit>;
}> {
  const { dataDir, program = 'service', via = 'node', env = {}, port, root = ROOT } = options;
  const { main, npm } = PROGRAMS[program];
  const [file, args] =
    via === 'npm' ? (['npm', npm] as const) : ([process.execPath, [await fileOf(main, root)]] as const);
  const child = spawn(file, args, {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...environment(root),
      npm_config_update_notifier: 'false',
      PORT: String(port),
      ...(dataDir === undefined ? {} : { DATA_DIR: dataDir }),
      ...(program === 'service' ? WIDE_OPEN : {}),
      ...env,
    },
  });
  afterFile('processes', () => signalGroup(child, 'SIGKILL'));
  let text = '';
  child.stdout?.on('data', (chunk) => (text += chunk));
  child.stderr?.on('data', (chunk) => (text += chunk));
  shownOnFailure(() => text);
  const ended = new Promise<Exit>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  const exit = async () => {
    const outcome = await Promise.race([ended, sleep(EXIT_TIMEOUT_MS, null, { ref: false })]);
    if (outcome === null) throw new Error(`it did not end within ${EXIT_TIMEOUT_MS} ms:\n${text}`);
    return outcome;
  };
  return { child, output: () => text, exit };
}

let bundled: Promise<ReadonlyMap<string, string>> | undefined;

async function fileOf(main: string, root: string): Promise<string> {
  if (root !== ROOT) return join(root, main);
  // Loaded here: most files start no process.
  bundled ??= import('./setup/programs.ts').then(({ bundle }) =>
    bundle(Object.values(PROGRAMS).map((program) => join(ROOT, program.main))),
  );
  return (await bundled).get(join(ROOT, main)) as string;
}

/** Of a process. Without the rest of the test's environment: its settings must not reach what is tested. */
const environment = (root: string): NodeJS.ProcessEnv => ({
  PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`,
  HOME: process.env.HOME,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
});

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A command of an operator, as npm starts it.
 * @param script its path in the repository
 * @param options `prefix`: a program that runs it
 */
export function startScript(
  script: string,
  args: readonly string[] = [],
  { env = {}, prefix = [] }: { env?: Readonly<Record<string, string>>; prefix?: readonly string[] } = {},
): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const [file = '', ...rest] = [...prefix, process.execPath, join(ROOT, script), ...args];
  const child = spawn(file, rest, {
    cwd: ROOT,
    env: { ...environment(ROOT), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  afterFile('processes', () => child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, ended };
}

/** @see startScript */
export const runScript = (...command: Parameters<typeof startScript>): Promise<Ended> =>
  startScript(...command).ended;

/** Copies a cluster where none exists: creating one, and its tables, takes longer than the rest of a start. */
async function prepareCluster({ dataDir, env = {}, program }: ProcessOptions): Promise<void> {
  if (dataDir === undefined || env.DATABASE_URL !== undefined || existsSync(join(dataDir, 'postgres')))
    return;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // Loaded here: a program that is no test file can start processes, too, on databases of its own.
  const { sharedPostgres } = await import('./postgres.ts');
  const { newCluster, deskCluster } = await sharedPostgres();
  copyCluster(program === 'exchange' ? newCluster : deskCluster, join(dataDir, 'postgres'));
}

/** Starts it and waits for its banner. */
export async function startProcess(options: ProcessOptions = {}): Promise<ServiceProcess> {
  const port = options.port ?? (await freePort());
  if (options.makesCluster !== true) await prepareCluster(options);
  const startedAt = performance.now();
  const { child, output, exit } = await launch({ ...options, port });
  const ready = await waitFor(() => READY.test(output()) || child.exitCode !== null, READY_TIMEOUT_MS, 5);
  if (!ready || !READY.test(output())) throw new Error(`the service did not start:\n${output()}`);
  const readyMs = performance.now() - startedAt;
  return { url: `http://127.0.0.1:${port}`, port, child, output, readyMs, exit };
}

/** Starts it where it must refuse to start. */
export async function startRefused(
  options: ProcessOptions = {},
): Promise<{ readonly exit: Exit; readonly output: string }> {
  const started = await launch({ ...options, port: options.port ?? (await freePort()) });
  return { exit: await started.exit(), output: started.output() };
}

export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined) kill(-child.pid, signal);
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already ended.
  }
}

/** Polls until the condition holds. @returns if it did in time */
export async function waitFor(holds: () => boolean, timeoutMs: number, everyMs = 20): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  while (!holds()) {
    if (performance.now() > end) return false;
    await sleep(everyMs);
  }
  return true;
}

const STEP_MS = 20;
let isCounting = false;
let counted = 0;

/** Milliseconds, counted in short steps: a machine that is busy makes each longer, one that stands still counts it once. */
export function stopwatch(): () => number {
  if (!isCounting) setInterval(() => (counted += STEP_MS), STEP_MS).unref();
  isCounting = true;
  const from = counted;
  return () => counted - from;
}

/** What is promised within so long, by a stopwatch, comes within so long. */
export async function within<T>(ms: number, promised: Promise<T>): Promise<T> {
  const late = Symbol('late');
  const passed = stopwatch();
  for (;;) {
    const came = await Promise.race([promised, sleep(STEP_MS, late)]);
    if (came !== late) return came as T;
    if (passed() > ms) throw new Error(`it took longer than ${ms} ms`);
  }
}

interface Listed {
  readonly pid: number;
  readonly parent: number;
  readonly args: string;
}

function processes(): Listed[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)
    .filter(([, , , stat]) => !stat?.startsWith('Z'))
    .map(([, pid, parent, , args]) => ({ pid: Number(pid), parent: Number(parent), args: args ?? '' }));
}

/** The postmaster of a data folder and its children; empty when no PostgreSQL runs on it. */
export function postgresOf(dataDir: string): number[] {
  const all = processes();
  const masters = all.filter(
    ({ args }) => args.includes('postgres -D') && args.includes(`${dataDir}/postgres`),
  );
  const pids = new Set(masters.map(({ pid }) => pid));
  return all.filter(({ pid, parent }) => pids.has(pid) || pids.has(parent)).map(({ pid }) => pid);
}

/** Also those that the server starts meanwhile. @returns their ids */
export function signalPostgres(dataDir: string, signal: NodeJS.Signals): readonly number[] {
  const reached = new Set<number>();
  for (;;) {
    const others = postgresOf(dataDir).filter((pid) => !reached.has(pid));
    if (others.length === 0) return [...reached];
    for (const pid of others) {
      reached.add(pid);
      kill(pid, signal);
    }
  }
}

/** The first lines of postmaster.pid: its process, and the folder of its socket. */
export function postmasterOf(dataDir: string): { readonly pid: number; readonly socketDir: string } {
  const lines = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
  return { pid: Number(lines[0]), socketDir: lines[4] ?? '' };
}

/** The descendant of npm's process that is the service. */
export function serviceOf(child: ChildProcess): number {
  const all = processes();
  const found = all.find(
    ({ pid, args }) => args.includes('packages/server/src/main.ts') && isBelow(all, pid, child.pid ?? -1),
  );
  if (found === undefined) throw new Error('the service is not among the descendants of what was started');
  return found.pid;
}

function isBelow(all: readonly Listed[], pid: number, ancestor: number): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 1; ) {
    if (at === ancestor) return true;
    const here: number = at;
    at = all.find((one) => one.pid === here)?.parent;
  }
  return false;
}
