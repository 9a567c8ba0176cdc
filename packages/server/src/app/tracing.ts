export type { RequestTrace, Tracer } from '../ports/tracing.ts';
