/** A thread that recovers public keys, batch after batch, and does nothing else. */
import { parentPort } from 'node:worker_threads';
import { loadRecover } from './recover.ts';
import { answerPacked } from './recover-batch.ts';

const { recover } = loadRecover();

parentPort?.on('message', (questions: Uint8Array) => {
  const answers = answerPacked(recover, questions);
  parentPort?.postMessage(answers, [answers.buffer]);
});
