/** An exit that an agent leaves with the desk: checked as if it were placed now, sealed, and armed. */
import { EXIT_LIMITS, type ExitRequest, type LeftExit, type TradeRequest } from '@bellwether/contract';
import { type Micro, type Pips, parsePips } from '@bellwether/contract/decimals';
import { type Address, asAddress, candidateOrderIds } from '@bellwether/protocol';
import type { AgentStore } from '../agents/index.ts';
import type { Denial } from '../domain/denial.ts';
import { readDraft, type TimeInForce } from '../domain/draft.ts';
import {
  type ExitTrigger,
  exitQuote,
  exitWarnings,
  OPEN_EXITS,
  stopDenial,
  triggerPrice,
} from '../domain/exits.ts';
import { endText, type MarketRecord, UNKNOWN_END, untilEnd } from '../domain/market.ts';
import type { Caller, NewSignedOrder } from '../domain/records.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import type { Secrets } from '../platform/secrets.ts';
import {
  checkExit,
  type ExitCall,
  type OrderStore,
  type Placed,
  type TradeNeeds,
  UNSIGNED,
} from '../trading/index.ts';
import { type HasVenues, namedVenue, venueFor, venueOf } from '../venues/asking.ts';
import type { WalletStore } from '../wallets/index.ts';
import { bookOf, endOf, recordIn } from './records.ts';
import type { ExitRow, ExitStore, NewExit } from './store.ts';

export interface ExitNeeds extends TradeNeeds {
  readonly secrets: Secrets;
  readonly exits: ExitStore;
  readonly orders: OrderStore;
  readonly agents: AgentStore;
  readonly wallets: WalletStore;
}

interface LeaveExitCall {
  readonly caller: Caller;
  readonly request: ExitRequest;
  readonly requestId: string;
}

/** A sealed order opens for its exit alone. */
export const exitIdentity = (exitId: string): string => `exits/${exitId}`;

/** What makes an exit the same one, beside its signed order. */
type Terms = Pick<NewExit, 'trigger' | 'group' | 'expiresAt' | 'timeInForce'>;

/** The same exit again is answered with the one that is open, before anything refuses it: a pause, or its own time, may have come since. @throws Refusal */
export async function leaveExit(needs: ExitNeeds, call: LeaveExitCall): Promise<Placed<LeftExit>> {
  const { request, caller } = call;
  requireSignedAhead(needs, request);
  const ownExits = await needs.exits.list(
    { of: { agentId: caller.agentId }, statuses: OPEN_EXITS },
    { limit: EXIT_LIMITS.openPerAgent + 1 },
  );
  try {
    return await leaveNew(needs, call, ownExits);
  } catch (refused) {
    const isRepeatable = request.validateOnly !== true && request.order.signature !== undefined;
    const twin = refused instanceof Refusal && isRepeatable ? twinOf(needs, ownExits, request) : null;
    if (twin === null) throw refused;
    return { answer: await answer(needs, twin, { needsApproval: false }), isRepeated: true };
  }
}

const tradeOf = ({
  trigger,
  group,
  replaces,
  expiresAt,
  validateOnly,
  ...trade
}: ExitRequest): TradeRequest => ({
  ...trade,
  order: { ...trade.order, signature: trade.order.signature ?? UNSIGNED },
});

const termsIn = ({ trigger, group, expiresAt, orderType, isLimitOrder = true }: ExitRequest): Terms => ({
  trigger: triggerIn(trigger),
  group: group ?? null,
  expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt),
  timeInForce: orderType ?? (isLimitOrder ? 'GTC' : 'FAK'),
});

/** The open exit that has this signed order and these terms. */
function twinOf(needs: HasVenues, ownExits: readonly ExitRow[], request: ExitRequest): ExitRow | null {
  const { signing } = venueFor(needs, request.venue, 'signedOrders').signedOrders;
  const draft = readDraft(tradeOf(request), signing.profile);
  if ('length' in draft) return null;
  const ids = candidateOrderIds(draft, signing);
  const known = ownExits.find(({ orderId }) => ids.includes(orderId));
  return known !== undefined && areSame(known, termsIn(request)) ? known : null;
}

async function leaveNew(
  needs: ExitNeeds,
  { caller, request, requestId }: LeaveExitCall,
  ownExits: readonly ExitRow[],
): Promise<Placed<LeftExit>> {
  requireTerms(request, needs.clock.now());
  const { replaces = null, validateOnly } = request;
  const terms = termsIn(request);
  const places = placeOf(ownExits, terms.group, replaces);
  const trade = tradeOf(request);
  const isSigned = request.order.signature !== undefined;
  const unsigned = isSigned ? null : { eoa: await signerOf(needs, caller, trade) };
  const call = { caller, request: trade, requestId, unsigned };
  const { order, needsApproval } = await check(needs, call, { trigger: terms.trigger, places });
  const { silenceSeconds } = await needs.agents.settings(caller.agentId);
  const exit: NewExit = {
    exitId: needs.secrets.newId(),
    caller: { ...caller, userId: order.userId },
    ...{
      orderId: order.orderId,
      venue: order.venue,
      marketId: order.marketId,
      conditionId: order.conditionId,
    },
    ...{ tokenId: order.tokenId, outcome: order.outcome, outcomeName: order.outcomeName },
    ...{ funder: order.funder, limit: order.limit, walletAddress: order.walletAddress, shares: order.shares },
    orderEndsAt: order.expiration,
    ...{ ...terms, timeInForce: order.timeInForce },
    silenceSeconds: terms.trigger.kind === 'silence' ? silenceSeconds : null,
    held: await heldShares(needs, order),
    createdAt: needs.clock.now(),
  };
  const answered = async (row: ExitRow, isRepeated = false) => ({
    answer: await answer(needs, row, { needsApproval }),
    isRepeated,
  });
  const checked = async () => ({
    answer: await answer(needs, wouldBe(exit), { needsApproval, signatureChecked: isSigned }),
    isRepeated: false,
  });
  const known = ownExits.find(({ orderId }) => orderId === exit.orderId);
  if (known !== undefined) {
    requireSame(known, exit);
    return validateOnly === true ? checked() : answered(known, true);
  }
  requireOwnGroup(ownExits, exit, replaces);
  if (replaces !== null) await requireReplaceable(needs, ownExits, { replaces, agentId: caller.agentId });
  const never = stopDenial(stopTerms(exit));
  if (never !== null) throw new Refusal([never]);
  await requireSendable(needs, exit, silenceSeconds);
  if (validateOnly === true) return checked();
  const left = await needs.exits.leave(
    exit,
    needs.secrets.seal(JSON.stringify(trade), exitIdentity(exit.exitId)),
    {
      replaces,
      most: EXIT_LIMITS.openPerAgent,
      kept: EXIT_LIMITS.keptPerAgent,
      isInOrder: venueFor(needs, exit.venue, 'signedOrders').signedOrders.keptSince !== undefined,
    },
  );
  switch (left) {
    case 'too_many':
      throw refusal('exit_limit_reached', `${EXIT_LIMITS.openPerAgent} exits of this agent are open.`);
    case 'no_place':
      throw refusal(
        'max_trades_per_day_exceeded',
        'An armed exit keeps one of the trades of the day, and none is left.',
      );
    case 'key_revoked':
      throw refusal('unauthorized');
    case 'not_open':
      throw notReplaceable(replaces);
    case 'other_group':
      throw otherGroup(exit);
  }
  const row = await needs.exits.byId(left.exitId, caller.agentId);
  if (row === null) throw refusal('exit_not_found');
  if (left.exitId === exit.exitId) return answered(row);
  requireSame(row, exit);
  return answered(row, true);
}

/** @throws Refusal exit_group_mismatch where an exit of another market or outcome has the name: its sale would end this one */
function requireOwnGroup(ownExits: readonly ExitRow[], exit: NewExit, replaces: string | null): void {
  const isOther = ({ exitId, group, conditionId, outcome }: ExitRow): boolean =>
    group === exit.group &&
    exitId !== replaces &&
    (conditionId !== exit.conditionId || outcome !== exit.outcome);
  if (exit.group !== null && ownExits.some(isOther)) throw otherGroup(exit);
}

const otherGroup = ({ group, marketId, outcome }: NewExit): Refusal =>
  refusal(
    'exit_group_mismatch',
    `The group "${group}" has an open exit of another market or outcome than ${outcome} of market ${marketId}: whichever is sold first would end the others.`,
    { path: 'group', fix: `Name another group, such as "${marketId} ${outcome}".` },
  );

/** @param ownExits as they were when the same exit was looked for: its twin may have replaced one since @throws Refusal exit_not_found, exit_gone */
async function requireReplaceable(
  { exits }: ExitNeeds,
  ownExits: readonly ExitRow[],
  { replaces, agentId }: { readonly replaces: string; readonly agentId: string },
): Promise<void> {
  if (ownExits.some(({ exitId, status }) => exitId === replaces && status !== 'firing')) return;
  if ((await exits.byId(replaces, agentId)) !== null) throw notReplaceable(replaces);
  throw refusal('exit_not_found', 'None of the exits of this agent has this id.', { path: 'replaces' });
}

const notReplaceable = (exitId: string | null): Refusal =>
  refusal('exit_gone', `Exit ${exitId} cannot be replaced: it is being sent, or has ended.`, {
    path: 'replaces',
  });

/** @throws Refusal for a venue whose orders are made of quotes, which last seconds */
function requireSignedAhead(needs: HasVenues, { venue: name }: ExitRequest): void {
  const venue = namedVenue(needs, name);
  if (venue?.quotes === undefined || venue.signedOrders !== undefined) return;
  throw refusal(
    'wrong_venue_route',
    `"${venue.id}" trades by quotes that last seconds: no sale can be signed ahead there, so no exit can be left with the desk.`,
    { path: 'venue', fix: 'Watch the price yourself, and sell by a quote: POST /venueb/agent/quote.' },
  );
}

/** @throws Refusal with every fault of the exit's own terms */
function requireTerms({ trigger, expiresAt, order, postOnly, validateOnly }: ExitRequest, now: number): void {
  const faults: Denial[] = [];
  const fault = (path: string, detail: string) => faults.push({ code: 'invalid_request', path, detail });
  if (order.side !== 'SELL' && order.side !== 1)
    fault('order.side', 'An exit sells what is held: order.side must be SELL.');
  if (order.signature === undefined && validateOnly !== true)
    fault('order.signature', 'order.signature is missing: only a check (validateOnly) goes without it.');
  if (postOnly === true) fault('postOnly', 'An exit takes the bid, which a postOnly order never does.');
  const { kind } = trigger;
  const wanted = kind.startsWith('price')
    ? 'price'
    : kind === 'time'
      ? 'at'
      : kind === 'before_end'
        ? 'minutes'
        : null;
  for (const name of ['price', 'at', 'minutes'] as const) {
    if (name === wanted && trigger[name] === undefined)
      fault(`trigger.${name}`, `A trigger of kind ${kind} needs ${name}.`);
    if (name !== wanted && trigger[name] !== undefined)
      fault(`trigger.${name}`, `A trigger of kind ${kind} has no ${name}.`);
  }
  const at = trigger.at === undefined ? null : Date.parse(trigger.at);
  if (at !== null && at <= now) fault('trigger.at', 'This time is over.');
  if (expiresAt !== undefined && Date.parse(expiresAt) <= now) fault('expiresAt', 'This time is over.');
  const price = trigger.price === undefined ? 0 : pipsOrNull(trigger.price);
  if (price === null) fault('trigger.price', 'A price has at most four decimals.');
  const [first, ...rest] = faults;
  if (first !== undefined) throw new Refusal([first, ...rest]);
}

function triggerIn({ kind, price, at, minutes }: ExitRequest['trigger']): ExitTrigger {
  switch (kind) {
    case 'time':
      return { kind, at: Date.parse(at ?? '') };
    case 'before_end':
      return { kind, minutes: minutes ?? 0 };
    case 'silence':
      return { kind };
    default:
      return { kind, price: pipsOrNull(price ?? 0) ?? 0 };
  }
}

function pipsOrNull(price: number): Pips | null {
  try {
    return parsePips(price);
  } catch {
    return null;
  }
}

/** Whose key will sign an order that is only checked. A deposit wallet that signs by ERC-7739 names itself: its credential knows the key. */
async function signerOf(
  { wallets }: ExitNeeds,
  caller: Caller,
  { order: { maker, signer, signatureType } }: TradeRequest,
): Promise<Address | null> {
  if (signatureType !== 3 || asAddress(maker) !== asAddress(signer)) return asAddress(signer);
  return (await wallets.credential(caller, asAddress(maker)))?.eoa ?? null;
}

/** Also what open orders hold: it is the account's until they are filled. */
async function heldShares(
  needs: ExitNeeds,
  { venue, userId, funder, conditionId, tokenId, outcome }: NewSignedOrder,
): Promise<Micro | null> {
  const { signedOrders, markets } = venueFor(needs, venue, 'signedOrders');
  const market = await markets.find(conditionId);
  if (market === null) return null;
  const { tokenIds } = market;
  const [balance, open] = await Promise.all([
    signedOrders.balance(funder, { conditionId, tokenIds, pays: outcome }),
    needs.orders.openOfOwner(userId),
  ]);
  return open
    .filter((order) => order.side === 'SELL' && order.tokenId === tokenId && order.funder === funder)
    .reduce((sum, { shares, filled }) => sum + shares - filled, balance.shares(conditionId, outcome));
}

/** Places of the day's trades that the new exit has already: those of its group are one. */
function placeOf(open: readonly ExitRow[], group: string | null, replaces: string | null): number {
  const armed = open.filter(({ status }) => status !== 'suspended');
  const shares = group !== null && armed.some((row) => row.group === group);
  const replaced = armed.find((row) => row.exitId === replaces);
  const freed =
    replaced !== undefined &&
    (replaced.group === null || !armed.some((row) => row !== replaced && row.group === replaced.group));
  return shares || freed ? 1 : 0;
}

/** An order that needs the owner's approval is left, too: the owner is asked when its trigger holds. */
async function check(
  needs: ExitNeeds,
  call: Omit<ExitCall, 'exit'>,
  { trigger, places }: { readonly trigger: ExitTrigger; readonly places: number },
): Promise<{ readonly order: NewSignedOrder; readonly needsApproval: boolean }> {
  const exit = { moment: 'left', trigger: triggerPrice(trigger), places, hasOwnersWord: false } as const;
  const checked = async (hasOwnersWord: boolean): Promise<NewSignedOrder> => {
    const order = await checkExit(needs, { ...call, exit: { ...exit, hasOwnersWord } });
    if (order === null)
      throw refusal(
        'order_already_placed',
        'This signed order was placed already: an exit needs an order of its own.',
      );
    return order;
  };
  try {
    return { order: await checked(false), needsApproval: false };
  } catch (refused) {
    const isForOwner = refused instanceof Refusal && refused.denials[0].code === 'approval_required';
    if (!isForOwner) throw refused;
    return { order: await checked(true), needsApproval: true };
  }
}

/** @throws Refusal exit_trigger_out_of_range where it ends before its trigger could hold */
async function requireSendable(
  needs: ExitNeeds,
  exit: NewExit,
  silenceSeconds: number | null,
): Promise<void> {
  const venue = venueFor(needs, exit.venue, 'signedOrders');
  const market = await venue.markets.find(exit.conditionId);
  if (market === null) throw refusal('unknown_market');
  if (exit.trigger.kind === 'silence' && silenceSeconds === null)
    throw refusal(
      'exit_trigger_out_of_range',
      'The agent has no silenceSeconds, so the desk never counts it as silent.',
      {
        path: 'trigger.kind',
        fix: 'Set silenceSeconds in POST /agents/settings first.',
      },
    );
  const fault = exit.trigger.kind === 'before_end' ? endFault(market, needs.clock.now()) : null;
  if (fault !== null)
    throw refusal('exit_trigger_out_of_range', fault, {
      path: 'trigger.kind',
      fix: 'Leave it with a time or a price of your own: trigger.kind time, price_at_or_below or price_at_or_above.',
    });
  const earliest = earliestOf(exit.trigger, market, needs.clock.now() + (silenceSeconds ?? 0) * 1000);
  const end = endOf(exit);
  if (earliest === null || end === null || earliest < end) return;
  throw refusal(
    'exit_trigger_out_of_range',
    `It ends at ${new Date(end).toISOString()}, and its trigger cannot hold before ${new Date(earliest).toISOString()}.`,
    { path: 'trigger' },
  );
}

/** Why nothing can be sold so long before a market's end; `null`: its end is ahead. */
export function endFault(market: MarketRecord, now: number): string | null {
  if (untilEnd(market, now) !== null) return null;
  return (market.endDate ?? UNKNOWN_END) === UNKNOWN_END
    ? 'The venue names no end of this market, so there is no time before it.'
    : `The end that the venue names, ${endText(market.endDate)}, is past: the market may trade on, and nothing says how long.`;
}

/** When a trigger can hold first; `null`: at once. */
export function earliestOf(
  trigger: ExitTrigger,
  { endDate }: Pick<MarketRecord, 'endDate'>,
  silentAt: number,
): number | null {
  switch (trigger.kind) {
    case 'time':
      return trigger.at;
    case 'before_end':
      return endDate === null ? null : endDate - trigger.minutes * 60_000;
    case 'silence':
      return silentAt;
    default:
      return null;
  }
}

const areSame = (known: Terms, wanted: Terms): boolean =>
  JSON.stringify(orderedTerms(known)) === JSON.stringify(orderedTerms(wanted));
const orderedTerms = ({ trigger, group, expiresAt, timeInForce }: Terms) => [
  ...[trigger, group, expiresAt, timeInForce],
];

/** @throws Refusal exit_order_already_used */
function requireSame(known: ExitRow, wanted: Terms): void {
  if (!areSame(known, wanted))
    throw refusal('exit_order_already_used', `Exit ${known.exitId} has this signed order, with other terms.`);
}

const wouldBe = (exit: NewExit): ExitRow => ({
  ...exit,
  status: 'armed',
  because: null,
  trouble: null,
  firesOnPause: false,
  sealed: { keyId: 0, bytes: new Uint8Array() },
  fired: null,
  attempts: 0,
  nextAttemptAt: exit.createdAt,
  mustLetGo: false,
  lastingTroubles: [],
  updatedAt: exit.createdAt,
});

interface Said {
  readonly needsApproval: boolean;
  /** Of a check. */
  readonly signatureChecked?: boolean;
}

async function answer(
  needs: ExitNeeds,
  row: ExitRow,
  { needsApproval, signatureChecked }: Said,
): Promise<LeftExit> {
  const venue = venueOf(needs, row.venue, row.funder);
  const [book, market] = await Promise.all([bookOf(venue, row), venue.markets.find(row.conditionId)]);
  const facts = {
    now: needs.clock.now(),
    quote: exitQuote(book ?? null, row.shares),
    endsAt: market?.endDate ?? Number.POSITIVE_INFINITY,
    isSilent: false,
  };
  const left = {
    ...recordIn(row, book),
    ...(needsApproval ? { needsApproval } : {}),
    warnings: row.status === 'armed' ? exitWarnings(stopTerms(row), facts) : [],
  };
  if (signatureChecked === undefined) return left;
  const { exitId: _, ...unleft } = left;
  return { ...unleft, status: 'validated', signatureChecked };
}

const stopTerms = ({ limit, timeInForce, trigger }: Pick<NewExit, 'limit' | 'timeInForce' | 'trigger'>) => ({
  ...{ limit, trigger },
  timeInForce: timeInForce as TimeInForce,
});
