/** The commands. The help of each, the completion and docs/cli.md are made of what is declared here. */
import { Command, type CommanderError } from 'commander';
import release from '../../../package.json' with { type: 'json' };
import type { Start } from './command.ts';
import { addAccountCommands } from './commands/account.ts';
import { addCloseCommand } from './commands/close.ts';
import { addCompletion } from './commands/completion.ts';
import { addDoctorCommands } from './commands/doctor.ts';
import { addExitCommands } from './commands/exits.ts';
import { addInitCommand } from './commands/init.ts';
import { addLimitCommands } from './commands/limits.ts';
import { addMarketCommands } from './commands/markets.ts';
import { addOrderCommands } from './commands/orders.ts';
import { addQuotedCommands } from './commands/quoted.ts';
import { addSetCommands } from './commands/sets.ts';
import { addTradeCommands } from './commands/trade.ts';
import { addTrustCommands } from './commands/trust.ts';
import { addWatchCommand } from './commands/watch.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { positive } from './options.ts';
import type { CommandIo } from './run.ts';

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
