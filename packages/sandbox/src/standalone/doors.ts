/**
 * What the standalone exchange answers beside its venues: `POST /paper/faucet`, simulated money for wallets of both
 * kinds, and `/paper/faults`, the venue's faults.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import {
  DecimalError,
  formatMicro,
  type Micro,
  microToNumber,
  parseMicro,
} from '@bellwether/contract/decimals';
import type { PaperExchange } from '@bellwether/exchange';
import {
  addressBuckets,
  charge,
  type DoorGuard,
  guardDoor,
  NulInUrl,
  sayWhen,
  TooManyRequests,
} from '@bellwether/exchange/doors/limits';
import { type Faults, readFaultPlan } from '@bellwether/exchange/doors/polymarket';
import { parseAddress, parseSolanaAddress } from '@bellwether/protocol';
import type { FastifyError, FastifyInstance } from 'fastify';
import type { Sandbox } from '../sandbox.ts';

export const FAUCET_PATH = '/paper/faucet';

/** A gift: 10,000 of collateral; a Solana wallet gets one SOL for fees beside it. */
const COLLATERAL: Micro = 10_000_000_000n;
const LAMPORTS = 1_000_000_000n;
/** For one network address: what a gift changes is stored permanently. */
const GIFTS_PER_DAY = 50;
const DAY_S = 86_400;

class BadRequest extends Error {
  override readonly name = 'BadRequest';
}

interface FaucetOptions {
  readonly exchange: Pick<PaperExchange, 'execute'>;
  readonly sandbox: Pick<Sandbox, 'venue'>;
  readonly guard: DoorGuard;
}

export async function faucetDoor(
  app: FastifyInstance,
  { exchange, sandbox, guard }: FaucetOptions,
): Promise<void> {
  guardDoor(app, guard);
  const gifts = addressBuckets({ perSecond: GIFTS_PER_DAY / DAY_S, burst: GIFTS_PER_DAY, now: Date.now });
  app.setErrorHandler((error: FastifyError | TooManyRequests | NulInUrl | BadRequest, _request, reply) => {
    if (error instanceof TooManyRequests) return sayWhen(reply, error).send({ error: error.message });
    const isBad = error instanceof NulInUrl || error instanceof BadRequest;
    const status = isBad ? 400 : ((error as FastifyError).statusCode ?? 500);
    if (status >= 500) console.error('the faucet failed', error);
    return reply.code(status).send({ error: status < 500 ? error.message : 'internal error' });
  });
  app.post(FAUCET_PATH, async (request) => {
    const { wallet, account, amount } = giftOf(request.body);
    await charge(gifts, request, 1);
    if (account !== null) {
      await exchange.execute({ kind: 'deposit', account, amount, reason: 'faucet' });
      return { address: account, amount: microToNumber(amount) };
    }
    await sandbox.venue.credit(wallet, COLLATERAL, LAMPORTS);
    return { address: wallet, collateral: formatMicro(COLLATERAL), lamports: String(LAMPORTS) };
  });
}

type Gift =
  | { readonly account: string; readonly amount: Micro; readonly wallet: null }
  | { readonly wallet: string; readonly amount: Micro; readonly account: null };

/** @throws BadRequest */
function giftOf(body: unknown): Gift {
  const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const { address, amount, ...others } = fields;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new BadRequest(`"${unknown}" is not a field: send {"address", "amount"?}`);
  const text = typeof address === 'string' ? address : '';
  const account = parseAddress(text);
  if (account !== null) return { account, amount: amountOf(amount), wallet: null };
  const wallet = parseSolanaAddress(text);
  if (wallet === null)
    throw new BadRequest('address must be a wallet: 0x and 40 hex digits, or base58 of 32 bytes');
  if (amount !== undefined) throw new BadRequest('a Solana wallet gets one fixed gift: leave "amount" out');
  return { wallet, amount: COLLATERAL, account: null };
}

function amountOf(value: unknown): Micro {
  if (value === undefined) return COLLATERAL;
  const wrong = new BadRequest(`amount must be above 0, and at most ${formatMicro(COLLATERAL)}`);
  if (typeof value !== 'number' && typeof value !== 'string') throw wrong;
  try {
    const amount = parseMicro(value);
    if (amount > 0n && amount <= COLLATERAL) return amount;
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
  }
  throw wrong;
}

// `/paper/faults` of the standalone exchange: reads and sets the venue's faults while it runs. It exists only with PAPER_CONTROL_KEY,
// and asks for that key, because the holder of that key decides what every other client meets.

export const CONTROL_PATH = '/paper/faults';

interface ControlOptions {
  readonly faults: Faults;
  readonly key: string;
  readonly guard: DoorGuard;
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

export async function controlDoor(
  door: FastifyInstance,
  { faults, key, guard }: ControlOptions,
): Promise<void> {
  guardDoor(door, guard);
  door.setErrorHandler((error: FastifyError | TooManyRequests | NulInUrl, _request, reply) => {
    if (error instanceof TooManyRequests) return sayWhen(reply, error).send({ error: error.message });
    const status = error instanceof NulInUrl ? 400 : (error.statusCode ?? 500);
    return reply.code(status).send({ error: status < 500 ? error.message : 'internal error' });
  });
  const wanted = hashOf(`Bearer ${key}`);
  door.addHook('onRequest', async (request, reply) => {
    const isKey = timingSafeEqual(hashOf(request.headers.authorization ?? ''), wanted);
    return isKey
      ? undefined
      : reply.code(401).send({ error: 'Authorization: Bearer with PAPER_CONTROL_KEY' });
  });
  const state = () => ({ plan: faults.plan, now: faults.mode() });
  door.get(CONTROL_PATH, state);
  door.put(CONTROL_PATH, (request, reply) => {
    try {
      faults.set(readFaultPlan(request.body));
    } catch (error) {
      return reply.code(422).send({ error: `${(error as Error).message}.` });
    }
    return reply.send(state());
  });
}
