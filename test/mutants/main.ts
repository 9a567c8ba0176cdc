/**
 * npm run test:mutants -- [--list] [--only NAME]… [--at-once 1|2] [--minutes M] [--every-net]
 *
 * Plants one fault at a time in a copy of the working tree and runs the nets that its patch names, until one finds it, or
 * with --every-net all of them. Ends with status 1 when a fault was found by no net, when a patch does not apply, or when a net fails without any fault.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { applyPatch, NETS, type Net, type PlantedFault, plantedFaults } from './planted-faults.ts';
import { copyWorkingTree, type WorkingCopy } from './working-copy.ts';

const { values } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    'at-once': { type: 'string', default: '1' },
    /** For one net. */
    minutes: { type: 'string', default: '6' },
    'every-net': { type: 'boolean', default: false },
  },
});
const KILLED_AFTER_MS = 5_000;
const limitMs = Number(values.minutes) * 60_000;
const running = new Set<ChildProcess>();

interface Tried {
  readonly kind: Net['kind'];
  /** `null`: the net has not found the fault. */
  readonly by: string | null;
  readonly seconds: number;
}

function chosen(): readonly PlantedFault[] {
  const all = plantedFaults();
  const unknown = values.only.filter((name) => !all.some((fault) => fault.name === name));
  if (unknown.length > 0)
    throw new Error(`no planted fault is called ${unknown.join(', ')}; --list shows their names`);
  return values.only.length === 0 ? all : all.filter(({ name }) => values.only.includes(name));
}

/** Ends everything that the net has started, and lets it close its database first. */
async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-pid, name);
    } catch {
      // The group is gone.
    }
  };
  if (child.exitCode === null && child.signalCode === null) {
    signal('SIGTERM');
    await Promise.race([once(child, 'exit'), sleep(KILLED_AFTER_MS)]);
  }
  signal('SIGKILL');
}

/** @returns who found the fault; `null`: the net ended without a complaint */
async function cast({ kind, words }: Net, copy: WorkingCopy): Promise<string | null> {
  const reportTo = copy.newPath('report.json');
  const child = spawn(process.execPath, NETS[kind](words, reportTo), {
    ...{ cwd: copy.folder, detached: true, stdio: 'ignore' },
    env: { ...process.env, TMPDIR: copy.temporary, NODE_COMPILE_CACHE: undefined },
  });
  running.add(child);
  try {
    const exit = once(child, 'exit') as Promise<[number | null]>;
    const ended = await Promise.race([exit, sleep(limitMs, 'hanging' as const, { ref: false })]);
    if (ended === 'hanging') return `hanging: ${kind} ${words.join(' ')}`;
    return ended[0] === 0 ? null : (firstFailure(reportTo, copy.folder) ?? `${kind} ${words.join(' ')}`);
  } finally {
    await endGroup(child);
    running.delete(child);
  }
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

function firstFailure(reportTo: string, folder: string): string | null {
  if (!existsSync(reportTo)) return null;
  const { testResults } = JSON.parse(readFileSync(reportTo, 'utf8')) as Report;
  const file = testResults.find(({ status }) => status === 'failed');
  if (file === undefined) return null;
  const test = file.assertionResults.find(({ status }) => status === 'failed');
  return `${relative(folder, file.name)}${test === undefined ? '' : ` › ${test.fullName}`}`;
}

async function find(fault: PlantedFault, copy: WorkingCopy): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  applyPatch(fault, copy.folder);
  try {
    for (const net of fault.nets) {
      const since = performance.now();
      const by = await cast(net, copy);
      tried.push({ kind: net.kind, by, seconds: (performance.now() - since) / 1000 });
      if (by !== null && !values['every-net']) break;
    }
    return tried;
  } finally {
    applyPatch(fault, copy.folder, '--reverse');
  }
}

/** All files of several nets, in one run. */
const joined = (nets: readonly Net[]): Net => ({
  kind: 'tests',
  words: [...new Set(nets.flatMap(({ words }) => words))],
});

const distinct = (nets: readonly Net[]): readonly Net[] => [
  ...new Map(nets.map((net) => [net.words.join(' '), net])).values(),
];

/** A net that fails without a fault would find every one. */
async function refuseBrokenNets(faults: readonly PlantedFault[], copy: WorkingCopy): Promise<void> {
  const nets = faults.flatMap((fault) => fault.nets);
  const kinds = Map.groupBy(nets, ({ kind }) => kind);
  for (const [kind, some] of kinds)
    for (const net of kind === 'tests' ? [joined(some)] : distinct(some)) {
      const failure = await cast(net, copy);
      if (failure !== null)
        throw new Error(`a net fails without any fault, so it proves nothing: ${failure}`);
    }
}

async function main(): Promise<boolean> {
  const faults = chosen();
  if (values.list) {
    for (const { name, says, nets } of faults)
      console.log(
        `${name}\n  ${says}\n${nets.map(({ kind, words }) => `  ${kind}: ${words.join(' ')}`).join('\n')}`,
      );
    return true;
  }
  const atOnce = values['at-once'] === '2' ? 2 : 1;
  const first = copyWorkingTree();
  const copies = [first, ...(atOnce === 2 && faults.length > 1 ? [copyWorkingTree()] : [])];
  process.once('exit', () => {
    for (const copy of copies) copy.remove();
  });
  for (const fault of faults) applyPatch(fault, first.folder, '--check');
  await refuseBrokenNets(faults, first);
  console.log('| Fault | Net | Found by | Seconds |\n| --- | --- | --- | ---: |');
  const waiting = [...faults];
  let missed = 0;
  const worker = async (copy: WorkingCopy): Promise<void> => {
    for (let fault = waiting.shift(); fault !== undefined; fault = waiting.shift()) {
      const tried = await find(fault, copy);
      if (tried.every(({ by }) => by === null)) missed += 1;
      for (const { kind, by, seconds } of tried)
        console.log(`| ${fault.name} | ${kind} | ${by ?? '**not found**'} | ${seconds.toFixed(1)} |`);
    }
  };
  await Promise.all(copies.map(worker));
  console.log(`\n${faults.length - missed} of ${faults.length} planted faults were found.`);
  return missed === 0;
}

for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, async () => {
    await Promise.all([...running].map(endGroup));
    process.exit(130);
  });

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
