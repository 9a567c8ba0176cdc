/**
 * The statuses of orders that evidence can still change, as the list after `status in`. Literal text, not a parameter:
 * the planner uses a partial index only if the statement itself shows that the index's condition is true.
 */
import { isTerminal, ORDER_STATUSES } from '../../domain/orders/lifecycle.ts';
import type { Fragment, Sql, Tx } from './connection.ts';

export const OPEN_STATUSES = ORDER_STATUSES.filter((status) => !isTerminal(status));

const LIST = `(${OPEN_STATUSES.map((status) => `'${status}'`).join(', ')})`;

export const openStatuses = (sql: Sql | Tx): Fragment => sql.unsafe(LIST) as unknown as Fragment;
