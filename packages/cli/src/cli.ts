/** Runs a command line to its exit code. Every failure is one error in one form, and holds no secret. */

import tab from '@bomb.sh/tab/commander';
import { Command, CommanderError } from 'commander';
import release from '../../../package.json' with { type: 'json' };
import { EXIT_CODES, type Failure, failureOf } from './cli-error.ts';
import { addAccountCommands } from './commands/account.ts';
import { addDoctorCommands } from './commands/doctor.ts';
import { addCloseCommand, addExitCommands } from './commands/exits.ts';
import { addInitCommand, addTrustCommands } from './commands/init.ts';
import { addLimitCommands } from './commands/limits.ts';
import { addMarketCommands } from './commands/markets.ts';
import { addOrderCommands } from './commands/orders.ts';
import { addQuotedCommands } from './commands/quoted.ts';
import { addSetCommands } from './commands/sets.ts';
import { addTradeCommands } from './commands/trade.ts';
import { addWatchCommand } from './commands/watch.ts';
import { positive } from './options.ts';
import { Output } from './output.ts';
import { type CommandIo, examples, Run, type Start } from './run.ts';

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

// The commands. The help of each, the completion and docs/cli.md are made of what is declared here.

export const ENVIRONMENT = [
  ['BELLWETHER_URL', 'address of the desk; default http://127.0.0.1:8080'],
  [
    'BELLWETHER_DESK_HOST',
    'what the desk calls itself (the host of its PUBLIC_URL), where that is another name',
  ],
  ['BELLWETHER_HOME', 'folder of the keystore and the spending limit; default ~/.bellwether'],
  ['BELLWETHER_PASSPHRASE_FILE', 'file with the passphrase of the keystore, which only you can read'],
  ['BELLWETHER_PASSPHRASE', 'the passphrase itself'],
  ['BELLWETHER_API_KEY', 'with the keys below: instead of a keystore'],
  ['BELLWETHER_PRIVATE_KEY', 'signs orders'],
  ['BELLWETHER_SIGNATURE_TYPE', 'its wallet: 0 itself, 1 proxy, 2 Safe, 3 deposit wallet'],
  ['BELLWETHER_SOLANA_KEY', 'signs transactions of venue B'],
  [
    'BELLWETHER_KEY_USE',
    'paper or live: what these keys are for; unset: every check of a live venue applies',
  ],
  ['BELLWETHER_DFLOW_METADATA', "another address of venue B's own metadata; never the desk"],
  ['BELLWETHER_RELAYER_URL', "the venue's relayer, where it is not the live one; never the desk"],
  ['BELLWETHER_ORDER_PROFILE', 'polymarket for a desk on the live venue; the desk cannot choose it'],
  ['BELLWETHER_SOLANA_RPC', 'Solana node of your own: simulates what cannot be read on a live chain'],
  ['NO_COLOR', 'no bold titles'],
] as const;

const rows = (all: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...all.map(([name]) => name.length));
  return all.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`).join('\n');
};

const exitCodes = (): string =>
  rows(
    Object.values(EXIT_CODES).map(({ status, meaning }) => [
      String(status),
      meaning.split('. ', 1)[0] as string,
    ]),
  );

/** @param io where help and version are written */
export function buildProgram(start: Start, io: Pick<CommandIo, 'stdout' | 'stderr'> = process): Command {
  const program = new Command('bellwether')
    .description('Trade on prediction markets through a Bellwether order desk. Keys stay on this machine.')
    .version(release.version)
    .option('--json', 'answer in JSON: one document, or a line for each event of watch; errors too')
    .option('--url <address>', 'of the desk; default BELLWETHER_URL, else http://127.0.0.1:8080')
    .option('--timeout <seconds>', 'how long the desk may take for the whole command', positive)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      // Errors are written in the form of every other error.
      outputError: () => {},
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
    })
    .exitOverride((error: CommanderError) => {
      throw error;
    })
    .addHelpText('after', () => `\nEnvironment:\n${rows(ENVIRONMENT)}\n\nExit codes:\n${exitCodes()}`);
  addInitCommand(program, start);
  addMarketCommands(program, start);
  addTradeCommands(program, start);
  addSetCommands(program, start);
  addOrderCommands(program, start);
  addCloseCommand(program, start);
  addExitCommands(program, start);
  addAccountCommands(program, start);
  addWatchCommand(program, start);
  addLimitCommands(program, start);
  addQuotedCommands(program, start);
  addTrustCommands(program, start);
  addDoctorCommands(program, start);
  addCompletion(program);
  return program;
}

// Completion for shells: the script asks this program for the words that fit, without any call to the desk.

/** The library's script needs this function of the package bash-completion, which is not on every machine. */
const FOR_BASH = `if ! declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref() {
        cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
        words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD
    }
fi`;

/** Last: it reads the commands that are there. */
function addCompletion(program: Command): void {
  const completion = tab(program, { completionCommandName: 'completion' });
  for (const option of program.options)
    for (const command of completion.commands.values())
      command.option((option.long ?? '').slice(2), option.description);
  const command = program.commands.find((one) => one.name() === 'completion') as Command;
  command.description('print the completion script of a shell').hook('preAction', (_, { args }) => {
    if (args[0] === 'bash') console.log(FOR_BASH);
  });
  examples(command, 'source <(bellwether completion bash)', 'source <(bellwether completion zsh)');
}
