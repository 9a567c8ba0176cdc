/** Where nothing is killed or frozen, a lead must not end because a busy machine has left its process waiting. */
import { LEASE } from '../../packages/durable/src/term.ts';

LEASE.heldForMs = 60_000;
LEASE.silentAfterMs = 61_000;
