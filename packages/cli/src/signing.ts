/**
 * What stands around a signature: facts that this machine decides for itself about a desk's answers before it signs
 * anything, the spending limit, sending an order, and transactions of a wallet's owner.
 */
import {
  type BellwetherClient,
  type KeyUse,
  type Market,
  type Me,
  outcomeMismatch,
  readRelayTerms,
  sideCalled,
  signRelay,
  verifyRelay,
  verifyWalletCalls,
  type WalletAction,
  type WalletTransaction,
} from '@bellwether/sdk';
import { KnownMints, provesNoEffect, SpendingLimit, SpendingLimitReached } from '@bellwether/sdk/keystore';
import { CliError } from './cli-error.ts';
import type { Run } from './run.ts';
import { outcomeName } from './terminal.ts';

/** A key signs only for what it was made for; one without a mark signs for both, under every check. @throws CliError */
export function requireUse(venues: Me['venues'], venue: string, use: KeyUse | null): void {
  const backend = venues.find(({ name }) => name === venue)?.backend;
  if (use === null || backend === undefined || backend === use) return;
  throw new CliError(
    'keystore',
    'key_not_for_this',
    `This key is for ${use}, and the desk says that ${venue} is ${backend}. Nothing was signed.`,
    {
      fix: `Use keys of their own for ${backend}: name another folder in BELLWETHER_HOME and run bellwether init. If this key is for ${backend}: bellwether keys mark ${backend}`,
    },
  );
}

/** The side that a word of the command line means in this market. @throws CliError with both names */
export function sideIn(word: string, { outcomes }: Pick<Market, 'outcomes'>): 'YES' | 'NO' {
  const side = sideCalled(word, outcomes);
  if (side !== null) return side;
  throw new CliError('refused', 'outcome_name_mismatch', outcomeMismatch(word, outcomes.map(outcomeName)), {
    fix: 'Say YES or NO: the message says which is which.',
  });
}

const CONDITION = /^0x[0-9a-f]{64}$/i;
const TOKEN = /^\d{20,78}$/;

/** A name that says which market it is has to be that market's. @throws CliError */
export function requireSameMarket(
  asked: string,
  market: Pick<Market, 'id' | 'conditionId' | 'clobTokenIds'>,
): void {
  const isSame = CONDITION.test(asked)
    ? market.conditionId.toLowerCase() === asked.toLowerCase()
    : TOKEN.test(asked)
      ? market.clobTokenIds.includes(asked)
      : !/^\d{1,19}$/.test(asked) || market.id === asked;
  if (isSame) return;
  throw new CliError(
    'unverified',
    'other_market',
    'The desk answers with another market than the one named.',
    {
      fix: 'Run the command again. If it happens again, do not trade with this desk.',
    },
  );
}

// The spending limit of this machine: what an order may cost is taken out of it before the order is signed and sent.

/** Before a person is asked about an order. @throws SpendingLimitReached where the limit would refuse it, KeystoreError */
export function requireSpending(run: Run, atMost: bigint, orderId?: string): void {
  const limit = new SpendingLimit(run.place);
  const standing = limit.standing();
  if (atMost > standing.left && !(orderId !== undefined && limit.isReserved(orderId)))
    throw new SpendingLimitReached(atMost, standing);
}

/**
 * It stays reserved after any answer of the desk: it has the signed order then.
 * @param orderId made of what is signed
 * @param atMost in millionths of collateral; @throws SpendingLimitReached, KeystoreError
 */
export function reserveSpending(run: Run, orderId: string, atMost: bigint): void {
  if (atMost > 0n) new SpendingLimit(run.place).reserve(orderId, atMost);
}

// Sends an order, and says what is known of it afterwards. From the moment it is handed to the connection, only a refusal
// by the desk proves that it was not placed; everything else is looked up, and is unknown while the desk does not know it.

interface Placing<Answer, Found> {
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
const OPEN_STATUSES = new Set(['submitting', 'unknown']);

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
    if (found !== null && !OPEN_STATUSES.has(found.status)) return { found };
    throw new CliError('unknown', 'order_outcome_unknown', doubtSentence(run, error), {
      ...(orderId === undefined ? {} : { orderId }),
      fix: advice,
    });
  }
}

function doubtSentence(run: Run, error: unknown): string {
  const { stopReason } = run;
  if (stopReason?.exit === 'interrupted') return 'Stopped after the order was sent: it may have been placed.';
  const why = stopReason?.message ?? (error instanceof Error ? error.message : String(error));
  return `The order was sent, and what became of it is not known here: ${why}`;
}

// Transactions that the owner of a wallet has to sign: shown only once they are the ones that were built here, and so built.

type Answer = Parameters<typeof verifyWalletCalls>[0];

/** The wallet of this machine's key that trades. */
export async function ownWallet(run: Run) {
  const { signer, key } = await run.tradingKey();
  return { signer, wallet: signer.wallet(key.signatureType) };
}

/** Where the relayer is asked for its own terms; the desk is not believed about them. */
const relayerOf = ({ env }: Run) => {
  const url = env.BELLWETHER_RELAYER_URL;
  return url === undefined || url === '' ? {} : { relayerUrl: url };
};

type SetAnswer = Awaited<ReturnType<BellwetherClient['splitSets']>>;

/**
 * Signs what the desk prepared for the relayer, once it is what was asked for, and has the desk forward it.
 * @throws WalletCallsError for anything else than what was asked for; OrderBuildError
 */
export async function relayAsked(
  run: Run,
  client: BellwetherClient,
  { answer, action, marketId, venue }: Asked & { readonly answer: Parameters<typeof verifyRelay>[0] },
): Promise<SetAnswer> {
  const own = await ownWallet(run);
  const [market, terms] = await run.waiting(
    'Reading the market and the relayer',
    Promise.all([
      client.getMarket(marketId, venue === undefined ? {} : { venue }),
      readRelayTerms({ ...own, ...relayerOf(run) }),
    ]),
  );
  const tokenIds = new KnownMints(run.place).tokensOf(market);
  const verified = verifyRelay(answer, action, { ...own, market, terms, tokenIds });
  const signed = await signRelay(verified, own.signer);
  return run.waiting('Sending the signature', client.relaySet(signed));
}

interface Asked {
  readonly action: WalletAction;
  readonly marketId: string;
  readonly venue: string | undefined;
}

export interface Unsigned {
  readonly market: Market;
  readonly transactions: readonly WalletTransaction[];
}

/** @throws WalletCallsError for anything else than what was asked for; OrderBuildError */
export async function requireAsked(
  run: Run,
  client: BellwetherClient,
  { answer, action, marketId, venue }: Asked & { readonly answer: Answer },
): Promise<Unsigned> {
  const own = await ownWallet(run);
  const market = await run.waiting(
    'Reading the market',
    client.getMarket(marketId, venue === undefined ? {} : { venue }),
  );
  const tokenIds = new KnownMints(run.place).tokensOf(market);
  return { market, transactions: verifyWalletCalls(answer, action, { ...own, market, tokenIds }) };
}

/** For a person: what to sign, and where from. */
export const transactionText = (run: Run, { market, transactions }: Unsigned): string =>
  transactions
    .map(({ from, to, data, value, chainId }, at) =>
      run.output.facts([
        ['sign and send', `transaction ${at + 1} of ${transactions.length}, once, in this order`],
        ['market', market.question],
        ['from', from],
        ['to', to],
        ['data', data],
        ['value', value],
        ['chain', chainId],
      ]),
    )
    .join('\n\n');
