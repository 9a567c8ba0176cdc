/**
 * The gate: all tests, the fault suite, types, lint, dead files and exports and, where the registry answers, its advisories.
 * It ends with `N passed, N failed`, and with 0 when nothing failed.
 *
 *   npm run gate
 *
 * A file whose failures all say that the machine was busy (something took too long, a connection was refused or closed, the
 * desk was overloaded) runs once more, alone. If it passes, the gate says `by chance: FILE › TEST: the message` and goes on. Whatever
 * else fails is red at once, and so are more than a few by chance: a test about a value has no second try, nor has one that draws its
 * cases at random or kills what it tests, nor one that has passed by chance before (`BY_CHANCE`): that one is to be mended.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Fault, RunOutcome, TestOutcome } from '../test/setup/results.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** Tests that have passed by chance, as the gate named them (`FILE › TEST`). They are mended, and stay here until fifteen runs in a row show none. */
const BY_CHANCE: readonly string[] = [];

/** Their subject is what they kill or take over, or the worlds and histories that they draw. */
const NEVER_AGAIN =
  /simulation|histories|ledger-model|crash|takeover|killed|deaths|silent-leader|failover|database-loss|rolling-restart|replicas|soak/;
/** A file that draws its cases at random would try others the next time. */
const DRAWS = /'fast-check'|\bbudget\(/;
const drawsAtRandom = (file: string): boolean => DRAWS.test(readFileSync(join(ROOT, file), 'utf8'));

const MOST_BY_CHANCE = 3;

const BUSY_NAMES = /^(TimeoutError|ConnectTimeoutError|HeadersTimeoutError|BodyTimeoutError)$/;
const BUSY_CODES =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|CONNECTION_CLOSED|CONNECTION_ENDED|CONNECT_TIMEOUT|UND_ERR_SOCKET|UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT|overloaded)$/;
const BUSY_WORDS =
  /^(Test|Hook) timed out in \d+ms|Timeout \d+ms exceeded|did not end within \d+ ms|socket hang up|other side closed|nothing answers at the base address|no answer came in time|the connection broke|\b(ECONNREFUSED|ECONNRESET)\b/;
const POLLED_FOR_TOO_LONG = 'Matcher did not succeed in time.';

/** Whether a failure says that the machine was busy, and nothing about a value. */
export function isOfTheMachine({ name, code = '', message, actual = '', cause }: Fault): boolean {
  if (cause?.message === POLLED_FOR_TOO_LONG) return true;
  // What an assertion found is in its message, cut, or in what it compares, or half in each; what it wanted does not count.
  const found = `${message.replace(/ to .*/s, '')} ${actual}`;
  if (name === 'AssertionError') return /\boverloaded\b/.test(found) && /\b503\b/.test(found);
  if (BUSY_NAMES.test(name) || BUSY_CODES.test(code) || BUSY_WORDS.test(message)) return true;
  return cause !== undefined && isOfTheMachine(cause);
}

const nameOf = ({ file, test }: TestOutcome): string => (test === '' ? file : `${file} › ${test}`);
const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';
const messageOf = ({ faults: [fault] }: TestOutcome): string => firstLine(fault?.message ?? 'no message');

const mayRunAgain = (one: TestOutcome, byChance: readonly string[]): boolean =>
  !byChance.includes(nameOf(one)) &&
  !NEVER_AGAIN.test(one.file) &&
  !drawsAtRandom(one.file) &&
  one.faults.length > 0 &&
  one.faults.every(isOfTheMachine);

export interface SecondRun {
  readonly project: string;
  readonly file: string;
}

/**
 * @param byChance tests that have had their second run
 * @returns the files to run once more, or `null` where nothing may: one failure of another kind makes the run red
 */
export function secondRuns(
  { tests, unhandled }: RunOutcome,
  byChance: readonly string[] = BY_CHANCE,
): readonly SecondRun[] | null {
  const failed = tests.filter(({ state }) => state === 'failed');
  if (unhandled.length > 0 || !failed.every((one) => mayRunAgain(one, byChance))) return null;
  if (failed.length > MOST_BY_CHANCE) return null;
  const files = new Map(failed.map(({ project, file }) => [`${project} ${file}`, { project, file }]));
  return [...files.values()];
}

/** The line of each test that failed first and passed alone. */
export const byChanceLines = ({ tests }: RunOutcome): string[] =>
  tests
    .filter(({ state }) => state === 'failed')
    .map((one) => `by chance: ${nameOf(one)}: ${messageOf(one)}`);

/** All of a run, in its process; without its results it has failed. */
function run(
  command: string,
  args: readonly string[],
): { readonly ok: boolean; readonly outcome: RunOutcome | null } {
  const folder = mkdtempSync(join(tmpdir(), 'bw-gate-'));
  const file = join(folder, 'results.json');
  try {
    const { status } = spawnSync(command, args, {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, TEST_RESULTS: file },
    });
    const outcome = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as RunOutcome) : null;
    return { ok: status === 0, outcome };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const count = ({ tests }: RunOutcome, state: TestOutcome['state']): number =>
  tests.filter((one) => one.state === state).length;

class Gate {
  passed = 0;
  failed = 0;
  skipped = 0;
  #byChance = 0;

  tests(name: string, script: string): void {
    const begun = performance.now();
    const first = run('npm', ['run', script]);
    console.log(`${name}: ${Math.round((performance.now() - begun) / 1_000)} s`);
    // A run that died, or ran nothing, has not passed.
    if (first.outcome === null || count(first.outcome, 'passed') === 0) {
      this.note(name, false);
      return;
    }
    this.passed += count(first.outcome, 'passed');
    this.skipped += count(first.outcome, 'skipped');
    if (first.ok) return;
    const again = secondRuns(first.outcome);
    const lines = byChanceLines(first.outcome);
    if (again === null || again.length === 0 || this.#byChance + lines.length > MOST_BY_CHANCE) {
      this.failed += Math.max(1, lines.length);
      console.log(`FAILED: ${name}`);
      return;
    }
    const passesAlone = again.every(({ project, file }) => {
      console.log(`Once more, alone: ${file}`);
      const vitest = [
        'node_modules/vitest/vitest.mjs',
        'run',
        '--project',
        project,
        '--no-file-parallelism',
        file,
      ];
      const { ok, outcome } = run(process.execPath, vitest);
      return ok && outcome !== null && count(outcome, 'passed') > 0;
    });
    if (!passesAlone) {
      this.failed += lines.length;
      console.log(`FAILED: ${name}, twice`);
      return;
    }
    this.#byChance += lines.length;
    this.passed += lines.length;
    for (const line of lines) console.log(line);
  }

  check(name: string, script: string): void {
    this.note(
      name,
      spawnSync('npm', ['run', '--silent', script], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] })
        .status === 0,
    );
  }

  note(name: string, ok: boolean): void {
    if (ok) this.passed += 1;
    else {
      this.failed += 1;
      console.log(`FAILED: ${name}`);
    }
  }
}

if (import.meta.main) {
  const gate = new Gate();
  gate.tests('tests', 'test');
  gate.tests('fault suite', 'test:faults');
  gate.check('types', 'types');
  gate.check('lint', 'lint');
  gate.check('dead files and exports', 'dead');
  gate.check('known vulnerabilities', 'audit:advisories');
  console.log(`${gate.passed} passed, ${gate.failed} failed, ${gate.skipped} skipped`);
  process.exitCode = gate.failed === 0 ? 0 : 1;
}
