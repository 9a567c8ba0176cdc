/** Whether limits stop exits: to change it takes the passkey, because it lets more of what is held be sold. */
import type { OwnerAgentDetail } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { sendWithPasskey } from '../desk/passkeys.ts';
import { useAction } from './pieces.tsx';

interface ExitRuleProps {
  readonly agent: OwnerAgentDetail;
  readonly onDone: () => void;
}

export function ExitRule({ agent, onDone }: ExitRuleProps) {
  const { capsBindExits, exitDistancePercent } = agent.settings;
  const [distance, setDistance] = useState(String(exitDistancePercent));
  const action = useAction();
  const path = `/owner/agents/${agent.agentId}/exit-rule`;
  const save = (binds: boolean) =>
    void action.run(async () => {
      const rule = { capsBindExits: binds, exitDistancePercent: Number(distance) };
      await sendWithPasskey(path, rule);
      onDone();
      return binds ? 'Limits stop exits again.' : 'Exits near the best bid pass the limits.';
    });
  return (
    <>
      <p>
        {capsBindExits
          ? 'A sale of what the agent holds counts against “Amount per trade” and “Trades per day”, and they can stop it.'
          : `A sale of what the agent holds passes “Amount per trade” and “Trades per day”, if it asks for no less than ${100 - exitDistancePercent} % of the best bid.`}
      </p>
      <label for={`exit-distance-${agent.agentId}`}>Percent below the best bid, 1 to 50</label>
      <input
        id={`exit-distance-${agent.agentId}`}
        type="text"
        inputMode="numeric"
        autoComplete="off"
        value={distance}
        onInput={({ currentTarget }) => setDistance(currentTarget.value)}
      />
      <p class="hint">
        The pause, “Ask me above” and what a former owner of a wallet has locked hold in any case.
      </p>
      <div class="buttons">
        {!capsBindExits && (
          <button type="button" disabled={action.isBusy} onClick={() => save(true)}>
            Let limits stop exits
          </button>
        )}
        <button type="button" class="primary" disabled={action.isBusy} onClick={() => save(false)}>
          {capsBindExits ? 'Let exits pass, with your passkey' : 'Change the distance, with your passkey'}
        </button>
      </div>
    </>
  );
}
