import { describe, expect, test } from 'vitest';
import { readToken } from '../src/solana/token-accounts.ts';
import { SYSTEM, TOKEN, TOKEN_2022 } from './chain-fixtures.ts';

const account = (owner: string, data: Uint8Array) => ({ lamports: 1n, owner, data, executable: false });

function tokenData(length: number, kind?: number): Uint8Array {
  const data = new Uint8Array(length);
  data[108] = 1;
  if (kind !== undefined) data[165] = kind;
  return data;
}

describe('invalid data is not read as a token account', () => {
  test.each([
    ['of another program', account(SYSTEM, tokenData(165))],
    ['not initialised', account(TOKEN, new Uint8Array(165))],
    ['a multisig', account(TOKEN_2022, tokenData(355, 2))],
    ['a classic one with something behind it', account(TOKEN, tokenData(170, 2))],
    ['of unknown kind', account(TOKEN_2022, tokenData(170, 9))],
    ['a mint that is not initialised', account(TOKEN, new Uint8Array(82))],
    ['too short', account(TOKEN_2022, tokenData(164))],
  ])('%s', (_name, given) => {
    expect(readToken(given)).toBeNull();
  });

  test('a Token-2022 account is read with its extensions', () => {
    const data = tokenData(174, 2);
    data.set([7, 0, 0, 0, 9, 0, 1], 166);
    expect(readToken(account(TOKEN_2022, data))).toMatchObject({ kind: 'account', extensions: [7, 9] });
  });
});
