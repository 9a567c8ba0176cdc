import { createReceiptWriter, type WriteReceiptsNeeds } from '../app/receipts/write-receipts.ts';
import type { Job } from './jobs.ts';

const EVERY_MS = 250;

export const writeReceiptsJob = (needs: WriteReceiptsNeeds): Job => ({
  name: 'write receipts',
  everyMs: EVERY_MS,
  run: createReceiptWriter(needs),
});
