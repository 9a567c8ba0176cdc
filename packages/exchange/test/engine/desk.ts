/** Test helper: an engine with one market and three funded accounts, and short helpers to apply commands. */
import { parseMicro } from '@bellwether/contract/decimals';
import type {
  EngineCommand,
  EngineEvent,
  MarketSpec,
  NewOrder,
  Outcome,
  Side,
} from '../../src/engine/commands.ts';
import { Engine } from '../../src/engine/engine.ts';

export const MARKET: MarketSpec = {
  conditionId: '0xm',
  tokenIds: ['1', '2'],
  tickSize: 100,
  minOrderSize: parseMicro('5'),
  feeRate: 0n,
  feeExponent: 1,
};

export type Terms = Partial<Omit<NewOrder, 'size' | 'spend'>> & { readonly spend?: string };

/** `BUY YES 10 @ 5000` in words; sizes and budgets as decimals, limits in pips. GTC unless said otherwise. */
export function order(
  orderId: string,
  account: string,
  words: readonly [side: Side, outcome: Outcome, size: string, limit: number],
  terms: Terms = {},
): NewOrder {
  const [side, outcome, size, limit] = words;
  const { spend, ...rest } = terms;
  return {
    orderId,
    account,
    conditionId: MARKET.conditionId,
    outcome,
    side,
    limit,
    size: parseMicro(size),
    timeInForce: 'GTC',
    postOnly: false,
    ...rest,
    ...(spend === undefined ? {} : { spend: parseMicro(spend) }),
  };
}

export class Desk {
  readonly engine = new Engine();
  now = 1_000;

  /** Every account gets 1000 collateral, then 100 full sets of it. */
  constructor(market: Partial<MarketSpec> = {}, accounts: readonly string[] = ['ann', 'bob', 'cyd']) {
    this.apply({ kind: 'list', market: { ...MARKET, ...market } });
    for (const account of accounts) {
      this.apply({ kind: 'deposit', account, amount: parseMicro('1000') });
      this.apply({ kind: 'split', account, conditionId: MARKET.conditionId, amount: parseMicro('100') });
    }
  }

  apply(command: EngineCommand): EngineEvent[] {
    const events = this.engine.apply(command, this.now);
    this.engine.checkConservation();
    return events;
  }

  place(...args: Parameters<typeof order>): EngineEvent[] {
    return this.apply({ kind: 'place', order: order(...args) });
  }

  cancel(account: string, ...orderIds: string[]): EngineEvent[] {
    return this.apply({ kind: 'cancel', account, orderIds });
  }

  /** Free collateral. */
  available(account: string): bigint {
    return this.engine.account(account).available;
  }

  tokens(account: string): { yes: bigint; no: bigint; yesHeld: bigint; noHeld: bigint } {
    return (
      this.engine.account(account).tokens.get(MARKET.conditionId) ?? {
        yes: 0n,
        no: 0n,
        yesHeld: 0n,
        noHeld: 0n,
      }
    );
  }
}

/** One line per event, with figures as decimals of micro-units: enough to read a match by. */
export function lines(events: readonly EngineEvent[]): string[] {
  return events.map((event) => {
    switch (event.kind) {
      case 'fill':
        return `${event.orderId} ${event.liquidity} ${event.matchKind} ${event.side} ${event.outcome} ${event.size} @ ${event.price} = ${event.cost} fee ${event.fee}`;
      case 'order_done':
        return `${event.orderId} done ${event.reason} filled ${event.filled} remaining ${event.remaining} cost ${event.cost} fees ${event.fees}`;
      case 'order_accepted':
        return `${event.orderId} accepted`;
      case 'order_rejected':
        return `${event.orderId} rejected ${event.reason}`;
      default:
        return event.kind;
    }
  });
}
