import {
  actOnExit,
  cancelExit,
  cancelOwnerAgentExit,
  exitPasskeyOptions,
  exitsPasskeyOptions,
  leaveExit,
  listOwnerExits,
  resumeExit,
  resumeExits,
  resumeOwnExit,
  seeOwnerAgentExits,
} from '@bellwether/contract';
import { outcomeFaults } from '../markets/index.ts';
import { type OwnerNeeds, ownedAgent } from '../owners/index.ts';
import { sendPage } from '../platform/http/page.ts';
import { type Bind, bindUseCases, markedAnswer } from '../platform/http/routes.ts';
import * as leave from './leave-exit.ts';
import * as owners from './read-exits.ts';
import * as exits from './read-exits.ts';

export function bindExits(bind: Bind, needs: leave.ExitNeeds & OwnerNeeds): void {
  bindUseCases(bind, {
    listExits: ({ caller, query }) => exits.listExits(needs, caller, query),
    getExit: ({ caller, params }) => exits.oneExit(needs, caller, params.exitId),
    seeExits: ({ caller, body }) => exits.seeExits(needs, caller, { ...body, by: 'agent' }),
  });
  bind(cancelExit, async ({ caller, body, reply }) =>
    markedAnswer(reply, await exits.cancelExit(needs, caller, { ...body, by: 'by_agent' })),
  );
  bind(resumeOwnExit, async ({ caller, params, reply }) =>
    markedAnswer(reply, await exits.resumeOwnExit(needs, caller, params.exitId)),
  );
  bind(
    leaveExit,
    async ({ caller, body, request, reply }) =>
      markedAnswer(reply, await leave.leaveExit(needs, { caller, request: body, requestId: request.id })),
    outcomeFaults(needs),
  );

  bind(listOwnerExits, async ({ owner, query, request, reply }) =>
    sendPage(request, reply, query, await owners.listOwnersExits(needs, owner, query)),
  );
  bind(cancelOwnerAgentExit, async ({ owner, params, body, reply }) => {
    const agent = await ownedAgent(needs, owner, params.agentId);
    return markedAnswer(reply, await exits.cancelExit(needs, agent, { ...body, by: 'by_owner' }));
  });
  bind(seeOwnerAgentExits, async ({ owner, params, body }) =>
    exits.seeExits(needs, await ownedAgent(needs, owner, params.agentId), { ...body, by: 'owner' }),
  );
  bind(resumeExit, ({ owner, params }) => owners.resumeOwnedExit(needs, owner, params));
  bind(exitPasskeyOptions, ({ owner, params, body }) => owners.beginExitAct(needs, owner, params, body.act));
  bind(actOnExit, ({ owner, params, body }) => owners.actOnExit(needs, owner, params, body));
  bind(exitsPasskeyOptions, ({ owner, body }) => owners.beginResume(needs, owner, body));
  bind(resumeExits, ({ owner, body }) => owners.resumeExits(needs, owner, body));
}
