/** The door: one Fastify, every operation bound, everything else refused in the documented way. */
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { ERRORS, LIMITS, Liveness, type Operation, Problem, Readiness } from '@bellwether/contract';
import swagger from '@fastify/swagger';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { bindAgents } from '../agents/index.ts';
import { bindApprovals } from '../approvals/index.ts';
import { bindBriefing } from '../briefing/index.ts';
import {
  bindAgentReads,
  bindOwnerConsole,
  createConsoleBundle,
  serveConsole,
  servePausePage,
} from '../console/index.ts';
import { bindExits } from '../exits/index.ts';
import { bindFees } from '../fees/index.ts';
import { bindMarkets, bindVenues } from '../markets/index.ts';
import { bindOperator, type OperatorParts, type ThisReplica } from '../operator/index.ts';
import { bindJournal, bindOrders } from '../orders/index.ts';
import { bindClaims, bindOwners, createSite } from '../owners/index.ts';
import { withOrigin } from '../platform/database/connection.ts';
import type { Revocations } from '../platform/database/replica-watch.ts';
import { noteCallers, type TrustProxy, trustOf } from '../platform/http/addresses.ts';
import {
  answerBroken,
  type ConnectionLimits,
  closeInTime,
  createHttpServer,
} from '../platform/http/connections.ts';
import { cookieName } from '../platform/http/identify.ts';
import { admitRequests } from '../platform/http/load-control.ts';
import { bindMetrics, type Meters, traceRequests, watchRequests } from '../platform/http/metrics.ts';
import { type Site, serveAssets } from '../platform/http/pages.ts';
import { handleError, refusedEverywhere } from '../platform/http/problem.ts';
import { bindReplicas, isFromReplica, type ReplicaDoor, vouchedAddress } from '../platform/http/replicas.ts';
import { type Bind, createBinder, type Gate, type Route } from '../platform/http/routes.ts';
import { guardTargets, showToPages } from '../platform/http/targets.ts';
import { MethodTable, refuseUnknown } from '../platform/http/unknown-routes.ts';
import { compileFor, parseBodies, serializeWhenUsed } from '../platform/http/validation.ts';
import { serveFrontPage, serveGuides } from '../platform/site/guides.ts';
import { bindLlmsText, FIRST_STEPS, llmsText } from '../platform/site/llms-text.ts';
import { finishDocument, serveDocuments } from '../platform/site/openapi-document.ts';
import { bindDocs } from '../platform/site/reference-page.ts';
import type { Tracer } from '../platform/tracing.ts';
import { bindChainPositions, bindPositions } from '../positions/index.ts';
import { bindQuotes, quoteAliases } from '../quoting/index.ts';
import { bindSkills } from '../skills/index.ts';
import { bindStreams, type Streams } from '../streams/index.ts';
import { bindBatchTrade, bindPrepareTrade, bindSets, bindTrading } from '../trading/index.ts';
import { quotingVenue } from '../venues/asking.ts';
import { bindWallet, bindWalletLink } from '../wallets/index.ts';
import { bindInbound, bindWebhooks, openapiWebhooks, takeRawBodies } from '../webhooks/index.ts';
import type { UseCaseNeeds } from './use-cases.ts';

export interface ReadyState {
  readonly ready: boolean;
  readonly body: Readonly<Record<string, unknown>> & { readonly database: string };
}

interface ServerOptions {
  readonly needs: UseCaseNeeds;
  readonly gate: Gate;
  /** Binds the operations of the rooms, which the edge does not know. */
  readonly bindRooms: (bind: Bind) => void;
  readonly revocations: Revocations;
  readonly logger: FastifyBaseLogger;
  readonly basePath: string;
  readonly trustProxy: TrustProxy;
  readonly connections: ConnectionLimits;
  /** Host names that requests may name, beside loopback and the public URL's. */
  readonly hosts: readonly string[];
  /** Whose pages may call, beside our own. */
  readonly origins: readonly string[];
  readonly version: string;
  readonly publicUrl: string;
  readonly readiness: () => Promise<ReadyState>;
  /** Connections are to be opened elsewhere: each answer ends its own. */
  readonly isDraining: () => boolean;
  /** Applies to every request. */
  readonly deadlineMs: number;
  /** Known to be away: requests need not discover it. */
  readonly isDatabaseAway: () => boolean;
  readonly describeOutage: FastifyInstance['describeOutage'];
  readonly replicas: ReplicaDoor;
  readonly replica: ThisReplica;
  readonly streams: Streams;
  readonly meters: Meters;
  /** Only where traces are exported. */
  readonly tracer: Tracer | undefined;
  /** Whether somebody watches the statements. */
  readonly isWatched: boolean;
  /** Doors of the paper venues, by mount path. */
  readonly doors: readonly {
    readonly prefix: string;
    readonly register: (app: FastifyInstance) => Promise<void>;
  }[];
}

const REQUEST_ID = /^[\x20-\x7e]{1,128}$/;
const MAX_PARAM_CHARS = 300;
/** The levels at which every request has a line. */
const DETAILED: ReadonlySet<string> = new Set(['debug', 'trace']);

const ABOVE_WARN: ReadonlySet<string> = new Set(['error', 'fatal', 'silent']);

/** Levels that the owner does not want to see stay unseen. */
const atLeastWarn = (level: string): string => (ABOVE_WARN.has(level) ? level : 'warn');

export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const trusts = trustOf(options.trustProxy);
  const app = Fastify<Server>({
    serverFactory: createHttpServer(options.connections, trusts),
    clientErrorHandler: answerBroken(() => options.needs.publicUrl),
    // The framework's own chatter is of no use; what matters of a request is logged below.
    loggerInstance: options.logger.child({}, { level: atLeastWarn(options.logger.level) }),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: LIMITS.bodyBytes,
    trustProxy: options.trustProxy === null ? false : trusts,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    routerOptions: { maxParamLength: MAX_PARAM_CHARS },
    frameworkErrors: (error, request, reply) => handleError(error, request as FastifyRequest, reply as never),
    forceCloseConnections: 'idle',
    schemaController: { compilersFactory: { buildSerializer: serializeWhenUsed } },
  });
  closeInTime(app);
  if (options.tracer !== undefined) traceRequests(app, options.tracer);
  // Statements say for which request they are sent from the moment at which it is let in: whether its key is looked up before
  // depends on other requests. So this hook comes first.
  if (options.isWatched)
    app.addHook('preValidation', (request, _reply, next) => withOrigin(request.id, next));
  const targets = { ...options, publicUrl: () => options.needs.publicUrl };
  showToPages(app, targets);
  app.addHook('preClose', async () => {
    options.streams.open.stop();
    await options.streams.feed.stop();
  });
  setUpRequests(app, options);
  noteCallers(app, trusts, vouchedAddress(options.replicas, options.basePath));
  guardTargets(app, targets);
  bindMetrics(app, options.basePath, options.meters, {
    gate: options.gate,
    venues: () => [...options.needs.venues.values()],
    ordersInDoubt: async () => {
      const { orders, clock } = options.needs;
      return (await orders.inDoubt(clock.now())).map(({ createdAt }) => createdAt);
    },
    queues: () => options.needs.queueDepths.read(),
    streams: () => options.streams.open.count,
    leads: options.replica.leads,
    now: () => options.needs.clock.now(),
  });
  const seen = watchRequests(app);
  app.setValidatorCompiler(({ schema, httpPart }) => compileFor(schema as object, httpPart));
  app.addSchema({ $id: 'Problem', ...Problem });
  const documented: Operation[] = [];
  const inbound: Operation[] = [];
  await app.register(
    swagger,
    openapi(options, () => [...documented, ...inbound]),
  );

  const siteOf = createSite(options.needs);
  const table = new MethodTable(options.basePath);
  refuseUnknown(app, table, options.basePath);
  await app.register(
    async (scope) => {
      parseBodies(scope);
      const aliases = quoteAliases(quotingVenue(options.needs).id);
      const { bind, operations, routes } = createBinder(scope, options.gate, aliases);
      bindResources(bind, { ...options, siteOf, operator: { ...options, seen } });
      options.bindRooms(bind);
      await scope.register(async (raw) => {
        takeRawBodies(raw);
        const { bind, operations } = createBinder(raw, options.gate);
        bindInbound(bind, options.needs);
        for (const route of operations) table.add(route);
        inbound.push(...operations);
      });
      const pages = [
        ...serveAssets(scope, options.gate, siteOf),
        ...serveConsole(scope, options.gate, siteOf, createConsoleBundle()),
        ...servePausePage(scope, options.needs, options.gate, siteOf),
      ];
      const guides = serveGuides(scope, options.gate, siteOf);
      const front = serveFrontPage(scope, options.gate, { siteOf, version: options.version });
      for (const route of [...routes, ...pages, ...guides, ...front]) table.add(route);
      documented.push(...operations);
    },
    { prefix: options.basePath },
  );
  for (const door of options.doors) {
    await app.register(door.register, { prefix: `${options.basePath}${door.prefix}` });
  }
  await bindReplicas(app, options.basePath, options.replicas);
  const documents = serveDocuments(app, options.basePath);
  bindLlmsText(app, options.basePath, () =>
    llmsText(documented, { publicUrl: options.needs.publicUrl, sizes: documents.sizes() }),
  );
  await bindService(app, options);
  for (const route of [...documents.routes, ...SERVICE_ROUTES]) table.add(route);
  return app;
}

function setUpRequests(app: FastifyInstance, options: ServerOptions): void {
  const { logger, gate, deadlineMs, isDatabaseAway } = options;
  app.decorate('publicUrl', () => options.needs.publicUrl);
  app.decorateRequest('caller', null);
  app.decorateRequest('owner', null);
  app.decorateRequest('keyed', null);
  app.decorateRequest('hadNoEffect', false);
  app.decorate('describeOutage', options.describeOutage);
  app.decorate('refusedEverywhere', options.revocations.refusedEverywhere);
  app.setErrorHandler(async (error, request, reply) => {
    await refusedEverywhere(error, request);
    return handleError(error, request, reply);
  });
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    // Replicas find the next leader without it.
    if (options.isDraining() && !isFromReplica(request)) reply.header('connection', 'close');
    done();
  });
  admitRequests(app, { gatekeeper: gate.gatekeeper, deadlineMs, isDatabaseAway, log: logger });
  app.addHook('onResponse', (request, reply, done) => {
    // Requests that are turned away are counted and logged together: a line for each would cost more than the refusal.
    const isFault = reply.statusCode >= 500 && reply.statusCode !== ERRORS.overloaded.status;
    if (isFault || DETAILED.has(logger.level)) {
      // Paths hold claim codes and keys' ids; the route's pattern says enough.
      const context = {
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url ?? 'none',
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      };
      logger[isFault ? 'warn' : 'debug'](context, 'request');
    }
    done();
  });
}

const openapi = (
  { publicUrl, basePath, version }: ServerOptions,
  operations: () => readonly Operation[],
) => ({
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Bellwether',
      // Of the interface; what runs says its own.
      version: '1.0.0',
      'x-service-version': version,
      description: `The order desk that an AI trading agent talks to: one guarded HTTP/JSON API in front of prediction markets.\n\n## First steps\n\n${FIRST_STEPS}\n\n`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative: a reader has the document from the server that it describes.
    servers: [{ url: basePath === '' ? '/' : basePath }],
    webhooks: openapiWebhooks(),
    components: {
      securitySchemes: {
        apiKey: { type: 'http' as const, scheme: 'bearer' },
        ownerSession: { type: 'apiKey' as const, in: 'cookie', name: cookieName(publicUrl) },
        operatorKey: { type: 'http' as const, scheme: 'bearer', description: 'OPERATOR_KEY' },
      },
    },
  },
  refResolver: {
    buildLocalReference: (schema: { $id?: unknown }, _base: unknown, _fragment: unknown, index: number) =>
      typeof schema.$id === 'string' ? schema.$id : `schema-${index}`,
  },
  // The paper venues' doors speak the venues' protocols: docs/doors.md describes them.
  hideUntagged: true,
  transformObject: (made: { readonly openapiObject: object } | { readonly swaggerObject: object }) =>
    finishDocument('openapiObject' in made ? made.openapiObject : made.swaggerObject, operations()),
});

const LIVENESS = {
  operationId: 'getLiveness',
  summary: 'Does the process run?',
  tags: ['service'],
  security: [],
  response: { 200: Liveness },
};

const READINESS = {
  operationId: 'getReadiness',
  summary: 'Can trades be taken? 503 with the reason while not',
  tags: ['service'],
  security: [],
  response: { 200: Readiness, 503: Readiness },
};

/** Beside the operations, the pages and the documents. */
const SERVICE_ROUTES: readonly Route[] = ['/healthz', '/readyz', '/metrics', '/llms.txt', '/docs'].map(
  (path) => ({ path, method: 'GET' }),
);

async function bindService(app: FastifyInstance, { basePath, readiness }: ServerOptions): Promise<void> {
  for (const prefix of new Set(['', basePath])) {
    const hide = prefix !== basePath;
    app.get(`${prefix}/healthz`, { schema: { hide, ...LIVENESS } }, async () => ({ status: 'ok' }));
    app.get(`${prefix}/readyz`, { schema: { hide, ...READINESS } }, async (_request, reply) => {
      const { ready, body } = await readiness();
      return reply.code(ready ? 200 : 503).send(body);
    });
  }
  bindDocs(app, basePath);
}

// The resources of the interface, each bound to its use cases. One that is added here says by its type what it needs.

const RESOURCES = [
  bindApprovals,
  bindSkills,
  bindWallet,
  bindWalletLink,
  bindWebhooks,
  bindBriefing,
  bindMarkets,
  bindTrading,
  bindOrders,
  bindAgentReads,
  bindOwnerConsole,
  bindBatchTrade,
  bindPrepareTrade,
  bindSets,
  bindExits,
  bindPositions,
  bindQuotes,
  bindChainPositions,
  bindJournal,
  bindFees,
  bindVenues,
] as const;

interface Parts {
  readonly needs: UseCaseNeeds;
  readonly gate: Gate;
  /** Makes every replica drop what it remembers of a key. */
  readonly revocations: Pick<Revocations, 'announce'>;
  readonly siteOf: () => Site;
  readonly streams: Streams;
  readonly operator: OperatorParts;
}

function bindResources(bind: Bind, { needs, gate, revocations, siteOf, streams, operator }: Parts): void {
  bindAgents(bind, needs, revocations.announce);
  bindClaims(bind, needs, gate, siteOf);
  bindOwners(bind, needs, { announce: revocations.announce, rateLimits: gate.rateLimits });
  bindStreams(bind, streams);
  bindOperator(bind, needs, operator);
  for (const bindResource of RESOURCES) bindResource(bind, needs);
}
