/** An agent asks by key for the wallets within its reach, an owner by session for all of theirs or for those of one agent. */
import { Readable } from 'node:stream';
import { getOwnerStatement, getStatement, type Statement } from '@bellwether/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AgentStore } from '../agents/index.ts';
import type { OwnerReads } from '../console/index.ts';
import type { ActingAgent, Owner } from '../domain/records.ts';
import { ownedAgent } from '../owners/index.ts';
import { paginate } from '../platform/http/pagination.ts';
import type { Bind } from '../platform/http/routes.ts';
import { walletsOf } from '../positions/index.ts';
import { scopeOf } from '../venues/asking.ts';
import { csvOf } from './csv.ts';
import {
  prepareStatement,
  type StatementNeeds,
  type StatementQuery,
  type Subject,
  statement,
} from './statement.ts';

export interface StatementRouteNeeds extends StatementNeeds {
  readonly agents: AgentStore;
  readonly ownerReads: OwnerReads;
}

interface Asked extends StatementQuery {
  readonly format?: 'json' | 'csv';
  readonly limit?: number;
  readonly cursor?: string;
}

/** Each reads all that a wallet ever did. */
const AT_ONCE = 2;
/** A reader that takes longer is cut off: the last line is missing. */
const STREAMED_WITHIN_MS = 300_000;

export function bindStatements(bind: Bind, needs: StatementRouteNeeds): void {
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

async function ofAgent(needs: StatementRouteNeeds, agent: ActingAgent): Promise<Subject> {
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
async function ofOwner(needs: StatementRouteNeeds, owner: Owner, agentId: string | null): Promise<Subject> {
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
