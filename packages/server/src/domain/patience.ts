/** Bounded waits for answers from other services. */

/** Maximum wait of a read for a venue; after that it uses the desk's own data. */
export const READ_PATIENCE_MS = 800;

/** @returns `null` when the answer fails, or comes later than this */
export async function within<T>(ms: number, answer: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  try {
    return await Promise.race([answer.catch(() => null), late]);
  } finally {
    clearTimeout(timer);
  }
}
