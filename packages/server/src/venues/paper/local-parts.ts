/** Parts of the replica that leads the paper exchange. */
import type { JournalledExchange } from '@bellwether/exchange';
import type { LeaderPorts } from './leader-calls.ts';
import type { createTurns } from './paper-venue.ts';
import type { SandboxHolder } from './sandbox-holder.ts';

/** The objects that the leading process serves from its memory. */
export interface LocalParts extends LeaderPorts {
  readonly exchange: JournalledExchange;
  readonly nextTurn: ReturnType<typeof createTurns>;
  readonly sandbox: SandboxHolder;
  /** Stops what moves the exchange from outside, before it is closed. */
  readonly stopFeed?: () => Promise<void>;
}
