/** What became of each test of a run, for the gate (scripts/gate.ts): a file of JSON, written when the run has ended. */
import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule, TestSuite } from 'vitest/node';

/** An error and its causes: what the gate judges a failure by. */
export interface Fault {
  readonly name: string;
  readonly code?: string;
  readonly message: string;
  /** What an assertion found. */
  readonly actual?: string;
  readonly cause?: Fault;
}

export interface TestOutcome {
  readonly project: string;
  /** From the root of the repository. */
  readonly file: string;
  /** With the names of its suites; of a suite or file whose own code failed, theirs: `''` for a file. */
  readonly test: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly ms: number;
  readonly faults: readonly Fault[];
}

export interface RunOutcome {
  readonly tests: readonly TestOutcome[];
  /** Errors that no test caught. */
  readonly unhandled: readonly Fault[];
}

const DEEPEST_CAUSE = 5;

function faultOf(error: SerializedError, depth = 0): Fault {
  const { name = 'Error', code, message, actual, cause } = error;
  return {
    name: name.replace(/^Caused by: /, ''),
    message,
    ...(code === undefined ? {} : { code: String(code) }),
    ...(actual === undefined ? {} : { actual: String(actual) }),
    ...(typeof cause === 'object' && cause !== null && depth < DEEPEST_CAUSE
      ? { cause: faultOf(cause, depth + 1) }
      : {}),
  };
}

function outcomesOf(module: TestModule): TestOutcome[] {
  const common = { project: module.project.name, file: module.relativeModuleId };
  const ofSuite = (suite: TestModule | TestSuite, test: string): TestOutcome[] => {
    const errors = suite.errors();
    if (errors.length === 0) return [];
    return [{ ...common, test, state: 'failed', ms: 0, faults: errors.map((error) => faultOf(error)) }];
  };
  return [
    ...ofSuite(module, ''),
    ...[...module.children.allSuites()].flatMap((suite) => ofSuite(suite, suite.fullName)),
    ...[...module.children.allTests()].map((test) => {
      const { state, errors = [] } = test.result();
      return {
        ...common,
        test: test.fullName,
        // A run that was broken off leaves some of which nothing is known.
        state: state === 'pending' ? ('failed' as const) : state,
        ms: Math.round(test.diagnostic()?.duration ?? 0),
        faults: errors.map((error) => faultOf(error)),
      };
    }),
  ];
}

export class Results implements Reporter {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const outcome: RunOutcome = {
      tests: modules.flatMap(outcomesOf),
      unhandled: unhandled.map((error) => faultOf(error)),
    };
    writeFileSync(this.#file, JSON.stringify(outcome));
  }
}
