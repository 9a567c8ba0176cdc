import { parseSolanaAddress, readTransaction, type SolanaAddress, toBase58 } from '@bellwether/protocol';
import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  type Instruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { expect, test } from 'vitest';
import { compileMessage, type MessageDraft } from './transactions.ts';

/** A small generator with a seed, so that a failure can be repeated. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function draftOf(seed: number): MessageDraft {
  const pick = random(seed);
  const addresses = Array.from({ length: 8 }, () =>
    toBase58(Uint8Array.from({ length: 32 }, () => pick(256))),
  );
  const any = () => addresses[pick(addresses.length)] as Address;
  const roles = [
    AccountRole.READONLY,
    AccountRole.WRITABLE,
    AccountRole.READONLY_SIGNER,
    AccountRole.WRITABLE_SIGNER,
  ];
  // Programs are other accounts than those that sign or are written, as on the chain.
  const instructions = Array.from(
    { length: 1 + pick(3) },
    (): Instruction => ({
      programAddress: toBase58(Uint8Array.from({ length: 32 }, () => pick(256))) as Address,
      accounts: Array.from({ length: pick(7) }, () => ({
        address: any(),
        role: roles[pick(4)] as AccountRole,
      })),
      data: Uint8Array.from({ length: pick(3) === 0 ? 130 + pick(60) : pick(40) }, () => pick(256)),
    }),
  );
  return {
    feePayer: any() as string as SolanaAddress,
    blockhash: toBase58(Uint8Array.from({ length: 32 }, () => pick(256))),
    instructions,
  };
}

const withKit = ({ feePayer, blockhash, instructions }: MessageDraft): Uint8Array =>
  new Uint8Array(
    pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayer(feePayer as string as Address, message),
      (message) =>
        setTransactionMessageLifetimeUsingBlockhash(
          { blockhash: blockhash as Blockhash, lastValidBlockHeight: 1n },
          message,
        ),
      (message) => appendTransactionMessageInstructions(instructions, message),
      compileTransaction,
    ).messageBytes,
  );

/** The meaning of a message, in any order of its accounts. */
function meaningOf(message: Uint8Array) {
  const required = message[1] ?? 0;
  const tx = readTransaction(Uint8Array.from([required, ...new Uint8Array(64 * required), ...message]));
  const { accountKeys, requiredSignatures, readonlySigners, readonlyOthers } = tx;
  const others = accountKeys.length - readonlyOthers;
  return {
    payer: accountKeys[0],
    writableSigners: accountKeys.slice(0, requiredSignatures - readonlySigners).toSorted(),
    readonlySigners: accountKeys.slice(requiredSignatures - readonlySigners, requiredSignatures).toSorted(),
    writable: accountKeys.slice(requiredSignatures, others).toSorted(),
    readonly: accountKeys.slice(others).toSorted(),
    blockhash: tx.recentBlockhash,
    lookups: tx.lookups,
    instructions: tx.instructions.map(({ program, accounts, data }) => ({
      program,
      accounts: accounts.map((index) => accountKeys[index]),
      data: [...data],
    })),
  };
}

test('a message means the same as the one that kit compiles', () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const draft = draftOf(seed);
    const { message, signers } = compileMessage(draft);
    const meaning = meaningOf(message);
    expect(meaning, `seed ${seed}`).toEqual(meaningOf(withKit(draft)));
    expect(signers.toSorted()).toEqual([...meaning.writableSigners, ...meaning.readonlySigners].toSorted());
    expect(signers[0]).toBe(draft.feePayer);
  }
});

test('what is no address is refused', () => {
  const draft = draftOf(1);
  expect(parseSolanaAddress('nobody')).toBeNull();
  expect(() => compileMessage({ ...draft, feePayer: 'nobody' as SolanaAddress })).toThrow(RangeError);
});
