import { type CorrectReceiptsNeeds, createReceiptCorrector } from '../app/receipts/correct-receipts.ts';
import type { Job } from './jobs.ts';

const EVERY_MS = 500;

export const correctReceiptsJob = (needs: CorrectReceiptsNeeds): Job => ({
  name: 'correct receipts',
  everyMs: EVERY_MS,
  run: createReceiptCorrector(needs),
});
