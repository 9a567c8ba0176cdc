/** The commands of the command line, how a run can end, and what it reads of the environment. */
import type { Command } from 'commander';
import { buildProgram, ENVIRONMENT } from '../../packages/cli/src/cli.ts';
import { EXIT_CODES } from '../../packages/cli/src/cli-error.ts';
import { table } from './markdown.ts';

/** With its arguments, as it is typed. */
function typed(command: Command): string {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const parent = command.parent?.parent === null ? '' : `${command.parent?.name()} `;
  return [`${parent}${command.name()}`, ...words].join(' ');
}

const commandsBelow = (command: Command): Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help')
    .flatMap((one) => [one, ...commandsBelow(one)]);

export function cliCommandsTable(): string {
  const program = buildProgram(async () => {});
  return table(
    ['Command', 'What it does', 'Options'],
    commandsBelow(program).map((command) => [
      `\`${typed(command)}\``,
      command.description(),
      command.options.map(({ long }) => `\`${long}\``).join(' '),
    ]),
  );
}

export const exitCodesTable = (): string =>
  table(
    ['Exit code', 'Meaning'],
    Object.values(EXIT_CODES).map(({ status, meaning }) => [String(status), meaning]),
  );

export const cliEnvironmentTable = (): string =>
  table(
    ['Variable', 'Meaning'],
    ENVIRONMENT.map(([name, meaning]) => [`\`${name}\``, meaning]),
  );
