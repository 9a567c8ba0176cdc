/** The sandbox's doors, as this process serves them: from its own sandbox while it leads, through the replica that leads otherwise. */
import { registerSandboxDoors } from '@bellwether/sandbox';
import { SANDBOX_PATHS } from '@bellwether/sandbox/paths';
import type { Door, DoorTools, VenueTools } from '../configured.ts';

interface Parts extends DoorTools, Pick<VenueTools, 'paper'> {}

export function sandboxDoors({ paper, guard, forward, relayAt }: Parts): readonly Door[] {
  const leadKnown = () => paper.sandboxKnown('external');
  const sendOn = forward(Object.values(SANDBOX_PATHS), leadKnown);
  return (['dflow', 'solana'] as const).map((name) => ({
    name,
    prefix: '',
    register(app) {
      // A socket is relayed frame by frame, not sent on as one request.
      app.addHook('preHandler', async (request, reply) =>
        request.headers.upgrade === undefined
          ? sendOn.call(app, request, reply)
          : leadKnown().catch(() => {}),
      );
      return registerSandboxDoors(app, {
        find: () => paper.local()?.sandbox.current() ?? null,
        guard,
        doors: new Set([name]),
        relay: relayAt(SANDBOX_PATHS.rpc),
      });
    },
  }));
}
