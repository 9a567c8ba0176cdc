/** Runs a command line to its exit code. Every failure is one error in one form, and holds no secret. */
import { CommanderError } from 'commander';
import { type Failure, failureOf } from './cli-error.ts';
import type { Start } from './command.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { Output } from './output.ts';
import { buildProgram } from './program.ts';
import { type CommandIo, Run } from './run.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Keys that somebody gave as an argument must not be repeated: a terminal's text is kept and copied. */
const SECRET_LIKE = /(0x)?[0-9a-f]{64,}|[1-9A-HJ-NP-Za-km-z]{40,}/gi;

/** @returns null where nothing went wrong: help and version were asked for */
function usageFailure(
  { code, exitCode, message }: CommanderError,
  command: string | undefined,
): Failure | null {
  if (exitCode === 0) return null;
  if (code === 'commander.help')
    return { exit: 'usage', code: 'usage', message: 'No command was given.', fix: 'See: bellwether --help' };
  return {
    exit: 'usage',
    code: 'usage',
    message: message.replace(/^error: /, '').replaceAll(SECRET_LIKE, '…'),
    fix: `See: bellwether ${command === undefined ? '' : `${command} `}--help`,
  };
}

/** @param args without the names of Node and of this program @param io what it reads and writes; the process's own by default */
export async function runCli(args: readonly string[], io: CommandIo = process): Promise<number> {
  let run: Run | null = null;
  const output = new Output({
    json: args.includes('--json'),
    stdout: io.stdout,
    stderr: io.stderr,
    env: io.env,
    onClosed: () => run?.readerLeft(),
  });
  const interrupt = () => run?.interrupt();
  const start: Start = async (global, defaultTimeoutS, work) => {
    const mine = new Run({ output, io, global, defaultTimeoutS });
    run = mine;
    // A second Ctrl-C ends the process as it ends any other.
    for (const signal of SIGNALS) process.once(signal, interrupt);
    await mine.within(() => work(mine));
  };
  const program = buildProgram(start, io);
  let status: number = EXIT_CODES.done.status;
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    const names = new Set(program.commands.map((one) => one.name()));
    // The first of them: `trade buy` is not `buy`.
    const command = args.find((argument) => names.has(argument));
    const failure = error instanceof CommanderError ? usageFailure(error, command) : failureIn(run, error);
    if (failure !== null) {
      output.failure(failure);
      status = EXIT_CODES[failure.exit].status;
    }
  }
  await output.end();
  for (const signal of SIGNALS) process.off(signal, interrupt);
  return status;
}

/** A call that was cut off says so in its own words; why it was cut off is the reason. */
function failureIn(run: Run | null, error: unknown): Failure {
  const failure = failureOf(error);
  const stopReason = run?.stopReason ?? null;
  const isCut = failure.exit === 'unreachable' || failure.exit === 'unexpected';
  return stopReason !== null && isCut ? failureOf(stopReason) : failure;
}
