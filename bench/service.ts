/** The service, or one of its peers, as a separate process in its own folder, for the duration of a measurement. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Processor, processorOf } from './processor.ts';

const ROOT = join(import.meta.dirname, '..');
export const SERVICE_MAIN = join('packages', 'server', 'src', 'main.ts');
const PROBE = join(import.meta.dirname, 'probe.ts');
const READY = /is ready \(/;
const READY_TIMEOUT_MS = 60_000;

export interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
}

/** The longest pause of the main thread, by the clock and by its own processor time. */
export interface Pause {
  readonly clockMs: number;
  readonly processorMs: number;
}

export interface BenchService {
  readonly url: string;
  readonly port: number;
  /** From the start of the process to the banner. */
  readonly readyMs: number;
  memory(): Promise<Memory>;
  /** Since the last call; the first one begins to watch. */
  longestPause(): Promise<Pause>;
  /** Resident memory, read from the operating system without work for the service. */
  rss(): number;
  /** Processor time that the process and its embedded PostgreSQL have used until now. */
  processor(): Processor;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();

/** Ends every started process with the benchmark, however it ends. */
process.on('exit', () => {
  for (const child of running) if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

export const newDataFolder = (): string => mkdtempSync(join(tmpdir(), 'bw-'));
export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function startService(options: {
  readonly dataDir: string;
  readonly via?: 'npm' | 'node';
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeArgs?: readonly string[];
  /** Another checkout of the repository, to compare with this one. */
  readonly root?: string;
  readonly readyTimeoutMs?: number;
  /** Another program than the service, from the checkout's root: a peer. */
  readonly main?: string;
}): Promise<BenchService> {
  const { dataDir, via = 'node', env = {}, nodeArgs = [], root = ROOT, main = SERVICE_MAIN } = options;
  const port = await freePort();
  const [file, args] =
    via === 'npm'
      ? ['npm', ['start']]
      : [process.execPath, [...nodeArgs, '--import', PROBE, join(root, main)]];
  const startedAt = performance.now();
  const child = spawn(file, args, {
    cwd: root,
    detached: true,
    stdio: via === 'npm' ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`,
      HOME: process.env.HOME,
      npm_config_update_notifier: 'false',
      PORT: String(port),
      DATA_DIR: dataDir,
      ...env,
    },
  });
  running.add(child);
  const ended = new Promise<void>((resolve) =>
    child.once('exit', () => {
      running.delete(child);
      resolve();
    }),
  );
  await banner(child, options.readyTimeoutMs ?? READY_TIMEOUT_MS);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    readyMs: performance.now() - startedAt,
    rss: () =>
      Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) * 1024,
    memory: () => ask(child, 'memory') as Promise<Memory>,
    longestPause: () => ask(child, 'pause') as Promise<Pause>,
    processor: () => processorOf(child.pid ?? 0, dataDir),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function banner(child: ChildProcess, timeoutMs: number): Promise<void> {
  let output = '';
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the service did not start:\n${output}`)), timeoutMs);
    const read = (chunk: Buffer) => {
      output += chunk;
      if (!READY.test(output)) return;
      clearTimeout(timer);
      resolve();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', () => reject(new Error(`the service did not start:\n${output}`)));
  });
}

const ask = (child: ChildProcess, what: 'memory' | 'pause'): Promise<unknown> =>
  new Promise((resolve) => {
    child.once('message', resolve);
    child.send(what);
  });
