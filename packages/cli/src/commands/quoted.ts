/**
 * Venue B: a quote, a trade by quote, and the link for a person's identity. The transaction is decoded and compared with what was
 * asked before it is signed.
 */
import {
  type BellwetherClient,
  BellwetherUsageError,
  identityLink,
  isProblem,
  type Quote,
  type QuoteAsk,
  type QuotedOrderDetail,
  QuoteError,
  type QuoteLabels,
  type SolanaSigner,
  type SubmitResponse,
  type VerifiedQuote,
} from '@bellwether/sdk';
import { findMint, rememberPurchase } from '@bellwether/sdk/keystore';
import type { Command } from 'commander';
import { adviceFor, CliError, usage } from '../cli-error.ts';
import { duration, outcomeArgument, positive, upper } from '../options.ts';
import { action, examples, type Run, type Start } from '../run.ts';
import { place, requireSpending, requireUse, reserveSpending, sideIn } from '../signing.ts';
import { outcomeText } from '../terminal.ts';
import { orderText } from './orders.ts';

interface AskOptions {
  readonly amount?: number;
  readonly size?: number;
}

interface TradeOptions extends AskOptions {
  readonly reasoning?: string;
  readonly source?: string;
  readonly clientOrderId?: string;
  readonly cancelAfter?: number;
  readonly validateOnly?: boolean;
  readonly yes?: boolean;
  readonly wait: boolean;
}

type Action = 'BUY' | 'SELL';

/** A transaction that does not land is dead by then, and its end is recorded soon after. */
const TRADE_TIMEOUT_S = 240;

/** What is asked for; which side a name means, its market tells. */
type Asking = (client: BellwetherClient) => Promise<QuoteAsk>;

/** @throws CliError for options that contradict each other, before anything is asked */
function askOf(side: Action, ticker: string, which: string, { amount, size }: AskOptions): Asking {
  if (side === 'BUY' && (amount === undefined || size !== undefined))
    throw usage('A purchase takes --amount in collateral, fees included, and no --size.');
  if (side === 'SELL' && (size === undefined || amount !== undefined))
    throw usage('A sale takes --size in contracts, and no --amount.');
  const asked =
    side === 'BUY' ? { action: 'BUY', amount: amount as number } : { action: 'SELL', shares: size as number };
  return async (client) => ({ ticker, side: await sideOf(client, ticker, which), ...asked }) as QuoteAsk;
}

/** The market is looked up for a name alone, at each of the venues: the desk has names of its own for them. */
async function sideOf(client: BellwetherClient, ticker: string, which: string): Promise<'YES' | 'NO'> {
  if (which === 'YES' || which === 'NO') return which;
  const { venues } = await client.getMe();
  let unknown: unknown;
  for (const { name: venue } of venues)
    try {
      return sideIn(which, await client.getMarket(ticker, { venue }));
    } catch (error) {
      if (!isProblem(error, 'market_not_found')) throw error;
      unknown = error;
    }
  throw unknown;
}

const MICRO = 1e6;
const inWhole = (atoms: string | undefined): number | null =>
  atoms === undefined ? null : Number(atoms) / MICRO;

function quoteText(run: Run, quote: Quote, on: 'stdout' | 'stderr'): string {
  return run.output.facts(
    [
      ['market', quote.title],
      ['ticker', quote.marketTicker],
      [
        'order',
        `${quote.action} ${outcomeText(quote.side, quote.outcomeName, ' = ')}${quote.isRedemption ? ' (redeems it)' : ''}`,
      ],
      ['quoted: takes', inWhole(quote.inAmount)],
      ['quoted: gives', inWhole(quote.outAmount)],
      ['quoted: at least', inWhole(quote.minOutAmount)],
      ...(quote.priceImpactPercent === undefined
        ? []
        : ([['moves the price', `${quote.priceImpactPercent} %`]] as const)),
      ['YES / NO', `${quote.yesPrice} / ${quote.noPrice}`],
      ['valid until', new Date(quote.expiresAt).toISOString()],
      ['quote id', quote.quoteId],
      ...(quote.quoteErrorCode === undefined
        ? []
        : ([['no transaction', `${quote.quoteErrorCode}: ${quote.quoteErrorMessage ?? ''}`]] as const)),
    ],
    on,
  );
}

async function quote(
  run: Run,
  side: Action,
  ticker: string,
  which: string,
  options: AskOptions,
): Promise<void> {
  const asking = askOf(side, ticker, which, options);
  const client = await run.client();
  const found = await run.waiting(
    'Asking for a quote',
    asking(client).then((ask) => client.venueB.quote(ask)),
  );
  run.output.answer(found, () => quoteText(run, found, 'stdout'));
}

/** @throws CliError with the venue's reason, or the safeguard's, when there is nothing to sign */
function requireExecutable({ quoteErrorCode, quoteErrorMessage, previewOnly }: Quote): void {
  if (quoteErrorCode !== undefined)
    throw new CliError('refused', quoteErrorCode, quoteErrorMessage ?? 'There is no transaction to sign.', {
      fix: adviceFor(quoteErrorCode) ?? 'Change the order, or ask again in a moment.',
    });
  if (previewOnly)
    throw new CliError('keystore', 'wallet_required', 'The desk knows no Solana wallet of this agent.', {
      fix: 'Run: bellwether init',
    });
}

interface WantedQuote extends TradeOptions {
  readonly ask: QuoteAsk;
  readonly side: Action;
}

/** How it ended. An order that is not final within the deadline is on the chain, and found by its id. */
async function outcomeOf(run: Run, orderId: string): Promise<QuotedOrderDetail> {
  const client = await run.client();
  try {
    return await run.waiting('Waiting for the fill', client.venueB.wait(orderId, { signal: run.signal }));
  } catch (error) {
    throw new CliError('unknown', 'still_open', (run.stopReason ?? (error as Error)).message, {
      orderId,
      fix: `It is on its way. Look: bellwether orders ${orderId}`,
    });
  }
}

/**
 * The most that is lost by what is signed, in millionths: collateral of a purchase with its fees; of a sale the contracts, each
 * of which may be worth one collateral. Before there is a transaction, what was asked for.
 */
const mostOf = ({ ask }: WantedQuote, verified: VerifiedQuote | null): bigint =>
  verified?.takes ?? BigInt(Math.ceil(Number(ask.action === 'BUY' ? ask.amount : ask.shares) * MICRO));

/** The signed bytes name the order in the spending limit: the desk could give one name to many. */
const spendingIdOf = ({ digest }: VerifiedQuote): string => `b:${digest}`;

const labelsOf = ({ reasoning, source, clientOrderId, cancelAfter }: WantedQuote): QuoteLabels => ({
  ...(reasoning === undefined ? {} : { reasoning }),
  ...(source === undefined ? {} : { source }),
  ...(clientOrderId === undefined ? {} : { clientOrderId }),
  ...(cancelAfter === undefined ? {} : { cancelAfterMs: cancelAfter }),
});

async function submit(
  run: Run,
  verified: VerifiedQuote,
  { signer, wanted }: { readonly signer: SolanaSigner; readonly wanted: WantedQuote },
): Promise<void> {
  const { quote: found } = verified;
  const { quoteId } = found;
  const client = await run.client();
  reserveSpending(run, spendingIdOf(verified), mostOf(wanted, verified));
  const signedTransaction = client.venueB.sign(verified, signer);
  const { ask } = wanted;
  if (ask.action === 'BUY' && !verified.mintIsBelieved)
    rememberPurchase(run.place, { ticker: ask.ticker, side: ask.side, mint: verified.mint });
  const placed = await place<SubmitResponse, QuotedOrderDetail>(run, {
    orderId: quoteId,
    send: (once) => once.venueB.submit(quoteId, signedTransaction, labelsOf(wanted)),
    look: () => client.venueB.order(quoteId),
    advice: `Look: bellwether orders ${quoteId}\nA transaction that does not land is dead soon after ${new Date(found.expiresAt).toISOString()}.`,
  });
  const answer = 'answer' in placed ? placed.answer : placed.found;
  if ('success' in answer && !answer.success)
    throw new CliError(
      'refused',
      answer.errorCode ?? 'venue_refused',
      answer.errorMessage ?? 'Nothing was executed.',
      {
        orderId: answer.orderId,
        fix: answer.fix,
      },
    );
  if (!wanted.wait) {
    run.output.answer(answer, () =>
      run.output.facts([
        ['status', answer.status],
        ['order id', answer.orderId],
      ]),
    );
    return;
  }
  const order = await outcomeOf(run, quoteId);
  run.output.answer(order, () => orderText(run, order));
  if (order.status !== 'filled' && order.status !== 'partially_filled')
    throw new CliError(
      'refused',
      order.errorCode ?? order.status,
      order.errorMessage ?? `The order ended as ${order.status}.`,
      {
        orderId: quoteId,
        fix: order.fix ?? 'Ask for a new quote.',
      },
    );
}

/** Whether the transaction is withheld until the owner has approved it. */
const waitsForOwner = ({ quoteErrorCode }: Quote): boolean => quoteErrorCode === 'approval_required';

/** @returns the quote with its transaction */
async function askOwner(
  run: Run,
  client: BellwetherClient,
  found: Quote,
  wanted: WantedQuote,
): Promise<Quote> {
  const until = new Date(found.expiresAt).toISOString();
  run.output.say(`The owner is asked, and can decide in the console until ${until}.`);
  try {
    return await run.waiting('Waiting for the owner', client.venueB.askOwner(found, labelsOf(wanted)));
  } catch (error) {
    // Without an owner there is nothing to approve; the quote says how the agent gets one.
    if (isProblem(error, 'quote_not_executable')) requireExecutable(found);
    throw error;
  }
}

async function verify(
  run: Run,
  client: BellwetherClient,
  found: Quote,
  { ask, signer }: { readonly ask: QuoteAsk; readonly signer: SolanaSigner },
): Promise<VerifiedQuote> {
  const rpcUrl = run.env.BELLWETHER_SOLANA_RPC ?? '';
  const { use } = signer;
  const mint = use === 'paper' ? undefined : await findMint(run.place, ask, run.env);
  const known = { wallet: signer.address, use, mint };
  try {
    return rpcUrl === ''
      ? client.venueB.verify(found, ask, known)
      : await run.waiting(
          'Simulating the transaction',
          client.venueB.verifyOnChain(found, ask, { ...known, rpcUrl }),
        );
  } catch (error) {
    if (!(error instanceof QuoteError) || error.code !== 'mint_not_known') throw error;
    throw new CliError('unverified', error.code, error.message, {
      fix: `Look the token up where you trust it, then: bellwether mint confirm ${ask.ticker} ${ask.side} <mint>. If the key holds paper money alone: bellwether keys mark paper`,
    });
  }
}

/** Text of the signed transaction, from its own bytes; only what it does not say is the desk's word. */
const signedText = (run: Run, { quote, takes, promises, mint, mintIsBelieved }: VerifiedQuote): string =>
  run.output.facts(
    [
      ['takes at most', `${Number(takes) / MICRO} ${quote.action === 'BUY' ? 'collateral' : 'contracts'}`],
      [
        'gives, at least',
        promises === null ? `${inWhole(quote.minOutAmount)} (says the desk)` : Number(promises) / MICRO,
      ],
      ['token', mintIsBelieved ? `${mint} (says the desk)` : mint],
    ],
    'stderr',
  );

async function trade(
  run: Run,
  { asking, ...options }: TradeOptions & { readonly side: Action; readonly asking: Asking },
): Promise<void> {
  const signer = await run.solanaSigner();
  const client = await run.client();
  const { keys } = await run.keys();
  const { venues } = await run.waiting('Asking for the agent', client.getMe());
  requireUse(venues, keys.solana?.venue ?? '', signer.use);
  const ask = await run.waiting('Reading the market', asking(client));
  const wanted: WantedQuote = { ...options, ask };
  let found = await run.waiting('Asking for a quote', client.venueB.quote(ask, signer.address));
  const asksOwner = waitsForOwner(found) && wanted.validateOnly !== true;
  if (!asksOwner) requireExecutable(found);
  let verified = asksOwner ? null : await verify(run, client, found, { ask, signer });
  const shown = () =>
    quoteText(run, found, 'stderr') + (verified === null ? '' : `\n${signedText(run, verified)}`);
  run.output.say(shown());
  if (wanted.validateOnly === true) {
    run.output.answer(
      found,
      () => 'Checked: the transaction does what was asked, and no more. Nothing was signed.',
    );
    return;
  }
  requireSpending(run, mostOf(wanted, verified), verified === null ? undefined : spendingIdOf(verified));
  if (wanted.yes !== true) {
    if (run.output.json) run.output.tell(shown());
    const which = outcomeText(ask.side, found.outcomeName, ' = ');
    await run.confirm(
      asksOwner
        ? `Ask the owner, and sign and submit this transaction (${which}) once it is approved?`
        : `Sign and submit this transaction (${which})?`,
    );
  }
  if (verified === null) {
    found = await askOwner(run, client, found, wanted);
    verified = await verify(run, client, found, { ask, signer });
  }
  await submit(run, verified, { signer, wanted });
}

/** Without any call: a desk has no say in where the person goes. */
async function identity(run: Run, { redirect }: { readonly redirect: string }): Promise<void> {
  const signer = await run.solanaSigner();
  const link = linkOf(run, signer, redirect);
  run.output.say(
    `Open this yourself, and give it to no one else: a person who opens it can tie the wallet ${signer.address} to their identity.`,
  );
  run.output.answer({ wallet: signer.address, link }, () => link);
}

/** @throws CliError for an address to which DFlow does not send people back */
function linkOf(run: Run, signer: SolanaSigner, redirectUri: string): string {
  try {
    return identityLink({ signer, redirectUri, paperDesk: run.place.url });
  } catch (error) {
    throw error instanceof BellwetherUsageError ? usage(error.message) : error;
  }
}

/** DFlow's own page, where a person sees the wallets of their identity. */
const IDENTITY_PAGE = 'https://dflow.net/proof';

function addAsk(command: Command, program: Command): Command {
  return command
    .addArgument(
      program
        .createArgument('<side>', 'buy or sell')
        .choices(['buy', 'sell'])
        .argParser(upper('BUY', 'SELL')),
    )
    .argument('<ticker>', 'id of a market of venue B')
    .addArgument(outcomeArgument())
    .option('--amount <collateral>', 'buy: spend at most so much, fees included', positive)
    .option('--size <contracts>', 'sell: how many', positive);
}

export function addQuotedCommands(program: Command, start: Start): void {
  examples(
    addAsk(program.command('quote').description('venue B: what a trade would give now'), program).action(
      action(start, {
        run: (run: Run, options: AskOptions, side: Action, ticker: string, which: string) =>
          quote(run, side, ticker, which, options),
      }),
    ),
    'bellwether quote buy TICKER YES --amount 5',
  );
  examples(
    addAsk(
      program.command('trade').description('venue B: quote, verify, sign here, submit, wait for the fill'),
      program,
    )
      .option('--reasoning <text>', "kept in the agent's journal")
      .option('--source <label>', "kept in the agent's journal")
      .option('--client-order-id <id>', 'your own name for the order: another order under it is refused')
      .option(
        '--cancel-after <time>',
        'the desk cancels what has not reached the chain so long after its submission, such as 30s',
        duration,
      )
      .option('--no-wait', 'do not wait for the fill')
      .option('--validate-only', 'quote and verify, sign nothing')
      .option('--yes', 'do not ask; for programs')
      .action(
        action(start, {
          timeoutS: TRADE_TIMEOUT_S,
          run: (run: Run, options: TradeOptions, side: Action, ticker: string, which: string) =>
            trade(run, { ...options, side, asking: askOf(side, ticker, which, options) }),
        }),
      ),
    'bellwether trade buy TICKER YES --amount 5',
    'bellwether trade sell TICKER YES --size 3 --yes --json',
  );
  examples(
    program
      .command('identity')
      .description(
        'venue B: make the link at which a person proves their identity for this wallet; makes no calls',
      )
      .option(
        '--redirect <address>',
        'where DFlow sends the person afterwards: https, or an extension',
        IDENTITY_PAGE,
      )
      .action(
        action(start, {
          run: (run: Run, options: { readonly redirect: string }) => identity(run, options),
        }),
      ),
    'bellwether identity',
  );
}
