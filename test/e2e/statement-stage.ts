/** Statements as agents and owners read them, and the sums that must come out. */
import type { Statement, StatementGroup } from '@bellwether/contract';
import { expect } from 'vitest';
import { call, type TestService, type Trader } from '../harness.ts';
import { micro } from '../world.ts';

export const sum = (values: readonly number[]): bigint =>
  values.reduce((total, value) => total + micro(value), 0n);

/** All pages of an agent's statement. */
export async function statementOf(
  { client }: Pick<Trader, 'client'>,
  query: Parameters<Trader['client']['getStatement']>[0] = {},
): Promise<Statement> {
  const first = await client.getStatement({ limit: 1000, ...query });
  const events = [...first.events];
  for (let { next } = first; next !== null; ) {
    const page = await client.getStatement({ limit: 1000, ...query, cursor: next });
    events.push(...page.events);
    next = page.next;
  }
  expect(events).toHaveLength(first.eventsTotal);
  return { ...first, events };
}

/** The two ends, the events, the totals and the groups of a statement agree to the millionth. */
export function expectToAddUp(statement: Statement): void {
  const { opening, closing, totals, otherAgents, events } = statement;
  const of = (field: 'cash' | 'costBasis' | 'realizedPnl' | 'venueFee' | 'platformFee' | 'pastDesk') =>
    sum(events.map((event) => event[field]));
  expect(micro(opening.cash) + of('cash') + micro(totals.notExplained)).toBe(micro(closing.cash));
  expect(micro(opening.costBasis) + of('costBasis')).toBe(micro(closing.costBasis));
  expect(of('realizedPnl')).toBe(micro(totals.realizedPnl));
  expect(of('venueFee')).toBe(micro(totals.venueFees));
  expect(of('platformFee')).toBe(micro(totals.platformFees));
  expect(of('pastDesk')).toBe(micro(totals.pastDesk));
  expect(
    sum([opening.cash, totals.deposits, totals.sold, totals.payouts, totals.notExplained]) -
      sum([totals.bought, totals.venueFees, totals.platformFees]),
  ).toBe(micro(closing.cash));
  expect(sum([totals.gains, totals.losses])).toBe(micro(totals.realizedPnl));
  const others = micro(otherAgents.realizedPnl) - micro(otherAgents.fees);
  for (const groups of [statement.byMarket, statement.byCategory, statement.bySkill, statement.byDay])
    expect(sum(groups.map(({ net }: StatementGroup) => net)) + others).toBe(micro(totals.net));
  let balance = micro(opening.cash);
  for (const event of events) {
    balance += micro(event.cash);
    expect(micro(event.balance as number)).toBe(balance);
    expect(micro(event.amount) - micro(event.venueFee) - micro(event.platformFee)).toBe(micro(event.cash));
  }
}

/** Cells of RFC 4180, the line of titles first. */
function cellsOf(csv: string): string[][] {
  const rows: string[][] = [[]];
  for (let at = 0; at < csv.length; ) {
    const row = rows.at(-1) as string[];
    let cell = '';
    if (csv[at] === '"') {
      for (at += 1; csv[at] !== '"' || csv[at + 1] === '"'; at += 1) {
        if (csv[at] === '"') at += 1;
        cell += csv[at];
      }
      at += 1;
    } else for (; at < csv.length && csv[at] !== ',' && csv[at] !== '\r'; at += 1) cell += csv[at];
    row.push(cell);
    if (csv[at] === ',') at += 1;
    else {
      expect(csv.slice(at, at + 2)).toBe('\r\n');
      at += 2;
      if (at < csv.length) rows.push([]);
    }
  }
  return rows;
}

/** Lines by title. */
export function linesOf(csv: string): Record<string, string>[] {
  const [titles = [], ...rows] = cellsOf(csv);
  return rows.map((row) => {
    expect(row).toHaveLength(titles.length);
    return Object.fromEntries(titles.map((title, i) => [title, row[i] as string]));
  });
}

export const csvOf = async (
  service: Pick<TestService, 'url'>,
  { apiKey }: Pick<Trader, 'apiKey'>,
  query = '',
): Promise<string> => {
  const answer = await fetch(`${service.url}/agents/statement?format=csv${query}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  return answer.text();
};

export const refusedOf = async (
  service: Pick<TestService, 'url'>,
  { apiKey }: Pick<Trader, 'apiKey'>,
  query: string,
) => {
  const { status, body } = await call(service, 'GET', `/agents/statement?${query}`, { key: apiKey });
  return [status, body.code, body.errors?.[0]?.path];
};
