import {
  createApiKey,
  getClaim,
  getClaimByQuery,
  getHealth,
  getMe,
  getSettings,
  listApiKeys,
  registerAgent,
  revokeApiKey,
  revokeApiKeyByPost,
  updateSettings,
} from '@bellwether/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import * as agents from '../app/agents.ts';
import type { Deps } from '../app/deps.ts';
import { claimPage } from './claim-page.ts';
import type { Bind } from './routes.ts';

export function bindAgents(bind: Bind, deps: Deps, forgetKey: (keyId: bigint) => Promise<void>): void {
  bind(registerAgent, ({ body }) => agents.register(deps, body));

  const claim = async (code: string | undefined, request: FastifyRequest, reply: FastifyReply) => {
    const record = await agents.lookUpClaim(deps, code);
    // One address, two readers: a shared cache must not mix them up.
    reply.header('vary', 'accept').header('cache-control', 'no-store');
    if (!/\btext\/html\b/.test(request.headers.accept ?? '')) return record;
    return reply
      .code(200)
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
      .serializer((html: string) => html)
      .send(claimPage(record));
  };
  bind(getClaim, ({ params, request, reply }) => claim(params.claimCode, request, reply));
  bind(getClaimByQuery, ({ query, request, reply }) => claim(query.claimCode, request, reply));

  bind(createApiKey, ({ caller, body }) => agents.createApiKey(deps, caller, body.keyName));
  bind(listApiKeys, ({ caller }) => agents.listApiKeys(deps, caller));
  for (const operation of [revokeApiKey, revokeApiKeyByPost] as const) {
    bind(operation, ({ caller, params, query }) =>
      agents.revokeApiKey(deps, caller, params.id, query.force === true, forgetKey),
    );
  }
  bind(getMe, ({ caller }) => agents.me(deps, caller));
  bind(getSettings, ({ caller }) => agents.readSettings(deps, caller));
  bind(updateSettings, ({ caller, body }) => agents.updateSettings(deps, caller, body));
  bind(getHealth, async () => ({
    status: 'ok' as const,
    timestamp: new Date(deps.clock.now()).toISOString(),
  }));
}
