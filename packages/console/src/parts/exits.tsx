/** Exits that the agent has signed ahead: what sends them, how far that is, and what the owner can do with each. */
import type { GuardedExit, Position } from '@bellwether/contract';
import { useRef, useState } from 'preact/hooks';
import { type DeskEvent, useResource } from '../desk/live.ts';
import { send, sendWithPasskey } from '../desk/session.ts';
import { outcomeWords, price, shares, signed, Time } from './figures.tsx';
import { Further, useHeld } from './lists.tsx';
import { Badge, Confirm, Facts, State, useAction } from './pieces.tsx';

interface ExitsProps {
  readonly agentId: string;
  /** What the agent holds. */
  readonly held: readonly Position[];
}

const NO_KEY = 'The desk holds no key: it can only send what the agent has signed.';
const OPEN = new Set(['armed', 'suspended', 'firing']);

const WHEN: Readonly<Record<string, (exit: GuardedExit) => string>> = {
  price_at_or_below: ({ trigger, size }) =>
    `the book pays ${price(trigger.price)} or less for ${shares(size)} shares`,
  price_at_or_above: ({ trigger, size }) =>
    `the book pays ${price(trigger.price)} or more for ${shares(size)} shares`,
  time: ({ trigger }) => `it is ${trigger.at?.slice(0, 16).replace('T', ' ')} UTC`,
  before_end: ({ trigger }) => `the market ends in ${trigger.minutes} minutes`,
  silence: () => 'the agent makes no request for as long as its safeguard “Silence” says',
};

const BECAUSE: Readonly<Record<string, string>> = {
  pause: 'the agent was paused',
  key_revoked: 'the API key that left it was revoked',
  restored: 'the desk was restored from a backup',
  by_agent: 'by the agent',
  by_owner: 'by you',
  replaced: 'another one replaced it',
  group: 'another one of its group was sent',
  position_closed: 'nothing is left to sell',
  order_placed: 'the agent placed its order itself',
  market_ended: 'its market ended',
  not_filled: 'its order has sold nothing',
  filled_in_part: 'a part of it was sold',
};

const KIND: Readonly<Record<string, 'go' | 'warn' | 'stop'>> = {
  armed: 'go',
  fired: 'go',
  suspended: 'stop',
  failed: 'stop',
  firing: 'warn',
};

function StatusBadge({ exit: { status, because } }: { readonly exit: GuardedExit }) {
  const why = because === null ? '' : `: ${BECAUSE[because] ?? because.replaceAll('_', ' ')}`;
  return (
    <Badge kind={KIND[status] ?? ''}>
      {status}
      {why}
    </Badge>
  );
}

/** In the order in which they were left; one that has ended keeps its place, so that nothing moves under the pointer. */
function useExits(agentId: string) {
  const seen = useRef(new Set<string>());
  const options = { on: (event: DeskEvent) => event.agentId === agentId, everyMs: 5_000 };
  const path = `/owner/agents/${agentId}/exits`;
  const open = useResource<readonly GuardedExit[]>(`${path}?status=open&limit=100`, options);
  const latest = useResource<readonly GuardedExit[]>(`${path}?limit=100`, options);
  const byId = new Map<string, GuardedExit>();
  for (const exit of [...(open.data ?? []), ...(latest.data ?? [])]) {
    if (OPEN.has(exit.status)) seen.current.add(exit.exitId);
    const known = byId.get(exit.exitId);
    if (known === undefined || known.updatedAt < exit.updatedAt) byId.set(exit.exitId, exit);
  }
  const rows = [...byId.values()]
    .filter(({ exitId }) => seen.current.has(exitId))
    .sort((a, b) => a.createdAt.localeCompare(b.createdAt) || a.exitId.localeCompare(b.exitId));
  const reload = () => {
    open.reload();
    latest.reload();
  };
  const ended = (latest.data ?? []).filter(({ status }) => !OPEN.has(status));
  return { exits: open, rows, ended: latest.data === null ? null : ended, reload };
}

export function Exits({ agentId, held }: ExitsProps) {
  const { exits, rows, ended, reload } = useExits(agentId);
  const past = useHeld(ended, ({ exitId }) => exitId);
  const listed = useHeld(exits.data === null ? null : rows, ({ exitId }) => exitId);
  const titleOf = new Map(held.map(({ marketId, title }) => [marketId, title]));
  const hasExit = new Set(
    rows.filter(({ status }) => OPEN.has(status)).map(({ marketId, outcome }) => `${marketId} ${outcome}`),
  );
  const bare = held.filter(({ marketId, outcome }) => !hasExit.has(`${marketId} ${outcome}`));
  return (
    <>
      <p class="hint">
        SELL orders that the agent signed ahead. The desk sends one when what it waits for comes, also when
        the agent is gone. {NO_KEY}
      </p>
      <State of={exits} what="exits" />
      <Further of={listed} what="exits" keepsGone />
      {listed.rows.length > 0 && (
        <ul class="list">
          {listed.rows.map((exit) => (
            <li key={exit.exitId}>
              <Exit
                exit={exit}
                title={titleOf.get(exit.marketId) ?? `Market ${exit.marketId}`}
                onDone={reload}
              />
            </li>
          ))}
        </ul>
      )}
      {exits.data !== null && rows.length === 0 && held.length === 0 && <p class="note">No exit is left.</p>}
      {exits.data !== null && bare.length > 0 && (
        <p class="note">
          No exit is left for{' '}
          {bare
            .map(
              ({ size, outcome, outcomeName, title }) =>
                `${shares(size)} ${outcomeWords(outcome, outcomeName)} of “${title}”`,
            )
            .join('; ')}
          . Ask the agent to sign one: without it only the agent can sell them.
        </p>
      )}
      <details>
        <summary>Exits that have ended</summary>
        <Further of={past} what="ended exits" keepsGone />
        {past.rows.length === 0 ? (
          <p class="note">None yet.</p>
        ) : (
          <ul class="list">
            {past.rows.map((exit) => (
              <li key={exit.exitId}>
                <span class="note">
                  <Time at={exit.updatedAt} short />{' '}
                </span>
                Sell {shares(exit.size)} {outcomeWords(exit.outcome, exit.outcomeName)}{' '}
                <span class="title">{titleOf.get(exit.marketId) ?? `Market ${exit.marketId}`}</span>{' '}
                <StatusBadge exit={exit} />
              </li>
            ))}
          </ul>
        )}
      </details>
    </>
  );
}

interface ExitProps {
  readonly exit: GuardedExit;
  /** Words of strangers, as text. */
  readonly title: string;
  readonly onDone: () => void;
}

function Exit({ exit, title, onDone }: ExitProps) {
  const { size, worstPrice, trigger, watch, trouble, endsAt, group, fired } = exit;
  const what = `${shares(size)} ${outcomeWords(exit.outcome, exit.outcomeName)}`;
  return (
    <article aria-label={`Exit: ${what} of ${title}`}>
      <h3>
        Sell {what} <span class="title">{title}</span>
      </h3>
      <p class="badges">
        <StatusBadge exit={exit} />
        {exit.firesOnPause && OPEN.has(exit.status) && <Badge>sent when you pause</Badge>}
      </p>
      <Facts
        rows={[
          ['Sent when', WHEN[trigger.kind]?.(exit) ?? trigger.kind],
          ['For no less than', `${price(worstPrice)} a share`],
          [
            'The book pays now',
            watch === null ? '—' : `${price(watch.price)} (best bid ${price(watch.bid)})`,
          ],
          ['Distance', signed(watch?.distance)],
          ...(group === null
            ? []
            : [
                [
                  'Group',
                  `${group}: of this market and outcome; the first one that is sent ends the others`,
                ] as const,
              ]),
          ...(endsAt === null ? [] : [['Ends', <Time at={endsAt} short />] as const]),
          ['Sent', <Time at={fired?.at} short />],
        ]}
      />
      <Acts exit={exit} title={title} onDone={onDone} />
      {/* Below what is pressed, in a place that is kept: what is said later must not move it. */}
      <div class="later">
        {trouble !== null && OPEN.has(exit.status) && <p class="message error">{trouble.message}</p>}
        {watch?.note != null && exit.status === 'armed' && <p class="note">{watch.note}</p>}
      </div>
    </article>
  );
}

const SOLD: Readonly<Record<string, (exit: GuardedExit) => string>> = {
  fired: () => 'Its order was placed.',
  firing: () =>
    'Its order was sent, and the venue has not answered yet: the desk asks it, and this page follows.',
  failed: ({ because }) =>
    `The venue did not take its order: ${because?.replaceAll('_', ' ') ?? 'no reason given'}. Nothing was sold.`,
};

function Acts({ exit, title, onDone }: ExitProps) {
  const { agentId, exitId, firesOnPause, status } = exit;
  const [asking, setAsking] = useState<'sell' | 'cancel' | null>(null);
  const action = useAction();
  const path = `/owner/agents/${agentId}/exits`;
  const of = `${path}/${exitId}`;
  const run = (work: () => Promise<string>) => {
    setAsking(null);
    void action.run(work).then(onDone);
  };
  const act = (wanted: 'sell' | 'arm_for_pause' | 'disarm_for_pause') =>
    sendWithPasskey<GuardedExit>(`${of}/act`, { act: wanted }, `${of}/passkey-options`);
  const sell = async (): Promise<string> => {
    const after = await act('sell');
    return SOLD[after.status]?.(after) ?? `It is ${after.status}: nothing was sold.`;
  };
  const arm = async (): Promise<string> => {
    const after = await act(firesOnPause ? 'disarm_for_pause' : 'arm_for_pause');
    return after.firesOnPause ? 'It is sent when you pause this agent.' : 'A pause suspends it again.';
  };
  const isOpen = status === 'armed' || status === 'suspended';
  return (
    <>
      <div class="buttons kept">
        {isOpen && (
          <>
            <button type="button" class="primary" disabled={action.isBusy} onClick={() => setAsking('sell')}>
              Sell now
            </button>
            <button
              type="button"
              aria-pressed={firesOnPause}
              disabled={action.isBusy}
              onClick={() => run(arm)}
            >
              Send it when I pause
            </button>
            <button type="button" class="stop" disabled={action.isBusy} onClick={() => setAsking('cancel')}>
              Cancel exit
            </button>
            {status === 'suspended' && (
              <button
                type="button"
                disabled={action.isBusy}
                onClick={() =>
                  run(async () => {
                    await send(`${of}/resume`);
                    return 'It is armed again. A trigger that held meanwhile does not send it.';
                  })
                }
              >
                Resume
              </button>
            )}
          </>
        )}
      </div>
      {asking === 'sell' && (
        <Confirm
          title={`Sell ${shares(exit.size)} ${outcomeWords(exit.outcome, exit.outcomeName)} now?`}
          yes="Sell, with your passkey"
          onNo={() => setAsking(null)}
          onYes={() => run(sell)}
        >
          <p>{title}</p>
          <p>
            For no less than {price(exit.worstPrice)} a share; the best bid was {price(exit.watch?.bid)} a
            moment ago. Your passkey is the word for this order: neither your pause nor “Ask me above” stops
            it. {NO_KEY}
          </p>
        </Confirm>
      )}
      {asking === 'cancel' && (
        <Confirm
          title="Cancel this exit?"
          yes="Cancel the exit"
          onNo={() => setAsking(null)}
          onYes={() =>
            run(async () => {
              await send(`${path}/cancel`, { exitId });
              return 'The exit is canceled, and its signed order deleted.';
            })
          }
        >
          <p>Its signed order is deleted. Only the agent can sign another one.</p>
        </Confirm>
      )}
    </>
  );
}
