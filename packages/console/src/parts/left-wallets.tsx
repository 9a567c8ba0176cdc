/** Wallets that the owner's agents had and that others use now: the owner's limits still bind them until the owner lifts them. */
import type { LeftWallet } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { send } from '../desk/call.ts';
import { useResource } from '../desk/resource.ts';
import { Confirm } from './confirm.tsx';
import { Id, Time } from './figures.tsx';
import { Card, State, Table, useAction } from './pieces.tsx';

function bindings({ name, paused, lockedByOwner }: LeftWallet['agents'][number]): string {
  const locks = Object.entries(lockedByOwner)
    .filter(([safeguard]) => safeguard !== 'tradeLimitEnabled')
    .map(([safeguard, limit]) => `${safeguard} ${limit}`);
  const parts = [...(paused ? ['paused'] : []), ...locks];
  return `${name}: ${parts.length === 0 ? 'nothing is locked or paused' : parts.join(', ')}`;
}

export function LeftWallets() {
  const wallets = useResource<readonly LeftWallet[]>('/owner/wallets/left', { everyMs: 60_000 });
  const [asked, setAsked] = useState<string | null>(null);
  const action = useAction();
  const lift = (walletAddress: string) =>
    void action
      .run(async () => {
        await send('/owner/wallets/lift', { walletAddress });
        return 'The wallet is free of your limits.';
      })
      .then(wallets.reload);
  const isShown = wallets.trouble !== null || (wallets.data ?? []).length > 0;
  return (
    isShown && (
      <Card title="Wallets that left" wide>
        <p class="note">
          Your agents had these wallets, and agents of other owners use them now: the key’s holder linked or
          registered them anew. What you have locked or paused still binds them, with what the day has used of
          it.
        </p>
        <State of={wallets} what="wallets that left" />
        {wallets.data !== null && (
          <Table
            caption="Wallets that left"
            rows={wallets.data}
            keyOf={({ walletAddress }) => walletAddress}
            none="No wallet of yours is used by others."
            columns={[
              { head: 'Wallet', cell: ({ walletAddress }) => <Id id={walletAddress} /> },
              { head: 'Since', cell: ({ leftAt }) => <Time at={leftAt} short /> },
              {
                head: 'Bound by',
                cell: ({ agents }) => (
                  <ul class="list">
                    {agents.map((agent) => (
                      <li key={agent.agentId}>{bindings(agent)}</li>
                    ))}
                  </ul>
                ),
              },
              {
                head: 'Switch',
                cell: ({ walletAddress }) => (
                  <button type="button" disabled={action.isBusy} onClick={() => setAsked(walletAddress)}>
                    Set free<span class="hidden"> {walletAddress}</span>
                  </button>
                ),
              },
            ]}
          />
        )}
        {asked !== null && (
          <Confirm
            title="Set this wallet free?"
            yes="Set it free"
            onNo={() => setAsked(null)}
            onYes={() => {
              setAsked(null);
              lift(asked);
            }}
          >
            <p>Your limits and pauses no longer bind {asked}. This cannot be undone.</p>
          </Confirm>
        )}
      </Card>
    )
  );
}
