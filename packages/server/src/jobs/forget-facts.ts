import { type ForgetFactsParts, forgetFacts } from '../app/forget-facts.ts';
import type { Job } from './jobs.ts';

const EVERY_MS = 300_000;

export const forgetFactsJob = (needs: ForgetFactsParts): Job => ({
  name: 'forget facts',
  everyMs: EVERY_MS,
  run: () => forgetFacts(needs),
});
