/** The files that Prometheus and Grafana read, from the list of alerts and panels. */
import { stringify } from 'yaml';
import { ALERTS, PANELS, type Panel } from './alerts.ts';

const NOTE = 'Generated from scripts/ops/alerts.ts by node scripts/generate-ops.ts: do not edit.';

const prometheusRules = (): string =>
  `# ${NOTE}\n${stringify(
    {
      groups: [
        {
          name: 'bellwether',
          rules: ALERTS.map(({ name, when, severity, means, todo, ...rest }) => ({
            alert: name,
            expr: when,
            for: rest.for,
            labels: { severity },
            annotations: { summary: means, description: todo },
          })),
        },
      ],
    },
    { lineWidth: 0 },
  )}`;

const COLUMNS = 2;
const WIDTH = 24 / COLUMNS;
const HEIGHT = 8;
const SOURCE = { type: 'prometheus', uid: '$source' };

const panelOf = ({ title, unit, queries }: Panel, n: number) => ({
  id: n + 1,
  title,
  type: 'timeseries',
  datasource: SOURCE,
  gridPos: { x: (n % COLUMNS) * WIDTH, y: Math.floor(n / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT },
  fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
  options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
  targets: queries.map(([legendFormat, expr], i) => ({
    refId: String.fromCharCode(65 + i),
    datasource: SOURCE,
    expr,
    legendFormat,
  })),
});

const dashboard = (): string =>
  `${JSON.stringify(
    {
      uid: 'bellwether',
      title: 'Bellwether',
      description: NOTE,
      schemaVersion: 39,
      editable: true,
      refresh: '30s',
      time: { from: 'now-3h', to: 'now' },
      templating: {
        list: [{ name: 'source', type: 'datasource', query: 'prometheus', label: 'Prometheus' }],
      },
      panels: PANELS.map(panelOf),
    },
    null,
    2,
  )}\n`;

/** By path in the repository. */
export const OPS_FILES: Readonly<Record<string, () => string>> = {
  'ops/prometheus-rules.yaml': prometheusRules,
  'ops/dashboard.json': dashboard,
};
