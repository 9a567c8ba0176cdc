import { describe, expect, test } from 'vitest';
import { listsNoFirst, sideCalled } from '../src/outcome-names.ts';

describe('which outcome is YES', () => {
  test.each<[names: readonly [string, string], isTurned: boolean]>([
    [['Yes', 'No'], false],
    [['No', 'Yes'], true],
    [['NO', ' yes '], true],
    [['Ｎｏ', 'Maybe'], true],
    [['Maybe', 'No'], false],
    [['Maybe', 'yes'], true],
    [['Yes', 'Maybe'], false],
    [['Yes', 'Yes'], false],
    [['No', 'No'], false],
    [['Up', 'Down'], false],
    [['FaZe', 'illwill'], false],
    [['Nope', 'Yeah'], false],
  ])('%j', (names, isTurned) => expect(listsNoFirst(names)).toBe(isTurned));
});

describe('what a word means', () => {
  test.each<[outcomes: readonly [string, string], word: string, side: 'YES' | 'NO' | null]>([
    [['FaZe', 'illwill'], 'FaZe', 'YES'],
    [['FaZe', 'illwill'], 'ILLWILL', 'NO'],
    [['FaZe', 'illwill'], ' ＦａＺｅ ', 'YES'],
    [['São Paulo', 'Real Madrid'], 'são paulo', 'YES'],
    [['FaZe', 'illwill'], 'YES', 'YES'],
    [['FaZe', 'illwill'], 'NO', 'NO'],
    [['FaZe', 'illwill'], 'Yes', null],
    [['FaZe', 'illwill'], 'no', null],
    [['FaZe', 'illwill'], 'FaZe Clan', null],
    [['FaZe', 'illwill'], '', null],
    [['Yes', 'No'], 'yes', 'YES'],
    [['Yes', 'No'], 'No', 'NO'],
    // They could be mistaken for each other, or for the other side.
    [['Draw', 'draw'], 'Draw', null],
    [['Draw', 'DRAW '], 'NO', 'NO'],
    [['No', 'No'], 'no', null],
    [['Up', 'yes'], 'Up', null],
    [['1', '0'], '1', null],
    [['0', '2'], '2', null],
    [['Fa\u200bZe', 'FaZe'], 'FaZe', null],
    [['', 'Down'], 'Down', null],
  ])('%j: %j is %s', (outcomes, word, side) => expect(sideCalled(word, outcomes)).toBe(side));
});
