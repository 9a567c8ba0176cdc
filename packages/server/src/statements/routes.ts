/** An agent asks by key for the wallets within its reach, an owner by session for all of theirs or for those of one agent. */
import { Readable } from 'node:stream';
import { getOwnerStatement, getStatement, type Statement, type StatementEvent } from '@bellwether/contract';
import type { Micro } from '@bellwether/contract/decimals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ActingAgent, Owner } from '../domain/records.ts';
import { ownedAgent } from '../owners/index.ts';
import { paginate } from '../platform/http/page.ts';
import type { Bind } from '../platform/http/routes.ts';
import { walletsOf } from '../positions/index.ts';
import { scopeOf } from '../venues/asking.ts';
import {
  describer,
  type Line,
  prepareStatement,
  type Run,
  type StatementNeeds,
  type StatementQuery,
  type Subject,
  statement,
} from './statement.ts';

interface Asked extends StatementQuery {
  readonly format?: 'json' | 'csv';
  readonly limit?: number;
  readonly cursor?: string;
}

/** Each reads all that a wallet ever did. */
const AT_ONCE = 2;
/** A reader that takes longer is cut off: the last line is missing. */
const STREAMED_WITHIN_MS = 300_000;

export function bindStatements(bind: Bind, needs: StatementNeeds): void {
  const turns = createTurns(AT_ONCE);

  const answer = async (
    subject: Subject,
    { format, ...query }: Asked,
    { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  ): Promise<Statement | FastifyReply> => {
    reply.header('cache-control', 'no-store');
    if (format !== 'csv') {
      const found = await turns.take(() => statement(needs, subject, query));
      const pages = { name: 'cursor', previous: null, next: null, cursor: found.next };
      paginate(request, reply, found.eventsTotal, pages);
      return found;
    }
    const run = await prepareStatement(needs, subject, query);
    const day = (at: number) => new Date(at).toISOString().slice(0, 10);
    const file = `bellwether-statement-${day(run.span.from)}-${day(run.span.to)}.csv`;
    const signal = AbortSignal.timeout(STREAMED_WITHIN_MS);
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${file}"`)
      .send(Readable.from(csvOf(needs, run), { signal }));
  };

  bind(getStatement, async ({ caller, query, ...wire }) => answer(await ofAgent(needs, caller), query, wire));
  bind(getOwnerStatement, async ({ owner, query: { agentId, ...query }, ...wire }) =>
    answer(await ofOwner(needs, owner, agentId ?? null), query, wire),
  );
}

async function ofAgent(needs: StatementNeeds, agent: ActingAgent): Promise<Subject> {
  const [wallets, row] = await Promise.all([
    walletsOf(needs, agent, scopeOf(needs, {})),
    needs.agents.byId(agent.agentId),
  ]);
  return {
    wallets,
    names: new Map([[agent.agentId, row?.name ?? '']]),
    isOther: (agentId) => agentId !== agent.agentId,
  };
}

/** @throws Refusal agent_not_found */
async function ofOwner(needs: StatementNeeds, owner: Owner, agentId: string | null): Promise<Subject> {
  const names = await needs.statements.agentNames(owner.userId);
  if (agentId === null) {
    const { evm, solana } = await needs.ownerReads.wallets(owner.userId);
    return { wallets: [...evm, ...solana], names, isOther: (one) => !names.has(one) };
  }
  const agent = await ownedAgent(needs, owner, agentId);
  const wallets = await walletsOf(needs, agent, scopeOf(needs, {}));
  return { wallets, names, isOther: (one) => one !== agent.agentId };
}

/** So many at once, the others in the order in which they came. */
interface Turns {
  take<T>(work: () => Promise<T>): Promise<T>;
}

function createTurns(atOnce: number): Turns {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return {
    async take(work) {
      if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      else free -= 1;
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}

// A statement as CSV (RFC 4180): a line of titles, `opening`, every event, `not_explained` and `closing`. The columns `cash` and
// `costBasis` add up to the closing balance, which the last line says beside them. A file without the line `closing` was cut off.

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
async function* csvOf(needs: StatementNeeds, run: Run): AsyncGenerator<string> {
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
