/**
 * The process around the service: the environment in, a banner out, signals, exit codes.
 *
 * It imports the code only while it runs: what Node has compiled is kept on disk for the next start, and the embedded
 * database starts in processes of its own while this one loads the rest.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { enableCompileCache, getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { EmbeddedPostgres } from '@bellwether/durable/embedded';
import type { Config } from './config.ts';
import type { Service } from './service.ts';

/** The process exits this long after it has drained, even if the shutdown hangs. */
const END_WITHIN_MS = 9_500;
/** As trustworthy as the code beside it: who may write into node_modules may change the code as well. */
const COMPILED = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache', 'bellwether');

/** The examples read the address of the service on this data folder here. */
const addressFile = ({ dataDir }: Config): string => join(dataDir, 'address');

/** For this thread, and for those that it starts. Where the folder cannot be written, starts only take longer. */
function keepCompiled(): void {
  enableCompileCache(COMPILED);
  const folder = getCompileCacheDir();
  if (folder !== undefined) process.env.NODE_COMPILE_CACHE = folder;
}

/**
 * A function is optimised after half as many calls as by default: the compiler's work is the same, and a service is as fast
 * as it can be after fewer trades. Called before the threads start, so it holds for them, too.
 */
function optimizeEarly(): void {
  if (Number.parseInt(process.versions.v8, 10) >= 13)
    setFlagsFromString('--invocation-count-for-turbofan=1500');
}

/**
 * @returns once a process of the database is at work
 * @throws when it fails before that: then this start must not touch the data folder
 */
async function startDatabase(dataDir: string): Promise<{ readonly postgres: Promise<EmbeddedPostgres> }> {
  const { startEmbeddedPostgres } = await import('@bellwether/durable/embedded');
  return new Promise((atWork, reject) => {
    const postgres = startEmbeddedPostgres({
      dataDir,
      onSpawned: () => atWork({ postgres }),
    });
    // A later fault is reported where the database is awaited. An adopted server spawns nothing.
    postgres.then(() => atWork({ postgres }), reject);
  });
}

async function start(config: Config, onFatal: (error: Error) => void): Promise<Service> {
  const database = config.databaseUrl === null ? await startDatabase(config.dataDir) : {};
  const { startService } = await import('./service.ts');
  return startService(config, { ...database, onFatal });
}

/** Begins again where the database, or what is read from it, is in a state that passes. */
async function startPatiently(
  signal: AbortSignal,
  onFatal: (error: Error) => void,
): Promise<{ config: Config; service: Service }> {
  const { readConfig } = await import('./config.ts');
  const config = readConfig(process.env);
  const { whilePassing } = await import('@bellwether/durable');
  const service = await whilePassing(() => start(config, onFatal), {
    hasServer: config.databaseUrl === null,
    passing: ['ExchangeUnavailable', 'SandboxChainUnavailable', 'VenueUnavailable', 'VenueMoves'],
    onWait: (state) => console.error(`Bellwether begins its start again: ${state}`),
    signal,
  });
  return { config, service };
}

async function say(what: string, error: unknown): Promise<void> {
  const { explain } = await import('./banner.ts');
  console.error(`${what}: ${explain(error)}`);
}

async function main(): Promise<void> {
  const startedAt = performance.now();
  let stopping = false;
  let starting: ReturnType<typeof startPatiently> | undefined;
  const ending = new AbortController();
  // npm repeats a signal that the terminal has already sent: the second must not interrupt the shutdown.
  const end = async (code: number) => {
    if (stopping) return;
    stopping = true;
    ending.abort();
    // A start may hang, too.
    const late = setTimeout(() => process.exit(1), END_WITHIN_MS);
    const started = await starting?.catch(() => undefined);
    if (started !== undefined && code === 0) {
      clearTimeout(late);
      await started.service.drain();
      setTimeout(() => process.exit(1), END_WITHIN_MS);
    }
    process.exit(started === undefined || (await started.service.stop()) ? code : 1);
  };
  const onSignal = () => end(0);
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  try {
    keepCompiled();
    optimizeEarly();
    starting = startPatiently(ending.signal, (error) => {
      say('Bellwether ends, for a supervisor to start it again', error).finally(() => end(1));
    });
    const { config, service } = await starting;
    if (config.databaseUrl === null) {
      writeFileSync(addressFile(config), `${service.address}${config.basePath}\n`);
      process.once('exit', () => rmSync(addressFile(config), { force: true }));
    }
    if (stopping) return;
    const { bannerOf } = await import('./banner.ts');
    console.log(bannerOf(config, service, (performance.now() - startedAt) / 1000));
  } catch (error) {
    if (stopping) return;
    await say('Bellwether cannot start', error);
    process.exit(1);
  }
}

await main();
