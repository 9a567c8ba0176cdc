import { z } from 'zod';
import { flagOf, idOf, numberOf, recordOf, timeOf, wordOf } from '../facts.ts';
import { ACTS, READS, tool } from '../tool.ts';
import { relayAsked, requireAsked } from '../wallet-calls.ts';
import { sideOf } from './orders.ts';
import { EITHER_VENUE, limitOf, MARKET, OUTCOME, quantityOf, spendingOf, VENUE } from './terms.ts';

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
