/** The answers of the probes. Probes are not operations: they need no key, have no rate limit and also answer at the root. */
import { Type } from 'typebox';
import { VenueInfo } from './operations/agents.ts';

export const Liveness = Type.Object({ status: Type.Literal('ok') });

export const Readiness = Type.Object({
  status: Type.String({ description: 'ready, not ready, or draining: about to end' }),
  version: Type.String(),
  venues: Type.Array(VenueInfo),
  database: Type.String({ description: 'ready or unreachable' }),
});
