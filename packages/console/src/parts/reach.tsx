/** Who can act for an agent and with what: its keys, the wallets that it may use, the webhooks that it gets events by. */
import type { ApiKeyRecord, OwnerWallet, Webhook } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { send } from '../desk/call.ts';
import { useResource } from '../desk/resource.ts';
import { Confirm } from './confirm.tsx';
import { Id, Time } from './figures.tsx';
import { Badge, Said, State, Table, useAction } from './pieces.tsx';

const ACTIVE = 1;

interface OfAgent {
  readonly agentId: string;
}

export function Keys({ agentId }: OfAgent) {
  const keys = useResource<readonly ApiKeyRecord[]>(`/owner/agents/${agentId}/keys`, { everyMs: 60_000 });
  const [asked, setAsked] = useState<ApiKeyRecord | null>(null);
  const action = useAction();
  const revoke = ({ id }: ApiKeyRecord) =>
    void action
      .run(async () => {
        await send(`/owner/agents/${agentId}/keys/${id}/revoke`);
        return 'The key is revoked.';
      })
      .then(keys.reload);
  return (
    <>
      <Said said={action.said} />
      <State of={keys} what="keys" />
      {keys.data !== null && (
        <Table
          caption="API keys"
          rows={keys.data}
          keyOf={({ id }) => id}
          none="It has no key."
          columns={[
            {
              head: 'Key',
              cell: ({ keyName, apiKeyCode }) => (
                <>
                  <span class="title">{keyName}</span>
                  <span class="code">{apiKeyCode}</span>
                </>
              ),
            },
            { head: 'Last used', cell: ({ lastCalledAt }) => <Time at={lastCalledAt} short /> },
            {
              head: 'State',
              cell: (key) =>
                key.status === ACTIVE ? (
                  <button type="button" class="stop" disabled={action.isBusy} onClick={() => setAsked(key)}>
                    Revoke<span class="hidden"> {key.keyName}</span>
                  </button>
                ) : (
                  <Badge>Revoked</Badge>
                ),
            },
          ]}
        />
      )}
      {asked !== null && (
        <Confirm
          title={`Revoke ${asked.keyName}?`}
          yes="Revoke the key"
          onNo={() => setAsked(null)}
          onYes={() => {
            setAsked(null);
            revoke(asked);
          }}
        >
          <p>
            The agent cannot call the desk with it any more, not even to cancel or redeem. This cannot be
            undone.
          </p>
        </Confirm>
      )}
    </>
  );
}

export function Wallets({ agentId }: OfAgent) {
  const wallets = useResource<readonly OwnerWallet[]>(`/owner/agents/${agentId}/wallets`, {
    everyMs: 60_000,
  });
  const action = useAction();
  const grant = (walletAddress: string, granted: boolean) =>
    void action
      .run(async () => {
        await send(`/owner/agents/${agentId}/wallets`, { walletAddress, granted });
        return granted ? 'The wallet is granted.' : 'The grant is taken back.';
      })
      .then(wallets.reload);
  return (
    <>
      <Said said={action.said} />
      <State of={wallets} what="wallets" />
      {wallets.data !== null && (
        <Table
          caption="Wallets"
          rows={wallets.data}
          keyOf={({ walletAddress }) => walletAddress}
          none="You have no wallet yet: it comes with an agent that registers one."
          columns={[
            { head: 'Wallet', cell: ({ walletAddress }) => <Id id={walletAddress} /> },
            { head: 'Venue', cell: ({ venue }) => venue },
            {
              head: 'This agent',
              cell: ({ walletAddress, isOwn, granted }) =>
                isOwn ? (
                  <Badge kind="go">its own</Badge>
                ) : (
                  <button
                    type="button"
                    disabled={action.isBusy}
                    onClick={() => grant(walletAddress, !granted)}
                  >
                    {granted ? 'Take back' : 'Grant'}
                    <span class="hidden"> {walletAddress}</span>
                  </button>
                ),
            },
          ]}
        />
      )}
    </>
  );
}

export function Webhooks({ agentId }: OfAgent) {
  const hooks = useResource<readonly Webhook[]>(`/owner/agents/${agentId}/webhooks`, { everyMs: 30_000 });
  const action = useAction();
  const enable = (id: string) =>
    void action
      .run(async () => {
        await send(`/owner/agents/${agentId}/webhooks/${id}/enable`);
        return 'The webhook is on again; its waiting events are delivered now.';
      })
      .then(hooks.reload);
  return (
    <>
      <Said said={action.said} />
      <State of={hooks} what="webhooks" />
      {hooks.data !== null && (
        <Table
          caption="Webhooks"
          rows={hooks.data}
          keyOf={({ id }) => id}
          none="It has registered no webhook."
          columns={[
            {
              head: 'Address',
              cell: ({ url, description }) => (
                <>
                  <span class="title code">{url}</span>
                  {description !== '' && <span class="note">{description}</span>}
                </>
              ),
            },
            {
              head: 'How it fares',
              cell: ({ status, consecutiveFailures, failingSince }) => (
                <>
                  {status === 'disabled' ? <Badge kind="stop">switched off</Badge> : null}
                  {status === 'enabled' && consecutiveFailures === 0 ? (
                    <Badge kind="go">delivering</Badge>
                  ) : null}
                  {consecutiveFailures > 0 && (
                    <span class="note">
                      {' '}
                      {consecutiveFailures} failures since <Time at={failingSince} short />
                    </span>
                  )}
                </>
              ),
            },
            { head: 'Waiting', numeric: true, cell: ({ pendingDeliveries }) => pendingDeliveries },
            { head: 'Last delivery', cell: ({ lastSuccessAt }) => <Time at={lastSuccessAt} short /> },
            {
              head: 'Switch',
              cell: ({ id, url, status }) =>
                status === 'disabled' && (
                  <button type="button" disabled={action.isBusy} onClick={() => enable(id)}>
                    Switch on<span class="hidden"> {url}</span>
                  </button>
                ),
            },
          ]}
        />
      )}
    </>
  );
}
