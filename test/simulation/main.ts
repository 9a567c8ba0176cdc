/**
 * npm run simulate: worlds of two replicas on virtual time, one for each seed; what happens in them is checked as a history is.
 * `--help` names the options.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitsText } from '../histories/sentences.ts';
import { real } from './chance.ts';
import { HELP, type Options, type RunOptions, readOptions } from './options.ts';
import { type Plan, planOf, sentenceOf, setUpOf } from './plan.ts';
import { shrink } from './shrink.ts';
import { Server } from './world.ts';

// The modules of the desk are loaded after the sources of chance were replaced.
const { runPlan } = await import('./run.ts');
type Ran = Awaited<ReturnType<typeof runPlan>>;

const MOST_SHOWN = 20;
const begun = real.now();
const seconds = (): number => (real.now() - begun) / 1_000;

const faultsOf = ({ faults }: Ran): number => [...faults.values()].reduce((sum, count) => sum + count, 0);

function report({ seed, setUp }: Plan, ran: Ran): void {
  const { violations, orders, calls, virtualMs, fingerprint } = ran;
  for (const violation of violations.slice(0, MOST_SHOWN)) console.log(`- ${violation}`);
  if (violations.length > MOST_SHOWN) console.log(`- and ${violations.length - MOST_SHOWN} more`);
  console.log(
    `seed ${seed} (${setUp}): ${orders} orders, ${calls} calls, ${faultsOf(ran)} faults in ${(virtualMs / 1_000).toFixed(1)} s of virtual time, ${exitsText(ran.exits)}; ${fingerprint}; ${violations.length} violations`,
  );
}

/** The broken rule, without the names that differ from run to run. */
const kindOf = (violation = ''): string => violation.replace(/[\dxa-f…-]{6,}|\d+/g, '#').slice(0, 40);

function keptIn(): string {
  const folder = join(tmpdir(), 'bellwether-simulation');
  mkdirSync(folder, { recursive: true });
  return folder;
}

function keep(plan: Plan): void {
  const file = join(keptIn(), `${plan.setUp}-${plan.seed}.json`);
  writeFileSync(file, `${JSON.stringify(plan, null, 1)}\n`);
  console.log(`npm run simulate -- --plan ${file} repeats this.`);
}

async function shorten(server: Server, plan: Plan, first: Ran, forSeconds: number): Promise<void> {
  const end = seconds() + forSeconds;
  const kinds = new Set(first.violations.map(kindOf));
  let tries = 0;
  const acts = await shrink(
    plan.acts,
    async (some) => {
      tries += 1;
      const { violations } = await runPlan(server, { ...plan, acts: some });
      return violations.some((violation) => kinds.has(kindOf(violation)));
    },
    () => seconds() > end,
  );
  const shortened = { ...plan, acts };
  const { violations } = await runPlan(server, shortened);
  keep(shortened);
  console.log(`Of ${plan.acts.length} acts ${acts.length} are left, after ${tries} runs:`);
  for (const act of acts) console.log(`  ${sentenceOf(act)}`);
  for (const violation of violations.slice(0, MOST_SHOWN)) console.log(`- ${violation}`);
}

async function simulate(server: Server, { seed, until, steps, acts, setUp, shrinkSeconds }: RunOptions) {
  let [orders, calls, faults, made, unchecked] = [0, 0, 0, 0, 0];
  const exits = new Map<string, number>();
  let hasFailed = false;
  const isDone = (): boolean =>
    'seconds' in until ? made > 0 && seconds() > until.seconds : made >= until.worlds;
  while (!hasFailed && !isDone()) {
    const own = seed + made;
    made += 1;
    const plan = planOf({ seed: own, setUp: setUp ?? setUpOf(own), count: steps, kinds: acts });
    const ran = await runPlan(server, plan);
    report(plan, ran);
    orders += ran.orders;
    calls += ran.calls;
    faults += faultsOf(ran);
    for (const [word, count] of ran.exits) exits.set(word, (exits.get(word) ?? 0) + count);
    unchecked += ran.unchecked.length;
    hasFailed = ran.violations.length > 0;
    if (hasFailed && shrinkSeconds > 0) await shorten(server, plan, ran, shrinkSeconds);
    else if (hasFailed) keep(plan);
  }
  const { user, system } = process.cpuUsage();
  console.log(
    `${made} ${made === 1 ? 'world' : 'worlds'}: ${orders} orders, ${calls} calls, ${faults} faults, ${exitsText(exits)}; ${hasFailed ? 'the last broke a promise' : 'every promise was kept'}${unchecked === 0 ? '' : `, ${unchecked} could not be checked`}; ${Math.round(seconds())} s, ${Math.round((user + system) / 1e6)} s of this process's processor time, ${Math.round(orders / seconds())} orders per second`,
  );
  return !hasFailed;
}

async function main(options: Exclude<Options, { readonly kind: 'help' | 'wrong' }>): Promise<boolean> {
  const server = await Server.start();
  try {
    if (options.kind === 'run') return await simulate(server, options);
    const historyFile = join(keptIn(), `${options.plan.setUp}-${options.plan.seed}.jsonl`);
    rmSync(historyFile, { force: true });
    const ran = await runPlan(server, options.plan, { isTraced: options.isTraced, historyFile });
    report(options.plan, ran);
    console.log(`npm run test:histories -- --check ${historyFile} reads its history again.`);
    return ran.violations.length === 0;
  } finally {
    await server.stop();
  }
}

const options = readOptions(process.argv.slice(2));
if (options.kind === 'help') console.log(HELP);
else if (options.kind === 'wrong') {
  for (const sentence of options.sentences) console.error(sentence);
  console.error('npm run simulate -- --help names the options.');
}
const status = options.kind === 'help' ? 0 : options.kind === 'wrong' ? 2 : (await main(options)) ? 0 : 1;
process.exit(status);
