/**
 * Traces over OTLP/HTTP. Loaded only where an endpoint is configured. Finished spans wait in a queue of fixed size, and what
 * does not fit is lost: a receiver that is away or frozen must cost neither a trade nor the stop of the service any time.
 */
import {
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type Tracer as SpanSource,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { RequestTrace, TracedRequest, Tracer, TradeTrace } from '../tracing.ts';

interface TracingOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Attributes that every span gives of this service. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: string;
  /** Ratio of the samplers by ratio. */
  readonly ratio: number;
  readonly log: { warn(context: object, message: string): void };
}

interface RunningTracer extends Tracer {
  /** Exports what is left; gives up in time. */
  stop(withinMs: number): Promise<void>;
}

const QUEUED_SPANS = 4_096;
const BATCH_SPANS = 512;
const EXPORT_EVERY_MS = 1_000;
const EXPORT_WITHIN_MS = 5_000;
const TELL_EVERY_MS = 60_000;
const LONGEST_VALUE_CHARS = 256;
/** Share of the time to stop; the rest is for what comes after. */
const FLUSH_SHARE = 0.8;
const FIRST_SERVER_ERROR = 500;
/** Version 00 has these four fields, later ones may have more; ff is none. */
const TRACEPARENT = /^(?!ff|00.{54})[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;
const BY_PARENT = 'parentbased_';
const NAMES = {
  check: 'check the trade',
  wait: 'wait for a group',
  judge: 'judge the group',
  commit: 'commit the group',
  send: 'send to the venue',
} as const;

export function startTracer(options: TracingOptions): RunningTracer {
  const exporter = new OTLPTraceExporter({
    url: options.url,
    headers: { ...options.headers },
    timeoutMillis: EXPORT_WITHIN_MS,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ ...options.resource }),
    sampler: samplerOf(options),
    spanLimits: { attributeValueLengthLimit: LONGEST_VALUE_CHARS },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: tellingFailures(exporter, options.log),
        maxQueueSize: QUEUED_SPANS,
        maxExportBatchSize: BATCH_SPANS,
        scheduledDelayMillis: EXPORT_EVERY_MS,
        exportTimeoutMillis: EXPORT_WITHIN_MS,
      }),
    ],
  });
  const spans = provider.getTracer('bellwether');
  return {
    begin: (request) => beginRequest(spans, request),
    async stop(withinMs) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, withinMs * FLUSH_SHARE);
      });
      // Spans that cannot be exported are lost, which is no fault of the stop.
      await Promise.race([provider.shutdown().catch(() => {}), late]);
      clearTimeout(timer);
    },
  };
}

function samplerOf({ sampler, ratio }: TracingOptions): Sampler {
  const name = sampler.replace(BY_PARENT, '');
  const root =
    name === 'always_off'
      ? new AlwaysOffSampler()
      : name === 'traceidratio'
        ? new TraceIdRatioBasedSampler(ratio)
        : new AlwaysOnSampler();
  return sampler.startsWith(BY_PARENT) ? new ParentBasedSampler({ root }) : root;
}

/** The library is silent about a receiver that takes nothing. */
function tellingFailures(exporter: OTLPTraceExporter, log: TracingOptions['log']): SpanExporter {
  let toldAt = Number.NEGATIVE_INFINITY;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const now = performance.now();
        if (result.code !== 0 && now - toldAt >= TELL_EVERY_MS) {
          toldAt = now;
          log.warn(
            { spans: spans.length, reason: result.error?.message },
            'traces are lost: look at OTEL_EXPORTER_OTLP_ENDPOINT and at what listens there',
          );
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}

/** A header that is not valid begins a new trace. */
function callersContext(traceparent: string | undefined): Context {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(context) ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}

function beginRequest(
  spans: SpanSource,
  { method, route, requestId, traceparent }: TracedRequest,
): RequestTrace {
  const context = callersContext(traceparent);
  const attributes = {
    'http.request.method': method,
    'http.route': route,
    'bellwether.request_id': requestId,
  };
  const span = spans.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, context);
  return {
    trade: () => (span.isRecording() ? traceTrade(spans, trace.setSpan(context, span)) : undefined),
    end({ status, problemCode }) {
      if (status !== null) span.setAttribute('http.response.status_code', status);
      if (problemCode !== null) span.setAttribute('bellwether.problem_code', problemCode);
      if (status === null || status >= FIRST_SERVER_ERROR) {
        span.setAttribute('error.type', status === null ? 'caller_left' : (problemCode ?? String(status)));
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

function traceTrade(spans: SpanSource, context: Context): TradeTrace {
  let part: Span | undefined;
  const leave = (): void => {
    part?.end();
    part = undefined;
  };
  return {
    enter(name, groupSize) {
      leave();
      const attributes = groupSize === undefined ? {} : { 'bellwether.group_size': groupSize };
      part = spans.startSpan(NAMES[name], { attributes }, context);
    },
    leave,
  };
}
