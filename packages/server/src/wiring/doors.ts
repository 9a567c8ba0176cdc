/**
 * The doors of the paper venues as this process serves them: from its own exchange and sandbox while it leads, through
 * the replica that leads otherwise. Who comes through a door draws from the bucket of its address, on whichever replica.
 */
import { dataDoor } from '@bellwether/exchange/doors/data';
import { gammaDoor } from '@bellwether/exchange/doors/gamma';
import {
  type Faults,
  polymarketDoor,
  polymarketSocketDoor,
  type VenueKeys,
} from '@bellwether/exchange/doors/polymarket';
import type { Relay } from '@bellwether/exchange/doors/web-sockets';
import { exchangeDomains, type RecoverPublicKey } from '@bellwether/protocol';
import { registerSandboxDoors, SANDBOX_PATHS } from '@bellwether/sandbox';
import type { Config } from '../config.ts';
import type { Clock } from '../platform/clock.ts';
import { createDoorGuard } from '../platform/http/door-guard.ts';
import type { RateLimits } from '../platform/http/rate-limits.ts';
import { forwardToLeader, type ReplicaDoor, socketAtLeader } from '../platform/http/replicas.ts';
import type { PaperBackend } from '../venues/paper/paper-backend.ts';
import type { PaperDoor } from '../venues/paper/settings.ts';
import { relaySocket } from '../venues/paper/socket-relay.ts';
import type { ServerOptions } from './server.ts';

interface Parts {
  readonly config: Config;
  readonly paper: PaperBackend;
  readonly keys: VenueKeys;
  readonly recover: RecoverPublicKey;
  readonly replicas: ReplicaDoor;
  readonly rateLimits: RateLimits;
  readonly clock: Clock;
  readonly faults: Faults;
}

const CLOB_PATH = '/paper/clob';
const GAMMA_PATH = '/paper/gamma';
const DATA_PATH = '/paper/data';
const SOCKETS_PATH = '/paper/ws';
const PATHS: Readonly<Record<PaperDoor, readonly string[]>> = {
  clob: [CLOB_PATH, GAMMA_PATH, DATA_PATH, SOCKETS_PATH],
  dflow: [SANDBOX_PATHS.metadata, SANDBOX_PATHS.trade],
  solana: [SANDBOX_PATHS.rpc],
};

/** Where the doors that are open lie, below the base path. */
export const doorPaths = (open: ReadonlySet<PaperDoor>): readonly string[] =>
  [...open].flatMap((name) => PATHS[name]);

type Door = ServerOptions['doors'][number];

export function paperDoors(parts: Parts): Door[] {
  const { config, paper, keys, recover, replicas, rateLimits, clock, faults } = parts;
  const open = config.paper.doors;
  const guard = createDoorGuard(rateLimits);
  const exchange = () => paper.local()?.exchange;
  const relayAt =
    (mount: string): Relay =>
    (request) => {
      const target = socketAtLeader(replicas, { basePath: config.basePath, mount }, request);
      return target === null ? null : (peer) => relaySocket(target, peer);
    };
  const clob: Door = {
    prefix: CLOB_PATH,
    register: (door) => {
      door.addHook('preHandler', forwardToLeader(replicas, config.basePath, [CLOB_PATH]));
      return polymarketDoor(door, {
        exchange: () => exchange() ?? null,
        keys,
        recover,
        chainId: config.chainId,
        domains: exchangeDomains(config.chainId),
        gtdMinLeadS: config.paper.gtdMinLeadS,
        limitsSigners: config.rateLimits !== null,
        now: clock.now,
        orderVersion: config.exchange.profile === 'interface' ? 1 : 2,
        guard,
        faults,
      }) as Promise<void>;
    },
  };
  const gamma: Door = {
    prefix: GAMMA_PATH,
    register: (door) => {
      door.addHook('preHandler', forwardToLeader(replicas, config.basePath, [GAMMA_PATH]));
      return gammaDoor(door, { exchange, guard }) as Promise<void>;
    },
  };
  const data: Door = {
    prefix: DATA_PATH,
    register: (door) => {
      door.addHook('preHandler', forwardToLeader(replicas, config.basePath, [DATA_PATH]));
      return dataDoor(door, { exchange, now: clock.now, guard }) as Promise<void>;
    },
  };
  const sockets: Door = {
    prefix: SOCKETS_PATH,
    register: (door) =>
      polymarketSocketDoor(door, {
        find: exchange,
        keys,
        now: clock.now,
        guard,
        faults,
        relay: relayAt(SOCKETS_PATH),
      }) as Promise<void>,
  };
  const sandbox: Door = {
    prefix: '',
    register: (door) => {
      const leadKnown = () => paper.sandboxKnown('external');
      const forward = forwardToLeader(
        { ...replicas, leadKnown },
        config.basePath,
        Object.values(SANDBOX_PATHS),
      );
      // A socket is relayed frame by frame, not sent on as one request.
      door.addHook('preHandler', async (request, reply) =>
        request.headers.upgrade === undefined ? forward(request, reply) : leadKnown().catch(() => {}),
      );
      const doors = new Set((['dflow', 'solana'] as const).filter((name) => open.has(name)));
      return registerSandboxDoors(door, {
        find: () => paper.local()?.sandbox.current() ?? null,
        guard,
        doors,
        relay: relayAt(SANDBOX_PATHS.rpc),
      });
    },
  };
  return [...(open.has('clob') ? [clob, gamma, data, sockets] : []), sandbox];
}
