/**
 * Sends an order, and says what is known of it afterwards. From the moment it is handed to the connection, only a refusal
 * by the desk proves that it was not placed; everything else is looked up, and is unknown while the desk does not know it.
 */
import type { BellwetherClient } from '@bellwether/sdk';
import { provesNoEffect } from '@bellwether/sdk/keystore';
import { CliError } from './cli-error.ts';
import type { Run } from './run.ts';

export interface Placing<Answer, Found> {
  /** Missing: the desk makes it. */
  readonly orderId?: string;
  /** Through a client that tries once: behind a second try, a refusal proves nothing about the first. */
  readonly send: (once: BellwetherClient) => Promise<Answer>;
  /** The desk's knowledge of the order. */
  readonly look: () => Promise<Found>;
  /** How to look it up later, or to send it again without a second effect. */
  readonly advice: string;
}

/** Statuses under which the desk itself does not know yet. */
const OPEN = new Set(['submitting', 'unknown']);

/** @throws the refusal; CliError `unknown` */
export async function place<Answer, Found extends { readonly status: string }>(
  run: Run,
  { orderId, send, look, advice }: Placing<Answer, Found>,
): Promise<{ readonly answer: Answer } | { readonly found: Found }> {
  try {
    return { answer: await run.waiting('Placing the order', send(await run.client({ maxRetries: 0 }))) };
  } catch (error) {
    if (provesNoEffect(error)) throw error;
    const found =
      run.stopReason === null ? await run.waiting('Looking for the order', look()).catch(() => null) : null;
    if (found !== null && !OPEN.has(found.status)) return { found };
    throw new CliError('unknown', 'order_outcome_unknown', sentence(run, error), {
      ...(orderId === undefined ? {} : { orderId }),
      fix: advice,
    });
  }
}

function sentence(run: Run, error: unknown): string {
  const { stopReason } = run;
  if (stopReason?.exit === 'interrupted') return 'Stopped after the order was sent: it may have been placed.';
  const why = stopReason?.message ?? (error instanceof Error ? error.message : String(error));
  return `The order was sent, and what became of it is not known here: ${why}`;
}
