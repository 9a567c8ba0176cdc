/** Finds a short list that still fails (delta debugging, as Zeller describes it): parts are left out, larger ones first. */

/**
 * @param fails whether a list, in the order of the given one, still fails
 * @param isOver no further list is tried
 */
export async function shrink<T>(
  items: readonly T[],
  fails: (some: readonly T[]) => Promise<boolean>,
  isOver: () => boolean = () => false,
): Promise<readonly T[]> {
  let best = items;
  /** Leaves out each part of this size in turn, from the end. @returns whether one was not needed */
  const leaveOut = async (size: number): Promise<boolean> => {
    const before = best.length;
    for (let end = best.length; end > 0 && !isOver(); end -= size) {
      const without = [...best.slice(0, Math.max(0, end - size)), ...best.slice(end)];
      if (await fails(without)) best = without;
    }
    return best.length < before;
  };
  for (let size = Math.ceil(items.length / 2); size > 1 && !isOver(); size = Math.ceil(size / 2))
    await leaveOut(size);
  while (!isOver() && (await leaveOut(1)));
  return best;
}
