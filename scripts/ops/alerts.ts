/**
 * Lists the alerts and panels that an operator watches. ops/prometheus-rules.yaml, ops/dashboard.json and the table of
 * docs/operations.md are made of it; test/e2e/metrics.test.ts compares every metric in it with what the service serves.
 */

export interface Alert {
  readonly name: string;
  /** PromQL that has a value while something is wrong. */
  readonly when: string;
  /** For so long, in Prometheus' notation. */
  readonly for: string;
  readonly severity: 'critical' | 'warning';
  /** The trouble, in one sentence. */
  readonly means: string;
  /** The operator's next step. */
  readonly todo: string;
}

export interface Panel {
  readonly title: string;
  readonly unit: 's' | 'short' | 'reqps' | 'bytes';
  readonly queries: readonly (readonly [legend: string, promql: string])[];
}

const p99 = (metric: string, by = '') =>
  `histogram_quantile(0.99, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${metric}_bucket[5m])))`;

export const ALERTS: readonly Alert[] = [
  {
    name: 'BellwetherVenueNotReady',
    when: 'bellwether_venue_ready == 0',
    for: '5m',
    severity: 'critical',
    means: 'A venue takes no orders on this replica.',
    todo: 'GET /readyz says why. On paper: is there a replica that leads, and the database? Live: look at the venue’s own status page; cancels still go out.',
  },
  {
    name: 'BellwetherNoLead',
    when: 'sum(bellwether_exchange_leads) == 0',
    for: '1m',
    severity: 'critical',
    means:
      'No replica leads the paper exchange, so nothing is traded on paper. Silence it where every venue is live.',
    todo: 'Look for the log line of the replica that led, and whether all replicas reach the database; a replica that starts takes the lead.',
  },
  {
    name: 'BellwetherOrderInDoubt',
    when: 'bellwether_oldest_doubt_seconds > 300',
    for: '1m',
    severity: 'critical',
    means: 'An order has had no answer and no proof for five minutes.',
    todo: 'Do not send it again by hand. GET /operator/status and the log name it; ask the venue for the order id. The resolver closes it as soon as there is proof.',
  },
  {
    name: 'BellwetherResolverLate',
    when: 'time() - max(bellwether_job_last_success_timestamp_seconds{job="resolve doubt"}) > 120',
    for: '1m',
    severity: 'critical',
    means: 'Orders in doubt were not looked at for two minutes.',
    todo: 'Look for “a job failed” in the log: the venue or the database does not answer. Restart a replica that logs nothing.',
  },
  {
    name: 'BellwetherJobFails',
    when: 'increase(bellwether_job_failures_total[15m]) > 5',
    for: '5m',
    severity: 'warning',
    means: 'A job fails again and again.',
    todo: 'The label names it and the log line “a job failed” has the error. What it did not do waits and is done later.',
  },
  {
    name: 'BellwetherOutcomeUnknown',
    when: 'increase(bellwether_refusals_total{code="order_outcome_unknown"}[10m]) > 0',
    for: '0m',
    severity: 'warning',
    means: 'Agents got the answer that the outcome of their order is not known yet.',
    todo: 'Watch BellwetherOrderInDoubt. Agents send the same order again, which places nothing twice.',
  },
  {
    name: 'BellwetherVenueErrors',
    when: 'increase(bellwether_venue_refusals_total{code=~"venue_unavailable|not_received|credentials_refused|order_version_refused|refused_by_venue|region_restricted|venue_rate_limited"}[10m]) > 10',
    for: '5m',
    severity: 'warning',
    means: 'A venue refuses orders for reasons that are not the agents’ own.',
    todo: 'The label names the reason; docs/errors.md says what each means. Many at once point at the venue, its credentials or its contract version.',
  },
  {
    name: 'BellwetherTradeKeptAside',
    when: 'increase(bellwether_venue_count{what="trades_kept_aside"}[30m]) > 0',
    for: '0m',
    severity: 'critical',
    means: 'A live venue says a trade that would have taken more than its order signed; it counts nothing.',
    todo: 'GET /operator/kept-trades shows it. Compare it with its transaction on the chain: the venue may have changed a unit, and then every trade is wrong. docs/going-live.md says how to release or discard it.',
  },
  {
    name: 'BellwetherSocketDeaf',
    when: 'bellwether_venue_count{what="deaf_sockets"} > 0',
    for: '5m',
    severity: 'warning',
    means: 'A live venue’s user socket stands and says nothing of orders that were placed.',
    todo: 'Nothing is lost: these wallets are asked about every two seconds. If it lasts, npm run sentinel and the venue’s status page; many wallets cost requests (quota_left_own_orders).',
  },
  {
    name: 'BellwetherHeartbeatNotTaken',
    when: 'increase(bellwether_venue_count{what="heartbeats_failed"}[5m]) > 2',
    for: '0m',
    severity: 'critical',
    means: 'A live venue does not take the heartbeats of a key whose owner wants them.',
    todo: 'Ten seconds without one, and the venue cancels every open order of the key. The log names the wallet: its credentials may have been revoked, or the venue is away. docs/going-live.md says what heartbeats are for.',
  },
  {
    name: 'BellwetherServiceUnreachable',
    when: 'sum by (service) (increase(bellwether_external_call_failures_total[5m])) > 20',
    for: '5m',
    severity: 'warning',
    means: 'A venue, the chain or the signing provider gives no usable answers.',
    todo: 'The label reason says how: network and timeout point at the connection, rate_limited at your quota, server_error at the service; circuit_open means that it is asked only every few seconds. Orders without an answer are in doubt until there is proof.',
  },
  {
    name: 'BellwetherInternalErrors',
    when: 'increase(bellwether_refusals_total{code="internal_error"}[10m]) > 0',
    for: '0m',
    severity: 'critical',
    means: 'A request failed for a reason that the service does not know.',
    todo: 'Find “a request failed” in the log, by the request id that the agent has, and report it with its stack.',
  },
  {
    name: 'BellwetherDatabaseAway',
    when: 'increase(bellwether_refusals_total{code="service_unavailable"}[5m]) > 20',
    for: '1m',
    severity: 'critical',
    means: 'Requests are refused because something that the service needs does not answer.',
    todo: 'GET /readyz names it. Look at the database’s connections, disk and locks before you restart anything.',
  },
  {
    name: 'BellwetherSheds',
    when: 'rate(bellwether_shed_total[5m]) > 1',
    for: '10m',
    severity: 'warning',
    means: 'More requests come than can be served; the least important are turned away.',
    todo: 'Look who sends them (rate limits are per agent), then at the processor. A further replica takes reads, not trades on paper.',
  },
  {
    name: 'BellwetherCommitsSlow',
    when: `${p99('bellwether_commit_duration_seconds')} > 0.25`,
    for: '10m',
    severity: 'warning',
    means: 'Orders become durable slowly: the slowest hundredth takes more than a quarter of a second.',
    todo: 'Look at the disk of the database (fsync), at checkpoints and at long transactions.',
  },
  {
    name: 'BellwetherTradesSlow',
    when: 'histogram_quantile(0.99, sum by (le) (rate(bellwether_http_request_duration_seconds_bucket{route=~".*/markets/trade"}[5m]))) > 1',
    for: '10m',
    severity: 'warning',
    means: 'The slowest hundredth of trades takes more than a second.',
    todo: 'Compare with commits, event-loop pauses and requests under way on the dashboard: the one that rose first is the cause.',
  },
  {
    name: 'BellwetherLeadChanges',
    when: 'sum(changes(bellwether_exchange_leads[30m])) > 4',
    for: '0m',
    severity: 'warning',
    means: 'The lead of the paper exchange moves again and again.',
    todo: 'Look for pauses of the process that leads, and for a network between replicas and database that drops connections.',
  },
  {
    name: 'BellwetherEventLoopPauses',
    when: 'nodejs_eventloop_lag_p99_seconds > 0.2',
    for: '5m',
    severity: 'warning',
    means: 'The process stands still for a fifth of a second at times: every request waits for it.',
    todo: 'Look at memory (a heap near its limit collects garbage all the time) and at other load on the machine.',
  },
  {
    name: 'BellwetherQueueGrows',
    when: 'bellwether_queue_depth > 5000',
    for: '15m',
    severity: 'warning',
    means: 'Work waits in the database faster than it is done.',
    todo: 'webhooks: a receiver that does not answer holds back only itself; the others mean that a venue, the chain or the signing provider does not answer.',
  },
];

export const PANELS: readonly Panel[] = [
  {
    title: 'Requests by status',
    unit: 'reqps',
    queries: [['{{status}}', 'sum by (status) (rate(bellwether_http_request_duration_seconds_count[5m]))']],
  },
  {
    title: 'Latency, slowest hundredth',
    unit: 's',
    queries: [
      [
        'trades',
        'histogram_quantile(0.99, sum by (le) (rate(bellwether_http_request_duration_seconds_bucket{route=~".*/markets/trade"}[5m])))',
      ],
      ['all requests', p99('bellwether_http_request_duration_seconds')],
      ['commits', p99('bellwether_commit_duration_seconds')],
    ],
  },
  {
    title: 'Refusals by code',
    unit: 'reqps',
    queries: [['{{code}}', 'sum by (code) (rate(bellwether_refusals_total[5m]))']],
  },
  {
    title: 'Refusals of venues',
    unit: 'reqps',
    queries: [['{{trading}} {{code}}', 'sum by (trading, code) (rate(bellwether_venue_refusals_total[5m]))']],
  },
  {
    title: 'External calls without an answer',
    unit: 'reqps',
    queries: [
      [
        '{{service}} {{reason}}',
        'sum by (service, reason) (rate(bellwether_external_call_failures_total[5m]))',
      ],
    ],
  },
  {
    title: 'Orders in doubt',
    unit: 'short',
    queries: [
      ['orders', 'max(bellwether_orders_in_doubt)'],
      ['age of the oldest, s', 'max(bellwether_oldest_doubt_seconds)'],
    ],
  },
  {
    title: 'Venues and lead',
    unit: 'short',
    queries: [
      ['{{venue}} ready on {{instance}}', 'bellwether_venue_ready'],
      ['{{instance}} leads', 'bellwether_exchange_leads'],
      ['{{venue}} {{what}}', 'bellwether_venue_count'],
    ],
  },
  {
    title: 'Under way',
    unit: 'short',
    queries: [['{{what}} on {{instance}}', 'bellwether_in_flight']],
  },
  {
    title: 'Turned away',
    unit: 'reqps',
    queries: [['{{instance}}', 'rate(bellwether_shed_total[5m])']],
  },
  { title: 'Queues', unit: 'short', queries: [['{{queue}}', 'max by (queue) (bellwether_queue_depth)']] },
  {
    title: 'Jobs',
    unit: 's',
    queries: [
      ['{{job}}: since it was done', 'time() - max by (job) (bellwether_job_last_success_timestamp_seconds)'],
      ['{{job}}: its last turn', 'max by (job) (bellwether_job_turn_seconds)'],
      ['{{job}}: failures', 'sum by (job) (increase(bellwether_job_failures_total[15m]))'],
    ],
  },
  {
    title: 'Event loop',
    unit: 's',
    queries: [
      ['p99 on {{instance}}', 'nodejs_eventloop_lag_p99_seconds'],
      ['longest on {{instance}}', 'nodejs_eventloop_lag_max_seconds'],
    ],
  },
  {
    title: 'Memory',
    unit: 'bytes',
    queries: [
      ['resident on {{instance}}', 'process_resident_memory_bytes'],
      ['heap on {{instance}}', 'nodejs_heap_size_used_bytes'],
    ],
  },
];

/** The metrics that a query reads. */
export const metricsIn = (promql: string): readonly string[] => [
  ...new Set(promql.match(/\b(bellwether|nodejs|process)_\w+/g) ?? []),
];
