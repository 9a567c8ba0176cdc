/** Traces, where an endpoint for them is configured. Elsewhere neither the exporter nor its SDK is loaded. */
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Tracer } from '../platform/tracing.ts';
import type { Stops } from './stopping.ts';

const STOP_TRACES_MS = 1_000;

export interface TracingParts {
  readonly config: Config;
  readonly replicaId: string;
  readonly version: string;
  readonly log: Logger;
  readonly stops: Stops;
}

export async function openTracing(parts: TracingParts): Promise<Tracer | undefined> {
  const { config, replicaId, version, log, stops } = parts;
  if (config.tracing === null) return undefined;
  const { startTracer } = await import('../platform/tracing/tracer.ts');
  const resource = {
    'service.version': version,
    'service.instance.id': replicaId,
    ...config.tracing.resource,
  };
  const tracer = startTracer({ ...config.tracing, resource, log });
  stops.push('traces', STOP_TRACES_MS, tracer.stop);
  return tracer;
}
