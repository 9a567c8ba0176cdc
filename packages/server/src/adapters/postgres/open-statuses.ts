/**
 * The statuses of orders that evidence can still move, as the list behind `status in`. Spelt out in the statement, not
 * sent with it: the planner takes a partial index only where it can read that its condition holds.
 */
import { isTerminal, ORDER_STATUSES } from '../../domain/orders/lifecycle.ts';
import type { Fragment, Sql, Tx } from './connection.ts';

export const OPEN_STATUSES = ORDER_STATUSES.filter((status) => !isTerminal(status));

const LIST = `(${OPEN_STATUSES.map((status) => `'${status}'`).join(', ')})`;

export const openStatuses = (sql: Sql | Tx): Fragment => sql.unsafe(LIST) as unknown as Fragment;
