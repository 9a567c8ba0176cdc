/** Shared by the commands of an operator: their options, a sentence instead of a stack, and an exit code. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

class Usage extends Error {}
class Help extends Error {}

export const usage = (fault: string, how: string): Error => new Usage(`${fault}: ${how}`);

/**
 * Reads the options of a command, and `--help` beside them.
 * @param how to use the command, in one line
 * @throws Error that names every option that there is not, and those that there are
 */
export function readOptions<Config extends ParseArgsConfig>(
  how: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  const options = { ...config.options, help: { type: 'boolean' } } as const;
  const { tokens } = parseArgs({ ...config, options, strict: false, tokens: true });
  const given = (tokens ?? []).flatMap((token) => (token.kind === 'option' ? [token] : []));
  const unknown = given.filter(({ name }) => !Object.hasOwn(options, name));
  if (unknown.length > 0) {
    const names = [...new Set(unknown.map(({ rawName }) => rawName))].join(', ');
    const known = Object.keys(options).map((name) => `--${name}`);
    throw usage(`There is no option ${names}; the options are ${known.join(', ')}`, how);
  }
  if (given.some(({ name }) => name === 'help')) throw new Help(how);
  try {
    return parseArgs(config);
  } catch (error) {
    throw usage((error as Error).message.replace(/\.$/, ''), how);
  }
}

export const megabytesPerSecond = (bytes: number, startedAt: number): string => {
  const seconds = (performance.now() - startedAt) / 1000;
  return `${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s, ${(bytes / 1e6 / seconds).toFixed(0)} MB/s`;
};

/** Exits with 0 after it and after `--help`, with 2 for a wrong use, else with 1. */
export async function runOperation(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof Help) console.log(message);
    else console.error(message || String(error));
    process.exitCode = error instanceof Help ? 0 : error instanceof Usage ? 2 : 1;
  }
}
