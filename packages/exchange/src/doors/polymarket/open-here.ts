/** The exchange behind the door, and what its failures mean to a client. */
import type { DoorExchange, PolymarketDoorOptions } from './door-options.ts';
import { EngineRestarts, WireError } from './wire-error.ts';

/** @throws EngineRestarts */
export function openHere({ exchange }: Pick<PolymarketDoorOptions, 'exchange'>): DoorExchange {
  const open = exchange();
  if (open === null) throw new EngineRestarts();
  return open;
}

/** By its name: a door imports no code of the exchange. */
const isUnavailable = (error: unknown): error is Error & { readonly executed: 'no' | 'unknown' } =>
  error instanceof Error && error.name === 'ExchangeUnavailable';

/** Runs a command. @throws EngineRestarts with proof that nothing happened, WireError 500 without any */
export async function commanded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    if (error.executed === 'no') throw new EngineRestarts();
    throw new WireError(500, 'could not run the execution');
  }
}
