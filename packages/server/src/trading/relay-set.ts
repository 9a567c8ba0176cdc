/**
 * Forwards what a wallet's owner signed to the venue's relayer, once. The caller gives a signature and nothing else: what is
 * forwarded is the request that the desk prepared, byte for byte, so nothing in it can be another target, fee or call. That it
 * may have been forwarded is recorded before it is; what became of it is followed (`follow-sets.ts`).
 */
import { type RelayRequest as RelayCall, type SetResponse, VENUE_REFUSALS } from '@bellwether/contract';
import {
  type Address,
  nobleRecover,
  parseSignature,
  recoverAddress,
  signedRelayBody,
} from '@bellwether/protocol';
import type { AgentStore } from '../agents/index.ts';
import type { Caller, SetOrderRow } from '../domain/records.ts';
import type { Clock } from '../platform/clock.ts';
import { refusal } from '../platform/refusal.ts';
import type { RelayedRedemption, RelayedRedemptions } from '../positions/index.ts';
import { type HasVenues, venueOf } from '../venues/asking.ts';
import { relayRequestOf } from '../venues/relay-record.ts';
import type { PreparedRelay } from '../venues/venue.ts';
import type { HandedOutSets } from './handed-out-sets.ts';
import type { OrderStore } from './order-store.ts';
import type { Placed } from './place-order.ts';
import { endedResponse, isOfSets, submittedResponse } from './set-terms.ts';

export interface RelaySetNeeds extends HasVenues {
  readonly clock: Clock;
  readonly agents: Pick<AgentStore, 'settings'>;
  readonly orders: Pick<OrderStore, 'byId'>;
  readonly handedOutSets: HandedOutSets;
  readonly relayedRedemptions: RelayedRedemptions;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** After its deadline no wallet takes a batch any more; the venue lists what it took within minutes. */
const LISTED_WITHIN_MS = 15 * 60 * 1000;
const RETRY_S = 5;

/** @throws Refusal order_not_found, trading_paused, transaction_signature_invalid, service_unavailable */
export async function relaySigned(
  needs: RelaySetNeeds,
  caller: Caller,
  { orderId, signature }: RelayCall,
): Promise<Placed<SetResponse>> {
  const row = await needs.orders.byId(caller.agentId, orderId);
  if (row !== null && isOfSets(row)) return relaySet(needs, row, signature);
  const redemption = row === null ? await needs.relayedRedemptions.find(caller.agentId, orderId) : null;
  if (redemption === null) throw refusal('order_not_found', undefined, { path: 'orderId' });
  return relayRedemption(needs, redemption, signature);
}

async function relaySet(
  needs: RelaySetNeeds,
  row: SetOrderRow,
  signature: string,
): Promise<Placed<SetResponse>> {
  const { clock, handedOutSets, orders } = needs;
  const { orderId, agentId, createdAt } = row;
  const now = async () => (await orders.byId(agentId, orderId)) as SetOrderRow;
  if (row.status !== 'live') return ended(row);
  const handed = await handedOutSets.find(orderId);
  const relay = handed?.relay ?? null;
  if (handed === null || relay === null)
    throw refusal('order_not_found', 'The desk has prepared nothing for the relayer of this order.', {
      path: 'orderId',
      fix: 'Send the transactions of the answer from the wallet’s owner, or ask for the order again.',
    });
  if (handed.submittedAt !== null) return { answer: submittedResponse(row, handed.endsAt), isRepeated: true };
  if (isLate(relay, clock.now())) {
    await handedOutSets.expire(orderId, clock.now());
    return ended(await now());
  }
  await requireUnpaused(needs, row);
  const endsAt =
    relay.terms.type === 'WALLET' ? relay.deadlineS * 1000 + LISTED_WITHIN_MS : createdAt + DAY_MS;
  const what = { venue: row.venue, wallet: row.funder, relay, signature };
  const end = await forward(needs, what, {
    mark: (listed) => handedOutSets.markSubmitted(orderId, { signature: listed, at: clock.now(), endsAt }),
    taken: (transactionId) => handedOutSets.noteRelayed(orderId, { transactionId }),
    takeBack: () => handedOutSets.takeBack(orderId),
    refused: (words) =>
      handedOutSets.reject(orderId, { errorCode: 'refused_by_venue', words, at: clock.now() }),
  });
  if (end === 'submitted') return { answer: submittedResponse(row, endsAt), isRepeated: false };
  const after = await now();
  if (end !== 'ended') return { answer: endedResponse(after), isRepeated: false };
  // Another call has forwarded it, or its time has ended it.
  return after.status === 'live'
    ? { answer: submittedResponse(after, endsAt), isRepeated: true }
    : ended(after);
}

/** What has expired may never have been forwarded: then this is its first answer. */
const ended = (row: SetOrderRow): Placed<SetResponse> => ({
  answer: endedResponse(row),
  isRepeated: row.status !== 'expired',
});

/** No safeguard stands in the way of an exit, and nothing is counted: the venue's list of redemptions closes the positions. */
async function relayRedemption(
  needs: RelaySetNeeds,
  redemption: RelayedRedemption,
  signature: string,
): Promise<Placed<SetResponse>> {
  const { clock, relayedRedemptions } = needs;
  const { digest, venue, wallet, relay } = redemption;
  const answered = (
    status: 'submitted' | 'expired' | 'rejected',
    isRepeated: boolean,
    { refused } = redemption,
  ) => ({ answer: redemptionResponse({ ...redemption, refused }, status), isRepeated });
  if (redemption.refused !== null) return answered('rejected', true);
  if (redemption.submittedAt !== null) return answered('submitted', true);
  if (isLate(relay, clock.now())) return answered('expired', false);
  const end = await forward(
    needs,
    { venue, wallet, relay, signature },
    {
      mark: () => relayedRedemptions.markSubmitted(digest, clock.now()),
      taken: (transactionId) => relayedRedemptions.noteRelayed(digest, { transactionId }),
      takeBack: () => relayedRedemptions.takeBack(digest),
      refused: (refused) => relayedRedemptions.noteRelayed(digest, { refused }),
    },
  );
  if (typeof end === 'object') return answered('rejected', false, { ...redemption, refused: end.refused });
  return answered('submitted', end === 'ended');
}

function redemptionResponse(
  { digest, venue, wallet, marketId, conditionId, createdAt, refused }: RelayedRedemption,
  status: 'submitted' | 'expired' | 'rejected',
): SetResponse {
  const errorCode = 'refused_by_venue';
  return {
    success: status !== 'rejected',
    ...{
      orderId: digest,
      clientOrderId: '',
      status,
      venue,
      marketId,
      marketConditionId: conditionId,
      conditionId,
      walletAddress: wallet,
    },
    ...{ amount: 0, txHash: null, submittedAt: new Date(createdAt).toISOString() },
    ...(status === 'rejected'
      ? {
          errorCode,
          errorMessage: refused ?? VENUE_REFUSALS[errorCode].message,
          fix: 'Nothing was redeemed. POST /markets/redeem prepares another request.',
        }
      : {}),
  };
}

const isLate = ({ deadlineS }: PreparedRelay, now: number): boolean => now >= deadlineS * 1000;

/** A pause since a split or a conversion was prepared stops it, too; a merge is an exit. @throws Refusal trading_paused */
async function requireUnpaused({ agents }: RelaySetNeeds, { kind, agentId }: SetOrderRow): Promise<void> {
  if (kind === 'merge') return;
  const { tradingPaused } = await agents.settings(agentId);
  if (tradingPaused) throw refusal('trading_paused', 'Trading is paused for this agent.');
}

/** @throws Refusal transaction_signature_invalid */
function requireOwners(relay: PreparedRelay, signature: string): void {
  const parsed = parseSignature(signature);
  const { digest } = relayRequestOf(relay);
  const found = parsed.ok ? recoverAddress(nobleRecover, digest, parsed) : null;
  if (found?.ok === true && found.address === relay.owner.eoa) return;
  throw refusal(
    'transaction_signature_invalid',
    `This is no signature of ${relay.owner.eoa} over the digest that was prepared.`,
    {
      path: 'signature',
      fix: 'Sign the digest itself (32 bytes, no further prefix) with the key of the wallet’s owner; signRelay of the SDK does.',
    },
  );
}

interface SignedRelay {
  readonly venue: string;
  readonly wallet: Address;
  readonly relay: PreparedRelay;
  readonly signature: string;
}

/** Records around one forward. */
interface ForwardRecords {
  /** Before it. @param listed the signature as the relayer lists it @returns false: it must not be forwarded */
  mark(listed: string): Promise<boolean>;
  taken(transactionId: string): Promise<void>;
  /** It provably was not taken. */
  takeBack(): Promise<void>;
  refused(words: string): Promise<void>;
}

/**
 * @returns `submitted`: the relayer has it, or may have it; `ended`: it was not forwarded here
 * @throws Refusal transaction_signature_invalid, and service_unavailable where it provably was not taken
 */
async function forward(
  needs: HasVenues,
  { venue, wallet, relay, signature }: SignedRelay,
  records: ForwardRecords,
): Promise<'submitted' | 'ended' | { readonly refused: string }> {
  requireOwners(relay, signature);
  const { sets } = venueOf(needs, venue, wallet);
  if (sets?.relayed === undefined)
    throw refusal('service_unavailable', 'This service has no credentials of the relayer any more.', {
      retryAfterS: RETRY_S,
    });
  const body = signedRelayBody(relayRequestOf(relay), signature);
  if (!(await records.mark(body.signature))) return 'ended';
  const outcome = await sets.relayed.submit(body);
  switch (outcome.kind) {
    case 'taken':
      await records.taken(outcome.transactionId);
      return 'submitted';
    case 'not_taken':
      await records.takeBack();
      throw refusal(
        'service_unavailable',
        `The relayer does not take requests now${outcome.words === null ? '' : `: ${outcome.words}`}.`,
        { retryAfterS: RETRY_S, fix: 'Nothing was sent. Send the same signature again before the deadline.' },
      );
    case 'refused':
      await records.refused(outcome.words);
      return { refused: outcome.words };
    case 'unknown':
      // It is followed, and never sent again.
      return 'submitted';
  }
}
