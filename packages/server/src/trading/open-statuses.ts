/**
 * The statuses of orders that can still be filled, as far as is known, as the list after `status in`. Literal text, not a parameter:
 * the planner uses a partial index only if the statement itself shows that the index's condition is true.
 */
import { mayFill, ORDER_STATUSES } from '../domain/lifecycle.ts';
import type { Fragment, Sql, Tx } from '../platform/database/connection.ts';

const OPEN_STATUSES = ORDER_STATUSES.filter(mayFill);

const LIST = `(${OPEN_STATUSES.map((status) => `'${status}'`).join(', ')})`;

export const openStatuses = (sql: Sql | Tx): Fragment => sql.unsafe(LIST) as unknown as Fragment;
