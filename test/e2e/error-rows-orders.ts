/** Orders, quotes and fees that are refused: code, fault, request. */
import { linkSolanaWallet, SolanaSigner } from '@bellwether/sdk';
import { limitOrder, marketSell, newAgent, restingOrder } from '../harness.ts';
import {
  A_WALLET,
  buy,
  type Case,
  changed,
  changedSubmit,
  fee,
  get,
  limitedTrader,
  market,
  onChain,
  other,
  post,
  quoteVenue,
  quoting,
  service,
  stranger,
  trade,
  trader,
} from './errors-stage.ts';

/** Its orders sign a builder under every order profile. */
async function aMarketOfV2() {
  const found = [...service.exchange.markets()].find(
    ({ version, status }) => version === 'v2' && status === 'open',
  );
  return trader.client.getMarket(found?.id ?? '');
}

export const ORDER_ROWS: readonly Case[] = [
  ['unknown_market', 'an unknown condition id', () => changed({ marketConditionId: `0x${'0'.repeat(64)}` })],
  [
    'token_market_mismatch',
    'a token of another market',
    () => changed({}, { tokenId: other.clobTokenIds[0] }),
  ],
  ['outcome_name_mismatch', 'a name of no outcome', () => changed({ outcome: 'MAYBE' })],
  ['outcome_token_mismatch', 'the other outcome', () => changed({ outcome: 'NO' })],
  ['taker_not_supported', 'a private taker', () => changed({}, { taker: stranger.signer.address })],
  ['salt_out_of_range', 'a salt above 2^53−1', () => changed({}, { salt: '9007199254740992' })],
  ['fee_rate_out_of_range', 'a fee rate above 10 %', () => changed({}, { feeRateBps: '1001' })],
  [
    'builder_not_allowed',
    'a builder code that the operator has not configured',
    async () => {
      const { order, ...request } = await restingOrder(trader, await aMarketOfV2());
      return trade({ ...request, order: { ...order, builder: `0x${'9'.repeat(64)}` } });
    },
  ],
  ['amount_out_of_range', 'a zero amount', () => changed({}, { makerAmount: '0' })],
  ['amount_out_of_range', 'an amount above 256 bits', () => changed({}, { makerAmount: '9'.repeat(78) })],
  ['order_size_mismatch', 'a size that is not the signed one', () => changed({ orderSize: 11 })],
  ['price_mismatch', 'a price that is not the signed one', () => changed({ price: 0.02 })],
  ['price_off_tick_grid', 'a price between two ticks', () => changed({ price: 0.015 })],
  ['price_out_of_range', 'a price of one', () => changed({}, { makerAmount: '10000000' })],
  [
    'immediate_buy_precision',
    'a FAK BUY with too many decimals',
    () => changed({ orderType: 'FAK', price: 0.2 }, { makerAmount: '2000001' }),
  ],
  [
    'size_below_minimum',
    'fewer shares than the minimum',
    () => changed({ orderSize: 4 }, { makerAmount: '40000', takerAmount: '4000000' }),
  ],
  [
    'amount_below_minimum',
    'a market BUY under 1 collateral',
    () => changed({ orderType: 'FAK' }, { makerAmount: '100000' }),
  ],
  [
    'order_type_mismatch',
    'a market order that rests',
    () => changed({ isLimitOrder: false, orderType: 'GTC' }),
  ],
  ['post_only_mismatch', 'a post-only FOK', () => changed({ orderType: 'FOK', postOnly: true })],
  ['expiration_required', 'GTD without expiration', () => changed({ orderType: 'GTD' })],
  [
    'expiration_too_soon',
    'GTD in a minute',
    () => changed({ orderType: 'GTD' }, { expiration: String(Math.floor(Date.now() / 1000) + 60) }),
  ],
  ['expiration_not_allowed', 'GTC with expiration', () => changed({ expirationTime: Date.now() + 600_000 })],
  [
    'expiration_mismatch',
    'two expirations',
    () =>
      changed(
        { orderType: 'GTD', expirationTime: Date.now() + 900_000 },
        { expiration: String(Math.floor(Date.now() / 1000) + 600) },
      ),
  ],
  [
    'wallet_address_mismatch',
    'a wallet that is neither signer nor maker',
    () => changed({ walletAddress: stranger.signer.address }),
  ],
  [
    'funder_address_mismatch',
    'a funder that is not the maker',
    () => changed({ funderAddress: stranger.signer.address }),
  ],
  ['owner_mismatch', 'an owner that is not the credential', () => changed({ owner: 'somebody' })],
  ['tick_size_mismatch', "a tick size that is not the market's", () => changed({ tickSize: '0.001' })],
  ['neg_risk_mismatch', "negRisk that is not the market's", () => changed({ negRisk: true })],
  ['invalid_order_payload', 'a signature of another order', () => changed({}, { salt: 1 })],
  ['invalid_order_payload', 'a signature of one byte', () => changed({}, { signature: '0x00' })],
  [
    'credential_type_mismatch',
    'a type 3 order with a credential of type 0',
    async () => {
      const request = await limitOrder(trader, market, {
        signatureType: 3,
        side: 'BUY',
        price: 0.01,
        size: 10,
      });
      return trade({ ...request, walletAddress: trader.signer.address });
    },
  ],
  ['insufficient_balance', 'more than the account has', async () => trade(await buy(trader, 50_000))],
  [
    'insufficient_balance',
    'selling tokens that are not held',
    async () => trade(await limitOrder(trader, market, { side: 'SELL', price: 0.99, size: 10 })),
  ],
  [
    'order_not_found',
    "another agent's order",
    async () => {
      const { orderId } = await stranger.client.placeTrade(await restingOrder(stranger, market));
      return get(`/markets/orders/${orderId}`);
    },
  ],
  [
    'order_not_found',
    "canceling another agent's order",
    async () => {
      const { orderId } = await stranger.client.placeTrade(await restingOrder(stranger, market));
      return post('/markets/orders/cancel', { orderId });
    },
  ],
  [
    'order_already_placed',
    'the same order with other options',
    async () => {
      const request = await restingOrder(trader, market);
      await trade(request);
      return trade({ ...request, postOnly: true });
    },
  ],

  [
    'trading_paused',
    'a paused agent',
    async () => {
      const agent = await limitedTrader({ tradingPaused: true });
      return trade(await restingOrder(agent, market), agent.apiKey);
    },
  ],
  [
    'credentials_not_registered',
    'an agent without credentials',
    async () => {
      const agent = await newAgent(service);
      return trade(
        await restingOrder({ ...agent, signatureType: 0, funder: agent.signer.address }, market),
        agent.apiKey,
      );
    },
  ],
  [
    'max_trade_amount_exceeded',
    'a large trade',
    async () => {
      const agent = await limitedTrader({ maxTradeAmount: 10 });
      return trade(await buy(agent, 10.01), agent.apiKey);
    },
  ],
  [
    'max_trades_per_day_exceeded',
    'the second of one trade',
    async () => {
      const agent = await limitedTrader({ maxTradesPerDay: 1 });
      await agent.client.placeTrade(await restingOrder(agent, market));
      return trade(await restingOrder(agent, market), agent.apiKey);
    },
  ],
  [
    'daily_trade_amount_exceeded',
    'more than the day allows',
    async () => {
      const agent = await limitedTrader({ dailyTradeAmountLimit: 20 });
      await agent.client.placeTrade(await buy(agent, 15));
      return trade(await buy(agent, 15), agent.apiKey);
    },
  ],
  [
    'max_position_value_exceeded',
    'a position that grows too large',
    async () => {
      const agent = await limitedTrader({ maxPositionValue: 20 });
      await agent.client.placeTrade(await buy(agent, 15));
      return trade(await buy(agent, 15), agent.apiKey);
    },
  ],
  [
    'daily_loss_limit_reached',
    'a loss beyond the limit',
    async () => {
      const agent = await limitedTrader({ dailyLossLimit: 0.01 });
      const { filledSize } = await agent.client.placeTrade(await buy(agent, 50));
      await agent.client.placeTrade(await marketSell(agent, market, Math.floor(filledSize)));
      return trade(await buy(agent, 5), agent.apiKey);
    },
  ],
  ['amount_required', 'a BUY of nothing', () => quoting({ amount: undefined })],
  ['shares_required', 'a SELL of nothing', () => quoting({ action: 'SELL', amount: undefined })],
  ['amount_not_allowed', 'a SELL with an amount', () => quoting({ action: 'SELL', shares: 1 })],
  ['shares_not_allowed', 'a BUY with shares', () => quoting({ shares: 1 })],
  ['too_many_decimals', 'seven decimals', () => quoting({ amount: 1.0000001 })],
  ['invalid_solana_address', 'an invalid wallet', () => quoting({ userPublicKey: 'O0Il' })],
  [
    'quote_not_found',
    'an unknown quote',
    () => onChain.post('/venueb/agent/submit', { quoteId: 'x', signedTransaction: 'AAAA' }),
  ],
  [
    'quote_not_executable',
    'a degraded quote',
    async () =>
      onChain.submit(await onChain.quote({ marketTicker: 'KXNONE' }), { signedTransaction: 'AAAA' }),
  ],
  [
    'quote_expired',
    'a dead blockhash',
    async () => {
      const quote = await onChain.quote();
      quoteVenue.controls.height += 151;
      return onChain.submit(quote);
    },
  ],
  [
    'quote_already_used',
    'another signature for a used quote',
    async () => {
      const quote = await onChain.quote();
      await onChain.submit(quote);
      return onChain.submit(quote, { signedTransaction: quote.unsignedTransaction });
    },
  ],
  [
    'quote_mismatch',
    'a side that was not quoted',
    async () => onChain.submit(await onChain.quote(), { side: 'NO' }),
  ],
  [
    'transaction_malformed',
    'no transaction',
    async () => onChain.submit(await onChain.quote(), { signedTransaction: 'AAAA' }),
  ],
  ['transaction_version_not_supported', 'version 1', () => changedSubmit(0, () => 0x81)],
  ['transaction_mismatch', 'one byte of the message', () => changedSubmit(-6)],
  [
    'transaction_not_signed',
    'the unsigned transaction',
    async () => {
      const quote = await onChain.quote();
      return onChain.submit(quote, { signedTransaction: quote.unsignedTransaction });
    },
  ],
  ['transaction_signature_invalid', 'one byte of the signature', () => changedSubmit(5)],
  [
    'transaction_would_fail',
    'a transaction that the chain would refuse',
    async () => {
      const quote = await onChain.quote();
      quoteVenue.controls.simulation = { kind: 'would_fail', reason: 'insufficient funds' };
      const answer = await onChain.submit(quote);
      quoteVenue.controls.simulation = { kind: 'unknown' };
      return answer;
    },
  ],
  ['order_id_required', 'a cancel of nothing', () => onChain.post('/venueb/agent/cancel', {})],
  ['fee_amount_required', 'no amount', () => fee({ fromAddress: A_WALLET })],
  ['invalid_fee_amount', 'a JSON number', () => fee({ amount: 0.25, fromAddress: A_WALLET })],
  [
    'fee_amount_too_large',
    'beyond MAX_FEE_CHARGE',
    () => fee({ amount: '100.000001', fromAddress: A_WALLET }),
  ],
  ['from_address_required', 'no wallet', () => fee({ amount: '0.25' })],
  ['from_address_required', 'no wallet in the query', () => get('/venueb/agent/delegation')],
  ['invalid_solana_address', 'not base58', () => fee({ amount: '0.25', fromAddress: '0x12' })],
  [
    'delegate_equals_owner',
    "the platform's own wallet",
    async () => {
      const { body } = await get(`/venueb/agent/delegation?walletAddress=${A_WALLET}`);
      return fee({ amount: '0.25', fromAddress: body.delegate });
    },
  ],
  ['wallet_not_yours', "a stranger's wallet", () => fee({ amount: '0.25', fromAddress: A_WALLET })],
  [
    'token_account_not_found',
    'a linked wallet that never held collateral',
    async () => {
      const agent = await newAgent(service);
      const signer = SolanaSigner.generate();
      await linkSolanaWallet(agent.client, signer);
      return fee({ amount: '0.25', fromAddress: signer.address }, agent.apiKey);
    },
  ],
];
