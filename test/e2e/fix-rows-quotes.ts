/** What the `fix` of a refused quote, signed transaction or fee on a quote venue says, done. */
import type { ErrorCode } from '@bellwether/contract';
import { asSolanaAddress, associatedTokenAddress, SOLANA_PROGRAMS, USDC_MINT } from '@bellwether/protocol';
import { linkSolanaWallet, SolanaSigner } from '@bellwether/sdk';
import { newAgent, type RawAnswer } from '../harness.ts';
import { type Followed, onChain, quoteVenue, quoting, service } from './errors-stage.ts';

const quoted =
  (wrong: Record<string, unknown>, right: Record<string, unknown> = {}): Followed =>
  async (refused) => {
    refused(await quoting(wrong));
    return quoting(right);
  };
/** A new quote, signed by the wallet, after a submission was refused. */
const submitted =
  (refuse: (quote: RawAnswer['body']) => Promise<RawAnswer>, isNew = false): Followed =>
  async (refused) => {
    const quote = await onChain.quote();
    refused(await refuse(quote));
    return onChain.submit(isNew ? await onChain.quote() : quote);
  };
const altered = (at: number, change: (byte: number) => number) => (quote: RawAnswer['body']) => {
  const wire = Buffer.from(onChain.wallet.sign(quote.unsignedTransaction), 'base64');
  wire[at < 0 ? wire.length + at : at] = change(wire.at(at) as number);
  return onChain.submit(quote, { signedTransaction: wire.toString('base64') });
};

export const QUOTE_FIXES = {
  amount_required: quoted({ amount: undefined }),
  shares_required: quoted(
    { action: 'SELL', amount: undefined },
    { action: 'SELL', amount: undefined, shares: 1 },
  ),
  amount_not_allowed: quoted({ action: 'SELL', shares: 1 }, { action: 'SELL', amount: undefined, shares: 1 }),
  shares_not_allowed: quoted({ shares: 1 }),
  too_many_decimals: quoted({ amount: 1.0000001 }, { amount: 1.000001 }),
  quote_not_found: submitted(
    () => onChain.post('/venueb/agent/submit', { quoteId: 'x', signedTransaction: 'AAAA' }),
    true,
  ),
  quote_not_executable: submitted(
    async () =>
      onChain.submit(await onChain.quote({ marketTicker: 'KXNONE' }), { signedTransaction: 'AAAA' }),
    true,
  ),
  quote_expired: submitted((quote) => {
    quoteVenue.controls.height += 151;
    return onChain.submit(quote);
  }, true),
  quote_already_used: submitted(async (quote) => {
    await onChain.submit(quote);
    return onChain.submit(quote, { signedTransaction: quote.unsignedTransaction });
  }, true),
  quote_mismatch: submitted((quote) => onChain.submit(quote, { side: 'NO' })),
  transaction_malformed: submitted((quote) => onChain.submit(quote, { signedTransaction: 'AAAA' })),
  transaction_version_not_supported: submitted(altered(0, () => 0x81)),
  transaction_mismatch: submitted(altered(-6, (byte) => byte ^ 1)),
  transaction_not_signed: submitted((quote) =>
    onChain.submit(quote, { signedTransaction: quote.unsignedTransaction }),
  ),
  transaction_signature_invalid: submitted(altered(5, (byte) => byte ^ 1)),
  transaction_would_fail: submitted(async (quote) => {
    quoteVenue.controls.simulation = { kind: 'would_fail', reason: 'insufficient funds' };
    const answer = await onChain.submit(quote);
    quoteVenue.controls.simulation = { kind: 'unknown' };
    return answer;
  }, true),
  token_account_not_found: async (refused) => {
    const agent = await newAgent(service);
    const signer = SolanaSigner.generate();
    await linkSolanaWallet(agent.client, signer);
    const owner = asSolanaAddress(signer.address);
    const charge = () => agent.post('/venueb/agent/charge-fee', { amount: '0.25', fromAddress: owner });
    refused(await charge());
    const { delegate } = await agent.client.venueB.delegation();
    quoteVenue.tokens.push({
      address: associatedTokenAddress(owner, USDC_MINT, SOLANA_PROGRAMS.token),
      mint: USDC_MINT,
      ...{
        owner,
        amount: 1_000_000n,
        delegate: asSolanaAddress(delegate),
        delegatedAmount: 1_000_000n,
        frozen: false,
      },
    });
    return charge();
  },
  order_id_required: async (refused) => {
    const { orderId } = await onChain.trade();
    refused(await onChain.post('/venueb/agent/cancel', {}));
    return onChain.post('/venueb/agent/cancel', { orderId });
  },
} as const satisfies Partial<Record<ErrorCode, Followed>>;
