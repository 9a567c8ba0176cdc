/**
 * The venue's names of a market's outcomes, and the side that each is. `YES` and `NO` always mean the side: the first and the second of
 * `outcomes` and of `clobTokenIds`.
 */

import { LIMITS } from './fields.ts';

/** [YES's, NO's]: text of strangers, made plain. */
export type OutcomeNames = readonly [yes: string, no: string];

/** Which side it means depends on who counts. */
const COUNTS: ReadonlySet<string> = new Set(['0', '1']);

const folded = (name: string): string =>
  name
    .normalize('NFKC')
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .toLowerCase();

/**
 * Whether the venue lists NO's outcome first: YES is the outcome that is called Yes, wherever it stands; else, if one is called No, the
 * other; else the first.
 * @example
 * listsNoFirst(['No', 'Yes']); // true
 * listsNoFirst(['Up', 'Down']); // false
 */
export function listsNoFirst([first, second]: OutcomeNames): boolean {
  const [a, b] = [folded(first), folded(second)];
  if (a === 'yes' || b === 'yes') return a !== 'yes';
  return a === 'no' && b !== 'no';
}

/** Whether a request may name the outcomes: not where the names could be mistaken for each other, or for YES and NO. */
const areTold = (yes: string, no: string): boolean =>
  yes !== no && yes !== 'no' && no !== 'yes' && [yes, no].every((name) => name !== '' && !COUNTS.has(name));

/**
 * The side that a request's word means; `null`: none of this market's.
 * @param word YES, NO, or a name of the market's outcomes, in any case
 * @example
 * sideCalled('faze', ['FaZe', 'illwill']); // 'YES'
 */
export function sideCalled(word: string, outcomes: readonly string[]): 'YES' | 'NO' | null {
  if (word === 'YES' || word === 'NO') return word;
  const [yes = '', no = ''] = outcomes.map(folded);
  if (!areTold(yes, no)) return null;
  const wanted = folded(word);
  return wanted === yes ? 'YES' : wanted === no ? 'NO' : null;
}

/**
 * What is said to a request whose word is none of this market's.
 * @example
 * outcomeMismatch('Up', ['FaZe', 'illwill']); // 'This market has no outcome "Up": YES is "FaZe", NO is "illwill".'
 */
export function outcomeMismatch(word: string, outcomes: readonly string[]): string {
  const [asked = '', yes = 'YES', no = 'NO'] = [word, ...outcomes].map((name) =>
    [...name].slice(0, LIMITS.outcomeChars).join(''),
  );
  return `This market has no outcome "${asked}": YES is "${yes}", NO is "${no}".`;
}

/**
 * What the venue calls an outcome; `null`: of full sets, or not known.
 * @example
 * outcomeName(['FaZe', 'illwill'], 'NO'); // 'illwill'
 */
export const outcomeName = (outcomes: readonly string[] | null | undefined, outcome: string): string | null =>
  (outcome === 'YES' ? outcomes?.[0] : outcome === 'NO' ? outcomes?.[1] : null) ?? null;
