/** Exits that the agent has signed ahead: what sends them, how far that is, and what the owner can do with each. */
import type { OwnerExit } from '@bellwether/contract';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type DeskEvent, useResource } from '../desk/live.ts';
import { Link } from '../desk/router.tsx';
import { send, sendWithPasskey } from '../desk/session.ts';
import { outcomeWords, price, shares, signed, Time } from './figures.tsx';
import { Further, Pager, useHeld, useHistory, usePages } from './lists.tsx';
import { Badge, Card, Choices, Confirm, Facts, State, Table, useAction } from './pieces.tsx';

interface ExitsProps {
  readonly agentId: string;
  /** After an act on one of them. */
  readonly onDone: () => void;
}

const NO_KEY = 'The desk holds no key: it can only send what the agent has signed.';
const OPEN = new Set(['armed', 'suspended', 'firing']);

const WHEN: Readonly<Record<string, (exit: OwnerExit) => string>> = {
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

/** When it is sent, in the middle of a sentence. */
export const whenText = (exit: OwnerExit): string => WHEN[exit.trigger.kind]?.(exit) ?? exit.trigger.kind;

const SHORT: Readonly<Record<string, (exit: OwnerExit) => string>> = {
  price_at_or_below: ({ trigger }) => `≤ ${price(trigger.price)}`,
  price_at_or_above: ({ trigger }) => `≥ ${price(trigger.price)}`,
  time: () => 'at a time',
  before_end: ({ trigger }) => `${trigger.minutes} min before the end`,
};

/** In a column. */
export const shortWhen = (exit: OwnerExit): string =>
  exit.status === 'armed' ? (SHORT[exit.trigger.kind]?.(exit) ?? exit.trigger.kind) : exit.status;

const titleOf = ({ marketTitle, marketId }: OwnerExit): string => marketTitle ?? `Market ${marketId}`;

const whatText = ({ size, outcome, outcomeName }: OwnerExit): string =>
  `${shares(size)} ${outcomeWords(outcome, outcomeName)}`;

function StatusBadge({ exit: { status, because } }: { readonly exit: OwnerExit }) {
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
  const path = `/owner/exits?agentId=${agentId}&limit=100`;
  const open = useResource<readonly OwnerExit[]>(`${path}&status=open`, {
    on: (event) => event.agentId === agentId,
    everyMs: 10_000,
  });
  // What became of those that are not open any more.
  const latest = useResource<readonly OwnerExit[]>(path, {
    on: ({ type, agentId: of }) => of === agentId && type.startsWith('exit.'),
    everyMs: 60_000,
  });
  const byId = new Map<string, OwnerExit>();
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
  return { exits: open, rows, reload };
}

type Which = 'open' | 'ended';
const WHICH: readonly (readonly [Which, string])[] = [
  ['open', 'Open'],
  ['ended', 'Ended'],
];

export function Exits({ agentId, onDone }: ExitsProps) {
  const [which, setWhich] = useState<Which>('open');
  return (
    <Card
      title="Guarded exits"
      aside={<Choices name="Which exits" choices={WHICH} value={which} onChange={setWhich} />}
      wide
    >
      <p class="hint">
        SELL orders that the agent signed ahead. The desk sends one when what it waits for comes, also when
        the agent is gone. {NO_KEY}
      </p>
      {which === 'open' ? <OpenExits agentId={agentId} onDone={onDone} /> : <EndedExits agentId={agentId} />}
    </Card>
  );
}

/** So many stand open under each other; of more, each opens at a tap. */
const FEW = 4;

function OpenExits({ agentId, onDone }: ExitsProps) {
  const { exits, rows, reload } = useExits(agentId);
  const done = () => {
    reload();
    onDone();
  };
  const listed = useHeld(exits.data === null ? null : rows, ({ exitId }) => exitId);
  const pages = usePages(listed.rows);
  return (
    <>
      <State of={exits} what="exits" />
      <Further of={listed} what="exits" keepsGone />
      {exits.data !== null && rows.length === 0 && (
        <p class="note">No exit is left. Without one only the agent can sell: ask it to sign one.</p>
      )}
      <ul class="list folds">
        {pages.rows.map((exit) => (
          <li key={exit.exitId}>
            <Exit
              exit={exit}
              others={rows.filter((other) => isBeside(exit, other))}
              isUnfolded={listed.rows.length <= FEW}
              onDone={done}
            />
          </li>
        ))}
      </ul>
      <Pager of={pages} what="exits" />
    </>
  );
}

function EndedExits({ agentId }: Pick<ExitsProps, 'agentId'>) {
  const history = useHistory<readonly OwnerExit[], OwnerExit>({
    path: `/owner/exits?agentId=${agentId}&status=ended`,
    rowsOf: (exits) => exits,
    keyOf: ({ exitId }) => exitId,
    on: ({ type, agentId: of }: DeskEvent) => of === agentId && type.startsWith('exit.'),
  });
  const { held, resource } = history;
  return (
    <>
      <State of={resource} what="ended exits" />
      <Further of={held} what="ended exits" keepsGone />
      {resource.data !== null && (
        <Table
          caption="Ended exits"
          rows={held.rows}
          keyOf={({ exitId }) => exitId}
          none="None has ended yet."
          phone="lines"
          columns={[
            {
              head: 'Market',
              width: 2.6,
              // Without an order there is no page of it.
              cell: (exit) =>
                exit.fired === null ? (
                  <span class="title">{titleOf(exit)}</span>
                ) : (
                  <Link class="title" to={`/agents/${agentId}/orders/${exit.orderId}`}>
                    {titleOf(exit)}
                    <span class="hidden"> (order and receipt)</span>
                  </Link>
                ),
            },
            { head: 'Sell', width: 1.3, cell: whatText },
            { head: 'The book paid', numeric: true, cell: ({ fired }) => price(fired?.price) },
            { head: 'State', width: 1.8, inLines: 'plain', cell: (exit) => <StatusBadge exit={exit} /> },
            {
              head: 'When',
              width: 1.1,
              inLines: 'plain',
              cell: ({ updatedAt }) => <Time at={updatedAt} short />,
            },
          ]}
        />
      )}
      <Pager of={history} what="ended exits" />
    </>
  );
}

/** Open ones that a sale by this one may end: of the same holding, as those of its group are. */
const isBeside = (exit: OwnerExit, other: OwnerExit): boolean =>
  OPEN.has(other.status) &&
  other.exitId !== exit.exitId &&
  other.marketId === exit.marketId &&
  other.outcome === exit.outcome &&
  other.walletAddress === exit.walletAddress;

interface ExitProps {
  readonly exit: OwnerExit;
  /** Open exits of the same holding. */
  readonly others: readonly OwnerExit[];
  /** When it is first listed. */
  readonly isUnfolded: boolean;
  readonly onDone: () => void;
}

const RESUMED =
  'Resumed, it is sent by its trigger only once that has let go and holds anew; where you arm it for your pause, that sends it in any case.';

function Exit({ exit, others, isUnfolded, onDone }: ExitProps) {
  const { worstPrice, watch, trouble, endsAt, group, fired, status } = exit;
  const what = whatText(exit);
  const title = titleOf(exit);
  const [isOpen, setOpen] = useState(isUnfolded);
  return (
    <article aria-label={`Exit: ${what} of ${title}`}>
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <strong>
            Sell {what}
            {status === 'armed' && ` ${shortWhen(exit)}`}
          </strong>
          <span class="title">{title}</span>
          <span class="badges">
            <StatusBadge exit={exit} />
            {exit.firesOnPause && OPEN.has(status) && (
              <Badge>sent when you pause{status === 'suspended' ? ', once it is resumed' : ''}</Badge>
            )}
          </span>
        </summary>
        <Facts
          rows={[
            ['Sent when', whenText(exit)],
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
        <Acts exit={exit} others={others} onDone={onDone} />
        {/* Below what is pressed, in a place that is kept: what is said later must not move it. */}
        <div class="later">
          {trouble !== null && OPEN.has(exit.status) && <p class="message error">{trouble.message}</p>}
          {watch?.note != null && status === 'armed' && <p class="note">{watch.note}</p>}
          {status === 'suspended' && <p class="note">{RESUMED}</p>}
        </div>
      </details>
    </article>
  );
}

const SOLD: Readonly<Record<string, (exit: OwnerExit) => string>> = {
  fired: () => 'Its order was placed.',
  firing: () =>
    'Its order was sent, and the venue has not answered yet: the desk asks it, and this page follows.',
  failed: ({ because }) =>
    `The venue did not take its order: ${because?.replaceAll('_', ' ') ?? 'no reason given'}. Nothing was sold.`,
};

/** What a sale by it ends: asked about before, because nothing of it comes back. */
function Ends({ exit, others }: Pick<ExitProps, 'exit' | 'others'>) {
  const isOfGroup = ({ group }: OwnerExit) => group !== null && group === exit.group;
  const lists = [
    ['Once it has sold something, the others of its group:', others.filter(isOfGroup)],
    ['Once nothing is left to sell, those of the same position:', others.filter((one) => !isOfGroup(one))],
  ] as const;
  return (
    <>
      <p>What ends with it: this exit, as its order can be sent once.</p>
      {lists.map(
        ([when, ended]) =>
          ended.length > 0 && (
            <div key={when}>
              <p>{when}</p>
              <ul>
                {ended.map((one) => (
                  <li key={one.exitId}>
                    sell {whatText(one)} when {whenText(one)}
                  </li>
                ))}
              </ul>
            </div>
          ),
      )}
    </>
  );
}

const stateOf = ({ status, firesOnPause }: OwnerExit): string => `${status} ${firesOnPause}`;

function Acts({ exit, others, onDone }: Omit<ExitProps, 'isUnfolded'>) {
  const { agentId, exitId, firesOnPause, status } = exit;
  const [asking, setAsking] = useState<'sell' | 'cancel' | null>(null);
  const action = useAction();
  const told = useRef<string | null>(null);
  const path = `/owner/agents/${agentId}/exits`;
  const of = `${path}/${exitId}`;
  const state = stateOf(exit);
  // What was said of it must not stand beside what became of it since.
  useEffect(() => {
    if (told.current !== null && told.current !== state) action.withdraw();
  }, [state]);
  const run = (work: () => Promise<OwnerExit>, words: (after: OwnerExit) => string) => {
    setAsking(null);
    void action
      .run(async () => {
        const after = await work();
        told.current = stateOf(after);
        return words(after);
      })
      .then(onDone);
  };
  const act = (wanted: 'sell' | 'arm_for_pause' | 'disarm_for_pause') => () =>
    sendWithPasskey<OwnerExit>(`${of}/act`, { act: wanted }, `${of}/passkey-options`);
  const sold = (after: OwnerExit) =>
    SOLD[after.status]?.(after) ?? `It is ${after.status}: nothing was sold.`;
  const isSuspended = status === 'suspended';
  const arm = () =>
    run(act(firesOnPause ? 'disarm_for_pause' : 'arm_for_pause'), (after) =>
      after.firesOnPause ? 'It is armed, and sent when you pause this agent.' : 'A pause suspends it again.',
    );
  return (
    <>
      <div class="buttons kept">
        {(status === 'armed' || isSuspended) && (
          <>
            <button
              type="button"
              class="primary"
              disabled={action.isClosed}
              onClick={() => setAsking('sell')}
            >
              Sell now
            </button>
            <button type="button" class="stop" disabled={action.isClosed} onClick={() => setAsking('cancel')}>
              Cancel exit
            </button>
            <button type="button" aria-pressed={firesOnPause} disabled={action.isClosed} onClick={arm}>
              {isSuspended && !firesOnPause ? 'Resume it, and send it when I pause' : 'Send it when I pause'}
            </button>
            {isSuspended && (
              <button
                type="button"
                disabled={action.isClosed}
                onClick={() =>
                  run(
                    () => send(`${of}/resume`),
                    () => 'It is armed again. A trigger that held meanwhile does not send it.',
                  )
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
          title={`Sell ${whatText(exit)} now?`}
          yes="Sell, with your passkey"
          onNo={() => setAsking(null)}
          onYes={() => run(act('sell'), sold)}
        >
          <p>{titleOf(exit)}</p>
          <p>
            For no less than {price(exit.worstPrice)} a share; the best bid was {price(exit.watch?.bid)} a
            moment ago. Your passkey is the word for this order: neither your pause nor “Ask me above” stops
            it. {NO_KEY}
          </p>
          <Ends exit={exit} others={others} />
        </Confirm>
      )}
      {asking === 'cancel' && (
        <Confirm
          title="Cancel this exit?"
          yes="Cancel the exit"
          onNo={() => setAsking(null)}
          onYes={() =>
            run(
              () => send(`${path}/cancel`, { exitId }),
              () => 'The exit is canceled, and its signed order deleted.',
            )
          }
        >
          <p>Its signed order is deleted. Only the agent can sign another one.</p>
        </Confirm>
      )}
    </>
  );
}
