/** Exits: SELL orders that are signed here and wait with the desk for what sends them. */
import {
  type ExitTrigger,
  type GuardedExit,
  type LeftExit,
  type Market,
  signPrepared,
  verifyExit,
} from '@bellwether/sdk';
import { z } from 'zod';
import { idOf, numberOf, type StrangersTexts, timeOf, wordOf } from '../answer.ts';
import { ACTS, type AskedOrder, type Call, limitOf, READS, spend, tool } from '../tool.ts';
import { findMarket, ORDER_TERMS, placedFacts, questionAbout, readyOrder, sideIn } from './orders.ts';

const PRICE = z.number().gt(0).lt(1);
const TIME = z.iso.datetime({ offset: true });

const TRIGGER = z
  .strictObject({
    kind: z.enum(['price_at_or_below', 'price_at_or_above', 'time', 'before_end', 'silence']),
    price: PRICE.optional().describe('of the price kinds: what the book pays for the size'),
    at: TIME.optional().describe('of time'),
    minutes: z.int().min(1).max(10_080).optional().describe('of before_end'),
  })
  .describe('silence: this agent makes no request for silenceSeconds');
type Trigger = z.output<typeof TRIGGER>;

/** The field that each kind has. */
const OF_KIND: Readonly<Record<Trigger['kind'], 'price' | 'at' | 'minutes' | null>> = {
  price_at_or_below: 'price',
  price_at_or_above: 'price',
  time: 'at',
  before_end: 'minutes',
  silence: null,
};

function triggerFaults({ kind, ...given }: Partial<Trigger>): string[] {
  const wanted = kind === undefined ? undefined : OF_KIND[kind];
  if (wanted === undefined) return [];
  return (['price', 'at', 'minutes'] as const).flatMap((name) => {
    if (name === wanted && given[name] === undefined) return [`a trigger of kind ${kind} needs ${name}`];
    return name !== wanted && given[name] !== undefined ? [`a trigger of kind ${kind} has no ${name}`] : [];
  });
}

const triggerOf = ({ kind, price, at, minutes }: Trigger): ExitTrigger => ({
  kind,
  ...(price === undefined ? {} : { price }),
  ...(at === undefined ? {} : { at }),
  ...(minutes === undefined ? {} : { minutes }),
});

function exitFacts(exit: GuardedExit | LeftExit, texts: StrangersTexts, place: string) {
  texts.add(`${place}.trouble`, exit.trouble?.message);
  texts.addName(`${place}.outcomeName`, exit.outcome, exit.outcomeName);
  // A name with spaces may be a sentence.
  if (exit.group != null && idOf(exit.group) !== exit.group) texts.add(`${place}.group`, exit.group);
  const { trigger, watch } = exit;
  return {
    ...(exit.exitId === undefined ? {} : { exitId: idOf(exit.exitId) }),
    status: wordOf(exit.status),
    ...(exit.resumableBy == null ? {} : { resumableBy: wordOf(exit.resumableBy) }),
    because: exit.because === null ? null : wordOf(exit.because),
    trouble: exit.trouble === null ? null : wordOf(exit.trouble.code),
    market: idOf(exit.marketId),
    outcome: wordOf(exit.outcome),
    group: exit.group == null ? null : idOf(exit.group),
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
    'Signs a SELL of held shares and leaves it with the desk, which sends it once when its trigger holds, also when this agent is gone. worstPrice must be near the trigger and the best bid of that time (exitDistancePercent); of a stop, below its trigger. A pause suspends exits; a person resumes them. A group is of one market and outcome: the first that is sent cancels the rest.',
  annotations: ACTS,
  input: z.strictObject({
    ...{ market, venue, outcome, size: size.unwrap(), worstPrice: PRICE },
    timeInForce: timeInForce.unwrap().exclude(['GTD']).default('FAK'),
    trigger: TRIGGER,
    group: z
      .string()
      .regex(/^[A-Za-z0-9 ._-]{1,64}$/)
      .optional(),
    until: TIME.optional().describe('the desk forgets it then'),
    checkOnly: z.literal(true).optional().describe('check it; nothing is signed or left'),
    clientOrderId,
    reasoning,
  }),
  contradictions: ({ trigger }) => triggerFaults(trigger ?? {}),
  async run(terms, call) {
    const { desk, texts, approval, signal } = call;
    const { worstPrice, group, until, checkOnly, trigger: given, ...rest } = terms;
    const isResting = terms.timeInForce === 'GTC';
    const order = await readyOrder(
      { ...rest, side: 'SELL', ...(isResting ? { price: worstPrice } : { worstPrice }) },
      approval.asked,
      call,
    );
    const { verified } = order;
    const exit = {
      trigger: triggerOf(given),
      ...(group === undefined ? {} : { group }),
      ...(until === undefined ? {} : { expiresAt: until }),
    };
    // Nothing is signed yet: in the hands of the desk a signature would be a valid sale.
    const checked = await desk.client.leaveExit(
      { ...verified.body, ...exit, validateOnly: true },
      { signal },
    );
    verifyExit(checked, { ...verified, ...exit });
    if (checkOnly === true)
      return { exit: exitFacts(checked, texts, 'exit'), clientOrderId: order.clientOrderId };
    const spent = await spend(call, {
      order: { orderId: verified.orderId, clientOrderId: order.clientOrderId },
      cost: order.cost,
      stake: order.stake,
      question: () => `${questionAbout(order)} It waits with the desk until its trigger holds.`,
      send: async () =>
        desk.once.leaveExit({
          ...(await signPrepared(verified, desk.wallet().signer)),
          ...exit,
        }),
    });
    if ('ask' in spent) return spent.ask;
    return { exit: exitFacts(spent.answer, texts, 'exit') };
  },
});

export const closePosition = tool({
  name: 'close_position',
  title: 'Close a position',
  description:
    'Cancels the open orders of a market, sells what is held of the outcome at worstPrice or more, and says what remains and which exits still guard it.',
  annotations: ACTS,
  input: z.strictObject({ ...{ market, venue, outcome, worstPrice: PRICE } }),
  async run(terms, call) {
    const { desk, texts, approval, signal } = call;
    const place = await findMarket(terms.market, terms.venue, call);
    const side = sideIn(terms.outcome, place, texts);
    const held = await heldIn(place, call);
    const size = held.find((one) => one.outcome === side)?.size ?? 0;
    const sale = async (of: number, asked: AskedOrder | null) =>
      readyOrder({ ...terms, outcome: side, side: 'SELL', size: of }, asked, call);
    const cancel = async () => desk.client.cancelMarket({ marketConditionId: place.conditionId }, { signal });
    if (size === 0) {
      const { canceled } = await cancel();
      return { canceled: canceled.map(idOf), sold: null, ...(await standingIn(place, call)) };
    }
    const order = await sale(size, approval.asked);
    let canceled: readonly string[] = [];
    let { verified } = order;
    const spent = await spend(call, {
      order: { orderId: verified.orderId, clientOrderId: order.clientOrderId },
      cost: order.cost,
      stake: order.stake,
      question: () => `${questionAbout(order)} The open orders of this market are canceled first.`,
      prepare: async () => {
        ({ canceled } = await cancel());
        // What rested may have sold a part: never more than the person agreed to.
        const left = (await heldIn(place, call)).find((one) => one.outcome === side)?.size ?? 0;
        if (left > 0 && left < size) ({ verified } = await sale(left, null));
      },
      send: async () => desk.once.placeTrade(await signPrepared(verified, desk.wallet().signer)),
    });
    if ('ask' in spent) return spent.ask;
    return {
      canceled: canceled.map(idOf),
      sold: placedFacts(spent.answer, texts),
      ...(await standingIn(place, call)),
    };
  },
});

/** Of the wallet of the keystore. */
async function heldIn(place: Market, { desk, signal }: Call) {
  const { signer, signatureType } = desk.wallet();
  const wallet = signer.wallet(signatureType).toLowerCase();
  const query = { market: place.conditionId, venue: place.venue };
  const positions = await desk.client.getCurrentPositions(query, { signal });
  return positions.filter(({ walletAddress }) => walletAddress.toLowerCase() === wallet);
}

async function standingIn(place: Market, call: Call) {
  const { desk, texts, signal } = call;
  const query = { marketConditionId: place.conditionId, status: 'open', limit: 50 };
  const [held, exits] = await Promise.all([heldIn(place, call), desk.client.listExits(query, { signal })]);
  return {
    remains: held.map(({ outcome, size }) => ({ outcome: wordOf(outcome), size: numberOf(size) })),
    exits: exits.map((exit, at) => exitFacts(exit, texts, `exits.${at}`)),
  };
}

export const listExits = tool({
  name: 'list_exits',
  title: 'List exits',
  description: 'Exits left with the desk, newest first, with the distance to their triggers.',
  annotations: READS,
  input: z.strictObject({ which: z.enum(['open', 'ended', 'all']).default('open'), limit: limitOf(10, 100) }),
  async run({ which, limit }, { desk, texts, signal }) {
    const query = which === 'all' ? { limit } : { limit, status: which };
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
