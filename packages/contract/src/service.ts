/** What the probes answer. They are no operations: they have no key, no limit and lie at the root, too. */
import { Type } from 'typebox';
import { VenueInfo } from './operations/agents.ts';

export const Liveness = Type.Object({ status: Type.Literal('ok') });

export const Readiness = Type.Object({
  status: Type.String({ description: 'ready, or not ready' }),
  version: Type.String(),
  venues: Type.Array(VenueInfo),
  database: Type.String({ description: 'ready or unreachable' }),
});
