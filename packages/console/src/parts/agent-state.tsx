/** Whether an agent trades, and the switch that stops it: one tap stops, starting again is asked about. */
import type { HomeAgent } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { send } from '../desk/call.ts';
import { Confirm } from './confirm.tsx';
import { type Action, Badge } from './pieces.tsx';

type Trading = Pick<HomeAgent, 'agentId' | 'name' | 'tradingPaused' | 'pausedBy'>;

export const TradingBadge = ({ tradingPaused, pausedBy }: Pick<Trading, 'tradingPaused' | 'pausedBy'>) => {
  if (!tradingPaused) return <Badge kind="go">Trading allowed</Badge>;
  return <Badge kind="stop">{pausedBy === 'agent' ? 'Paused by the agent' : 'Paused by you'}</Badge>;
};

interface SwitchProps {
  /** Names what is paused, in the middle of a sentence. */
  readonly what: string;
  readonly isPaused: boolean;
  readonly path: string;
  readonly label?: string;
  readonly action: Action;
  readonly onDone: () => void;
}

export function PauseSwitch({ what, isPaused, path, label = '', action, onDone }: SwitchProps) {
  const [asks, setAsks] = useState(false);
  const set = (paused: boolean) =>
    void action
      .run(async () => {
        await send(path, { paused });
        return paused ? `Trading is paused: ${what}.` : `Trading is allowed again: ${what}.`;
      })
      .then(onDone);
  return (
    <>
      <button
        type="button"
        class={isPaused ? 'go' : 'stop'}
        disabled={action.isBusy}
        onClick={() => (isPaused ? setAsks(true) : set(true))}
      >
        {isPaused ? 'Resume' : 'Pause'}
        {label === '' ? <span class="hidden"> {what}</span> : ` ${label}`}
      </button>
      {asks && (
        <Confirm
          title={`Let ${what} trade again?`}
          yes="Resume trading"
          onNo={() => setAsks(false)}
          onYes={() => {
            setAsks(false);
            set(false);
          }}
        >
          <p>Orders will be accepted again from the next one on, within the limits that are set.</p>
        </Confirm>
      )}
    </>
  );
}

/** The agent's own switch; what the agent paused itself, its owner resumes as well. */
export const AgentSwitch = ({
  agent,
  action,
  onDone,
}: {
  readonly agent: Trading;
  readonly action: Action;
  readonly onDone: () => void;
}) => (
  <PauseSwitch
    what={agent.name}
    isPaused={agent.tradingPaused}
    path={`/owner/agents/${agent.agentId}/pause`}
    action={action}
    onDone={onDone}
  />
);
