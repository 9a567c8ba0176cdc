import {
  createApiKey,
  getHealth,
  getMe,
  getSettings,
  listApiKeys,
  registerAgent,
  revokeApiKey,
  revokeApiKeyByPost,
  updateSettings,
} from '@bellwether/contract';
import * as agents from '../app/agents.ts';
import type { Deps } from '../app/deps.ts';
import * as settings from '../app/settings.ts';
import type { Bind } from './routes.ts';

export function bindAgents(bind: Bind, deps: Deps, forgetKey: (keyId: bigint) => Promise<void>): void {
  bind(registerAgent, ({ body }) => agents.register(deps, body));

  bind(createApiKey, ({ caller, body }) => agents.createApiKey(deps, caller, body.keyName));
  bind(listApiKeys, ({ caller }) => agents.listApiKeys(deps, caller));
  for (const operation of [revokeApiKey, revokeApiKeyByPost] as const) {
    bind(operation, ({ caller, params, query }) =>
      agents.revokeApiKey(deps, caller, { keyId: params.id, force: query.force === true }, forgetKey),
    );
  }
  bind(getMe, ({ caller }) => agents.me(deps, caller));
  bind(getSettings, ({ caller }) => settings.readSettings(deps, caller));
  bind(updateSettings, ({ caller, body }) => settings.updateSettings(deps, caller, body));
  bind(getHealth, async () => ({
    status: 'ok' as const,
    timestamp: new Date(deps.clock.now()).toISOString(),
  }));
}
