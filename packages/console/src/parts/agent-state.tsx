/** Whether an agent trades, and the switch that stops it: one tap stops, starting again is asked about. */
import type { HomeAgent, OwnerAgent } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { send } from '../desk/call.ts';
import { Confirm } from './confirm.tsx';
import { type Action, Badge } from './pieces.tsx';

type Trading = Pick<HomeAgent, 'agentId' | 'name' | 'tradingPaused' | 'pausedBy'>;

export const TradingBadge = ({ tradingPaused, pausedBy }: Pick<Trading, 'tradingPaused' | 'pausedBy'>) => {
  if (!tradingPaused) return <Badge kind="go">Trading allowed</Badge>;
  return <Badge kind="stop">{pausedBy === 'agent' ? 'Paused by the agent' : 'Paused by you'}</Badge>;
};

/** Exits that a pause has left suspended stay so when trading goes on. */
function suspendedText(agents: readonly Pick<OwnerAgent, 'suspendedExits'>[]): string {
  const count = agents.reduce((sum, { suspendedExits }) => sum + (suspendedExits?.count ?? 0), 0);
  if (count === 0) return '';
  const which = count === 1 ? '1 exit is suspended and protects' : `${count} exits are suspended and protect`;
  return ` ${which} nothing until you resume each of them, under “Orders” of its agent.`;
}

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
        const answer = await send<OwnerAgent | readonly OwnerAgent[]>(path, { paused });
        const said = paused ? `Trading is paused: ${what}.` : `Trading is allowed again: ${what}.`;
        return `${said}${suspendedText([answer].flat())}`;
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
          <p>Exits that the pause suspended stay so: resume each of them under “Orders” of its agent.</p>
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
