/** One order: what was asked, what was checked, what the venue answered; and its receipt, verified in this browser. */
import type { OrderDetail, OrderReceipt, ReceiptEntry, ReceiptHead, ReceiptPage } from '@bellwether/contract';
import { useEffect, useState } from 'preact/hooks';
import { type Resource, useResource } from '../desk/live.ts';
import { type Verdict, verifyChain, verifyEntries } from '../desk/receipts.ts';
import { Link } from '../desk/router.tsx';
import { read } from '../desk/session.ts';
import { money, outcomeWords, price, shares, Time, timeOf } from '../parts/figures.tsx';
import { Badge, Card, Facts, State, Table, Untrusted, useAction } from '../parts/pieces.tsx';

interface OrderViewProps {
  readonly agentId: string;
  readonly orderId: string;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '—' : JSON.stringify(value);

/** A check is recorded as its limit, what was used of it and what the order asked. */
const figuresOf = (value: unknown): string => {
  if (!Array.isArray(value) || value.length !== 3) return textOf(value);
  const [limit, used, asked] = value.map(textOf);
  return `limit ${limit}, used ${used}, this order ${asked}`;
};

const rowsOf = (record: Readonly<Record<string, unknown>>, words = textOf) =>
  Object.entries(record).map(([name, value]) => [name, <span class="code">{words(value)}</span>] as const);

const PARTS = [
  ['asked', 'What was asked'],
  ['checked', 'What was checked, with which limits and figures'],
  ['answered', 'What was answered'],
  ['state', 'How the order stood after it'],
] as const;

type Fields = Readonly<Record<string, unknown>>;

const wordsOfState = ({ status, filled, cost, fees, errorCode }: Fields): string => {
  const left = Number(filled ?? 0);
  const bought =
    left === 0
      ? 'nothing was filled'
      : `${shares(textOf(filled))} shares were filled for ${money(textOf(cost))}, fees ${price(textOf(fees))}`;
  const why = typeof errorCode === 'string' && errorCode !== '' ? ` (${errorCode.replaceAll('_', ' ')})` : '';
  return `After this entry the order was ${textOf(status).replaceAll('_', ' ')}${why}: ${bought}.`;
};

const WAYS: Readonly<Record<string, string>> = {
  FAK: 'take at once what the book offered and cancel the rest',
  FOK: 'execute at once as a whole, or not at all',
  GTC: 'rest on the book until it is filled or canceled',
  GTD: 'rest on the book until its end',
};

/** The same in words, for a person; the record itself is under the fold. */
function sentencesOf({ body }: ReceiptEntry): readonly string[] {
  const { asked, checked, answered, state, fills = [], reversed = [] } = body;
  const sentences: string[] = [];
  if (asked) {
    const way = WAYS[textOf(asked.orderType)];
    sentences.push(
      `The agent signed: ${asked.side} ${shares(textOf(asked.shares))} ${asked.outcome} at ${price(textOf(asked.limit ?? asked.price))} or better${way === undefined ? '' : `, to ${way}`}.`,
    );
  }
  if (checked) {
    const count = Object.keys(checked).length;
    sentences.push(
      count === 0
        ? 'No safeguard had a limit that bound it.'
        : `It passed ${count === 1 ? 'one safeguard' : `${count} safeguards`}.`,
    );
  }
  if (answered) {
    const word = textOf(answered.status ?? answered.success);
    sentences.push(`The venue’s first answer: ${word.replaceAll('_', ' ')}.`);
  }
  for (const fill of fills)
    sentences.push(
      `${shares(textOf(fill.size))} shares were filled at ${price(textOf(fill.price))}, fee ${price(textOf(fill.fee))}.`,
    );
  for (const fill of reversed)
    sentences.push(`A fill of ${shares(textOf(fill.size))} shares never settled and was taken back.`);
  if (state) sentences.push(wordsOfState(state));
  return sentences.length === 0 ? ['The order’s journal went on.'] : sentences;
}

function Entry({ entry }: { readonly entry: ReceiptEntry }) {
  const { body } = entry;
  const lists = [
    ['Fills', body.fills ?? []],
    ['Fills that were taken back', body.reversed ?? []],
  ] as const;
  return (
    <li>
      <div class="head">
        <strong>Entry {entry.sequence}</strong>
        <span class="note">
          <Time at={entry.recordedAt} />
        </span>
      </div>
      {sentencesOf(entry).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <details>
        <summary>
          The record, field by field<span class="hidden"> of entry {entry.sequence}</span>
        </summary>
        {PARTS.map(([name, title]) => {
          const part = body[name];
          return part === undefined || part === null ? null : (
            <div key={name}>
              <h3>{title}</h3>
              <Facts rows={rowsOf(part, name === 'checked' ? figuresOf : textOf)} />
            </div>
          );
        })}
        {lists.map(
          ([title, list]) =>
            list.length > 0 && (
              <div key={title}>
                <h3>{title}</h3>
                {list.map((fill) => (
                  <Facts key={JSON.stringify(fill)} rows={rowsOf(fill)} />
                ))}
              </div>
            ),
        )}
        <p class="code">hash before: {entry.previousHash}</p>
        <p class="code">hash: {entry.hash}</p>
      </details>
    </li>
  );
}

const keyOf = (agentId: string): string => `bellwether receipts head ${agentId}`;

function rememberedHead(agentId: string): ReceiptHead | null {
  try {
    return JSON.parse(localStorage.getItem(keyOf(agentId)) ?? 'null') as ReceiptHead | null;
  } catch {
    return null;
  }
}

async function* pagesOf(agentId: string, progress: (sequence: number) => void): AsyncGenerator<ReceiptPage> {
  for (let after: number | null = 0; after !== null; ) {
    const page: ReceiptPage = await read(`/owner/agents/${agentId}/receipts?after=${after}`);
    progress(page.entries.at(-1)?.sequence ?? after);
    yield page;
    after = page.next;
  }
}

function WholeChain({ agentId }: { readonly agentId: string }) {
  const action = useAction();
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const check = () =>
    void action.run(async () => {
      setVerdict(null);
      const remembered = rememberedHead(agentId);
      const found = await verifyChain(pagesOf(agentId, setAt), { agentId, remembered });
      if (found.fault === null) localStorage.setItem(keyOf(agentId), JSON.stringify(found.last));
      setVerdict(found);
      return remembered === null
        ? 'This browser keeps the head of the chain for the next check.'
        : `The head of the check before, entry ${remembered.sequence}, was looked for as well.`;
    });
  return (
    <>
      <div class="buttons">
        <button type="button" disabled={action.isBusy} onClick={check}>
          {action.isBusy ? `Checking entry ${at ?? 0}…` : 'Verify the agent’s whole chain'}
        </button>
      </div>
      {verdict !== null && <Judged verdict={verdict} whole />}
    </>
  );
}

function Judged({ verdict, whole = false }: { readonly verdict: Verdict; readonly whole?: boolean }) {
  if (verdict.fault !== null)
    return (
      <p class="message error" role="alert">
        <strong>Not verified.</strong> {verdict.fault} Keep what you see, and ask the operator of the desk.
      </p>
    );
  return (
    <p class="message" role="status">
      <strong>Verified in this browser.</strong>{' '}
      {whole
        ? `All ${verdict.checked} entries of the chain are as they were recorded.`
        : `${verdict.checked === 1 ? 'The entry' : `All ${verdict.checked} entries`} of this order ${verdict.checked === 1 ? 'is' : 'are'} as recorded.`}
    </p>
  );
}

interface ReceiptProps extends OrderViewProps {
  readonly receipt: OrderReceipt;
}

function Receipt({ agentId, orderId, receipt }: ReceiptProps) {
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  useEffect(() => {
    let isLeft = false;
    const check = async () => {
      // Without https browsers keep their cryptography to themselves.
      const found = globalThis.crypto?.subtle
        ? await verifyEntries(receipt.entries, { agentId, orderId, head: receipt.head })
        : { fault: 'This browser checks receipts over https or on localhost only.', checked: 0 };
      if (!isLeft) setVerdict(found);
    };
    void check();
    return () => {
      isLeft = true;
    };
  }, [receipt, agentId, orderId]);
  return (
    <>
      {verdict === null ? <p class="note">Checking the hashes…</p> : <Judged verdict={verdict} />}
      <ul class="list">
        {receipt.entries.map((entry) => (
          <Entry key={entry.sequence} entry={entry} />
        ))}
      </ul>
      <h3>Head of the agent’s chain</h3>
      <p class="note">
        Keep it: a chain that was rewritten does not lead to it. Entry {receipt.head.sequence},{' '}
        <span class="code">{receipt.head.hash}</span>
      </p>
      <WholeChain agentId={agentId} />
    </>
  );
}

function Terms({ order }: { readonly order: OrderDetail }) {
  return (
    <>
      <Untrusted from="Market, in the venue’s words">{order.marketQuestion}</Untrusted>
      {order.reasoning !== null && order.reasoning !== '' && (
        <Untrusted from="Why, in the agent’s words">{order.reasoning}</Untrusted>
      )}
      <Facts
        rows={[
          [
            'Order',
            `${order.side} ${shares(order.orderSize)} ${outcomeWords(order.outcome, order.outcomeName)} at ${price(order.price)}, ${order.orderType}`,
          ],
          ['Status', <Badge>{order.status}</Badge>],
          [
            'Filled',
            `${shares(order.filledSize)} for ${money(order.filledAmount)}, fees ${price(order.feePaid)}`,
          ],
          ['Counted by the safeguards', money(order.counted)],
          ['Venue', order.venue],
          ['Wallet', <span class="code">{order.walletAddress}</span>],
          ['Order id', <span class="code">{order.orderId}</span>],
          ['Placed', <Time at={order.createdAt} />],
          ...(order.errorMessage === null ? [] : [['The venue said', order.errorMessage] as const]),
        ]}
      />
    </>
  );
}

function History({ order }: { readonly order: OrderDetail }) {
  return (
    <>
      <ul class="list">
        {order.journal.map(({ at, event, status, detail }) => (
          <li key={`${at} ${event} ${status}`}>
            <span class="note">
              <Time at={at} />{' '}
            </span>
            {event} → {status}
            {detail === undefined ? '' : `: ${detail}`}
          </li>
        ))}
      </ul>
      <Table
        caption="Fills"
        rows={order.fills}
        keyOf={({ tradeId }) => tradeId}
        none="Nothing is filled."
        columns={[
          { head: 'Time', width: 2, cell: ({ filledAt }) => <Time at={filledAt} /> },
          { head: 'Size', numeric: true, cell: ({ size }) => shares(size) },
          { head: 'Price', numeric: true, cell: (fill) => price(fill.price) },
          { head: 'Fee', numeric: true, cell: ({ fee }) => price(fee) },
          { head: 'As', cell: ({ liquidity }) => liquidity },
        ]}
      />
    </>
  );
}

/** Receipts follow within seconds; one that is missing for longer must not look as if it were on its way. */
const RECEIPT_WITHIN_MS = 2 * 60_000;

const NoReceipt = ({ order }: { readonly order: OrderDetail }) =>
  Date.now() - (timeOf(order.createdAt)?.getTime() ?? 0) < RECEIPT_WITHIN_MS ? (
    <p class="note">The receipt is made behind the trade, within seconds: it appears here.</p>
  ) : (
    <p class="message error" role="alert">
      <strong>There is no receipt of this order.</strong> Orders from before the desk kept receipts have none.
      Where this is a later one, ask the operator of the desk.
    </p>
  );

export function OrderView({ agentId, orderId }: OrderViewProps) {
  const path = `/owner/agents/${encodeURIComponent(agentId)}/orders/${encodeURIComponent(orderId)}`;
  const on = (event: { agentId: string; data: { orderId?: string } }) =>
    event.agentId === agentId && event.data?.orderId === orderId;
  const order = useResource<OrderDetail>(path, { on });
  const receipt: Resource<OrderReceipt> = useResource<OrderReceipt>(`${path}/receipt`, {
    on,
    everyMs: 15_000,
  });
  return (
    <main id="content" class="columns">
      <div class="intro">
        <div>
          <h1>Order and receipt</h1>
          <p>
            <Link to={`/agents/${agentId}`}>The agent that placed it</Link>
          </p>
        </div>
      </div>
      <Card title="Order">
        <State of={order} what="the order" />
        {order.data !== null && <Terms order={order.data} />}
      </Card>
      <Card title="What became of it">{order.data !== null && <History order={order.data} />}</Card>
      <Card title="Receipt" wide>
        {receipt.isMissing ? (
          order.data !== null && <NoReceipt order={order.data} />
        ) : (
          <State of={receipt} what="the receipt" />
        )}
        {receipt.data !== null && <Receipt agentId={agentId} orderId={orderId} receipt={receipt.data} />}
      </Card>
    </main>
  );
}
