/**
 * A statement as CSV (RFC 4180): a line of titles, `opening`, every event, `not_explained` and `closing`. The columns `cash` and
 * `costBasis` add up to the closing balance, which the last line says beside them. A file without the line `closing` was cut off.
 */
import type { StatementEvent } from '@bellwether/contract';
import type { Micro } from '@bellwether/contract/decimals';
import { describer, type Line, type Run, type StatementNeeds } from './statement.ts';

const COLUMNS = [
  'at',
  'kind',
  'venue',
  'wallet',
  'marketId',
  'title',
  'category',
  'outcome',
  'outcomeName',
  'shares',
  'price',
  'amount',
  'venueFee',
  'platformFee',
  'cash',
  'costBasis',
  'realizedPnl',
  'pastDesk',
  'balance',
  'agent',
  'isOther',
  'source',
  'skill',
  'orderId',
  'tradeId',
] as const;

type Cells = Partial<Record<(typeof COLUMNS)[number], string>>;

const MICRO_DIGITS = 6;

/** With all six decimals, so that a column is as exact as it looks. */
export function sixDecimals(value: Micro): string {
  const digits = (value < 0n ? -value : value).toString().padStart(MICRO_DIGITS + 1, '0');
  const sign = value < 0n ? '-' : '';
  return `${sign}${digits.slice(0, -MICRO_DIGITS)}.${digits.slice(-MICRO_DIGITS)}`;
}

/** A spreadsheet would run a text that begins like this as a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** A text of somebody else as a cell: shown, never run. */
export function textCell(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

const lineOf = (cells: Cells): string => `${COLUMNS.map((column) => cells[column] ?? '').join(',')}\r\n`;

const textsOf = (event: StatementEvent): Cells => ({
  at: event.at,
  kind: event.kind,
  venue: textCell(event.venue),
  wallet: textCell(event.walletAddress),
  marketId: textCell(event.marketId ?? ''),
  title: textCell(event.title ?? ''),
  category: textCell(event.category ?? ''),
  outcome: event.outcome ?? '',
  outcomeName: textCell(event.outcomeName ?? ''),
  price: event.price === null ? '' : String(event.price),
  agent: textCell(event.agentName ?? ''),
  isOther: event.isOther ? 'yes' : '',
  source: textCell(event.source ?? ''),
  skill: textCell(event.skillSlug ?? ''),
  orderId: textCell(event.orderId ?? ''),
  tradeId: textCell(event.tradeId ?? ''),
});

/** The lines, each with its end. */
export async function* csvOf(needs: StatementNeeds, run: Run): AsyncGenerator<string> {
  const describe = describer(needs, run);
  yield `${COLUMNS.join(',')}\r\n`;
  for await (const line of run.lines()) yield textOf(line, describe);
}

function textOf(line: Line, describe: ReturnType<typeof describer>): string {
  if (line.kind === 'event') {
    const { entry, balance } = line;
    return lineOf({
      ...textsOf(describe(line)),
      shares: entry.event.kind === 'fill' ? sixDecimals(entry.shares) : '',
      amount: sixDecimals(entry.amount),
      venueFee: sixDecimals(entry.venueFee),
      platformFee: sixDecimals(entry.platformFee),
      cash: sixDecimals(entry.cash),
      costBasis: sixDecimals(entry.costBasis),
      realizedPnl: sixDecimals(entry.realized),
      pastDesk: sixDecimals(entry.pastDesk),
      balance: sixDecimals(balance),
    });
  }
  const { standing } = line;
  const at = new Date(standing.at).toISOString();
  if (line.kind === 'opening') {
    const [cash, costBasis] = [sixDecimals(standing.cash), sixDecimals(standing.cost)];
    return lineOf({ at, kind: 'opening', cash, costBasis, balance: cash });
  }
  const notExplained = sixDecimals(line.notExplained);
  const balance = sixDecimals(standing.cash);
  // What is left of the columns: they have no closing figures of their own, or they would count twice.
  return (
    lineOf({ at, kind: 'not_explained', amount: notExplained, cash: notExplained, balance }) +
    lineOf({ at, kind: 'closing', balance })
  );
}
