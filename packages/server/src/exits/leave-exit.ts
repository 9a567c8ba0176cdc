/** An exit that an agent leaves with the desk: checked as if it were placed now, sealed, and armed. */
import { EXIT_LIMITS, type ExitRequest, type GuardedExit, type TradeRequest } from '@bellwether/contract';
import { type Pips, parsePips } from '@bellwether/contract/decimals';
import type { AgentStore } from '../agents/index.ts';
import type { Denial } from '../domain/denial.ts';
import { type ExitTrigger, OPEN_EXITS, triggerPrice } from '../domain/exits.ts';
import { endText, type MarketRecord, UNKNOWN_END, untilEnd } from '../domain/market.ts';
import type { Caller, NewSignedOrder } from '../domain/records.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import type { Secrets } from '../platform/secrets.ts';
import { checkExit, type Placed, type ValidateTradeNeeds } from '../trading/index.ts';
import { type HasVenues, namedVenue, venueFor } from '../venues/asking.ts';
import { endOf, exitRecords } from './records.ts';
import type { ExitRow, ExitStore, NewExit } from './store.ts';

export interface LeaveExitNeeds extends ValidateTradeNeeds {
  readonly secrets: ValidateTradeNeeds['secrets'] & Pick<Secrets, 'newId' | 'seal'>;
  readonly exits: Pick<ExitStore, 'leave' | 'byId' | 'list'>;
  readonly agents: Pick<AgentStore, 'settings'>;
}

export interface LeaveExitCall {
  readonly caller: Caller;
  readonly request: ExitRequest;
  readonly requestId: string;
}

/** A sealed order opens for its exit alone. */
export const exitIdentity = (exitId: string): string => `exits/${exitId}`;

interface Checked {
  readonly order: NewSignedOrder;
  readonly needsApproval: boolean;
}

/** @throws Refusal */
export async function leaveExit(
  needs: LeaveExitNeeds,
  { caller, request, requestId }: LeaveExitCall,
): Promise<Placed<GuardedExit>> {
  requireSignedAhead(needs, request);
  const { trigger, group = null, replaces = null, expiresAt, validateOnly, ...trade } = request;
  const read = readTrigger(request, needs.clock.now());
  const ownExits = await needs.exits.list(
    { agentId: caller.agentId, statuses: OPEN_EXITS },
    { limit: EXIT_LIMITS.openPerAgent + 1 },
  );
  const places = placeOf(ownExits, group, replaces);
  const call = { caller, request: trade, requestId };
  const { order, needsApproval } = await check(needs, call, { trigger: read, places });
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
    ...{ funder: order.funder, limit: order.limit },
    ...{ walletAddress: order.walletAddress, timeInForce: order.timeInForce, shares: order.shares },
    orderEndsAt: order.expiration,
    trigger: read,
    group,
    expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt),
    createdAt: needs.clock.now(),
  };
  const known = ownExits.find(({ orderId }) => orderId === exit.orderId);
  const answered = async (row: ExitRow, isRepeated = false) => ({
    answer: await answer(needs, row, needsApproval),
    isRepeated: isRepeated && validateOnly !== true,
  });
  if (known !== undefined) return answered(sameExit(known, exit), true);
  if (replaces !== null) await requireReplaceable(needs, ownExits, { replaces, agentId: caller.agentId });
  await requireSendable(needs, exit);
  if (validateOnly === true) return answered(unsealed(exit));
  const left = await needs.exits.leave(
    exit,
    needs.secrets.seal(JSON.stringify(trade), exitIdentity(exit.exitId)),
    { replaces, most: EXIT_LIMITS.openPerAgent, kept: EXIT_LIMITS.keptPerAgent },
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
  }
  const row = await needs.exits.byId(left.exitId, caller.agentId);
  if (row === null) throw refusal('exit_not_found');
  return left.exitId === exit.exitId ? answered(row) : answered(sameExit(row, exit), true);
}

/** @param ownExits as they were when the same exit was looked for: its twin may have replaced one since @throws Refusal exit_not_found, exit_gone */
async function requireReplaceable(
  { exits }: LeaveExitNeeds,
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
function readTrigger({ trigger, expiresAt, order, postOnly }: ExitRequest, now: number): ExitTrigger {
  const faults: Denial[] = [];
  const fault = (path: string, detail: string) => faults.push({ code: 'invalid_request', path, detail });
  if (order.side !== 'SELL' && order.side !== 1)
    fault('order.side', 'An exit sells what is held: order.side must be SELL.');
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
  if (kind === 'time') return { kind, at: at ?? 0 };
  if (kind === 'before_end') return { kind, minutes: trigger.minutes ?? 0 };
  if (kind === 'silence') return { kind };
  return { kind: kind as 'price_at_or_below', price: price ?? 0 };
}

function pipsOrNull(price: number): Pips | null {
  try {
    return parsePips(price);
  } catch {
    return null;
  }
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
  needs: LeaveExitNeeds,
  call: { readonly caller: Caller; readonly request: TradeRequest; readonly requestId: string },
  { trigger, places }: { readonly trigger: ExitTrigger; readonly places: number },
): Promise<Checked> {
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
async function requireSendable(needs: LeaveExitNeeds, exit: NewExit): Promise<void> {
  const venue = venueFor(needs, exit.venue, 'signedOrders');
  const market = await venue.markets.find(exit.conditionId);
  if (market === null) throw refusal('unknown_market');
  const { silenceSeconds } = await needs.agents.settings(exit.caller.agentId);
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

/** @throws Refusal exit_order_already_used */
function sameExit(known: ExitRow, wanted: NewExit): ExitRow {
  const terms = ({ trigger, group, expiresAt }: Pick<NewExit, 'trigger' | 'group' | 'expiresAt'>) =>
    JSON.stringify([trigger, group, expiresAt]);
  if (terms(known) === terms(wanted)) return known;
  throw refusal('exit_order_already_used', `Exit ${known.exitId} has this signed order, with other terms.`);
}

const unsealed = (exit: NewExit): ExitRow => ({
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
  updatedAt: exit.createdAt,
});

async function answer(needs: HasVenues, row: ExitRow, needsApproval: boolean): Promise<GuardedExit> {
  const [record] = await exitRecords(needs, [row]);
  if (record === undefined) throw new Error('one row has one record');
  return needsApproval ? { ...record, needsApproval } : record;
}
