/**
 * The doors of the paper venues as this process serves them: from its own exchange and sandbox while it leads, through
 * the replica that leads otherwise. Who comes through a door draws from the bucket of its address, on whichever replica.
 */
import { polymarketDoor, type VenueKeys } from '@bellwether/exchange/doors/polymarket';
import { networkOf, registerSandboxDoors } from '@bellwether/exchange/sandbox';
import type { RecoverPublicKey } from '@bellwether/protocol';
import type { PaperBackend } from '../adapters/venues/paper/paper-backend.ts';
import type { RateLimits } from '../app/rate-limits.ts';
import type { Config } from '../config.ts';
import { createDoorGuard } from '../http/door-guard.ts';
import { forwardToLeader, type ReplicaDoor } from '../http/replicas.ts';
import type { ServerOptions } from '../http/server.ts';
import type { Clock } from '../ports/clock.ts';

interface Parts {
  readonly config: Config;
  readonly paper: PaperBackend;
  readonly keys: VenueKeys;
  readonly recover: RecoverPublicKey;
  readonly replicas: ReplicaDoor;
  readonly rateLimits: RateLimits;
  readonly clock: Clock;
}

type Door = ServerOptions['doors'][number];

export function paperDoors({ config, paper, keys, recover, replicas, rateLimits, clock }: Parts): Door[] {
  const open = config.paper.doors;
  const guard = createDoorGuard({ replicas, rateLimits, networkOf });
  const exchange = () => paper.local()?.exchange;
  const clob: Door = {
    prefix: '/paper/clob',
    register: (door) => {
      door.addHook('preHandler', forwardToLeader(replicas));
      return polymarketDoor(door, {
        exchange: {
          market: (conditionId) => exchange()?.market(conditionId),
          marketByToken: (tokenId) => exchange()?.marketByToken(tokenId),
          book: (conditionId, outcome, depth) => exchange()?.book(conditionId, outcome, depth),
        },
        keys,
        recover,
        chainId: config.chainId,
        now: clock.now,
        orderVersion: config.venueA.profile === 'interface' ? 1 : 2,
        guard,
      }) as Promise<void>;
    },
  };
  const sandbox: Door = {
    prefix: '',
    register: (door) => {
      door.addHook('preHandler', forwardToLeader(replicas));
      const doors = new Set((['dflow', 'solana'] as const).filter((name) => open.has(name)));
      return registerSandboxDoors(door, {
        find: () => paper.local()?.sandbox.current() ?? null,
        guard,
        doors,
      });
    },
  };
  return [...(open.has('clob') ? [clob] : []), sandbox];
}
