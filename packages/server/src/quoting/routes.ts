/** Trading by quote: quote, submit, and what becomes of it. */
import {
  askQuoteApproval as askQuoteApprovalRoute,
  cancelVenueBOrder,
  getVenueBOrder,
  listVenueBOrders,
  quoteVenueB,
  submitVenueB,
} from '@bellwether/contract';
import type { FastifyRequest } from 'fastify';
import { deadlineOf } from '../platform/http/deadline.ts';
import { noteRefusal } from '../platform/http/metrics.ts';
import { sendPage } from '../platform/http/page.ts';
import { type Aliases, type Bind, markedAnswer } from '../platform/http/routes.ts';
import { type HasVenues, quotingVenue } from '../venues/asking.ts';
import type { QuotingNeeds } from './judge-submission.ts';
import { askQuoteApproval, quote, quoteFaults } from './quote.ts';
import * as orders from './records.ts';
import { submit } from './submit.ts';

const NEUTRAL = '/venueb/';
const CHARGE_BY_AGENT = '/venueb/agent/charge-fee';

/** The routes of trading by quote also answer under the venue's name, and the fee's charge where clients of this field call it. */
export const quoteAliases =
  (name: string): Aliases =>
  (path) => {
    if (!path.startsWith(NEUTRAL)) return [];
    const named = name === 'venueb' ? [] : [`/${name}/${path.slice(NEUTRAL.length)}`];
    return path === CHARGE_BY_AGENT ? [...named, `/aiagent/charge-fee/${name}/trade-fee`] : named;
  };

/** Only a proxy's word counts: without one the header is the caller's own. */
function countryOf(needs: HasVenues, { headers, fromProxy }: FastifyRequest): string | null {
  const header = quotingVenue(needs).quotes.geography?.countryHeader ?? null;
  const named = header === null || !fromProxy ? undefined : headers[header];
  return typeof named === 'string' ? named : null;
}

export function bindQuotes(bind: Bind, needs: QuotingNeeds): void {
  bind(
    quoteVenueB,
    async ({ caller, body, request }) => {
      const answer = await quote(needs, caller, body, countryOf(needs, request));
      // Failed questions of a moment ago are asked anew.
      request.hadNoEffect = answer.quoteErrorCode !== undefined;
      return answer;
    },
    quoteFaults,
  );
  bind(submitVenueB, async ({ caller, body, request, reply }) => {
    const submitted = await submit(needs, {
      caller,
      request: body,
      requestId: request.id,
      deadline: deadlineOf(request),
      trace: request.trace?.trade(),
    });
    if (!submitted.isRepeated) noteRefusal(request, 'quotes', submitted.answer);
    return markedAnswer(reply, submitted);
  });
  bind(askQuoteApprovalRoute, async ({ caller, body, reply }) =>
    markedAnswer(reply, await askQuoteApproval(needs, caller, body)),
  );
  bind(listVenueBOrders, async ({ caller, query, request, reply }) => {
    const { marketTicker, ...rest } = query;
    const asked = { ...rest, ...(marketTicker === undefined ? {} : { conditionId: marketTicker }) };
    return sendPage(request, reply, query, await orders.listQuotedOrders(needs, caller, asked));
  });
  bind(getVenueBOrder, ({ caller, params }) => orders.getQuotedOrder(needs, caller, params.orderId));
  bind(cancelVenueBOrder, ({ caller, body }) => orders.cancelQuotedOrder(needs, caller, body));
}
