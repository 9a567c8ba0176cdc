/** The decision journal: what the agent wanted, why, what the desk checked, and what came of it. */
import type { Decision, Decisions as Page } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { Link } from '../desk/router.tsx';
import { money, outcomeWords, price, shares, Time } from './figures.tsx';
import { Further } from './held.tsx';
import { Choices } from './interval.tsx';
import { Pager, useHistory } from './pages.tsx';
import { Badge, State, Untrusted } from './pieces.tsx';

const kindOf = (status: string): 'go' | 'stop' | 'warn' | '' => {
  if (status === 'denied' || status === 'rejected') return 'stop';
  if (status === 'unknown' || status === 'submitting') return 'warn';
  return status === 'filled' || status === 'matched' ? 'go' : '';
};

function Wanted({ wanted }: Pick<Decision, 'wanted'>) {
  const { side, outcome, outcomeName, size, amount, orderType } = wanted;
  return (
    <strong>
      {side} {shares(size)} {outcomeWords(outcome, outcomeName)}
      {wanted.price === null ? '' : ` at ${price(wanted.price)}`}, {money(amount)} {orderType ?? ''}
    </strong>
  );
}

function Came({ result }: Pick<Decision, 'result'>) {
  const { message, code, filledSize, avgPrice, feePaid } = result;
  if (message !== null || code !== null)
    return (
      <p>
        {message ?? 'The venue gave no reason.'} {code !== null && <span class="code">{code}</span>}
      </p>
    );
  if (filledSize === 0)
    return <p class="note">The desk checked it and the venue took it; nothing is filled yet.</p>;
  return (
    <p class="note">
      Filled {shares(filledSize)}
      {avgPrice === null ? '' : ` at ${price(avgPrice)} on average`}, fees {price(feePaid)}.
    </p>
  );
}

function One({ agentId, decision }: { readonly agentId: string; readonly decision: Decision }) {
  const { at, orderId, venue, wanted, result, untrustedText } = decision;
  const { question, reasoning, source, skillSlug } = untrustedText;
  const labels = [source, skillSlug].filter((label) => label !== null && label !== '');
  return (
    <li>
      <div class="head">
        <Wanted wanted={wanted} />
        <span>
          <Badge kind={kindOf(result.status)}>
            {result.status === 'denied' ? 'refused by the desk' : result.status}
          </Badge>{' '}
          <span class="note">
            <Time at={at} /> · {venue}
          </span>
        </span>
      </div>
      <Untrusted
        from={result.status === 'denied' ? 'The agent calls the market' : 'Market, in the venue’s words'}
      >
        {question}
      </Untrusted>
      {reasoning !== null && reasoning !== '' && (
        <Untrusted from="Why, in the agent’s words">{reasoning}</Untrusted>
      )}
      {labels.length > 0 && <p class="note">Labelled by the agent: {labels.join(', ')}</p>}
      <div class="head">
        <Came result={result} />
        {orderId !== null && (
          <Link to={`/agents/${agentId}/orders/${orderId}`}>
            Order and receipt<span class="hidden"> of order {orderId}</span>
          </Link>
        )}
      </div>
    </li>
  );
}

const keyOf = ({ at, orderId, untrustedText }: Decision): string =>
  `${at} ${orderId ?? untrustedText.question}`;

type Which = 'all' | 'refused';
const WHICH: readonly (readonly [Which, string])[] = [
  ['all', 'All'],
  ['refused', 'Refused by the desk'],
];

export function Decisions({ agentId }: { readonly agentId: string }) {
  const [which, setWhich] = useState<Which>('all');
  const history = useHistory<Page, Decision>({
    path: `/owner/agents/${agentId}/decisions?`,
    rowsOf: ({ decisions }) => decisions,
    keyOf,
    on: (event) => event.agentId === agentId,
  });
  const { held, resource } = history;
  const list = held.rows.filter(({ result }) => which === 'all' || result.status === 'denied');
  return (
    <>
      <State of={resource} what="the journal" />
      <div class="head">
        <Choices name="Which decisions" choices={WHICH} value={which} onChange={setWhich} />
        <Further of={held} what="decisions" keepsGone />
      </div>
      {resource.data !== null && list.length === 0 && (
        <p class="note">
          {which === 'refused'
            ? 'Nothing was refused among these.'
            : history.page > 0
              ? 'There are no older ones.'
              : 'It has not tried to trade yet. What it wants, and why, appears here with its first order.'}
        </p>
      )}
      <ul class="list">
        {list.map((decision) => (
          <One agentId={agentId} key={keyOf(decision)} decision={decision} />
        ))}
      </ul>
      <Pager of={history} what="decisions" />
    </>
  );
}
