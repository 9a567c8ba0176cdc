/** A thread that recovers public keys, batch after batch, and does nothing else. */
import { parentPort } from 'node:worker_threads';
import { loadNativeRecover } from './native-recover.ts';
import { answerPacked, READY } from './recover-batch.ts';

const recover = loadNativeRecover() ?? (await import('./recover.ts')).loadRecover().recover;

parentPort?.on('message', (questions: Uint8Array) => {
  const answers = answerPacked(recover, questions);
  parentPort?.postMessage(answers, [answers.buffer]);
});
parentPort?.postMessage(READY);
