import {
  actOnExit,
  cancelOwnerAgentExit,
  exitPasskeyOptions,
  leaveExit,
  listOwnerAgentExits,
  resumeExit,
} from '@bellwether/contract';
import { outcomeFaults } from '../markets/index.ts';
import { ownedAgent } from '../owners/index.ts';
import type { Bind } from '../platform/http/routes.ts';
import { bindUseCases } from '../platform/http/use-cases.ts';
import * as leave from './leave-exit.ts';
import * as owners from './owner-exits.ts';
import * as exits from './read-exits.ts';

export function bindExits(bind: Bind, needs: leave.LeaveExitNeeds & owners.OwnerExitsNeeds): void {
  bindUseCases(bind, {
    listExits: ({ caller, query }) => exits.listExits(needs, caller, query),
    getExit: ({ caller, params }) => exits.oneExit(needs, caller, params.exitId),
    cancelExit: ({ caller, body }) => exits.cancelExit(needs, caller, { ...body, by: 'by_agent' }),
  });
  bind(
    leaveExit,
    async ({ caller, body, request, reply }) => {
      const left = await leave.leaveExit(needs, { caller, request: body, requestId: request.id });
      return body.validateOnly === true ? reply.code(leaveExit.validatesOnly.status).send(left) : left;
    },
    outcomeFaults(needs),
  );

  bind(listOwnerAgentExits, async ({ owner, params, query }) =>
    exits.listExits(needs, await ownedAgent(needs, owner, params.agentId), query),
  );
  bind(cancelOwnerAgentExit, async ({ owner, params, body }) =>
    exits.cancelExit(needs, await ownedAgent(needs, owner, params.agentId), { ...body, by: 'by_owner' }),
  );
  bind(resumeExit, ({ owner, params }) => owners.resumeExit(needs, owner, params));
  bind(exitPasskeyOptions, ({ owner, params, body }) => owners.beginExitAct(needs, owner, params, body.act));
  bind(actOnExit, ({ owner, params, body }) => owners.actOnExit(needs, owner, params, body));
}
