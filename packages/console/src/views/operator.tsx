/** How the service fares, for its operator. The key stays in this tab: never in an address, gone when the tab is closed. */
import type { OperatorStatus } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { useResource } from '../desk/resource.ts';
import { Link } from '../desk/router.tsx';
import { duration, precise, Time } from '../parts/figures.tsx';
import { Badge, Card, Facts, State, Table } from '../parts/pieces.tsx';

const KEPT = 'bellwether operator key';

function AskKey({ onKey }: { readonly onKey: (key: string) => void }) {
  const [typed, setTyped] = useState('');
  return (
    <main id="content" class="narrow">
      <h1>Operator</h1>
      <p>How the service fares, for the person who runs it. The key is OPERATOR_KEY of the configuration.</p>
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
const ms = (value: number | null): string => (value === null ? '—' : `${precise(value)} ms`);

function Load({ status }: { readonly status: OperatorStatus }) {
  const { requests } = status;
  return (
    <>
      <Facts
        rows={[
          ['Under way', String(requests.underWay)],
          [
            'Trades under way, and waiting for a slot',
            `${requests.tradesUnderWay}, ${requests.tradesWaiting}`,
          ],
          ['Turned away as overload since the start', String(requests.shed)],
          ['Streams open', String(status.streams.open)],
        ]}
      />
      <Table
        caption="Routes"
        rows={requests.routes}
        keyOf={({ route }) => route}
        none="No request yet."
        columns={[
          { head: 'Route', cell: ({ route }) => <span class="code">{route}</span> },
          { head: 'Count', numeric: true, cell: ({ count }) => precise(count) },
          { head: 'Half below', numeric: true, cell: ({ p50Ms }) => ms(p50Ms) },
          { head: '99 % below', numeric: true, cell: ({ p99Ms }) => ms(p99Ms) },
          { head: 'Refused', numeric: true, cell: ({ refused }) => precise(refused) },
          { head: 'Failed', numeric: true, cell: ({ failed }) => precise(failed) },
        ]}
      />
    </>
  );
}

function Parts({ status }: { readonly status: OperatorStatus }) {
  const { orders, queues, replicas, process } = status;
  return (
    <>
      <Card title="Venues" wide>
        <Table
          caption="Venues"
          rows={status.venues}
          keyOf={({ name }) => name}
          none="No venue."
          columns={[
            { head: 'Venue', cell: ({ name, backend }) => `${name} (${backend})` },
            {
              head: 'Status',
              cell: ({ status: text }) => <Badge kind={text === 'ready' ? 'go' : 'stop'}>{text}</Badge>,
            },
            {
              head: 'Since the start',
              cell: ({ counts, notice }) =>
                [
                  ...Object.entries(counts).map(
                    ([name, count]) => `${name.replaceAll('_', ' ')}: ${precise(count)}`,
                  ),
                  ...(notice === undefined ? [] : [notice]),
                ].join('; ') || '—',
            },
          ]}
        />
      </Card>
      <Card title="Orders">
        <Facts
          rows={[
            ['In doubt', String(orders.inDoubt)],
            ['The oldest in doubt', seconds(orders.oldestInDoubtSeconds)],
            ['Placed in the last minute', String(orders.placedLastMinute)],
            ['Refused by the desk in the last minute', String(orders.refusedLastMinute)],
          ]}
        />
      </Card>
      <Card title="Queues">
        <Facts
          rows={[
            ['Webhook deliveries that wait', String(queues.webhookDeliveries)],
            ['Webhooks switched off', String(queues.webhooksDisabled)],
            ['Redemptions that wait', String(queues.redemptions)],
            ['Skills to review', String(queues.skillsToReview)],
          ]}
        />
      </Card>
      <Card title="Replicas">
        <Facts
          rows={[
            ['Connected', String(replicas.count)],
            ['This one', <span class="code">{replicas.thisReplica}</span>],
            ['Leads', replicas.leads ? 'yes' : 'no'],
            ['Lead', replicas.leader === null ? '—' : <span class="code">{replicas.leader.replicaId}</span>],
            ['Lead since', <Time at={replicas.leader?.since} />],
          ]}
        />
      </Card>
      <Card title="This process">
        <Facts
          rows={[
            ['Version', status.version],
            ['Database', status.database],
            ['Started', <Time at={process.startedAt} />],
            [
              'Pauses of the event loop',
              `half below ${ms(process.eventLoopPauseMs.p50)}, 99 % below ${ms(process.eventLoopPauseMs.p99)}, longest ${ms(process.eventLoopPauseMs.longest)}`,
            ],
            ['Memory', `${precise(process.memoryMb)} MB`],
          ]}
        />
      </Card>
      <Card title="Load and latency of this replica" wide>
        <Load status={status} />
      </Card>
    </>
  );
}

function Status({ operatorKey, onForget }: { readonly operatorKey: string; readonly onForget: () => void }) {
  const status = useResource<OperatorStatus>('/operator/status', {
    headers: { authorization: `Bearer ${operatorKey}` },
    everyMs: 5000,
  });
  const { data } = status;
  return (
    <main id="content" class="columns">
      <div class="intro">
        <div>
          <h1>Operator</h1>
          <p class="badges">
            {data !== null && (
              <Badge kind={data.ready ? 'go' : 'stop'}>{data.ready ? 'ready' : 'not ready'}</Badge>
            )}
            {data !== null && <Badge>{data.scope.replaceAll('_', ' ')}</Badge>}
          </p>
        </div>
        <button type="button" onClick={onForget}>
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
  if (key === null)
    return (
      <AskKey
        onKey={(typed) => {
          sessionStorage.setItem(KEPT, typed);
          setKey(typed);
        }}
      />
    );
  return (
    <Status
      key={key}
      operatorKey={key}
      onForget={() => {
        sessionStorage.removeItem(KEPT);
        setKey(null);
      }}
    />
  );
}
