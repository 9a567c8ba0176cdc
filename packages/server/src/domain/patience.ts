/** Waits for an answer from outside no longer than it is worth. */

/** What a read waits for a venue at most, before it goes on with what the desk knows itself. */
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
