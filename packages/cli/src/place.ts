/**
 * Sends an order, and says what is known of it afterwards. From the moment it is handed to the connection, only a refusal
 * by the desk proves that it was not placed; everything else is looked up, and is unknown while the desk does not know it.
 */
import { BellwetherApiError } from '@bellwether/sdk';
import { CliError } from './cli-error.ts';
import type { Run } from './run.ts';

export interface Placing<Answer, Found> {
  readonly orderId: string;
  readonly send: () => Promise<Answer>;
  /** What the desk knows of the order. */
  readonly look: () => Promise<Found>;
  /** How to look it up later, or to send it again without a second effect. */
  readonly advice: string;
}

/** Answers that are given before, or instead of, any effect. */
const isProof = (error: unknown): error is BellwetherApiError =>
  error instanceof BellwetherApiError &&
  error.status >= 400 &&
  error.status < 500 &&
  ![408, 429].includes(error.status);

/** Statuses under which the desk itself does not know yet. */
const OPEN = new Set(['submitting', 'unknown']);

/** @throws the refusal; CliError `unknown` */
export async function place<Answer, Found extends { readonly status: string }>(
  run: Run,
  { orderId, send, look, advice }: Placing<Answer, Found>,
): Promise<{ readonly answer: Answer } | { readonly found: Found }> {
  try {
    return { answer: await run.waiting('Placing the order', send()) };
  } catch (error) {
    if (isProof(error)) throw error;
    const found =
      run.stopReason === null ? await run.waiting('Looking for the order', look()).catch(() => null) : null;
    if (found !== null && !OPEN.has(found.status)) return { found };
    throw new CliError('unknown', 'order_outcome_unknown', sentence(run, error), { orderId, fix: advice });
  }
}

function sentence(run: Run, error: unknown): string {
  const { stopReason } = run;
  if (stopReason?.exit === 'interrupted') return 'Stopped after the order was sent: it may have been placed.';
  const why = stopReason?.message ?? (error instanceof Error ? error.message : String(error));
  return `The order was sent, and what became of it is not known here: ${why}`;
}
