/** Opens the desk's pools, with the settings that its statements rely on. */
import { openPool as open, type PoolOptions, type Sql } from '@bellwether/durable';

export {
  type Fragment,
  type PoolOptions,
  refuseLoneCommits,
  refusePooler,
  type Sql,
  socketUrl,
  type Tx,
  withOrigin,
} from '@bellwether/durable';

/**
 * All queries of requests use an index. A plan made and kept while its table is nearly empty would scan the whole table
 * for every request until statistics are gathered.
 */
const PLANNING = { enable_seqscan: 'off', jit: 'off' };

export const openPool = (url: string, options: PoolOptions = {}): Sql =>
  open(url, { ...options, settings: { ...PLANNING, ...options.settings } });
