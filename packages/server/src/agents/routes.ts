import {
  createApiKey,
  getHealth,
  getSettings,
  listApiKeys,
  registerAgent,
  revokeApiKey,
  revokeApiKeyByPost,
  updateSettings,
} from '@bellwether/contract';
import type { Revocations } from '../platform/database/replica-watch.ts';
import type { Bind } from '../platform/http/routes.ts';
import * as agents from './agents.ts';
import * as settings from './settings.ts';

export function bindAgents(
  bind: Bind,
  needs: Parameters<typeof agents.register>[0],
  announce: Revocations['announce'],
): void {
  bind(registerAgent, ({ body }) => agents.register(needs, body));

  bind(createApiKey, ({ caller, body }) => agents.createApiKey(needs, caller, body.keyName));
  bind(listApiKeys, ({ caller }) => agents.listApiKeys(needs, caller));
  for (const operation of [revokeApiKey, revokeApiKeyByPost] as const) {
    bind(operation, ({ caller, params, query }) =>
      agents.revokeApiKey(needs, caller, { keyId: params.id, force: query.force === true }, announce),
    );
  }
  bind(getSettings, ({ caller }) => settings.readSettings(needs, caller));
  bind(updateSettings, ({ caller, body }) => settings.updateSettings(needs, caller, body));
  bind(getHealth, async () => ({
    status: 'ok' as const,
    timestamp: new Date(needs.clock.now()).toISOString(),
  }));
}
