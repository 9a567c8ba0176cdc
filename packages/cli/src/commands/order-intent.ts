/** From the options of `buy` and `sell` to the intent that the desk is asked to prepare, and back to a command line. */
import { randomUUID } from 'node:crypto';
import {
  type BellwetherClient,
  type IntentField,
  type IntentTerms,
  intentFaults,
  isProblem,
  type Market,
  priceToReach,
  type Signer,
  type TradeIntent,
  tradeIntent,
} from '@bellwether/sdk';
import { CliError, usage } from '../cli-error.ts';
import { WALLET_NAMES } from '../options.ts';
import type { Run } from '../run.ts';

type Side = 'BUY' | 'SELL';
type WalletType = 0 | 1 | 2 | 3;

export interface OrderOptions {
  readonly amount?: number;
  readonly size?: number;
  readonly price?: number;
  readonly worstPrice?: number;
  readonly slippage?: number;
  readonly type?: 'GTC' | 'GTD' | 'FOK' | 'FAK';
  readonly expires?: number;
  readonly cancelAfter?: number;
  readonly postOnly?: boolean;
  readonly walletType?: WalletType;
  readonly venue?: string;
  readonly reasoning?: string;
  readonly source?: string;
  readonly live?: boolean;
  readonly clientOrderId?: string;
  readonly timestamp?: number;
  readonly validateOnly?: boolean;
  readonly yes?: boolean;
}

export const DEFAULT_SLIPPAGE = 0.02;

const OPTIONS: Readonly<Record<IntentField, string>> = {
  price: '--price',
  worstPrice: '--worst-price',
  size: '--size',
  amount: '--amount',
  orderType: '--type',
  expiration: '--expires',
  postOnly: '--post-only',
};

function termsOf(wanted: Wanted) {
  const { side, outcome, price, worstPrice, amount, size, type, expires, postOnly } = wanted;
  return {
    ...{ side, outcome, price, worstPrice, amount, size, postOnly, orderType: type, expiration: expires },
    ...{ cancelAfterMs: wanted.cancelAfter, reasoning: wanted.reasoning, source: wanted.source },
  } satisfies Partial<IntentTerms>;
}

/** @throws CliError for options that contradict each other, every contradiction at once */
export function checkOptions(options: Wanted): void {
  const { side, price: limit, worstPrice, slippage, clientOrderId, live, timestamp } = options;
  const hasPrice = limit !== undefined || worstPrice !== undefined;
  const wrong = intentFaults(termsOf(options), {
    nameOf: (field) => OPTIONS[field],
    pricesFromBook: true,
  });
  if (slippage !== undefined && hasPrice)
    wrong.push('--slippage goes beyond the price of the book: give no --price and no --worst-price with it.');
  if (clientOrderId !== undefined && !hasPrice)
    wrong.push(
      '--client-order-id needs --price or --worst-price: with a price from the book, a repetition would be another order.',
    );
  if (clientOrderId !== undefined && live === true && timestamp === undefined)
    wrong.push('--client-order-id with --live needs --timestamp: it is part of what is signed.');
  if (wrong.length > 0) throw usage(wrong.join('\n'), `See: bellwether ${side.toLowerCase()} --help`);
}

/** The worst price of a market order: what the book reaches now, and some more, on the tick grid. */
async function worstPriceOf(client: BellwetherClient, market: Market, intent: WantedSide): Promise<number> {
  const tokenId = market.clobTokenIds[intent.outcome === 'YES' ? 0 : 1];
  if (tokenId === undefined)
    throw new CliError('refused', 'market_incomplete', 'The market names no token of this outcome.');
  const book = await client.getOrderBook(tokenId, { venue: market.venue });
  const isBuy = intent.side === 'BUY';
  const { slippage = DEFAULT_SLIPPAGE } = intent;
  const { price } = priceToReach(
    book,
    isBuy
      ? { side: 'BUY', amount: intent.amount ?? 0, slippage }
      : { side: 'SELL', shares: intent.size ?? 0, slippage },
  );
  if (price !== null) return price;
  throw new CliError(
    'refused',
    'book_empty',
    `There is no ${isBuy ? 'offer of' : 'bid for'} ${intent.outcome} now.`,
    {
      fix: 'Place a limit order with --price and --size, or name --worst-price to try all the same.',
    },
  );
}

export interface Wanted extends OrderOptions {
  readonly side: Side;
  /** YES, NO, or a name that the market tells. */
  readonly outcome: string;
  readonly market: string;
}

/** Once the market is known. */
type WantedSide = Wanted & { readonly outcome: 'YES' | 'NO' };

interface Wallet {
  readonly signer: Signer;
  readonly type: WalletType;
}

/** Which of the key's wallets pays: the one named, that of the keystore, or the account of the key. */
export async function walletOf(run: Run, named: WalletType | undefined): Promise<Wallet> {
  const { signer, key } = await run.tradingKey();
  return { signer, type: named ?? key.signatureType };
}

export async function intentOf(
  client: BellwetherClient,
  wanted: WantedSide,
  market: Market,
  wallet: Wallet,
): Promise<TradeIntent> {
  const { price: limit, worstPrice } = wanted;
  return tradeIntent({
    ...termsOf(wanted),
    clientOrderId: wanted.clientOrderId ?? `cli-${randomUUID()}`,
    venue: market.venue,
    marketId: market.conditionId,
    worstPrice:
      limit === undefined ? (worstPrice ?? (await worstPriceOf(client, market, wanted))) : undefined,
    timestamp: timestampOf(wanted, market) ?? undefined,
    walletAddress: wallet.signer.wallet(wallet.type),
    signer: wallet.signer.address,
    signatureType: wallet.type,
  });
}

/** Orders for the live venue, and those of every market of version v2, sign one; `null`: this one does not. @throws CliError */
function timestampOf(
  { live, timestamp, clientOrderId, side }: Wanted,
  { version }: Pick<Market, 'version'>,
): number | null {
  const see = `See: bellwether ${side.toLowerCase()} --help`;
  if (live !== true && version !== 'v2') {
    if (timestamp !== undefined)
      throw usage('--timestamp belongs to --live, or to a market of version v2.', see);
    return null;
  }
  if (clientOrderId !== undefined && timestamp === undefined)
    throw usage(
      '--client-order-id needs --timestamp in a market of version v2: it is part of what is signed.',
      see,
    );
  return timestamp ?? Date.now();
}

/** The same order again, as a command for the same desk: it has no second effect. @param url as the command line gave it */
export function repetition(
  { side, market, venue, walletType: type, live }: Wanted,
  intent: TradeIntent,
  url: string | null,
): string {
  const { worstPrice, price: limit, amount, size, orderType, expiration, postOnly, timestamp } = intent;
  const { cancelAfterMs, outcome } = intent;
  const options = [
    ['amount', amount],
    ['size', size],
    ['price', limit],
    ['worst-price', worstPrice],
    ['type', orderType],
    ['expires', expiration],
    ['cancel-after', cancelAfterMs === undefined ? undefined : `${cancelAfterMs}ms`],
    ['wallet-type', type === undefined ? undefined : WALLET_NAMES[type]],
    ['timestamp', timestamp],
    ['client-order-id', intent.clientOrderId],
    ['venue', venue],
    ['url', url?.replaceAll("'", '%27')],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`--${name} '${value}'`]));
  const flags = [...(postOnly === true ? ['--post-only'] : []), ...(live === true ? ['--live'] : [])];
  const quoted = `'${market.replaceAll("'", '')}'`;
  return ['bellwether', side.toLowerCase(), quoted, outcome, ...options, ...flags].join(' ');
}

/**
 * The owner is asked by the trade itself, and the order is sent again once it is approved. Without an owner, or after a decision
 * against it, waiting is of no use: the desk says what is.
 */
export function afterApproval(error: unknown, again: string): unknown {
  if (!isProblem(error, 'approval_required')) return error;
  const { approvalId, context, fix } = error;
  const isAsked = approvalId !== undefined && context?.approvalStatus !== 'declined';
  return new CliError('refused', error.code, error.detail, {
    fix: !isAsked
      ? fix
      : `Wait for the owner's decision: bellwether watch shows approval.decided. Then send the same order again: ${again}`,
  });
}
