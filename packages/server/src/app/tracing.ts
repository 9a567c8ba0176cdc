export type { RequestTrace, Tracer, TradeTrace } from '../ports/tracing.ts';
