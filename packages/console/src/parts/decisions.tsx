/** The decision journal: what the agent wanted, why, what the desk checked, and what came of it. */
import type { Decision, Decisions as Page } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { useResource } from '../desk/resource.ts';
import { Link } from '../desk/router.tsx';
import { money, precise, Time } from './figures.tsx';
import { Badge, State, Untrusted } from './pieces.tsx';

const PER_PAGE = 25;
const MOST = 200;

const kindOf = (status: string): 'go' | 'stop' | 'warn' | '' => {
  if (status === 'denied' || status === 'rejected') return 'stop';
  if (status === 'unknown' || status === 'submitting') return 'warn';
  return status === 'filled' || status === 'matched' ? 'go' : '';
};

function Wanted({ wanted }: Pick<Decision, 'wanted'>) {
  const { side, outcome, size, amount, price, orderType } = wanted;
  return (
    <strong>
      {side} {precise(size)} {outcome}
      {price === null ? '' : ` at ${precise(price)}`}, {money(amount)} {orderType ?? ''}
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
      Filled {precise(filledSize)}
      {avgPrice === null ? '' : ` at ${precise(avgPrice)} on average`}, fees {precise(feePaid)}.
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
      <Came result={result} />
      {orderId !== null && (
        <p>
          <Link to={`/agents/${agentId}/orders/${orderId}`}>
            Order and receipt<span class="hidden"> of order {orderId}</span>
          </Link>
        </p>
      )}
    </li>
  );
}

export function Decisions({ agentId }: { readonly agentId: string }) {
  const [limit, setLimit] = useState(PER_PAGE);
  const [refusedOnly, setRefusedOnly] = useState(false);
  const page = useResource<Page>(`/owner/agents/${agentId}/decisions?limit=${limit}`, {
    on: (event) => event.agentId === agentId,
    everyMs: 30_000,
  });
  const [last, setLast] = useState<Page | null>(null);
  // A longer page is another address: the shorter one stays until it is there.
  if (page.data !== null && page.data !== last) setLast(page.data);
  const shown = page.data ?? last;
  if (shown === null) return <State of={page} what="the journal" />;
  const list = shown.decisions.filter(({ result }) => !refusedOnly || result.status === 'denied');
  return (
    <>
      {page.trouble !== null && <State of={page} what="the journal" />}
      <fieldset class="choices">
        <legend class="hidden">Which decisions</legend>
        <button type="button" aria-pressed={!refusedOnly} onClick={() => setRefusedOnly(false)}>
          All
        </button>
        <button type="button" aria-pressed={refusedOnly} onClick={() => setRefusedOnly(true)}>
          Refused by the desk
        </button>
      </fieldset>
      {list.length === 0 && (
        <p class="note">
          {refusedOnly ? 'Nothing was refused among these.' : 'It has not tried to trade yet.'}
        </p>
      )}
      <ul class="list">
        {list.map((decision) => (
          <One
            agentId={agentId}
            key={`${decision.at} ${decision.orderId ?? decision.untrustedText.question}`}
            decision={decision}
          />
        ))}
      </ul>
      {shown.total > limit && limit < MOST && (
        <div class="buttons">
          <button type="button" onClick={() => setLimit(Math.min(limit * 2, MOST))}>
            Show more
          </button>
        </div>
      )}
    </>
  );
}
