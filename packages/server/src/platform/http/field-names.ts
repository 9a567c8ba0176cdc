/** Names of fields that look alike: a typing error must not pass for an unknown field. */

const MOST_EDITS = 2;
/** Worse than a typing error, better than more edits. */
const PART_COST = MOST_EDITS + 0.5;
/** Longer names are no typing errors, and comparing them costs time. */
const MOST_CHARS = 64;

/** Without what the spellings of one name differ in: `market_id`, `market-id`, `MarketId`. */
const plain = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase();

/** Insertions, deletions and replacements between two texts; `most` + 1 when there are more. */
export function edits(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return Math.min(row[b.length] as number, most + 1);
}

/** Whether a name is within two edits of a known one; of a short one, within fewer, or every short name would be. */
export function isNear(name: string, known: string): boolean {
  if (name.length > MOST_CHARS) return false;
  const most = Math.min(MOST_EDITS, known.length - 1);
  return edits(plain(name), plain(known), most) <= most;
}

/** The known name that was most likely meant; `null` when none is like it. */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > MOST_CHARS) return null;
  const wanted = plain(name);
  let best: { readonly name: string; readonly cost: number } | null = null;
  for (const candidate of known) {
    const other = plain(candidate);
    const most = Math.max(MOST_EDITS, Math.floor(other.length / 3));
    const cost = edits(wanted, other, most);
    // A part of the name, such as "status" for "orderStatus", is a better guess than many edits.
    const isPart = wanted.length > MOST_EDITS && (other.includes(wanted) || wanted.includes(other));
    const score = isPart ? Math.min(cost, PART_COST) : cost;
    if ((isPart || cost <= most) && (best === null || score < best.cost))
      best = { name: candidate, cost: score };
  }
  return best?.name ?? null;
}
