/** Equity over time, and profit and loss per day. */
import type { DayResult, EquitySeries } from '@bellwether/contract';
import type { ComponentChildren } from 'preact';
import { money, signed } from './figures.tsx';
import { type Line, Plot } from './plot.tsx';

interface PlotPlaceProps {
  /** Of a lower plot. */
  readonly low?: boolean;
  readonly children: ComponentChildren;
}

/** As high as a plot, also before there is one. */
export const PlotPlace = ({ low = false, children }: PlotPlaceProps) => (
  <div class={`plot-place ${low ? 'low' : ''}`}>{children}</div>
);

interface EquityProps {
  readonly name: string;
  readonly series: EquitySeries;
  /** Trades to mark on the curve, in milliseconds since 1970. */
  readonly marks?: readonly { readonly at: number; readonly side: string }[];
}

/** The value that held at a time: it stays until the next point. */
function heldAt(
  { points }: EquitySeries,
  field: 'equity' | 'netDeposits',
  times: readonly number[],
): readonly (number | null)[] {
  let next = 0;
  let held = points[0]?.[field] ?? null;
  return times.map((at) => {
    for (; next < points.length; next++) {
      const point = points[next];
      if (point === undefined || point.t * 1000 > at) break;
      held = point[field];
    }
    return held;
  });
}

export function Equity({ name, series, marks = [] }: EquityProps) {
  const { points } = series;
  if (points.length === 0)
    return <p class="note">Nothing is recorded yet: the curve begins with the first trade.</p>;
  const [first, last] = [points[0], points.at(-1)];
  const within = marks.filter(
    ({ at }) => first !== undefined && at >= first.t * 1000 - series.stepSeconds * 1000,
  );
  const times = [
    ...new Set([
      ...points.map(({ t }) => t * 1000),
      ...within.map(({ at }) => at),
      ...(points.length > 1 ? [Date.parse(series.to)] : []),
    ]),
  ].sort((a, b) => a - b);
  const equity = heldAt(series, 'equity', times);
  const markLine = (label: string, colour: Line['colour'], side: string): Line => {
    const at = new Set(within.filter((mark) => mark.side === side).map((mark) => mark.at));
    return {
      label,
      colour,
      marks: true,
      values: times.map((time, i) => (at.has(time) ? (equity[i] ?? null) : null)),
    };
  };
  const lines: Line[] = [
    { label: 'Equity', colour: '--accent', values: equity, stepped: true },
    {
      label: 'Paid in',
      colour: '--soft',
      values: heldAt(series, 'netDeposits', times),
      stepped: true,
    },
    ...(marks.length === 0 ? [] : [markLine('Bought', '--go', 'BUY'), markLine('Sold', '--stop', 'SELL')]),
  ];
  return (
    <>
      <Plot
        name={name}
        times={times}
        lines={lines}
        format={money}
        span={[
          first === undefined ? Date.parse(series.from) : Math.max(Date.parse(series.from), first.t * 1000),
          Date.parse(series.to),
        ]}
      />
      {last !== undefined && (
        <p class="note">
          Now {money(last.equity)}, of which {money(last.netDeposits)} was paid in:{' '}
          {signed(last.equity - last.netDeposits)}.
        </p>
      )}
    </>
  );
}

export function Days({ name, days }: { readonly name: string; readonly days: readonly DayResult[] }) {
  if (days.every(({ net, fees }) => net === 0 && fees === 0))
    return <p class="note">No profit or loss was realised in the last 30 days.</p>;
  const times = days.map(({ day }) => Date.parse(`${day}T00:00:00Z`));
  const [half, start = 0, end = 0] = [12 * 3_600_000, times[0], times.at(-1)];
  const span = [start - half, end + half] as const;
  const bar = (label: string, colour: Line['colour'], keeps: (net: number) => boolean): Line => ({
    label,
    colour,
    bars: true,
    values: days.map(({ net }) => (keeps(net) ? net : null)),
  });
  const lines = [bar('Profit', '--go', (net) => net >= 0), bar('Loss', '--stop', (net) => net < 0)];
  return <Plot name={name} times={times} lines={lines} format={signed} height={160} span={span} days />;
}
