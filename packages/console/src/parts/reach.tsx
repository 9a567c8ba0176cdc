/** Who can act for an agent and with what: its keys, the wallets that it may use, the webhooks that it gets events by. */
import type { ApiKeyRecord, OwnerWallet, WalletHeartbeat, Webhook } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { useResource } from '../desk/live.ts';
import { answerChallenge, send } from '../desk/session.ts';
import { Id, Time } from './figures.tsx';
import { Badge, Confirm, State, Table, useAction } from './pieces.tsx';

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
                  <button type="button" class="stop" disabled={action.isClosed} onClick={() => setAsked(key)}>
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
  const [asked, setAsked] = useState<Heartbeat | null>(null);
  const setHeartbeat = ({ walletAddress, heartbeat }: Heartbeat) =>
    void action
      .run(async () => {
        const change = { walletAddress, on: !heartbeat.on };
        const options = await send('/owner/wallets/heartbeat/passkey-options', change);
        await send('/owner/wallets/heartbeat', { ...change, response: await answerChallenge(options) });
        return change.on
          ? 'The venue cancels what rests of this wallet’s key once the desk is dead or its agents are silent.'
          : 'What rests of this wallet’s key rests on if the desk dies.';
      })
      .then(wallets.reload);
  const grant = (walletAddress: string, granted: boolean) =>
    void action
      .run(async () => {
        await send(`/owner/agents/${agentId}/wallets`, { walletAddress, granted });
        return granted ? 'The wallet is granted.' : 'The grant is taken back.';
      })
      .then(wallets.reload);
  return (
    <>
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
              head: 'If the desk dies',
              cell: ({ walletAddress, heartbeat }) =>
                heartbeat !== null && (
                  <>
                    <span class="note">{heartbeat.on ? 'the venue cancels' : 'orders rest on'}</span>{' '}
                    <button
                      type="button"
                      disabled={action.isClosed}
                      onClick={() => setAsked({ walletAddress, heartbeat })}
                    >
                      {heartbeat.on ? 'Let orders rest on' : 'Let the venue cancel'}
                      <span class="hidden"> of {walletAddress}</span>
                    </button>
                  </>
                ),
            },
            {
              head: 'This agent',
              cell: ({ walletAddress, isOwn, granted }) =>
                isOwn ? (
                  <Badge kind="go">its own</Badge>
                ) : (
                  <button
                    type="button"
                    disabled={action.isClosed}
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
      {asked !== null && (
        <Confirm
          title={
            asked.heartbeat.on
              ? 'Let orders rest on if the desk dies?'
              : 'Let the venue cancel if the desk dies?'
          }
          yes="Go on with my passkey"
          onNo={() => setAsked(null)}
          onYes={() => {
            setAsked(null);
            setHeartbeat(asked);
          }}
        >
          <p>{heartbeatSentence(asked.heartbeat)}</p>
        </Confirm>
      )}
    </>
  );
}

interface Heartbeat {
  readonly walletAddress: string;
  readonly heartbeat: WalletHeartbeat;
}

function heartbeatSentence({ on, cancelsAfterS }: WalletHeartbeat): string {
  if (cancelsAfterS === null)
    return 'This venue has no heartbeat: on paper nothing trades while the desk is down. The setting has no effect.';
  return on
    ? `Within ${cancelsAfterS} seconds the venue cancels every open order of this wallet’s key once more, also those that were placed past the desk. After that it cancels nothing by itself.`
    : `When the desk is dead or cut off for ten seconds, or the agents of this wallet are silent for longer than you allow, the venue cancels every open order of this wallet’s key within ${cancelsAfterS} seconds, also those that were placed past the desk. A restart of the desk that takes longer does so, too.`;
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
                  <button type="button" disabled={action.isClosed} onClick={() => enable(id)}>
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
