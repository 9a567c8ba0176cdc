/** From the options of `buy` and `sell` to the intent that the desk is asked to prepare, and back to a command line. */
import { randomUUID } from 'node:crypto';
import {
  type BellwetherClient,
  type Market,
  priceToReach,
  type Signer,
  type TradeIntent,
} from '@bellwether/sdk';
import { CliError, usage } from '../cli-error.ts';
import { WALLET_NAMES } from '../options.ts';
import type { Run } from '../run.ts';

type Side = 'BUY' | 'SELL';
export type WalletType = 0 | 1 | 2 | 3;

export interface OrderOptions {
  readonly amount?: number;
  readonly size?: number;
  readonly price?: number;
  readonly worstPrice?: number;
  readonly slippage?: number;
  readonly type?: 'GTC' | 'GTD' | 'FOK' | 'FAK';
  readonly expires?: number;
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

/** @throws CliError for options that contradict each other, every contradiction at once */
export function checkOptions(options: Wanted): void {
  const {
    side,
    amount,
    size,
    price: limit,
    worstPrice,
    slippage,
    type,
    expires,
    clientOrderId,
    live,
    timestamp,
  } = options;
  const isLimit = limit !== undefined;
  const wrong: string[] = [];
  if (isLimit && worstPrice !== undefined)
    wrong.push('--price makes a limit order and --worst-price a market order: give one of them.');
  if (slippage !== undefined && (isLimit || worstPrice !== undefined))
    wrong.push('--slippage goes beyond the price of the book: give no --price and no --worst-price with it.');
  if (side === 'SELL' || isLimit) {
    const what = side === 'SELL' ? 'A sale' : 'A limit order';
    if (amount !== undefined) wrong.push(`${what} takes --size in shares, not --amount.`);
    else if (size === undefined) wrong.push(`${what} needs --size, in shares.`);
  } else if (size !== undefined)
    wrong.push(
      'A market order to buy takes --amount in collateral, not --size; a limit order takes --price and --size.',
    );
  else if (amount === undefined)
    wrong.push(
      'A market order to buy needs --amount, in collateral; a limit order needs --price and --size.',
    );
  if (!isLimit && (type === 'GTC' || type === 'GTD'))
    wrong.push(`--type ${type} rests at a price: give --price.`);
  if (!isLimit && options.postOnly === true) wrong.push('--post-only rests at a price: give --price.');
  if (type === 'GTD' && expires === undefined) wrong.push('--type GTD needs --expires.');
  if (type !== 'GTD' && expires !== undefined) wrong.push('--expires needs --type GTD.');
  if (clientOrderId !== undefined && !isLimit && worstPrice === undefined)
    wrong.push(
      '--client-order-id needs --price or --worst-price: with a price from the book, a repetition would be another order.',
    );
  if (clientOrderId !== undefined && live === true && timestamp === undefined)
    wrong.push('--client-order-id with --live needs --timestamp: it is part of what is signed.');
  if (wrong.length > 0) throw usage(wrong.join('\n'), `See: bellwether ${side.toLowerCase()} --help`);
}

/** The worst price of a market order: what the book reaches now, and some more, on the tick grid. */
async function worstPriceOf(client: BellwetherClient, market: Market, intent: Wanted): Promise<number> {
  const tokenId = market.clobTokenIds[intent.outcome === 'YES' ? 0 : 1];
  if (tokenId === undefined)
    throw new CliError('refused', 'market_incomplete', 'The market names no token of this outcome.');
  const book = await client.getOrderBook(tokenId, { venue: market.venue });
  const isBuy = intent.side === 'BUY';
  const reached = priceToReach(
    book,
    isBuy ? { side: 'BUY', amount: intent.amount ?? 0 } : { side: 'SELL', shares: intent.size ?? 0 },
  );
  if (reached.price === null)
    throw new CliError(
      'refused',
      'book_empty',
      `Nobody ${isBuy ? 'offers' : 'bids for'} ${intent.outcome} now.`,
      {
        fix: 'Place a limit order with --price and --size, or name --worst-price to try all the same.',
      },
    );
  const tick = Number(market.tickSize);
  const last = Math.round(1 / tick) - 1;
  const slippage = Math.ceil((intent.slippage ?? DEFAULT_SLIPPAGE) / tick - 1e-9);
  const ticks = Math.round(reached.price / tick) + (isBuy ? slippage : -slippage);
  return Number((Math.max(1, Math.min(last, ticks)) * tick).toFixed(6));
}

export interface Wanted extends OrderOptions {
  readonly side: Side;
  readonly outcome: 'YES' | 'NO';
  readonly market: string;
}

export interface Wallet {
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
  wanted: Wanted,
  market: Market,
  wallet: Wallet,
): Promise<TradeIntent> {
  const { price: limit, worstPrice, amount, size, type, expires, postOnly, reasoning, source } = wanted;
  const timestamp = timestampOf(wanted, market);
  const worst =
    limit === undefined ? (worstPrice ?? (await worstPriceOf(client, market, wanted))) : undefined;
  return {
    clientOrderId: wanted.clientOrderId ?? `cli-${randomUUID()}`,
    venue: market.venue,
    marketId: market.conditionId,
    outcome: wanted.outcome,
    side: wanted.side,
    ...(limit === undefined ? {} : { price: limit }),
    ...(worst === undefined ? {} : { worstPrice: worst }),
    ...(amount === undefined ? {} : { amount }),
    ...(size === undefined ? {} : { size }),
    ...(type === undefined ? {} : { orderType: type }),
    ...(expires === undefined ? {} : { expiration: expires }),
    ...(postOnly === true ? { postOnly } : {}),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(source === undefined ? {} : { source }),
    ...(timestamp === null ? {} : { timestamp }),
    walletAddress: wallet.signer.wallet(wallet.type),
    signer: wallet.signer.address,
    signatureType: wallet.type,
  };
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
  { side, market, outcome: which, venue, walletType: type, live }: Wanted,
  intent: TradeIntent,
  url: string | null,
): string {
  const { worstPrice, price: limit, amount, size, orderType, expiration, postOnly, timestamp } = intent;
  const options = [
    ['amount', amount],
    ['size', size],
    ['price', limit],
    ['worst-price', worstPrice],
    ['type', orderType],
    ['expires', expiration],
    ['wallet-type', type === undefined ? undefined : WALLET_NAMES[type]],
    ['timestamp', timestamp],
    ['client-order-id', intent.clientOrderId],
    ['venue', venue],
    ['url', url?.replaceAll("'", '%27')],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`--${name} '${value}'`]));
  const flags = [...(postOnly === true ? ['--post-only'] : []), ...(live === true ? ['--live'] : [])];
  const quoted = `'${market.replaceAll("'", '')}'`;
  return ['bellwether', side.toLowerCase(), quoted, which, ...options, ...flags].join(' ');
}
