/**
 * `buy` and `sell`: from an intent in named options to a placed order. The desk prepares what is signed; this program computes
 * it again, shows it, asks, signs it here, and sends it, or leaves it with the desk as an exit.
 */
import {
  type BellwetherClient,
  BellwetherConnectionError,
  BellwetherUsageError,
  isProblem,
  type LeftExit,
  type Market,
  type Order,
  type PreparedTrade,
  type Signer,
  signPrepared,
  type TradeIntent,
  type TradeRequest,
  type TradeResponse,
  type VerifiedPrepared,
  verifyExit,
  verifyPrepared,
  worstExitPrice,
} from '@bellwether/sdk';
import { KnownMints, provesNoEffect } from '@bellwether/sdk/keystore';
import { type Command, Option } from 'commander';
import { adviceFor, CliError } from '../cli-error.ts';
import {
  count,
  duration,
  fraction,
  outcomeArgument,
  positive,
  price,
  time,
  upper,
  WALLET_NAMES,
  walletType,
} from '../options.ts';
import { action, examples, type Run, type Start } from '../run.ts';
import { place, requireSameMarket, requireUse, reserveSpending, sideIn } from '../signing.ts';
import { outcomeText } from '../terminal.ts';
import {
  addTriggerOptions,
  defaultWorst,
  type ExitTerms,
  exitFacts,
  exitTermsOf,
  type TriggerOptions,
  triggerFlags,
  triggerText,
  watchFacts,
} from './exits.ts';
import {
  afterApproval,
  checkOptions,
  DEFAULT_SLIPPAGE,
  intentOf,
  type OrderOptions,
  repetition,
  type Wanted,
  walletOf,
} from './order-intent.ts';

interface Ready {
  readonly client: BellwetherClient;
  readonly market: Market;
  readonly intent: TradeIntent;
  readonly prepared: PreparedTrade;
  readonly verified: VerifiedPrepared;
  readonly signer: Signer;
}

/** A desk on the live venue asks for what only the live venue's orders have. */
function aboutLive(error: unknown, { live }: OrderOptions): unknown {
  const isMissing =
    isProblem(error) && live !== true && error.errors.some(({ path }) => path === 'timestamp');
  if (!isMissing) return error;
  return new CliError(
    'refused',
    error.code,
    'This desk takes orders as the live venue does, and this one was not to be signed so.',
    {
      fix: 'If you want that, add --live or set BELLWETHER_ORDER_PROFILE=polymarket.',
    },
  );
}

/** Everything up to the signature. @throws PreparedOrderError when the desk prepared something else */
async function prepare(
  run: Run,
  given: Wanted,
  stop: { readonly price: number } | null = null,
): Promise<Ready> {
  const wallet = await walletOf(run, given.walletType);
  const client = await run.client();
  const { venue } = given;
  const [me, market] = await run.waiting(
    'Reading the market',
    Promise.all([client.getMe(), client.getMarket(given.market, venue === undefined ? {} : { venue })]),
  );
  requireUse(me.venues, market.venue, wallet.signer.use);
  requireSameMarket(given.market, market);
  const wanted =
    stop === null
      ? given
      : {
          ...given,
          worstPrice: worstOfStop({
            ...stop,
            exitDistancePercent: me.settings.exitDistancePercent,
            tickSize: market.tickSize,
          }),
        };
  const asked = { ...wanted, outcome: sideIn(wanted.outcome, market) };
  const intent = await run.waiting('Reading the book', intentOf(client, asked, market, wallet));
  const prepared = await run.waiting('Preparing the order', client.prepareTrade(intent)).catch((error) => {
    throw aboutLive(error, wanted);
  });
  const verified = verifyPrepared(prepared, intent, {
    agentId: me.agentId,
    signer: wallet.signer,
    market,
    tokenIds: new KnownMints(run.place).tokensOf(market),
    profile: wanted.live === true ? 'polymarket' : 'interface',
  });
  return { client, market, intent, prepared, verified, signer: wallet.signer };
}

/** @throws CliError where the trigger and the distance leave no price */
function worstOfStop(terms: Parameters<typeof worstExitPrice>[0]): number {
  try {
    return worstExitPrice(terms);
  } catch (error) {
    if (!(error instanceof BellwetherUsageError)) throw error;
    throw new CliError('refused', 'worst_price_unknown', error.message, {
      fix: 'Name the least price to take with --price or --worst-price.',
    });
  }
}

/** The side, and what the venue calls it where that says more. */
function namedOutcome({ market, verified }: Ready): string {
  const { outcome } = verified.body;
  return outcomeText(outcome, market.outcomes[outcome === 'YES' ? 0 : 1], ' = ');
}

const cutText = (side: string, cut: number): string =>
  `${cut}: an order has at most 2 decimals${side === 'SELL' ? '; it stays in the wallet, and is redeemed if the outcome wins' : ''}`;

/** Text of the verified order; figures that the desk expects are marked as such. */
function orderText(run: Run, ready: Ready): string {
  const { market, intent, prepared, verified } = ready;
  const { fill, feeAtMost, amounts, counted, expectedRefusal } = prepared;
  const { side, price: limit, orderType } = intent;
  const { order, orderSize, price: signedPrice } = verified.body;
  const which = namedOutcome(ready);
  const what =
    limit === undefined
      ? side === 'BUY'
        ? `spend at most ${amounts.collateral} on ${which}, at ${signedPrice} or less a share`
        : `sell ${orderSize} ${which}, at ${signedPrice} or more a share`
      : `${side.toLowerCase()} ${orderSize} ${which} at ${signedPrice}`;
  return run.output.facts(
    [
      ['market', market.question],
      ['order', what],
      ...(amounts.cut === undefined ? [] : [['not in it', cutText(side, amounts.cut)] as const]),
      ['type', orderType ?? (limit === undefined ? 'FAK' : 'GTC')],
      ...(intent.cancelAfterMs === undefined
        ? []
        : [
            [
              'canceled',
              `if not filled ${intent.cancelAfterMs / 1000} s after the desk received it`,
            ] as const,
          ]),
      ['wallet', order.maker],
      [
        'fills now',
        `${fill.shares} shares at ${fill.averagePrice ?? '–'} on average${fill.rests > 0 ? `, ${fill.rests} wait on the book` : ''} (says the desk)`,
      ],
      ['fee', `${fill.fee} now, at most ${feeAtMost} (says the desk)`],
      ['safeguards count', `${counted} (says the desk)`],
      ...prepared.warnings.map(({ message }) => ['warning', `${message} (says the desk)`] as const),
      ...(expectedRefusal === null ? [] : [['the venue would refuse', expectedRefusal] as const]),
      ['order id', verified.orderId],
      ['client order id', intent.clientOrderId],
    ],
    'stderr',
  );
}

/** Checks before it signs: an order that the desk would refuse is not signed. @throws CliError with the code, the figures and the advice of the first check */
function requireAccepted({ checks, accepted, expectedRefusal }: PreparedTrade): void {
  if (expectedRefusal !== null)
    throw new CliError(
      'refused',
      expectedRefusal,
      'The venue would refuse this order now. Nothing was signed.',
      {
        fix: adviceFor(expectedRefusal) ?? 'Change the order, or try again when the book has changed.',
      },
    );
  if (accepted) return;
  // The trade itself asks the owner.
  const failed = checks.find(({ passed, code }) => !passed && code !== 'approval_required');
  if (failed === undefined) return;
  const { code, message, fix, limit, used, asked } = failed;
  const figures = limit === null ? '' : ` (limit ${limit}, used ${used ?? 0}, asked ${asked ?? 0})`;
  throw new CliError('refused', code, `${message ?? 'The desk would refuse this order.'}${figures}`, {
    fix: fix ?? adviceFor(code),
  });
}

const resultFacts = (answer: TradeResponse | Order, { clientOrderId }: TradeIntent) =>
  [
    ['status', answer.status],
    ['filled', 'filledSize' in answer ? `${answer.filledSize} shares` : null],
    ['average price', answer.avgPrice],
    ['fee', answer.feePaid],
    ['order id', answer.orderId],
    ['client order id', clientOrderId],
  ] as const;

/** An order that the venue refused is no success. @throws CliError */
function requireTaken(answer: TradeResponse | Order): void {
  const isRefused = 'success' in answer ? !answer.success : answer.status === 'rejected';
  if (!isRefused) return;
  throw new CliError(
    'refused',
    answer.errorCode ?? 'venue_refused',
    answer.errorMessage ?? 'The venue refused the order.',
    { fix: answer.fix ?? undefined, orderId: answer.orderId },
  );
}

const MICRO = 1e6;

/**
 * The most that an order can cost, in millionths: what is signed, and the fee on top as the desk says it. It depends on the order
 * alone, so that every try of it is the same reservation.
 */
const mostOf = ({ verified: { body }, prepared: { feeAtMost } }: Ready): bigint =>
  body.order.side === 'BUY'
    ? BigInt(body.order.makerAmount) + BigInt(Math.ceil(Math.max(0, feeAtMost) * MICRO))
    : 0n;

async function send(run: Run, ready: Ready, wanted: Wanted): Promise<TradeResponse | Order> {
  const { client, intent, verified, signer } = ready;
  const { orderId } = verified;
  const again = repetition(wanted, intent, run.givenUrl);
  reserveSpending(run, orderId, mostOf(ready));
  const body: TradeRequest = await signPrepared(verified, signer);
  try {
    const placed = await place(run, {
      orderId,
      send: (once) => once.placeTrade(body),
      look: () => client.getOrder(orderId),
      advice: `Look: bellwether orders ${orderId}\nThe same order again has no second effect: ${again}`,
    });
    const answer = 'answer' in placed ? placed.answer : placed.found;
    requireTaken(answer);
    return answer;
  } catch (error) {
    throw afterApproval(error, again);
  }
}

/** For programs: what was asked and what the desk expects of it, without the typed data. */
function summaryOf({ intent, prepared, verified }: Ready) {
  const { marketId, tokenId, outcome, outcomeName, amounts, fill, feeAtMost, expectedRefusal, checks } =
    prepared;
  const { orderId } = verified;
  return {
    clientOrderId: intent.clientOrderId,
    orderId,
    marketId,
    tokenId,
    outcome,
    outcomeName,
    amounts,
    fill,
    feeAtMost,
    expectedRefusal,
    checks,
  };
}

/** Whether orders are signed for the live venue is for the user to say, never for the desk. */
const isLive = ({ env }: Run, { live }: OrderOptions): boolean =>
  live === true || env.BELLWETHER_ORDER_PROFILE === 'polymarket';

type Left = LeftExit & { readonly exitId: string };

interface Leaving {
  readonly terms: ExitTerms;
  /** The command that leaves the same exit again. */
  readonly again: string;
}

/**
 * Leaves the order with the desk: repeating that has no second effect, so the client may try again.
 * @throws the refusal; CliError `unknown`
 */
async function leave(
  run: Run,
  { client, verified, signer }: Ready,
  { terms, again }: Leaving,
): Promise<Left> {
  const body = await signPrepared(verified, signer);
  try {
    return await run.waiting('Leaving the exit', client.leaveExit({ ...body, ...terms }));
  } catch (error) {
    if (provesNoEffect(error)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(
      'unknown',
      'exit_outcome_unknown',
      `The exit was sent, and whether the desk has it is not known here: ${why}`,
      {
        orderId: verified.orderId,
        fix: `Look: bellwether exits\nThe same exit again has no second effect: ${again}`,
      },
    );
  }
}

/**
 * The exit as the desk would take it. Nothing is signed yet: in the hands of the desk a signature would be a valid sale.
 * @returns `null`: it does not say that it has checked it. A program goes on then, because the exit is judged again when it is left
 * @throws the refusal; PreparedOrderError where another exit was checked
 */
async function checkedExit(
  run: Run,
  { client, verified }: Ready,
  terms: ExitTerms,
  { yes, validateOnly }: Wanted,
): Promise<LeftExit | null> {
  try {
    const checked = await run.waiting(
      'Checking the exit',
      client.leaveExit({ ...verified.body, ...terms, validateOnly: true }),
    );
    return verifyExit(checked, { ...verified, ...terms }) ? checked : null;
  } catch (error) {
    const isUnanswered = error instanceof BellwetherConnectionError && yes === true && validateOnly !== true;
    if (!isUnanswered) throw error;
    return null;
  }
}

/** Text of an exit whose order was verified here; what sends it is the terms that were typed. */
function exitText(
  run: Run,
  ready: Ready,
  { terms, checked }: { readonly terms: ExitTerms; readonly checked: LeftExit | null },
): string {
  const { market, prepared, verified } = ready;
  const { order, orderSize, price: worst, orderType } = verified.body;
  const { trigger, group, replaces } = terms;
  const { cut } = prepared.amounts;
  return run.output.facts(
    [
      ['market', market.question],
      ['exit', `sell ${orderSize} ${namedOutcome(ready)}, at ${worst} or more a share`],
      ...(cut === undefined ? [] : [['not in it', cutText('SELL', cut)] as const]),
      ['sent when', triggerText({ trigger, size: orderSize })],
      ['type', orderType],
      ['wallet', order.maker],
      ...(group === undefined ? [] : [['group', group] as const]),
      ...(replaces === undefined ? [] : [['in place of', replaces] as const]),
      ...(checked === null
        ? [['warning', 'the desk does not say that it has checked this exit'] as const]
        : watchFacts(checked)),
      ['order id', verified.orderId],
    ],
    'stderr',
  );
}

async function tradeOrLeave(run: Run, given: Wanted, options: TriggerOptions): Promise<void> {
  const terms = exitTermsOf(options);
  if (terms === null) return trade(run, given);
  const wanted = { ...given, live: isLive(run, given) };
  const stop = defaultWorst(terms, wanted);
  checkOptions(wanted);
  const ready = await prepare(run, wanted, stop);
  const { verified } = ready;
  const checked = await checkedExit(run, ready, terms, wanted);
  const text = exitText(run, ready, { terms, checked });
  run.output.say(text);
  if (wanted.validateOnly === true) {
    const { clientOrderId } = ready.intent;
    const { signatureChecked: _, ...exit } = checked ?? {};
    run.output.answer(
      { clientOrderId, orderId: verified.orderId, accepted: checked !== null, exit },
      () =>
        `${checked === null ? 'Not checked: the desk does not say that it would take this exit' : 'Checked: the desk would take this exit'}. Nothing was signed or left.`,
    );
    return;
  }
  if (wanted.yes !== true) {
    if (run.output.json) run.output.tell(text);
    await run.confirm(`Sign this order (${namedOutcome(ready)}), and leave it with the desk?`);
  }
  const again = `${repetition(wanted, ready.intent, run.givenUrl)} ${triggerFlags(options)}`;
  const exit = await leave(run, ready, { terms, again });
  run.output.answer(exit, () => run.output.facts(exitFacts(exit)));
}

async function trade(run: Run, given: Wanted): Promise<void> {
  const wanted = { ...given, live: isLive(run, given) };
  checkOptions(wanted);
  const ready = await prepare(run, wanted);
  const { intent, prepared } = ready;
  run.output.say(orderText(run, ready));
  requireAccepted(prepared);
  if (wanted.validateOnly === true) {
    run.output.answer(
      { ...summaryOf(ready), accepted: prepared.accepted },
      () => 'Checked: the desk would take this order. Nothing was signed or placed.',
    );
    return;
  }
  if (wanted.yes !== true) {
    if (run.output.json) run.output.tell(orderText(run, ready));
    const from = prepared.signatureType === 0 ? '' : ` from ${prepared.maker}`;
    await run.confirm(`Place this order (${namedOutcome(ready)})${from}?`);
  }
  const answer = await send(run, ready, wanted);
  run.output.answer({ ...summaryOf(ready), trade: answer }, () =>
    run.output.facts(resultFacts(answer, intent)),
  );
}

export function addTradeCommands(program: Command, start: Start): void {
  for (const side of ['BUY', 'SELL'] as const) {
    const name = side.toLowerCase();
    const command = program
      .command(name)
      .description(
        side === 'BUY'
          ? 'buy shares of an outcome: at once for an amount, or at a price'
          : 'sell shares of an outcome: at once, or at a price',
      )
      .argument('<market>', 'market id, condition id, slug or token id')
      .addArgument(outcomeArgument())
      .option('--size <shares>', 'how many shares', positive);
    if (side === 'BUY')
      command.option('--amount <collateral>', 'market order: spend at most so much, fees apart', positive);
    if (side === 'SELL') addTriggerOptions(command);
    command
      .option('--price <price>', 'limit order: at this price or better', price)
      .option('--worst-price <price>', 'market order: at this price or better, never worse', price)
      .option(
        '--slippage <price>',
        `market order without --worst-price: how far beyond what the book reaches now; default ${DEFAULT_SLIPPAGE}`,
        fraction,
      )
      .addOption(
        new Option(
          '--type <type>',
          'GTC rests, GTD rests until --expires, FAK fills what it can now, FOK all or nothing',
        )
          .choices(['GTC', 'GTD', 'FOK', 'FAK'])
          .argParser(upper('GTC', 'GTD', 'FOK', 'FAK')),
      )
      .option('--expires <time>', 'with --type GTD: ISO time with zone, or epoch seconds', time)
      .option(
        '--cancel-after <time>',
        'the desk cancels what is not filled so long after it received the order, such as 30s, 10m or 2h',
        duration,
      )
      .option('--post-only', 'limit order: be refused rather than take what is on the book')
      .addOption(
        new Option('--wallet-type <type>', 'which wallet of your key pays; default: that of the keystore')
          .choices(WALLET_NAMES)
          .argParser(walletType),
      )
      .option('--venue <name>', 'where the market is, when its id alone does not say')
      .option('--reasoning <text>', "kept in the agent's journal")
      .option('--source <label>', "kept in the agent's journal")
      .option(
        '--client-order-id <id>',
        'your own name for the order: the same order again has no second effect, another one under it is refused',
      )
      .option(
        '--live',
        'sign what the live venue takes: real money; also by BELLWETHER_ORDER_PROFILE=polymarket',
      )
      .option(
        '--timestamp <ms>',
        'with --client-order-id, and --live or a market of version v2: that of the first try',
        count,
      )
      .option('--validate-only', 'check everything up to the venue, without any effect')
      .option('--yes', 'do not ask; for programs')
      .action(
        action(start, {
          run: (run: Run, options: OrderOptions & TriggerOptions, market: string, outcome: string) => {
            const wanted = { ...options, side, market, outcome };
            return side === 'BUY' ? trade(run, wanted) : tradeOrLeave(run, wanted, options);
          },
        }),
      );
    examples(
      command,
      ...(side === 'BUY'
        ? [
            'bellwether buy 101 YES --amount 25',
            'bellwether buy 101 "Team Spirit" --amount 25',
            'bellwether buy 101 NO --price 0.4 --size 50 --post-only',
            'bellwether buy 101 YES --amount 25 --worst-price 0.63 --yes --json',
          ]
        : [
            'bellwether sell 101 YES --size 40',
            'bellwether sell 101 YES --price 0.7 --size 40 --type GTC',
            'bellwether sell 101 YES --size 40 --below 0.4 --group 101-yes',
            'bellwether sell 101 YES --size 40 --above 0.9 --price 0.88 --group 101-yes',
          ]),
    );
  }
}
