/** Full sets: one YES and one NO share of a market, together worth one collateral; and the conversion of NO shares. */
import { randomUUID } from 'node:crypto';
import { parseMicro } from '@bellwether/contract/decimals';
import type { SetResponse } from '@bellwether/sdk';
import { z } from 'zod';
import { idOf, numberOf, wordOf } from '../facts.ts';
import type { StrangersTexts } from '../strangers-texts.ts';
import { ACTS, tool } from '../tool.ts';
import { refusalOf } from '../tool-problem.ts';
import { relayAsked, requireAsked } from '../wallet-calls.ts';
import { spend } from './spend.ts';
import { CLIENT_ORDER_ID, MARKET, quantityOf, REASONING, spendingOf, VENUE } from './terms.ts';

const input = z.strictObject({
  market: MARKET,
  venue: VENUE,
  amount: quantityOf(1e9).describe('sets, and collateral'),
  clientOrderId: CLIENT_ORDER_ID,
  reasoning: REASONING,
});

type Terms = z.infer<typeof input>;

/**
 * At a live venue: what the relayer makes is signed here, once it is what was built here; else the transactions that the wallet's owner
 * signs elsewhere, as they were built here.
 */
async function signed(
  call: Parameters<typeof requireAsked>[0],
  kind: 'split' | 'merge' | 'convert',
  { answer, terms }: { readonly answer: SetResponse; readonly terms: Terms },
) {
  if (answer.status !== 'unsigned') return { answer };
  const { market, venue, amount } = terms;
  const asked = { answer, action: { kind, amount }, market, venue } as const;
  if (answer.relay !== undefined) return { answer: await relayAsked(call, asked) };
  return { answer, transactions: await requireAsked(call, asked) };
}

const requestOf = ({ market, venue, amount, reasoning }: Terms, clientOrderId: string) => ({
  ...{ clientOrderId, amount, marketId: market },
  ...(venue === undefined ? {} : { venue }),
  ...(reasoning === undefined ? {} : { reasoning }),
});

function doneFacts(answer: SetResponse, texts: StrangersTexts) {
  if (!answer.success) texts.add('refusal.detail', answer.errorMessage);
  return {
    placed: answer.success,
    status: wordOf(answer.status),
    orderId: idOf(answer.orderId),
    clientOrderId: idOf(answer.clientOrderId),
    amount: numberOf(answer.amount),
    ...(answer.success ? {} : { refusal: refusalOf(answer.errorCode) }),
  };
}

export const splitSets = tool({
  name: 'split_sets',
  title: 'Split collateral into YES and NO shares',
  description:
    'Makes full sets: one YES and one NO share for each collateral. At a live venue the status is "submitted" once the relayer has it, or "unsigned": then the owner of the wallet has to sign and send the transactions elsewhere, once. Counts like a BUY of that collateral, also against the spending limit. The same terms under the same clientOrderId are done once.',
  annotations: { ...ACTS, destructiveHint: false },
  input,
  async run(terms, { desk, texts, ...call }) {
    const { asked } = call.approval;
    const clientOrderId = terms.clientOrderId ?? asked?.clientOrderId ?? randomUUID();
    const request = requestOf(terms, clientOrderId);
    // Made of all that is sent: the desk takes other terms under this name for another order.
    const orderId = `split ${JSON.stringify({ ...request, reasoning: undefined })}`;
    const cost = parseMicro(terms.amount, 'ceil');
    const spent = await spend(
      { desk, texts, ...call },
      {
        order: { orderId, clientOrderId },
        shownAs: { clientOrderId },
        ...{ cost, stake: cost },
        question: () =>
          `Split ${terms.amount} collateral into ${terms.amount} YES and ${terms.amount} NO shares of market ${idOf(terms.market)}?`,
        send: () => desk.once.splitSets(request),
      },
    );
    if ('ask' in spent) return spent.ask;
    const { answer, ...toSign } = await signed({ desk, ...call }, 'split', { answer: spent.answer, terms });
    return {
      ...doneFacts(answer, texts),
      ...toSign,
      spendingLimit: spendingOf(desk.limit.standing()),
    };
  },
});

export const mergeSets = tool({
  name: 'merge_sets',
  title: 'Merge YES and NO shares into collateral',
  description:
    'Each pair of one YES and one NO share becomes one collateral, also while trading is paused. At a live venue as split_sets. The same terms under the same clientOrderId are done once.',
  annotations: { ...ACTS, destructiveHint: false },
  input,
  async run(terms, { desk, texts, signal }) {
    const request = requestOf(terms, terms.clientOrderId ?? randomUUID());
    const first = await desk.client.mergeSets(request, { signal });
    const { answer, ...toSign } = await signed({ desk, signal }, 'merge', { answer: first, terms });
    return { ...doneFacts(answer, texts), ...toSign };
  },
});

export const convertSets = tool({
  name: 'convert_no_shares',
  title: 'Convert NO shares into YES shares',
  description:
    'NO shares of one market of an event become as many YES shares of each of its other markets, which pay the same. At a live venue as split_sets, in markets of version v2. Counts as a trade of one collateral a share. The same terms under the same clientOrderId are done once.',
  annotations: { ...ACTS, destructiveHint: false },
  input: input.extend({ amount: quantityOf(1e9).describe('NO shares') }),
  async run(terms, { desk, texts, signal }) {
    const request = requestOf(terms, terms.clientOrderId ?? randomUUID());
    const first = await desk.client.convertSets(request, { signal });
    const { answer, ...toSign } = await signed({ desk, signal }, 'convert', { answer: first, terms });
    return { ...doneFacts(answer, texts), ...toSign };
  },
});
