/** `close`: cancels what rests in a market, sells what is held within a named worst price, and says what remains and what guards it. */
import { BellwetherUsageError, type ClosedPosition, closePosition, type PlannedSale } from '@bellwether/sdk';
import { KnownMints } from '@bellwether/sdk/keystore';
import type { Command } from 'commander';
import { adviceFor } from '../advice.ts';
import { CliError, usage } from '../cli-error.ts';
import { action, examples, type Start } from '../command.ts';
import { price, WALLET_NAMES, walletType } from '../options.ts';
import type { Run } from '../run.ts';
import { outcomeText } from '../terminal-text.ts';
import { requireSameMarket, requireUse, sideIn } from '../trusted.ts';
import { triggerText } from './exits.ts';
import { type OrderOptions, walletOf } from './order-intent.ts';

interface CloseOptions
  extends Pick<OrderOptions, 'worstPrice' | 'walletType' | 'venue' | 'reasoning' | 'live' | 'yes'> {
  readonly outcome?: string;
}

async function close(run: Run, options: CloseOptions, name: string): Promise<void> {
  const { worstPrice, venue, reasoning, live, yes } = options;
  if (worstPrice === undefined)
    throw usage('close needs --worst-price: the least to take for a share.', 'See: bellwether close --help');
  const wallet = await walletOf(run, options.walletType);
  const client = await run.client();
  const [me, market] = await run.waiting(
    'Reading the market',
    Promise.all([client.getMe(), client.getMarket(name, venue === undefined ? {} : { venue })]),
  );
  requireUse(me.venues, market.venue, wallet.signer.use);
  requireSameMarket(name, market);
  const agree = async ({ outcome, size, verified }: PlannedSale): Promise<boolean> => {
    const what =
      outcome === null || verified === null
        ? 'nothing is held'
        : `sell ${verified.body.orderSize} of ${size} ${outcomeText(outcome, market.outcomes[outcome === 'YES' ? 0 : 1], ' = ')}, at ${verified.body.price} or more a share`;
    const facts = [
      ['market', market.question],
      ['first', 'every open order of this agent in it is canceled'],
      ['then', what],
      ['wallet', wallet.signer.wallet(wallet.type)],
    ] as const;
    run.output.say(run.output.facts(facts, 'stderr'));
    if (yes !== true) await run.confirm('Close this position?');
    return true;
  };
  const closed = await closing({
    ...{ client, market, worstPrice, agree, agentId: me.agentId, source: 'cli' },
    ...{ signer: wallet.signer, signatureType: wallet.type },
    ...(options.outcome === undefined ? {} : { outcome: sideIn(options.outcome, market) }),
    ...(reasoning === undefined ? {} : { reasoning }),
    tokenIds: new KnownMints(run.place).tokensOf(market),
    profile: live === true || run.env.BELLWETHER_ORDER_PROFILE === 'polymarket' ? 'polymarket' : 'interface',
  });
  run.output.answer(closed, () => run.output.facts(closedFacts(closed)));
  requireSold(closed);
}

/** @throws CliError where both outcomes are held and none is named */
async function closing(options: Parameters<typeof closePosition>[0]): Promise<ClosedPosition> {
  try {
    return await closePosition(options);
  } catch (error) {
    if (!(error instanceof BellwetherUsageError)) throw error;
    throw usage(
      'Both outcomes are held: say which with --outcome YES or --outcome NO.',
      'Merging both pays collateral without a sale: bellwether merge',
    );
  }
}

const closedFacts = ({ canceled, sale, remains, guards }: ClosedPosition) =>
  [
    ['canceled', `${canceled?.canceled.length ?? 0} orders`],
    ...Object.entries(canceled?.notCanceled ?? {}).map(
      ([id, reason]) => ['not canceled', `${id}: ${reason}`] as const,
    ),
    ['sold', soldText(sale)],
    ...remains.map(
      ({ size, outcome, outcomeName }) =>
        ['still held', `${size} ${outcomeText(outcome, outcomeName)}`] as const,
    ),
    ...guards.map(
      (exit) => ['guarded by', `exit ${exit.exitId} (${exit.status}), when ${triggerText(exit)}`] as const,
    ),
    ...(remains.length > 0 && guards.length === 0 ? [['guarded by', 'nothing'] as const] : []),
  ] as const;

function soldText(sale: ClosedPosition['sale']): string {
  if (sale === null) return 'nothing was held';
  if (sale.status !== 'placed') return `nothing, as far as is known: ${sale.orderId}`;
  const { filledSize, avgPrice } = sale.trade;
  return `${filledSize} shares at ${avgPrice ?? '–'} on average`;
}

/** What was canceled stays canceled. @throws CliError where the sale was refused, or is not known */
function requireSold({ sale }: ClosedPosition): void {
  if (sale === null || sale.status === 'placed') return;
  const { orderId } = sale;
  if (sale.status === 'unknown')
    throw new CliError(
      'unknown',
      'order_outcome_unknown',
      'The sale was sent, and what became of it is not known here.',
      { orderId, fix: `Look: bellwether orders ${orderId}` },
    );
  const { code, message, fix } = sale.refusal;
  throw new CliError('refused', code, message, { orderId, fix: adviceFor(code) ?? fix });
}

export function addCloseCommand(program: Command, start: Start): void {
  const command = program
    .command('close')
    .description('cancel what rests in a market, and sell what is held of it within a worst price')
    .argument('<market>', 'market id, condition id, slug or token id')
    .option('--worst-price <price>', 'the least to take for a share', price)
    .option('--outcome <outcome>', 'YES, NO or its name: where both are held')
    .option('--wallet-type <type>', `which wallet of your key: ${WALLET_NAMES.join(', ')}`, walletType)
    .option('--venue <name>', 'where the market is, when its id alone does not say')
    .option('--reasoning <text>', "kept in the agent's journal")
    .option('--live', 'sign what the live venue takes; also by BELLWETHER_ORDER_PROFILE=polymarket')
    .option('--yes', 'do not ask; for programs')
    .action(
      action(start, {
        run: (run: Run, options: CloseOptions, market: string) => close(run, options, market),
      }),
    );
  examples(
    command,
    'bellwether close 101 --worst-price 0.38',
    'bellwether close 101 --outcome NO --worst-price 0.6 --yes',
  );
}
