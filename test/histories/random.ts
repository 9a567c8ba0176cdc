/** Chance that a seed decides: the same seed and name, the same numbers. */
export interface Random {
  /** From 0, below 1. */
  next(): number;
  /** Whole, both included. */
  between(least: number, most: number): number;
  pick<T>(items: readonly T[]): T;
  isOf(share: number): boolean;
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) as number), 0x01000193);
  return hash >>> 0;
}

/** Mulberry32. */
export function seeded(seed: number, name: string): Random {
  let state = hashOf(`${seed} ${name}`);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    pick: (items) => items[between(0, items.length - 1)] as (typeof items)[number],
    isOf: (share) => next() < share,
  };
}
