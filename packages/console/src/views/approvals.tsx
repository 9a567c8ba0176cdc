/**
 * Trades above the owner's limit, in one line each: everything to judge one by is under its line. A passkey approves one, a tap
 * declines it, and one act stops an agent that floods the list. What comes in waits behind a button, so nothing moves under the finger.
 */
import type { Approval, SafeguardRow } from '@bellwether/contract';
import { useEffect, useState } from 'preact/hooks';
import { type Resource, useResource } from '../desk/live.ts';
import { Link } from '../desk/router.tsx';
import { send, sendWithPasskey, Trouble, useRecoveryDay } from '../desk/session.ts';
import { money, outcomeWords, precise, price, shares, Time } from '../parts/figures.tsx';
import { Further, Pager, useHeld, usePages } from '../parts/lists.tsx';
import {
  Badge,
  Card,
  Choices,
  Confirm,
  Facts,
  State,
  say,
  Table,
  Untrusted,
  useAction,
} from '../parts/pieces.tsx';

function BookThen({ approval: { book } }: { readonly approval: Approval }) {
  if (book === null) return <p class="note">The book could not be read when it was asked.</p>;
  return (
    <Facts
      rows={[
        ['Best bid and ask', `${price(book.bestBid)} / ${price(book.bestAsk)}`],
        ['The book would fill', `${shares(book.shares)} shares`],
        ['Average and worst price', `${price(book.averagePrice)} / ${price(book.worstPrice)}`],
        ['Cost and fee', `${money(book.cost)} + ${price(book.fee)}`],
      ]}
    />
  );
}

/** A check is known by the code with which it would refuse. */
const PASSED: Readonly<Record<string, string>> = {
  trading_paused: 'Trading is not paused',
  credentials_not_registered: 'The wallet has credentials',
  claim_required: 'The agent has an owner',
};

function Checks({ approval: { checks } }: { readonly approval: Approval }) {
  const table = useResource<readonly SafeguardRow[]>('/owner/safeguards').data ?? [];
  const labels = new Map(table.map(({ denial, label }) => [denial, label]));
  const nameOf = (code: string) => labels.get(code) ?? PASSED[code] ?? code.replaceAll('_', ' ');
  return (
    <Table
      caption="Checks of the other safeguards"
      rows={checks.filter(({ applies }) => applies)}
      keyOf={({ code }) => code}
      none="No other safeguard binds it."
      columns={[
        { head: 'Check', cell: ({ code }) => nameOf(code) },
        { head: 'Limit', numeric: true, cell: ({ limit }) => precise(limit) },
        { head: 'Used', numeric: true, cell: ({ used }) => precise(used) },
        { head: 'This order', numeric: true, cell: ({ asked }) => precise(asked) },
        {
          head: 'Verdict',
          cell: ({ passed }) => <Badge kind={passed ? 'go' : 'stop'}>{passed ? 'passed' : 'refused'}</Badge>,
        },
      ]}
    />
  );
}

const WHEN: Readonly<Record<string, string>> = {
  FAK: 'Takes at once what the book offers; the rest is canceled (FAK)',
  FOK: 'Executes at once as a whole, or not at all (FOK)',
  GTC: 'Rests on the book until it is filled or canceled (GTC)',
  GTD: 'Rests on the book until its end (GTD)',
};

const whatItDoes = ({ orderType, postOnly, deferExec }: Approval): string =>
  [
    WHEN[orderType] ?? orderType,
    ...(postOnly === true ? ['never takes what rests (post-only)'] : []),
    ...(deferExec === true ? ['the venue may execute it later'] : []),
  ].join('; ');

function What({ approval }: { readonly approval: Approval }) {
  const { untrustedText, venue, marketId } = approval;
  const labels = [untrustedText.source, untrustedText.skillSlug].filter(
    (label) => label !== null && label !== '',
  );
  return (
    <>
      {untrustedText.agentsMarketQuestion !== null &&
        untrustedText.agentsMarketQuestion !== untrustedText.marketQuestion && (
          <Untrusted from="The agent calls the market">{untrustedText.agentsMarketQuestion}</Untrusted>
        )}
      {untrustedText.reasoning !== null && untrustedText.reasoning !== '' && (
        <Untrusted from="Why, in the agent’s words">{untrustedText.reasoning}</Untrusted>
      )}
      {labels.length > 0 && <p class="note">Labelled by the agent: {labels.join(', ')}</p>}
      <Facts
        rows={[
          ['Amount, fees apart', <strong>{money(approval.amount)}</strong>],
          ['Fee at most', price(approval.feeAtMost)],
          ['You are asked above', money(approval.approvalAbove)],
          ['Worst price that it allows', price(approval.price)],
          ['What it does', whatItDoes(approval)],
          [
            'Market',
            <Link to={`/markets/${encodeURIComponent(marketId)}?venue=${encodeURIComponent(venue)}`}>
              Prices and depth on {venue}
            </Link>,
          ],
          ['Wallet that pays', <span class="code">{approval.walletAddress}</span>],
          ['Asked', <Time at={approval.askedAt} />],
          ['You can decide until', <Time at={approval.waitsUntil} />],
          [
            'The order ends',
            approval.orderEndsAt === null ? 'never by itself' : <Time at={approval.orderEndsAt} />,
          ],
        ]}
      />
      <h3>What the book showed</h3>
      <BookThen approval={approval} />
      <h3>What the desk checked</h3>
      <Checks approval={approval} />
    </>
  );
}

function Waiting({ approval, onDone }: { readonly approval: Approval; readonly onDone: OnDone }) {
  const action = useAction();
  const isRecovering = useRecoveryDay();
  const [reason, setReason] = useState('');
  const path = `/owner/approvals/${approval.approvalId}`;
  const approve = async (): Promise<string> => {
    await sendWithPasskey(`${path}/approve`, {}, `${path}/passkey-options`);
    return 'Approved: the agent can send this order now.';
  };
  const decline = async (): Promise<string> => {
    await send(`${path}/decline`, reason.trim() === '' ? {} : { reason: reason.trim() });
    return 'Declined: the agent reads why.';
  };
  const decide = (work: () => Promise<string>) =>
    void action.run(async () => {
      try {
        onDone(await work());
      } catch (error) {
        if (!(error instanceof Trouble) || error.code !== 'approval_gone') throw error;
        onDone(`Nothing was decided. ${error.message}`);
      }
      return null;
    });
  return (
    <>
      <What approval={approval} />
      <label for={`reason-${approval.approvalId}`}>Reason, if you decline (the agent reads it)</label>
      <textarea
        id={`reason-${approval.approvalId}`}
        rows={2}
        maxLength={300}
        value={reason}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <div class="buttons">
        <button type="button" class="stop" disabled={action.isBusy} onClick={() => decide(decline)}>
          Decline
        </button>
        <button type="button" class="primary" disabled={action.isClosed} onClick={() => decide(approve)}>
          Approve with your passkey
        </button>
      </div>
      {isRecovering && <p class="note">On the day after a recovery you can decline, and not approve.</p>}
    </>
  );
}

const idOf = ({ approvalId }: Approval): string => approvalId;

type OnDone = (said: string) => void;

const TICK_MS = 5_000;

/** The time, again and again: what has expired must not look as if it could be decided. */
function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

const orderWords = ({ side, orderSize, outcome, outcomeName, price: limit }: Approval): string =>
  `${side} ${shares(orderSize)} ${outcomeWords(outcome, outcomeName)} at ${price(limit)}`;

interface LineProps {
  readonly approval: Approval;
  /** It waits no more. */
  readonly isGone: boolean;
  readonly isOpen: boolean;
  readonly onDone: OnDone;
}

function Line({ approval, isGone, isOpen, onDone }: LineProps) {
  const isOver = Date.parse(approval.waitsUntil) <= useNow();
  return (
    <details class="line" open={isOpen}>
      <summary>
        <strong>{money(approval.amount)}</strong> {orderWords(approval)}{' '}
        <span class="note">
          asked <Time at={approval.askedAt} short />
        </span>{' '}
        {isGone ? <Badge>decided</Badge> : isOver && <Badge kind="warn">expired</Badge>}
      </summary>
      {isGone ? (
        <p class="note">It waits no more.</p>
      ) : isOver ? (
        <p class="note">It expired before it was decided. The agent may ask again.</p>
      ) : (
        <Waiting approval={approval} onDone={onDone} />
      )}
    </details>
  );
}

interface GroupProps {
  /** Of one agent, one market and one side; at least one. */
  readonly approvals: readonly Approval[];
  readonly gone: ReadonlySet<string>;
  readonly opens: boolean;
  readonly onDone: OnDone;
}

/** What a pause does to exits. */
const PAUSED_EXITS = {
  else: 'Its exits are suspended, and those that you armed for a pause are sent.',
  recovery:
    'On the day after a recovery the pause suspends all of its exits and sends none, also those that were armed for a pause.',
};

function Group({ approvals, gone, opens, onDone }: GroupProps) {
  const action = useAction();
  const [asks, setAsks] = useState(false);
  const isRecovering = useRecoveryDay();
  const [first] = approvals;
  if (first === undefined) return null;
  const { agentId, agentName, side, untrustedText } = first;
  const total = approvals.reduce((sum, { amount }) => sum + amount, 0);
  const stop = () =>
    void action.run(async () => {
      const { declined } = await send<{ declined: number }>(`/owner/agents/${agentId}/decline-all`, {});
      onDone(`${agentName} is paused, and ${declined} of its orders are declined for good.`);
      return null;
    });
  return (
    <Card
      title={`${agentName}: ${side}, ${approvals.length === 1 ? 'one order' : `${approvals.length} orders`}, ${money(total)}`}
      aside={
        <button type="button" class="stop" disabled={action.isBusy} onClick={() => setAsks(true)}>
          Decline all and pause<span class="hidden"> {agentName}</span>
        </button>
      }
      wide
    >
      <Untrusted from="Market, in the venue’s words">{untrustedText.marketQuestion}</Untrusted>
      {approvals.map((approval) => (
        <Line
          key={approval.approvalId}
          approval={approval}
          isGone={gone.has(approval.approvalId)}
          isOpen={opens}
          onDone={onDone}
        />
      ))}
      {asks && (
        <Confirm
          title={`Decline everything of ${agentName}, and pause it?`}
          yes="Decline all and pause"
          onNo={() => setAsks(false)}
          onYes={() => {
            setAsks(false);
            stop();
          }}
        >
          <p>
            Every order of this agent that waits is declined, in all markets. A declined order stays declined;
            another one asks anew once you resume the agent.
          </p>
          <p>{PAUSED_EXITS[isRecovering ? 'recovery' : 'else']}</p>
        </Confirm>
      )}
    </Card>
  );
}

const groupsOf = (approvals: readonly Approval[]): readonly (readonly Approval[])[] => {
  const groups = new Map<string, Approval[]>();
  for (const approval of approvals) {
    const key = `${approval.agentId} ${approval.marketConditionId} ${approval.side}`;
    groups.set(key, [...(groups.get(key) ?? []), approval]);
  }
  return [...groups.values()];
};

const KIND: Readonly<Record<string, 'go' | 'stop' | 'warn' | ''>> = {
  approved: 'go',
  used: 'go',
  declined: 'stop',
};

function Decided({ approvals }: { readonly approvals: readonly Approval[] }) {
  const held = useHeld(
    approvals.filter(({ status }) => status !== 'waiting'),
    idOf,
  );
  const pages = usePages(held.rows);
  return (
    <>
      <Further of={held} what="earlier approvals" keepsGone />
      <Table
        caption="Decided or expired"
        rows={pages.rows}
        keyOf={idOf}
        none="Nothing was decided yet."
        columns={[
          {
            head: 'Agent',
            width: 1.2,
            cell: ({ agentId, agentName }) => <Link to={`/agents/${agentId}`}>{agentName}</Link>,
          },
          {
            head: 'Order',
            width: 2,
            cell: (one) =>
              one.status === 'used' ? (
                <Link to={`/agents/${one.agentId}/orders/${one.orderId}`}>{orderWords(one)}</Link>
              ) : (
                orderWords(one)
              ),
          },
          { head: 'Amount', numeric: true, cell: ({ amount }) => money(amount) },
          {
            head: 'State',
            width: 1.8,
            cell: ({ status, declineReason, approvedUntil }) => (
              <>
                <Badge kind={KIND[status] ?? ''}>{status}</Badge>
                {status === 'approved' && (
                  <span class="note">
                    {' '}
                    until <Time at={approvedUntil} short />
                  </span>
                )}
                {declineReason !== null && <span class="note"> {declineReason}</span>}
              </>
            ),
          },
          { head: 'Asked', cell: ({ askedAt }) => <Time at={askedAt} short /> },
        ]}
      />
      <Pager of={pages} what="earlier approvals" />
    </>
  );
}

type Order = 'oldest' | 'newest';
const ORDERS: readonly (readonly [Order, string])[] = [
  ['oldest', 'Oldest first'],
  ['newest', 'Newest first'],
];

/** @param waits asked for apart: one agent's many expired ones must not push out what waits */
export function Approvals({ waits }: { readonly waits: Resource<readonly Approval[]> }) {
  const latest = useApprovals('all');
  const [order, setOrder] = useState<Order>('oldest');
  const held = useHeld(waits.data, idOf);
  const waiting = usePages(order === 'oldest' ? held.rows.toReversed() : held.rows);
  const groups = groupsOf(waiting.rows);
  const onDone: OnDone = (words) => {
    say(words);
    waits.reload();
    latest.reload();
  };
  return (
    <main id="content" class="columns">
      <div class="intro">
        <h1>Approvals</h1>
        <Choices name="Order of the list" choices={ORDERS} value={order} onChange={setOrder} />
      </div>
      <p class="wide">
        Trades above the limit “Ask me above” of an agent wait here. Approving needs your passkey, and is for
        this one order.
      </p>
      <State of={waits} what="approvals" />
      <div class="wide">
        <Further of={held} what="approvals" />
      </div>
      {waits.data !== null && held.rows.length === 0 && <p class="note wide">Nothing waits for you.</p>}
      {groups.map((approvals) => (
        <Group
          key={`${approvals[0]?.agentId} ${approvals[0]?.marketConditionId} ${approvals[0]?.side}`}
          approvals={approvals}
          gone={held.gone}
          opens={held.rows.length === 1}
          onDone={onDone}
        />
      ))}
      <div class="wide">
        <Pager of={waiting} what="approvals that wait" />
      </div>
      <Card title="Before" wide>
        <State of={latest} what="earlier approvals" />
        {latest.data !== null && <Decided approvals={latest.data} />}
      </Card>
    </main>
  );
}

// Approvals that the owner's agents asked for; the frame counts those that wait, the view decides on them.

const MOST = 100;

/** @param which `null`: none, without an owner */
export const useApprovals = (which: 'waiting' | 'all' | null): Resource<readonly Approval[]> =>
  useResource<readonly Approval[]>(
    which === null ? null : `/owner/approvals?limit=${MOST}${which === 'all' ? '' : '&status=waiting'}`,
    {
      // An approved order that is placed makes its approval used.
      on: ({ type }) => type.startsWith('approval.') || (which === 'all' && type.startsWith('order.')),
      everyMs: 60_000,
    },
  );
