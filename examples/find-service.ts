/** Finds the running service: the URL in BELLWETHER_URL, or the one that `npm start` in this folder wrote to a file. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BellwetherClient, BellwetherConnectionError } from '@bellwether/sdk';

const DEFAULT = 'http://127.0.0.1:8080';
/** Written by the service once it listens, and removed when it stops. */
const ADDRESS_FILE = join(process.env.DATA_DIR ?? './data', 'address');

function candidates(): readonly string[] {
  const named = process.env.BELLWETHER_URL;
  if (named !== undefined && named !== '') return [named.replace(/\/+$/, '')];
  const written = existsSync(ADDRESS_FILE) ? readFileSync(ADDRESS_FILE, 'utf8').trim() : '';
  // A killed service leaves its file behind; another one may run at the default address.
  return [...new Set(written === '' ? [DEFAULT] : [written, DEFAULT])];
}

async function answers(baseUrl: string): Promise<boolean> {
  try {
    await new BellwetherClient({ baseUrl, maxRetries: 0, timeoutMs: 5_000 }).getHealth();
    return true;
  } catch (error) {
    if (error instanceof BellwetherConnectionError) return false;
    throw error;
  }
}

/** @returns the base address of a service that answers, else the addresses that were tried */
export async function lookForService(): Promise<string | { readonly tried: readonly string[] }> {
  const tried = candidates();
  for (const baseUrl of tried) if (await answers(baseUrl)) return baseUrl;
  return { tried };
}

/** @returns the base address; ends the process with status 1 and advice when no service answers */
export async function findService(): Promise<string> {
  const found = await lookForService();
  if (typeof found === 'string') return found;
  console.error(
    `No Bellwether answers at ${found.tried.join(' or ')}. Start one with "npm start", and run this again in the same folder. ` +
      'If it runs elsewhere, name its address: BELLWETHER_URL=http://127.0.0.1:<port> npm run demo',
  );
  process.exit(1);
}
