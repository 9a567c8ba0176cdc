/**
 * Forwards what a wallet's owner signed to the venue's relayer, once. The caller gives a signature and nothing else: what is
 * forwarded is the request that the desk prepared, byte for byte, so nothing in it can be another target, fee or call. That it
 * may have been forwarded is recorded before it is; what became of it is followed (`follow-sets.ts`).
 */
import type { RelayRequest as RelayCall, SetResponse } from '@bellwether/contract';
import {
  nobleRecover,
  parseSignature,
  recoverAddress,
  relayRequest,
  signedRelayBody,
} from '@bellwether/protocol';
import type { AgentStore } from '../agents/index.ts';
import type { Caller, SetOrderRow } from '../domain/records.ts';
import type { Clock } from '../platform/clock.ts';
import { refusal } from '../platform/refusal.ts';
import { type HasVenues, venueOf } from '../venues/asking.ts';
import type { PreparedRelay, RelayedSets } from '../venues/venue.ts';
import type { HandedOutSets } from './handed-out-sets.ts';
import type { OrderStore } from './order-store.ts';
import { endedResponse, submittedResponse } from './set-terms.ts';

export interface RelaySetNeeds extends HasVenues {
  readonly clock: Clock;
  readonly agents: Pick<AgentStore, 'settings'>;
  readonly orders: Pick<OrderStore, 'byId'>;
  readonly handedOutSets: HandedOutSets;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** After its deadline no wallet takes a batch any more; the venue lists what it took within minutes. */
const LISTED_WITHIN_MS = 15 * 60 * 1000;
const RETRY_S = 5;

/** @throws Refusal order_not_found, trading_paused, transaction_signature_invalid, service_unavailable */
export async function relaySet(
  needs: RelaySetNeeds,
  caller: Caller,
  { orderId, signature }: RelayCall,
): Promise<SetResponse> {
  const row = await setOf(needs, caller, orderId);
  if (row.status !== 'live') return endedResponse(row);
  const handed = await needs.handedOutSets.find(orderId);
  const relay = handed?.relay ?? null;
  if (handed === null || relay === null)
    throw refusal('order_not_found', 'The desk has prepared nothing for the relayer of this order.', {
      path: 'orderId',
      fix: 'Send the transactions of the answer from the wallet’s owner, or ask for the order again.',
    });
  if (handed.submittedAt !== null) return submittedResponse(row, handed.endsAt);
  if (needs.clock.now() >= relay.deadlineS * 1000) {
    await needs.handedOutSets.expire(orderId, needs.clock.now());
    return endedResponse(await setOf(needs, caller, orderId));
  }
  await requireUnpaused(needs, row);
  const plain = requireOwners(relay, signature);
  const { sets } = venueOf(needs, row.venue, row.funder);
  if (sets?.relayed === undefined)
    throw refusal('service_unavailable', 'This service has no credentials of the relayer any more.', {
      retryAfterS: RETRY_S,
    });
  return forward(needs, { row, relay, relayed: sets.relayed, plain });
}

async function setOf(
  { orders }: Pick<RelaySetNeeds, 'orders'>,
  { agentId }: Caller,
  orderId: string,
): Promise<SetOrderRow> {
  const row = await orders.byId(agentId, orderId);
  if (row === null || (row.kind !== 'split' && row.kind !== 'merge'))
    throw refusal('order_not_found', undefined, { path: 'orderId' });
  return row;
}

/** A pause since the split was prepared stops it, too; a merge is an exit. @throws Refusal trading_paused */
async function requireUnpaused({ agents }: RelaySetNeeds, { kind, agentId }: SetOrderRow): Promise<void> {
  if (kind !== 'split') return;
  const { tradingPaused } = await agents.settings(agentId);
  if (tradingPaused) throw refusal('trading_paused', 'Trading is paused for this agent.');
}

/** @returns the signature as 65 bytes @throws Refusal transaction_signature_invalid */
function requireOwners(relay: PreparedRelay, signature: string): string {
  const parsed = parseSignature(signature);
  const { digest } = requestOf(relay);
  const found = parsed.ok ? recoverAddress(nobleRecover, digest, parsed) : null;
  if (found?.ok === true && found.address === relay.owner.eoa) return signature;
  throw refusal(
    'transaction_signature_invalid',
    `This is no signature of ${relay.owner.eoa} over the digest of this order.`,
    {
      path: 'signature',
      fix: 'Sign the digest itself (32 bytes, no further prefix) with the key of the wallet’s owner; signRelay of the SDK does.',
    },
  );
}

const requestOf = ({ owner, calls, terms, chainId }: PreparedRelay) =>
  relayRequest(owner, calls, terms, chainId);

interface Forwarded {
  readonly row: SetOrderRow;
  readonly relay: PreparedRelay;
  readonly relayed: RelayedSets;
  readonly plain: string;
}

/** @throws Refusal service_unavailable where it provably was not taken */
async function forward(
  { clock, handedOutSets, orders }: RelaySetNeeds,
  { row, relay, relayed, plain }: Forwarded,
): Promise<SetResponse> {
  const { orderId, createdAt } = row;
  const body = signedRelayBody(requestOf(relay), plain);
  const { signature } = body;
  const endsAt =
    relay.terms.type === 'WALLET' ? relay.deadlineS * 1000 + LISTED_WITHIN_MS : createdAt + DAY_MS;
  const at = clock.now();
  if (!(await handedOutSets.markSubmitted(orderId, { signature, at, endsAt }))) {
    // Another call has forwarded it, or its time has ended it.
    const now = (await orders.byId(row.agentId, orderId)) as SetOrderRow;
    return now.status === 'live' ? submittedResponse(now, endsAt) : endedResponse(now);
  }
  const outcome = await relayed.submit(body);
  switch (outcome.kind) {
    case 'taken':
      await handedOutSets.noteRelayed(orderId, { transactionId: outcome.transactionId });
      break;
    case 'not_taken':
      await handedOutSets.takeBack(orderId);
      throw refusal(
        'service_unavailable',
        `The relayer does not take requests now${outcome.words === null ? '' : `: ${outcome.words}`}.`,
        { retryAfterS: RETRY_S, fix: 'Nothing was sent. Send the same signature again before the deadline.' },
      );
    case 'refused':
      await handedOutSets.reject(orderId, {
        errorCode: 'refused_by_venue',
        words: outcome.words,
        at: clock.now(),
      });
      return endedResponse((await orders.byId(row.agentId, orderId)) as SetOrderRow);
    case 'unknown':
      // It is followed, and never sent again.
      break;
  }
  return submittedResponse(row, endsAt);
}
