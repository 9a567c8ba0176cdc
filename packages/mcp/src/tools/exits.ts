/** Exits: SELL orders that are signed here and wait with the desk for what sends them. */
import { type ExitRequest, type GuardedExit, signPrepared } from '@bellwether/sdk';
import { z } from 'zod';
import { idOf, numberOf, timeOf, wordOf } from '../facts.ts';
import type { StrangersTexts } from '../strangers-texts.ts';
import { ACTS, READS, tool } from '../tool.ts';
import { ORDER_TERMS, questionAbout, readyOrder } from './order-terms.ts';
import { spend } from './spend.ts';
import { limitOf } from './terms.ts';

const PRICE = z.number().gt(0).lt(1);
const TIME = z.iso.datetime({ offset: true });

const TRIGGERS = {
  whenBelow: PRICE.optional().describe('the book pays so little for the size, for two seconds'),
  whenAbove: PRICE.optional().describe('it pays so much'),
  at: TIME.optional(),
  minutesBeforeEnd: z.int().min(1).max(10_080).optional().describe("of the market's trading"),
  onSilence: z.literal(true).optional().describe('this agent makes no request for silenceSeconds'),
};
type Triggers = z.output<z.ZodObject<typeof TRIGGERS>>;

const triggersOf = ({ whenBelow, whenAbove, at, minutesBeforeEnd, onSilence }: Partial<Triggers>) =>
  [
    ...(whenBelow === undefined ? [] : [{ kind: 'price_at_or_below', price: whenBelow }]),
    ...(whenAbove === undefined ? [] : [{ kind: 'price_at_or_above', price: whenAbove }]),
    ...(at === undefined ? [] : [{ kind: 'time', at }]),
    ...(minutesBeforeEnd === undefined ? [] : [{ kind: 'before_end', minutes: minutesBeforeEnd }]),
    ...(onSilence === true ? [{ kind: 'silence' }] : []),
  ] satisfies ExitRequest['trigger'][];

function exitFacts(exit: GuardedExit, texts: StrangersTexts, place: string) {
  texts.add(`${place}.trouble`, exit.trouble?.message);
  texts.addName(`${place}.outcomeName`, exit.outcome, exit.outcomeName);
  const { trigger, watch } = exit;
  return {
    exitId: idOf(exit.exitId),
    status: wordOf(exit.status),
    because: exit.because === null ? null : wordOf(exit.because),
    trouble: exit.trouble === null ? null : wordOf(exit.trouble.code),
    market: idOf(exit.marketId),
    outcome: wordOf(exit.outcome),
    size: numberOf(exit.size),
    worstPrice: numberOf(exit.worstPrice),
    trigger: {
      kind: wordOf(trigger.kind),
      ...(trigger.price === undefined ? {} : { price: numberOf(trigger.price) }),
      ...(trigger.at === undefined ? {} : { at: timeOf(trigger.at) }),
      ...(trigger.minutes === undefined ? {} : { minutes: numberOf(trigger.minutes) }),
    },
    bookPays: numberOf(watch?.price ?? null),
    distance: numberOf(watch?.distance ?? null),
    endsAt: exit.endsAt === null ? null : timeOf(exit.endsAt),
    needsApproval: exit.needsApproval === true,
    orderId: idOf(exit.orderId),
  };
}

const { market, venue, outcome, size, timeInForce, clientOrderId, reasoning } = ORDER_TERMS.input.shape;

export const leaveExit = tool({
  name: 'leave_exit',
  title: 'Leave an exit with the desk',
  description:
    'Signs a SELL of held shares and leaves it with the desk, which sends it once when its trigger holds, also when this agent is gone. worstPrice must be near the trigger and the best bid of that time (exitDistancePercent); without a bid nothing is sold. A pause suspends exits; only the owner resumes them. Leave several for parts of a position; of a group, the first that is sent cancels the rest.',
  annotations: { ...ACTS, idempotentHint: false },
  input: z.strictObject({
    ...{ market, venue, outcome, size: size.unwrap(), worstPrice: PRICE },
    timeInForce: timeInForce.unwrap().exclude(['GTD']).default('FAK'),
    ...TRIGGERS,
    group: z
      .string()
      .regex(/^[A-Za-z0-9 ._-]{1,64}$/)
      .optional(),
    until: TIME.optional().describe('the desk forgets it then'),
    clientOrderId,
    reasoning,
  }),
  contradictions: (terms) =>
    triggersOf(terms).length === 1
      ? []
      : ['give exactly one of whenBelow, whenAbove, at, minutesBeforeEnd and onSilence'],
  async run(terms, call) {
    const { desk, texts, approval } = call;
    const { worstPrice, group, until, whenBelow, whenAbove, at, minutesBeforeEnd, onSilence, ...rest } =
      terms;
    const isResting = terms.timeInForce === 'GTC';
    const order = await readyOrder(
      { ...rest, side: 'SELL', ...(isResting ? { price: worstPrice } : { worstPrice }) },
      approval.asked,
      call,
    );
    const { verified } = order;
    const [trigger] = triggersOf({ whenBelow, whenAbove, at, minutesBeforeEnd, onSilence });
    if (trigger === undefined) throw new Error('an exit has one trigger');
    const spent = await spend(call, {
      order: { orderId: verified.orderId, clientOrderId: order.clientOrderId },
      cost: order.cost,
      stake: order.stake,
      question: () => `${questionAbout(order)} It waits with the desk until its trigger holds.`,
      send: async () =>
        desk.once.leaveExit({
          ...(await signPrepared(verified, desk.wallet().signer)),
          trigger,
          ...(group === undefined ? {} : { group }),
          ...(until === undefined ? {} : { expiresAt: until }),
        }),
    });
    if ('ask' in spent) return spent.ask;
    return { exit: exitFacts(spent.answer, texts, 'exit') };
  },
});

export const listExits = tool({
  name: 'list_exits',
  title: 'List exits',
  description:
    'Exits left with the desk, newest first, with the distance to their triggers: those that are open, or all.',
  annotations: READS,
  input: z.strictObject({ which: z.enum(['open', 'all']).default('open'), limit: limitOf(10, 100) }),
  async run({ which, limit }, { desk, texts, signal }) {
    const query = which === 'open' ? { limit, status: 'open' } : { limit };
    const exits = await desk.client.listExits(query, { signal });
    return { exits: exits.slice(0, limit).map((exit, at) => exitFacts(exit, texts, `exits.${at}`)) };
  },
});

export const cancelExit = tool({
  name: 'cancel_exit',
  title: 'Cancel an exit',
  description:
    'Takes one exit back by exitId, and deletes its signed order. One that is being sent stays: cancel its order.',
  annotations: { ...ACTS, idempotentHint: true },
  input: z.strictObject({ exitId: z.string().regex(/^[A-Za-z0-9-]{1,64}$/) }),
  async run({ exitId }, { desk, texts, signal }) {
    return { exit: exitFacts(await desk.client.cancelExit({ exitId }, { signal }), texts, 'exit') };
  },
});
