/** What the agent has: positions, portfolio and redemption, its settings and its pause; and full sets. */

import { randomUUID } from 'node:crypto';
import { parseMicro } from '@bellwether/contract/decimals';
import {
  readRelayTerms,
  type SetResponse,
  signRelay,
  verifyRelay,
  verifyWalletCalls,
  type WalletAction,
  type WalletTransaction,
} from '@bellwether/sdk';
import { KnownMints } from '@bellwether/sdk/keystore';
import { z } from 'zod';
import {
  flagOf,
  idOf,
  numberOf,
  recordOf,
  refusalOf,
  type StrangersTexts,
  timeOf,
  wordOf,
} from '../answer.ts';
import {
  ACTS,
  type Call,
  CLIENT_ORDER_ID,
  EITHER_VENUE,
  limitOf,
  MARKET,
  OUTCOME,
  quantityOf,
  READS,
  REASONING,
  spend,
  spendingOf,
  tool,
  VENUE,
} from '../tool.ts';
import { sideOf } from './orders.ts';

export const listPositions = tool({
  name: 'list_positions',
  title: 'List positions',
  description: 'What is held now, at current prices. redeemable: the market is decided, redeem pays it out.',
  annotations: READS,
  input: z.strictObject({
    venue: EITHER_VENUE,
    redeemable: z.boolean().optional(),
    limit: limitOf(10, 100),
    offset: z.int().min(0).max(1_000_000).default(0),
  }),
  async run({ venue, redeemable, limit, offset }, { desk, texts, signal }) {
    const query = {
      limit,
      offset,
      ...(venue === undefined ? {} : { venue }),
      ...(redeemable === undefined ? {} : { redeemable }),
    };
    const positions = await desk.client.getCurrentPositions(query, { signal });
    return {
      positions: positions.slice(0, limit).map((position, at) => {
        texts.add(`positions.${at}.title`, position.title);
        texts.addName(`positions.${at}.outcomeName`, position.outcome, position.outcomeName);
        return {
          market: idOf(position.marketId),
          venue: wordOf(position.venue),
          outcome: wordOf(position.outcome),
          size: numberOf(position.size),
          averagePrice: numberOf(position.avgPrice),
          currentPrice: numberOf(position.currentPrice),
          currentValue: numberOf(position.currentValue),
          unrealizedPnl: numberOf(position.unrealizedPnl),
          redeemable: flagOf(position.redeemable),
          endDate: timeOf(position.endDate),
        };
      }),
    };
  },
});

export const getPortfolio = tool({
  name: 'get_portfolio',
  title: 'Look at the portfolio',
  description:
    'Balance, exposure, profit and loss, and what the spending limit of this machine leaves today.',
  annotations: READS,
  input: z.strictObject({ venue: EITHER_VENUE }),
  async run({ venue }, { desk, texts, signal }) {
    const portfolio = await desk.client.getPortfolio(venue === undefined ? {} : { venue }, { signal });
    for (const [at, { message }] of portfolio.warnings.entries())
      texts.add(`warnings.${at}.message`, message);
    return {
      balance: numberOf(portfolio.balance),
      totalExposure: numberOf(portfolio.totalExposure),
      positionsCount: numberOf(portfolio.positionsCount),
      redeemableCount: numberOf(portfolio.redeemableCount),
      pnl24h: numberOf(portfolio.pnl24h),
      pnlTotal: numberOf(portfolio.pnlTotal),
      fees: numberOf(portfolio.fees),
      topMarketPct: numberOf(portfolio.concentration.topMarketPct),
      warnings: portfolio.warnings.map(({ code, severity }) => ({
        code: wordOf(code),
        severity: wordOf(severity),
      })),
      venues: Object.entries(recordOf(portfolio.venues)).map(([name, value]) => {
        const { balance, pnl, positionsCount } = recordOf(value);
        return {
          venue: wordOf(name),
          balance: numberOf(balance),
          pnl: numberOf(pnl),
          positionsCount: numberOf(positionsCount),
        };
      }),
      spendingLimit: spendingOf(desk.limit.standing()),
    };
  },
});

const HELD = quantityOf(1e9).optional();

export const redeem = tool({
  name: 'redeem',
  title: 'Redeem a resolved market',
  description:
    'Exchanges the tokens of a market that is decided for collateral. Pays once, however often it is called. At a live venue as split_sets.',
  annotations: { ...ACTS, destructiveHint: false, idempotentHint: true },
  input: z.strictObject({
    market: MARKET,
    venue: VENUE,
    outcome: OUTCOME.optional().describe('only when tokens of this outcome are held'),
    heldYes: HELD.describe('YES shares that the wallet holds; only for Protocol V2 markets of a live venue'),
    heldNo: HELD.describe('NO shares, likewise'),
  }),
  async run({ market, venue, outcome, heldYes: YES, heldNo: NO }, call) {
    const { desk, signal } = call;
    const request = {
      marketId: market,
      ...(venue === undefined ? {} : { venue }),
      ...(outcome === undefined ? {} : { side: await sideOf(outcome, { market, venue }, call) }),
    };
    const answer = await desk.client.redeemPosition(request, { signal });
    const facts = {
      status: wordOf(answer.status),
      redeemedAmount: numberOf(answer.redeemedAmount),
      market: idOf(answer.marketId),
    };
    if (answer.status !== 'unsigned') return facts;
    // Of this machine's wallet alone; asking again has no effect.
    const { signer, signatureType } = desk.wallet();
    const walletAddress = signer.wallet(signatureType);
    const own = await desk.client.redeemPosition({ ...request, walletAddress }, { signal });
    const shares = { ...(YES === undefined ? {} : { YES }), ...(NO === undefined ? {} : { NO }) };
    const action = { kind: 'redeem', shares } as const;
    const [relay, ...others] = own.relays ?? [];
    if (relay === undefined || others.length > 0) {
      const asked = { answer: own, action, market, venue };
      return { ...facts, transactions: await requireAsked({ desk, signal }, asked) };
    }
    const prepared = { ...relay, status: own.status };
    const { status } = await relayAsked({ desk, signal }, { answer: prepared, action, market, venue });
    return { ...facts, status: wordOf(status) };
  },
});

export const configureAgent = tool({
  name: 'configure_agent',
  title: 'Configure the agent',
  description:
    "silenceSeconds: after so long without a request the desk cancels this agent's open orders and sends its exits of silence. What the owner has locked is refused.",
  annotations: { ...ACTS, destructiveHint: false, idempotentHint: true },
  input: z.strictObject({
    silenceSeconds: z.int().min(30).max(86_400).optional(),
    autoRedeemEnabled: z.boolean().optional().describe('the desk redeems what was won'),
  }),
  contradictions: (change) =>
    Object.keys(change).length === 0 ? ['give silenceSeconds or autoRedeemEnabled'] : [],
  async run({ silenceSeconds, autoRedeemEnabled }, { desk, signal }) {
    const settings = await desk.client.updateSettings(
      {
        ...(silenceSeconds === undefined ? {} : { silenceSeconds }),
        ...(autoRedeemEnabled === undefined ? {} : { autoRedeemEnabled }),
      },
      { signal },
    );
    return {
      silenceSeconds: numberOf(settings.silenceSeconds),
      autoRedeemEnabled: flagOf(settings.autoRedeemEnabled),
    };
  },
});

export const pauseTrading = tool({
  name: 'pause_trading',
  title: 'Pause trading',
  description:
    'Stops all new orders of this agent, here and elsewhere, and suspends its exits: they protect nothing then. Canceling and redeeming still work. No tool resumes: a person does.',
  annotations: { ...ACTS, destructiveHint: false, idempotentHint: true },
  input: z.strictObject({}),
  async run(_args, { desk, signal }) {
    const settings = await desk.client.updateSettings({ tradingPaused: true }, { signal });
    const suspended = numberOf(settings.suspendedExits?.count ?? 0) ?? 0;
    return {
      tradingPaused: flagOf(settings.tradingPaused),
      ...(suspended === 0
        ? {}
        : { suspendedExits: suspended, resumableBy: wordOf(settings.suspendedExits?.resumableBy) }),
    };
  },
});

// Full sets: one YES and one NO share of a market, together worth one collateral; and the conversion of NO shares.

const SETS_INPUT = z.strictObject({
  market: MARKET,
  venue: VENUE,
  amount: quantityOf(1e9).describe('sets, and collateral'),
  clientOrderId: CLIENT_ORDER_ID,
  reasoning: REASONING,
});

type SetsTerms = z.infer<typeof SETS_INPUT>;

/**
 * At a live venue: what the relayer makes is signed here, once it is what was built here; else the transactions that the wallet's owner
 * signs elsewhere, as they were built here.
 */
async function signedSets(
  call: Parameters<typeof requireAsked>[0],
  kind: 'split' | 'merge' | 'convert',
  { answer, terms }: { readonly answer: SetResponse; readonly terms: SetsTerms },
) {
  if (answer.status !== 'unsigned') return { answer };
  const { market, venue, amount } = terms;
  const asked = { answer, action: { kind, amount }, market, venue } as const;
  if (answer.relay !== undefined) return { answer: await relayAsked(call, asked) };
  return { answer, transactions: await requireAsked(call, asked) };
}

const requestOf = ({ market, venue, amount, reasoning }: SetsTerms, clientOrderId: string) => ({
  ...{ clientOrderId, amount, marketId: market },
  ...(venue === undefined ? {} : { venue }),
  ...(reasoning === undefined ? {} : { reasoning }),
});

function doneFacts(answer: SetResponse, texts: StrangersTexts) {
  if (!answer.success) texts.add('refusal.detail', answer.errorMessage);
  return {
    placed: answer.success,
    status: wordOf(answer.status),
    orderId: idOf(answer.orderId),
    clientOrderId: idOf(answer.clientOrderId),
    amount: numberOf(answer.amount),
    ...(answer.success ? {} : { refusal: refusalOf(answer.errorCode) }),
  };
}

export const splitSets = tool({
  name: 'split_sets',
  title: 'Split collateral into YES and NO shares',
  description:
    'Makes full sets: one YES and one NO share for each collateral. At a live venue the status is "submitted" once the relayer has it, or "unsigned": then the owner of the wallet has to sign and send the transactions elsewhere, once. Counts like a BUY of that collateral, also against the spending limit. The same terms under the same clientOrderId are done once.',
  annotations: { ...ACTS, destructiveHint: false },
  input: SETS_INPUT,
  async run(terms, { desk, texts, ...call }) {
    const { asked } = call.approval;
    const clientOrderId = terms.clientOrderId ?? asked?.clientOrderId ?? randomUUID();
    const request = requestOf(terms, clientOrderId);
    // Made of all that is sent: the desk takes other terms under this name for another order.
    const orderId = `split ${JSON.stringify({ ...request, reasoning: undefined })}`;
    const cost = parseMicro(terms.amount, 'ceil');
    const spent = await spend(
      { desk, texts, ...call },
      {
        order: { orderId, clientOrderId },
        shownAs: { clientOrderId },
        ...{ cost, stake: cost },
        question: () =>
          `Split ${terms.amount} collateral into ${terms.amount} YES and ${terms.amount} NO shares of market ${idOf(terms.market)}?`,
        send: () => desk.once.splitSets(request),
      },
    );
    if ('ask' in spent) return spent.ask;
    const { answer, ...toSign } = await signedSets({ desk, ...call }, 'split', {
      answer: spent.answer,
      terms,
    });
    return {
      ...doneFacts(answer, texts),
      ...toSign,
      spendingLimit: spendingOf(desk.limit.standing()),
    };
  },
});

export const mergeSets = tool({
  name: 'merge_sets',
  title: 'Merge YES and NO shares into collateral',
  description:
    'Each pair of one YES and one NO share becomes one collateral, also while trading is paused. At a live venue as split_sets. The same terms under the same clientOrderId are done once.',
  annotations: { ...ACTS, destructiveHint: false },
  input: SETS_INPUT,
  async run(terms, { desk, texts, signal }) {
    const request = requestOf(terms, terms.clientOrderId ?? randomUUID());
    const first = await desk.client.mergeSets(request, { signal });
    const { answer, ...toSign } = await signedSets({ desk, signal }, 'merge', { answer: first, terms });
    return { ...doneFacts(answer, texts), ...toSign };
  },
});

export const convertSets = tool({
  name: 'convert_no_shares',
  title: 'Convert NO shares into YES shares',
  description:
    'NO shares of one market of an event become as many YES shares of each of its other markets, which pay the same. At a live venue as split_sets, in markets of version v2. Counts as a trade of one collateral a share. The same terms under the same clientOrderId are done once.',
  annotations: { ...ACTS, destructiveHint: false },
  input: SETS_INPUT.extend({ amount: quantityOf(1e9).describe('NO shares') }),
  async run(terms, { desk, texts, signal }) {
    const request = requestOf(terms, terms.clientOrderId ?? randomUUID());
    const first = await desk.client.convertSets(request, { signal });
    const { answer, ...toSign } = await signedSets({ desk, signal }, 'convert', { answer: first, terms });
    return { ...doneFacts(answer, texts), ...toSign };
  },
});

// Transactions that the owner of a wallet has to sign: given to the model only once they are the ones that were built here.

interface Asked {
  readonly answer: Parameters<typeof verifyWalletCalls>[0];
  readonly action: WalletAction;
  readonly market: string;
  readonly venue: string | undefined;
}

/** @throws WalletCallsError for anything else than what was asked for; OrderBuildError */
async function requireAsked(
  { desk, signal }: Pick<Call, 'desk' | 'signal'>,
  { answer, action, market: name, venue }: Asked,
): Promise<readonly WalletTransaction[]> {
  const { signer, signatureType } = desk.wallet();
  const market = await desk.client.getMarket(name, venue === undefined ? {} : { venue }, { signal });
  const wallet = signer.wallet(signatureType);
  const tokenIds = new KnownMints(desk.config.place).tokensOf(market);
  return verifyWalletCalls(answer, action, { signer, wallet, market, tokenIds });
}

/**
 * Signs what the desk prepared for the relayer, once it is what was asked for, and has the desk forward it. The relayer itself is asked
 * for its terms.
 * @throws WalletCallsError for anything else than what was asked for; OrderBuildError
 */
async function relayAsked(
  { desk, signal }: Pick<Call, 'desk' | 'signal'>,
  {
    answer,
    action,
    market: name,
    venue,
  }: Omit<Asked, 'answer'> & {
    readonly answer: Parameters<typeof verifyRelay>[0];
  },
): Promise<SetResponse> {
  const { signer, signatureType } = desk.wallet();
  const own = { signer, wallet: signer.wallet(signatureType) };
  const { relayerUrl } = desk.config;
  const [market, terms] = await Promise.all([
    desk.client.getMarket(name, venue === undefined ? {} : { venue }, { signal }),
    readRelayTerms({ ...own, ...(relayerUrl === null ? {} : { relayerUrl }) }),
  ]);
  const tokenIds = new KnownMints(desk.config.place).tokensOf(market);
  const verified = verifyRelay(answer, action, { ...own, market, terms, tokenIds });
  return desk.client.relaySet(await signRelay(verified, signer), { signal });
}
