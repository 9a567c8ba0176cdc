/**
 * Resources that a test file has left open. Files share the modules of their worker, so a module cannot register an
 * `afterAll` of its own: it would run after the first file alone.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, TestRunner } from 'vitest';

/** Services, then processes and pools that may use the databases, then the databases. */
const STAGES = ['services', 'processes', 'pools', 'databases'] as const;
type Stage = (typeof STAGES)[number];

/** The end of what processes say, where a test fails. */
const SHOWN_LINES = 40;
let outputs: (() => string)[] = [];

/** Where a test of the current file fails, warnings and errors of this output are printed with it. */
export function shownOnFailure(output: () => string): void {
  outputs.push(output);
}

/** Warnings, errors and what is no log line, of the processes of the current file. */
export function troublesOfProcesses(): string {
  return outputs
    .map((output) => output().split('\n'))
    .map((lines) => lines.filter((line) => line !== '' && !/"level":[123]0\b/.test(line)))
    .map((lines) => lines.slice(-SHOWN_LINES).join('\n'))
    .join('\n--\n');
}

let waiting: { readonly stage: Stage; readonly work: () => unknown }[] = [];

/** Runs `work` when the current test file has ended. */
export function afterFile(stage: Stage, work: () => unknown): void {
  waiting.push({ stage, work });
}

/**
 * Runs `work` when the test that started a service has ended, so that what is still under way reaches no later test; outside
 * of a test, as in a `beforeAll`, when the file has.
 */
export function afterUse(work: () => unknown): void {
  if (TestRunner.getCurrentTest() === undefined) afterFile('services', work);
  else onTestFinished(async () => void (await work()));
}

/** An empty folder that goes when the current file has ended. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bw-'));
  afterFile('databases', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function cleanUp(): Promise<void> {
  const all = waiting;
  waiting = [];
  outputs = [];
  const failed: unknown[] = [];
  for (const stage of STAGES) {
    const results = await Promise.allSettled(
      all.filter((one) => one.stage === stage).map(async ({ work }) => work()),
    );
    failed.push(...results.filter(({ status }) => status === 'rejected'));
  }
  if (failed.length > 0) throw new AggregateError(failed, 'cleaning up after the file failed');
}
