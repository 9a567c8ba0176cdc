/**
 * The doors of the paper venues as this process serves them: from its own exchange and sandbox while it leads, through
 * the replica that leads otherwise. Who comes through a door draws from the bucket of its address, on whichever replica.
 */
import { polymarketDoor, type VenueKeys } from '@bellwether/exchange/doors/polymarket';
import { type DoorGuard, registerSandboxDoors } from '@bellwether/exchange/sandbox';
import type { RecoverPublicKey } from '@bellwether/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { PaperBackend } from '../adapters/venues/paper/paper-backend.ts';
import type { RateLimits } from '../app/rate-limits.ts';
import type { Config } from '../config.ts';
import { forwardToLeader, type ReplicaDoor, sentByReplica } from '../http/replicas.ts';
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

interface Door {
  readonly prefix: string;
  readonly register: (app: FastifyInstance) => Promise<void>;
}

const RATE_CLASS = 'door';

export function paperDoors({ config, paper, keys, recover, replicas, rateLimits, clock }: Parts): Door[] {
  const open = config.paper.doors;
  const guard = guardOf(replicas, rateLimits);
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

function guardOf(replicas: ReplicaDoor, rateLimits: RateLimits): DoorGuard {
  const sourceOf = (request: FastifyRequest): string => sentByReplica(request, replicas) ?? request.ip;
  const draw = async (source: string, tokens: number): Promise<number> => {
    // More than a bucket holds would never be there.
    const wanted = Math.min(Math.ceil(tokens), rateLimits.policy(RATE_CLASS)?.burst ?? 0);
    for (let drawn = 0; drawn < wanted; drawn += 1) {
      const answer = await rateLimits.draw(RATE_CLASS, source);
      if (answer !== null && !answer.allowed) return answer.retryAfterS;
    }
    return 0;
  };
  return {
    // The replica that took the request has drawn for it.
    admit: (request) => (sentByReplica(request, replicas) === null ? draw(request.ip, 1) : 0),
    charge: (request, tokens) => draw(sourceOf(request), tokens),
    sourceOf,
  };
}
