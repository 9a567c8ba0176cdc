/** How the service fares, for its operator. The key stays in this tab: never in an address, gone when the tab is closed. */
import type { OperatorStatus } from '@bellwether/contract';
import { useEffect, useState } from 'preact/hooks';
import { useResource } from '../desk/live.ts';
import { Link } from '../desk/router.tsx';
import { duration, precise, Time } from '../parts/figures.tsx';
import { Badge, Card, Facts, Message, State, Table } from '../parts/pieces.tsx';

const KEPT = 'bellwether operator key';

interface AskKeyProps {
  readonly said: string | null;
  readonly onKey: (key: string) => void;
}

/** Characters that a header can carry; the browser refuses to send anything else. */
const SENDABLE = /^[\x21-\x7e]+$/;
const WRONG_KEY = 'This is not the operator’s key of this service.';

function AskKey({ said, onKey }: AskKeyProps) {
  const [typed, setTyped] = useState('');
  return (
    <main id="content" class="narrow">
      <h1>Operator</h1>
      <p>How the service fares, for the person who runs it. The key is OPERATOR_KEY of the configuration.</p>
      <Message text={said} isError />
      <form
        class="card"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim() !== '') onKey(typed.trim());
        }}
      >
        <label for="operator-key">Operator’s key</label>
        <input
          id="operator-key"
          type="password"
          autoComplete="off"
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <div class="buttons">
          <button type="submit" class="primary">
            Show the service
          </button>
        </div>
      </form>
    </main>
  );
}

const seconds = (value: number | null): string => duration(value === null ? null : value * 1000);
const ms = (value: number | null): string =>
  value === null ? '—' : `${precise(Math.round(value * 10) / 10)} ms`;

function Load({ replica }: { readonly replica: OperatorStatus['thisReplica'] }) {
  const { requests } = replica;
  return (
    <>
      <Facts
        rows={[
          ['Requests under way', String(requests.underWay)],
          [
            'Trades under way, and waiting for a slot',
            `${requests.tradesUnderWay}, ${requests.tradesWaiting}`,
          ],
          ['Turned away as overload since the start', String(requests.shed)],
          ['Streams open', String(replica.openStreams)],
        ]}
      />
      <Table
        caption="Routes"
        rows={replica.routes}
        keyOf={({ route }) => route}
        none="No request in the last minutes."
        columns={[
          { head: 'Route', cell: ({ route }) => <span class="code">{route}</span> },
          { head: 'A second', numeric: true, cell: ({ perSecond }) => precise(perSecond) },
          { head: 'Half within', numeric: true, cell: ({ p50Ms }) => ms(p50Ms) },
          { head: '99 % within', numeric: true, cell: ({ p99Ms }) => ms(p99Ms) },
          { head: 'Refused', numeric: true, cell: ({ refused }) => precise(refused) },
          { head: 'Failed', numeric: true, cell: ({ failed }) => precise(failed) },
        ]}
      />
      <p class="note">Of the last {duration(replica.overSeconds * 1000)}.</p>
    </>
  );
}

const countsOf = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name.replaceAll('_', ' ')}: ${precise(count)}`)
    .join('; ');

const Venues = ({ venues }: Pick<OperatorStatus, 'venues'>) => (
  <Table
    caption="Venues"
    rows={venues}
    keyOf={({ name }) => name}
    none="No venue."
    columns={[
      { head: 'Venue', cell: ({ name, backend }) => `${name} (${backend})` },
      {
        head: 'Status',
        cell: ({ status, notice }) => (
          <>
            <Badge kind={status === 'ready' ? 'go' : 'stop'}>{status}</Badge>
            {notice !== undefined && <span class="note"> {notice}</span>}
          </>
        ),
      },
      { head: 'What it counts', cell: ({ counts }) => countsOf(counts) || '—' },
    ]}
  />
);

function Replica({ replica }: { readonly replica: OperatorStatus['thisReplica'] }) {
  const { p50, p99, longest } = replica.eventLoopPauseMs;
  return (
    <Facts
      rows={[
        ['Replica', <span class="code">{replica.replicaId}</span>],
        ['Leads', replica.leads ? 'yes' : 'no'],
        ['Started', <Time at={replica.startedAt} />],
        [
          'Pauses of the event loop',
          `half within ${ms(p50)}, 99 % within ${ms(p99)}, longest ${ms(longest)}`,
        ],
        ['Memory', `${precise(replica.memoryMb)} MB`],
      ]}
    />
  );
}

function Parts({ status }: { readonly status: OperatorStatus }) {
  const { orders, queues, replicas, thisReplica } = status;
  return (
    <>
      <Card title="Venues" wide>
        <Venues venues={status.venues} />
      </Card>
      <Card title="Orders in doubt, on every replica">
        <Facts
          rows={[
            ['Orders whose outcome is not known', String(orders.inDoubt)],
            ['The oldest', seconds(orders.oldestInDoubtSeconds)],
          ]}
        />
      </Card>
      <Card title="Queues">
        <Facts
          rows={[
            ['Webhook deliveries that wait', String(queues.webhookDeliveries)],
            ['Webhooks switched off', String(queues.webhooksDisabled)],
            ['Markets whose redemptions wait', String(queues.marketsToRedeem)],
            ['Skills to review', String(queues.skillsToReview)],
          ]}
        />
      </Card>
      <Card title="Replicas">
        <Facts
          rows={[
            ['Connected', String(replicas.count)],
            ['Lead', replicas.leader === null ? '—' : <span class="code">{replicas.leader.replicaId}</span>],
            ['Lead since', <Time at={replicas.leader?.since} />],
            ['Version', status.version],
            ['Database', status.database],
          ]}
        />
      </Card>
      <Card title="The replica that answered">
        <Replica replica={thisReplica} />
      </Card>
      <Card title="Its load and latency" wide>
        <Load replica={thisReplica} />
      </Card>
    </>
  );
}

interface StatusProps {
  readonly operatorKey: string;
  readonly onForget: (why?: string) => void;
}

function Status({ operatorKey, onForget }: StatusProps) {
  const status = useResource<OperatorStatus>('/operator/status', {
    headers: { authorization: `Bearer ${operatorKey}` },
    everyMs: 5000,
  });
  const { data } = status;
  const isRefused = status.code === 'unauthorized';
  useEffect(() => {
    if (isRefused) onForget(WRONG_KEY);
  }, [isRefused]);
  return (
    <main id="content" class="columns">
      <div class="intro">
        <div>
          <h1>Operator</h1>
          <p class="badges">
            {data !== null && (
              <Badge kind={data.ready ? 'go' : 'stop'}>{data.ready ? 'ready' : 'not ready'}</Badge>
            )}
          </p>
        </div>
        <button type="button" onClick={() => onForget()}>
          Forget the key
        </button>
      </div>
      <State of={status} what="the status" />
      {data !== null && <Parts status={data} />}
      <p class="wide">
        <Link to="">To the agents</Link>
      </p>
    </main>
  );
}

export function Operator() {
  const [key, setKey] = useState(() => sessionStorage.getItem(KEPT));
  const [said, setSaid] = useState<string | null>(null);
  if (key === null)
    return (
      <AskKey
        said={said}
        onKey={(typed) => {
          if (!SENDABLE.test(typed)) return setSaid(WRONG_KEY);
          sessionStorage.setItem(KEPT, typed);
          setSaid(null);
          setKey(typed);
        }}
      />
    );
  return (
    <Status
      key={key}
      operatorKey={key}
      onForget={(why) => {
        sessionStorage.removeItem(KEPT);
        setKey(null);
        setSaid(why ?? null);
      }}
    />
  );
}
