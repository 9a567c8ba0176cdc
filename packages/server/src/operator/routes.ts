/** How the service fares, for its operator. */
import {
  decideKeptTrade as decideKeptTradeRoute,
  getOperatorStatus,
  listKeptTrades as listKeptTradesRoute,
} from '@bellwether/contract';
import type { watchRequests } from '../platform/http/metrics.ts';
import { sendPage } from '../platform/http/page.ts';
import type { Bind, Gate } from '../platform/http/routes.ts';
import type { Streams } from '../streams/index.ts';
import { decideKeptTrade, listKeptTrades, type OperatorNeeds, operatorStatus } from './operator-status.ts';

/** This process among the replicas. */
export interface ThisReplica {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Whether it keeps the paper exchange. */
  readonly leads: () => boolean;
}

export interface OperatorParts {
  readonly gate: Pick<Gate, 'gatekeeper'>;
  readonly streams: Pick<Streams, 'open'>;
  readonly readiness: () => Promise<{
    readonly ready: boolean;
    readonly body: { readonly database: string };
  }>;
  readonly version: string;
  readonly replica: ThisReplica;
  readonly seen: ReturnType<typeof watchRequests>;
}

const BYTES_PER_MB = 1024 * 1024;

export function bindOperator(bind: Bind, needs: OperatorNeeds, parts: OperatorParts): void {
  const { gate, streams, readiness, version, replica, seen } = parts;
  bind(listKeptTradesRoute, async ({ query, request, reply }) => ({
    trades: sendPage(request, reply, query, await listKeptTrades(needs, query)),
  }));
  bind(decideKeptTradeRoute, ({ body }) => decideKeptTrade(needs, body));
  bind(getOperatorStatus, async ({ reply }) => {
    reply.header('cache-control', 'no-store');
    const { ready, body } = await readiness();
    const { requests, trades, waiting } = gate.gatekeeper.state;
    return operatorStatus(needs, {
      version,
      ready,
      database: body.database,
      thisReplica: {
        replicaId: replica.id,
        leads: replica.leads(),
        startedAt: new Date(replica.startedAt).toISOString(),
        memoryMb: Math.round(process.memoryUsage.rss() / BYTES_PER_MB),
        requests: {
          underWay: requests,
          tradesUnderWay: trades,
          tradesWaiting: waiting,
          shed: gate.gatekeeper.shed,
        },
        openStreams: streams.open.count,
        ...seen(),
      },
    });
  });
}
