/** How commands are declared: each one gets a run of its own. */
import type { Command } from 'commander';
import type { GlobalOptions, Run } from './run.ts';

/** Does a command's work within a run. */
export type Start = (
  global: GlobalOptions,
  defaultTimeoutS: number,
  work: (run: Run) => Promise<void>,
) => Promise<void>;

/** Seconds that a command takes at most, unless --timeout says otherwise. */
const DEFAULT_TIMEOUT_S = 60;

export interface Handler<Options, Args extends readonly unknown[]> {
  readonly timeoutS?: number;
  readonly run: (run: Run, options: Options, ...args: Args) => Promise<void>;
}

/** Arguments, options and command, as commander passes them. */
export const action =
  <Options, Args extends readonly unknown[]>(start: Start, handler: Handler<Options, Args>) =>
  async (...given: unknown[]): Promise<void> => {
    const command = given.pop() as Command;
    const options = given.pop() as Options;
    const { timeoutS = DEFAULT_TIMEOUT_S } = handler;
    await start(command.optsWithGlobals<GlobalOptions>(), timeoutS, (run) =>
      handler.run(run, options, ...(given as unknown as Args)),
    );
  };

/** Examples below a command's help. */
export const examples = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`);
