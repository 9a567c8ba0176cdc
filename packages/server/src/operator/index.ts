/** How the service fares, for its operator. */
export { createOperatorReads, createQueueDepths } from './operator-reads.ts';
export { bindOperator, type OperatorParts, type ThisReplica } from './routes.ts';
