/**
 * npm run test:histories: clients on real processes write a history while everything around them fails, and the checker reads it.
 * `--help` names the options.
 */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterFile, cleanUp } from '../setup/clean-up.ts';
import { check } from './checker.ts';
import { collectFacts } from './collect-facts.ts';
import { comeToRest } from './come-to-rest.ts';
import { beginFaults } from './faults.ts';
import { exitCounts } from './final-facts.ts';
import { type History, Recorder, readHistory } from './history.ts';
import { endAll, type Listening, listen, startReceiver } from './listeners.ts';
import { HELP, type RunOptions, readOptions } from './options.ts';
import { seeded } from './random.ts';
import { exitsText } from './sentences.ts';
import { openStage } from './stage.ts';
import { venuePlan } from './venue-plan.ts';
import { moneyMoves } from './workloads/money-moves.ts';
import { retries } from './workloads/retries.ts';
import { sets } from './workloads/sets.ts';
import { stops } from './workloads/stops.ts';
import { unknownOutcomes } from './workloads/unknown-outcomes.ts';
import { watched } from './workloads/watched.ts';
import type { Workload, Workshop } from './workloads/workload.ts';

const MINUTE_MS = 60_000;
const MOST_SKEW_MS = 4_000;
const MOST_SHOWN = 40;

const say = (text: string): void =>
  void process.stderr.write(`${text} (${Math.round(performance.now() / 1_000)} s)\n`);
const dayOf = (): number => Math.floor(Date.now() / 86_400_000);

async function play({ minutes, seed, setUp, faults: share }: RunOptions, file: string) {
  const random = (name: string) => seeded(seed, name);
  const skews = random('clocks');
  const skewsMs = [
    skews.between(-MOST_SKEW_MS, MOST_SKEW_MS),
    skews.between(-MOST_SKEW_MS, MOST_SKEW_MS),
  ] as const;
  const firstDay = dayOf();
  const recorder = new Recorder(file, { line: 'run', seed, setUp });
  say(`Starts: ${setUp}, seed ${seed}, clocks off by ${skewsMs.join(' and ')} ms`);
  const stage = await openStage(setUp, seed, skewsMs);
  let isOver = false;
  const workshop: Workshop = { stage, recorder, random, isOver: () => isOver };
  const workloads: Workload[] = [];
  for (const open of [moneyMoves, retries, unknownOutcomes, stops, sets, watched])
    workloads.push(await open(workshop));
  const agents = workloads.flatMap((workload) => workload.agents);
  const unheard = new Set(workloads.flatMap((workload) => workload.unheard ?? []));
  const receiver = await startReceiver(recorder);
  afterFile('services', () => receiver.close());
  const listening: Listening[] = [];
  for (const agent of agents)
    if (!unheard.has(agent)) listening.push(await listen(stage, recorder, receiver, agent));
  await stage.venue?.setFaults(venuePlan(seed));
  say('The faults begin.');
  const faults = beginFaults(stage, random, share);
  const working = Promise.all(workloads.map(({ run }) => run()));
  await Promise.race([sleep(minutes * MINUTE_MS), working]);
  isOver = true;
  await Promise.all([working, faults.end()]);
  await stage.venue?.setFaults({});
  say('The faults are over; what is unknown is asked for.');
  await Promise.all(workloads.map(({ settle }) => settle()));
  say('Everything comes to rest.');
  const left = await comeToRest(stage);
  if (left !== null) say(`It has not come to rest. What is known of orders that wait: ${left}`);
  const logs = await endAll(listening);
  // Killed: what is durable without a last word is what counts.
  const stop = async (): Promise<void> => {
    const running = [
      ...stage.replicas.map(({ process: replica }) => replica),
      ...(stage.venue === null ? [] : [stage.venue.process]),
    ];
    for (const { child } of running) child.kill('SIGKILL');
    await Promise.all(running.map(({ exit }) => exit()));
  };
  say('What is true in the end is read.');
  const facts = await collectFacts({
    place: stage,
    agents,
    logs,
    hasMidnight: dayOf() !== firstDay,
    stop,
  });
  return { history: recorder.end(facts), counts: faults.counts };
}

function report(
  history: History,
  counts: ReadonlyMap<string, number>,
  file: string,
  seconds: number,
): boolean {
  const violations = check(history);
  const unknown = history.calls.filter(({ outcome }) => outcome.kind === 'unknown').length;
  const kinds = [...counts].sort(([, a], [, b]) => b - a).map(([name, count]) => `${name} ${count}`);
  for (const violation of violations.slice(0, MOST_SHOWN)) console.log(`- ${violation}`);
  if (violations.length > MOST_SHOWN) console.log(`- and ${violations.length - MOST_SHOWN} more`);
  console.log(
    [
      `${history.run.setUp}, seed ${history.run.seed}: ${history.facts.orders.length} orders, ${history.calls.length} calls`,
      `${unknown} unknown outcomes, ${history.heard.length} events heard`,
      exitsText(exitCounts(history.facts)),
      ...(counts.size === 0 ? [] : [`faults: ${kinds.join(', ')}`]),
      `${violations.length} violations; ${Math.round(seconds)} s; history: ${file}`,
    ].join('; '),
  );
  return violations.length === 0;
}

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (options.kind === 'help') {
    console.log(HELP);
    return 0;
  }
  if (options.kind === 'wrong') {
    for (const sentence of options.sentences) console.error(sentence);
    console.error('npm run test:histories -- --help names the options.');
    return 2;
  }
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1_000;
  if (options.kind === 'check')
    return report(readHistory(options.file), new Map(), options.file, seconds()) ? 0 : 1;
  const folder = join(tmpdir(), 'bellwether-histories');
  mkdirSync(folder, { recursive: true });
  const file = join(mkdtempSync(join(folder, `${options.setUp}-${options.seed}-`)), 'history.jsonl');
  const { history, counts } = await play(options, file);
  return report(history, counts, file, seconds()) ? 0 : 1;
}

let isEnding = false;
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.on(name, async () => {
    if (isEnding) return;
    isEnding = true;
    await cleanUp().catch((error: unknown) => say(String(error)));
    process.exit(130);
  });

// Calls that were under way when a signal came fail while everything ends.
process.on('uncaughtException', (error) => {
  if (isEnding) return;
  console.error(error);
  process.exit(1);
});

let status = 1;
try {
  status = await main(process.argv.slice(2));
} catch (error) {
  if (!isEnding) console.error(error);
}
if (!isEnding) {
  await cleanUp();
  process.exit(status);
}
