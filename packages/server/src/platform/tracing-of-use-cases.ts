export type { RequestTrace, Tracer, TradeTrace } from './tracing.ts';
