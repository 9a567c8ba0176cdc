/** What the commands of an operator share: a sentence instead of a stack, and an exit code. */

class Usage extends Error {}

export const usage = (fault: string, how: string): Error => new Usage(`${fault}: ${how}`);

export const megabytesPerSecond = (bytes: number, startedAt: number): string => {
  const seconds = (performance.now() - startedAt) / 1000;
  return `${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s, ${(bytes / 1e6 / seconds).toFixed(0)} MB/s`;
};

/** Exits with 0 after it, with 2 for a wrong use, else with 1. */
export async function runOperation(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isWrongUse = error instanceof Usage || code?.startsWith('ERR_PARSE_ARGS') === true;
    console.error(message || String(error));
    process.exitCode = isWrongUse ? 2 : 1;
  }
}
