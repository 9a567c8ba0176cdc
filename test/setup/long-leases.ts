/** All of `npm test`. */
import { LEASE } from '../../packages/durable/src/term.ts';
import { LONG_LEASE } from './budget.ts';

Object.assign(LEASE, LONG_LEASE);
