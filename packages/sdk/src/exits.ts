/** Guarded exits before they are signed: what their terms come to, and whether the desk has checked the exit that is meant. */
import type { ExitRequest, LeftExit, UnsignedTrade } from '@bellwether/contract';
import { divide, PIPS, parsePips, parseTick, pipsToNumber, tickOf } from '@bellwether/contract';
import { BellwetherUsageError, NEED, needOptions } from './usage-error.ts';
import { PreparedOrderError } from './verify-prepared.ts';

/** The owner sets it within these: `exitDistancePercent` of the settings. */
const MOST_DISTANCE_PERCENT = 50;

/**
 * The least price of a stop that keeps the owner's distance to its trigger: on the grid, never below the distance.
 * @param terms `price` of the trigger, `exitDistancePercent` of the agent's settings, `tickSize` of the market
 * @throws BellwetherUsageError for a distance that no owner can have set, and where the grid has no price from there to the trigger
 * @example
 * worstExitPrice({ price: 0.72, exitDistancePercent: 10, tickSize: '0.01' }); // 0.65
 */
export function worstExitPrice(terms: {
  readonly price: number;
  readonly exitDistancePercent: number;
  readonly tickSize: string;
}): number {
  needOptions('worstExitPrice', terms, { price: NEED.number, tickSize: NEED.text('tickSize of the market') });
  const { exitDistancePercent: percent, tickSize } = terms;
  if (!Number.isInteger(percent) || percent < 1 || percent > MOST_DISTANCE_PERCENT)
    throw new BellwetherUsageError(
      `worstExitPrice needs exitDistancePercent: a whole number from 1 to ${MOST_DISTANCE_PERCENT}, as the owner can set it.`,
    );
  const tick = tickOf(tickSize);
  const price = parsePips(terms.price);
  const least = BigInt(price) * BigInt(100 - percent);
  const worst = Number(divide(least, 100n * BigInt(tick), 'ceil')) * tick;
  if (worst > price)
    throw new BellwetherUsageError(
      `No price of this market lies from ${percent} % below ${terms.price} up to it: name a worst price of your own.`,
    );
  return pipsToNumber(worst);
}

/** An exit as it is meant: the order that `verifyPrepared` gave, and what sends it. */
export interface MeantExit extends Pick<ExitRequest, 'trigger' | 'group'> {
  readonly orderId: string;
  readonly body: UnsignedTrade;
}

/**
 * Compares an exit that the desk says it has checked with the one that is meant, before it is signed: a desk that has checked another
 * order or another price has not said that this one can be left.
 * @returns whether it was checked: `false` for an answer that is not `validated`, of which nothing is to be believed
 * @throws PreparedOrderError naming the first field that differs
 * @example
 * const terms = { trigger: { kind: 'price_at_or_below', price: 0.4 } } as const;
 * const verified = verifyPrepared(await client.prepareTrade(intent), intent, { agentId, signer, market });
 * const checked = await client.leaveExit({ ...verified.body, ...terms, validateOnly: true });
 * verifyExit(checked, { ...verified, ...terms });
 * const exit = await client.leaveExit({ ...(await signPrepared(verified, signer)), ...terms });
 */
export function verifyExit(answer: LeftExit, meant: MeantExit): boolean {
  needOptions('verifyExit', meant, { body: NEED.object('the order that was verified', 'order') });
  if (answer.status !== 'validated') return false;
  const { trigger, group = null, orderId, body } = meant;
  const at = (value: string | undefined) => (value === undefined ? undefined : Date.parse(value));
  const fields: readonly (readonly [string, unknown, unknown])[] = [
    ['orderId', answer.orderId, orderId],
    ['tokenId', answer.tokenId, body.order.tokenId],
    ['outcome', answer.outcome, body.outcome],
    ['size', answer.size, body.orderSize],
    ['worstPrice', answer.worstPrice, signedWorst(body)],
    ['orderType', answer.orderType, body.orderType],
    ['trigger.kind', answer.trigger.kind, trigger.kind],
    ['trigger.price', answer.trigger.price, trigger.price],
    ['trigger.at', at(answer.trigger.at), at(trigger.at)],
    ['trigger.minutes', answer.trigger.minutes, trigger.minutes],
    ['group', answer.group, group],
  ];
  for (const [name, said, wanted] of fields)
    if (said !== wanted)
      throw new PreparedOrderError(
        `exit.${name}`,
        `The desk checked another exit than the one that is meant: exit.${name} is ${String(said)}, and should be ${String(wanted)}. It was not signed.`,
      );
  return true;
}

/** The least that the signed amounts of a SELL allow, on the grid. */
function signedWorst({ order: { makerAmount, takerAmount }, tickSize }: UnsignedTrade): number {
  const tick = parseTick(tickSize) ?? 1;
  const ticks = divide(BigInt(takerAmount) * BigInt(PIPS), BigInt(makerAmount) * BigInt(tick), 'ceil');
  return pipsToNumber(Number(ticks) * tick);
}
