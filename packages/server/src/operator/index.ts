/** How the service fares, for its operator. */
export { createOperatorReads } from './operator-reads.ts';
export { createQueueDepths } from './queue-depths.ts';
export { bindOperator, type OperatorNeeds, type OperatorParts, type ThisReplica } from './routes.ts';
