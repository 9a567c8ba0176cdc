/** Tokens of markets that the venue has listed, computed from their conditions. */
import { describe, expect, test } from 'vitest';
import { outcomeTokens } from '../src/index.ts';

describe('the tokens of a condition', () => {
  test('of a market that excludes others, as the venue listed it', () => {
    const condition = '0xdd22472e552920b8438158ea7238bfadfa4f736aa4cee91a6b86c39ead110917';
    const listed = [
      '21742633143463906290569050155826241533067272736897614950488156847949938836455',
      '48331043336612883890938759509493159234755048973500640148014422747788308965732',
    ];
    expect(outcomeTokens(condition, true)).toEqual(listed);
    expect(outcomeTokens(condition.toUpperCase().replace('0X', '0x'), true)).toEqual(listed);
    expect(outcomeTokens(condition, false)).not.toEqual(listed);
  });

  test('of an ordinary market, as the venue listed it', () => {
    const condition = '0x2e6af11e4b853b05ba7135239b21d77e808889b6ce1e735de856c94c4e5b5fce';
    expect(outcomeTokens(condition, false)).toEqual([
      '8851848546962572193739008211889046036776198486765606333032192644001246174440',
      '10181859819235412241349111952383458602722012323104397550162049365057126390549',
    ]);
  });

  test.each(['', '0x12', `0x${'g'.repeat(64)}`, `${'1'.repeat(64)}`])('"%s" is no condition', (text) => {
    expect(() => outcomeTokens(text, false)).toThrow(RangeError);
  });
});
