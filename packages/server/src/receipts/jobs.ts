/** Receipts follow trades within a second. */
import type { Job } from '../platform/scheduler.ts';
import { type CorrectReceiptsNeeds, createReceiptCorrector } from './correct.ts';
import { createReceiptWriter, type WriteReceiptsNeeds } from './write.ts';

export const receiptJobs = (needs: WriteReceiptsNeeds & CorrectReceiptsNeeds): readonly Job[] => [
  { name: 'write receipts', everyMs: 250, run: createReceiptWriter(needs) },
  { name: 'correct receipts', everyMs: 500, run: createReceiptCorrector(needs) },
];
