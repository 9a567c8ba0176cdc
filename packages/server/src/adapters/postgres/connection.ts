/** Opens the desk's pools, with the settings that its statements rely on. */
import { openPool as open, type PoolOptions, type Sql } from '@bellwether/durable';

export { type Fragment, type PoolOptions, type Sql, socketUrl, type Tx } from '@bellwether/durable';

/**
 * What a request asks for lies behind an index. A plan that is made while its table is nearly empty, and kept, would
 * read all of the table for every request until its statistics are gathered.
 */
const PLANNING = { enable_seqscan: 'off', jit: 'off' };

export const openPool = (url: string, options: PoolOptions = {}): Sql =>
  open(url, { ...options, settings: { ...PLANNING, ...options.settings } });
