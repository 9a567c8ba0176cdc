/** The first `count` of the items in the given order, as a stable sort would put them; the others are not sorted. */
export function firstOf<T>(items: readonly T[], count: number, compare: (a: T, b: T) => number): T[] {
  const first: T[] = [];
  for (const item of items) {
    let place = first.length;
    while (place > 0 && compare(item, first[place - 1] as T) < 0) place -= 1;
    if (place === count) continue;
    first.splice(place, 0, item);
    if (first.length > count) first.pop();
  }
  return first;
}
