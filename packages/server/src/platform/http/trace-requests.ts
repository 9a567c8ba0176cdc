/** One trace for each request, while traces are exported; otherwise nothing here is called. */
import type { FastifyInstance } from 'fastify';
import type { RequestTrace, Tracer } from '../tracing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Only while traces are exported. */
    trace?: RequestTrace;
  }
}

/** Must come before every other hook: what they do belongs to the request's time. */
export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { traceparent } = request.headers;
    const trace = tracer.begin({
      method: request.method,
      // Paths hold claim codes and ids of keys.
      route: request.routeOptions.url ?? 'none',
      requestId: request.id,
      traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    });
    request.trace = trace;
    // Not every answer goes through the framework's hooks, and a caller may leave before there is one.
    reply.raw.once('close', () =>
      trace.end({
        status: reply.raw.writableFinished ? reply.raw.statusCode : null,
        problemCode: request.problemCode,
      }),
    );
    done();
  });
}
