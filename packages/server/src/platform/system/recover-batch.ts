/** How questions and answers of recovery cross between threads: many in one message, each in a fixed number of bytes. */
import type { RecoverPublicKey, RecoveryQuestion } from '@bellwether/protocol';

/** A thread's first message: it takes questions from now on. */
export const READY = 'ready';

const DIGEST_BYTES = 32;
const RS_BYTES = 64;
const QUESTION_BYTES = DIGEST_BYTES + RS_BYTES + 1;
/** An uncompressed public key begins with 4; where there is none, with 0. */
const ANSWER_BYTES = 65;
const NO_KEY = 0;

export function packQuestions(questions: readonly RecoveryQuestion[]): Uint8Array<ArrayBuffer> {
  const packed = new Uint8Array(questions.length * QUESTION_BYTES);
  for (const [index, { digest, signature }] of questions.entries()) {
    const at = index * QUESTION_BYTES;
    packed.set(digest, at);
    packed.set(signature.rs, at + DIGEST_BYTES);
    packed[at + DIGEST_BYTES + RS_BYTES] = signature.recovery;
  }
  return packed;
}

export function answerPacked(recover: RecoverPublicKey, packed: Uint8Array): Uint8Array<ArrayBuffer> {
  const answers = new Uint8Array((packed.length / QUESTION_BYTES) * ANSWER_BYTES);
  for (let from = 0, to = 0; from < packed.length; from += QUESTION_BYTES, to += ANSWER_BYTES) {
    const digest = packed.subarray(from, from + DIGEST_BYTES);
    const rs = packed.subarray(from + DIGEST_BYTES, from + DIGEST_BYTES + RS_BYTES);
    const publicKey = recover(digest, rs, packed[from + DIGEST_BYTES + RS_BYTES] === 1 ? 1 : 0);
    if (publicKey !== null) answers.set(publicKey, to);
  }
  return answers;
}

export function unpackAnswer(answers: Uint8Array, index: number): Uint8Array | null {
  const answer = answers.subarray(index * ANSWER_BYTES, (index + 1) * ANSWER_BYTES);
  return answer[0] === NO_KEY ? null : answer;
}
