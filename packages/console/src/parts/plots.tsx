/** Equity over time, and profit and loss per day. */
import type { DayResult, EquitySeries } from '@bellwether/contract';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { createStore, useStore } from '../desk/session.ts';
import { money, signed } from './figures.tsx';

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

// Values over time. What the picture shows is also said in words, for those who cannot see it.

interface Line {
  readonly label: string;
  /** A colour of the style sheet. */
  readonly colour: '--accent' | '--go' | '--stop' | '--soft';
  readonly values: readonly (number | null)[];
  /** Marks without a line between them. */
  readonly marks?: boolean;
  readonly bars?: boolean;
  readonly stepped?: boolean;
}

interface PlotProps {
  readonly name: string;
  /** Milliseconds since 1970, ascending. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  readonly height?: number;
  /** Days on the axis, without times. */
  readonly days?: boolean;
  /** The span of the time axis; without it, the span of the values. In milliseconds since 1970. */
  readonly span?: readonly [number, number];
}

const dark = matchMedia('(prefers-color-scheme: dark)');
const scheme = createStore(dark.matches);
dark.addEventListener('change', () => scheme.set(dark.matches));

const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function spoken({ name, lines, format }: PlotProps): string {
  const parts = lines.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    const [first] = known;
    const last = known.at(-1);
    if (first === undefined || last === undefined) return `${label}: nothing yet`;
    const [low, high] = [Math.min(...known), Math.max(...known)];
    return `${label}: from ${format(first)} to ${format(last)}, lowest ${format(low)}, highest ${format(high)}`;
  });
  return `${name}. ${parts.join('. ')}.`;
}

/** One value makes no line. */
const isOne = (plot: uPlot, series: number): boolean =>
  (plot.data[series] ?? []).filter((value) => value !== null).length === 1;

/** Loaded after the figures: it is a third of the script. */
type Library = typeof uPlot;

function seriesOf(
  { paths }: Library,
  { label, colour: name, marks = false, bars = false, stepped = false }: Line,
): uPlot.Series {
  const stroke = colour(name);
  if (bars) {
    const drawn = paths.bars?.({ size: [0.7, 40] });
    return { label, stroke, fill: stroke, points: { show: false }, ...(drawn ? { paths: drawn } : {}) };
  }
  if (marks)
    return { label, stroke, paths: () => null, points: { show: true, size: 7, fill: stroke, stroke } };
  const drawn = stepped ? paths.stepped?.({ align: 1 }) : undefined;
  return {
    label,
    stroke,
    width: 2,
    spanGaps: true,
    points: { show: isOne, size: 6 },
    ...(drawn ? { paths: drawn } : {}),
  };
}

const FONT = '12px system-ui, sans-serif';
/** Pixels of a character and of the space around a label. */
const LABEL = { character: 7, around: 16 } as const;

function axis(more: Partial<uPlot.Axis> = {}): uPlot.Axis {
  const line = { stroke: colour('--line'), width: 1 };
  return { stroke: colour('--soft'), font: FONT, grid: line, ticks: line, ...more };
}

const valueAxis = (format: (value: number) => string): uPlot.Axis =>
  axis({
    values: (_plot, splits) => splits.map(format),
    size: (_plot, labels) =>
      LABEL.around + LABEL.character * Math.max(4, ...(labels ?? []).map((label) => label.length)),
  });

const DAY_S = 86_400;
const labels = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat('en-GB', options);
  return (at: number): string => format.format(at * 1000);
};
const AXIS_DAY = labels({ day: 'numeric', month: 'short' });
const AXIS_UTC_DAY = labels({ day: 'numeric', month: 'short', timeZone: 'UTC' });
const AXIS_TIME = labels({ hour: '2-digit', minute: '2-digit' });
const AXIS_SECOND = labels({ hour: '2-digit', minute: '2-digit', second: '2-digit' });

const timeAxis = (days: boolean): uPlot.Axis =>
  axis({
    values: (_plot, splits, _axis, _space, step) => {
      if (days) return splits.map(AXIS_UTC_DAY);
      return splits.map(step >= DAY_S ? AXIS_DAY : step < 60 ? AXIS_SECOND : AXIS_TIME);
    },
    space: 70,
  });

/** A span of nothing has no scale. */
const LEAST_SPAN_MS = 60_000;

/** In seconds, as the library counts. */
function spanOf(span: PlotProps['span'], from: number, to: number): [number, number] {
  const [start, end] = span ?? [from * 1000, to * 1000];
  return [Math.min(start, end - LEAST_SPAN_MS) / 1000, end / 1000];
}

export function Plot(props: PlotProps) {
  const { times, lines, format, height = 220, days = false, span } = props;
  const box = useRef<HTMLDivElement>(null);
  const isDark = useStore(scheme);
  const plot = useRef<uPlot | null>(null);
  const spanned = useRef(span);
  spanned.current = span;
  const shape = lines
    .map(({ label, colour: name, marks, bars }) => `${label}|${name}|${marks}|${bars}`)
    .join();
  const data = [times.map((at) => at / 1000), ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;

  const latest = useRef(data);
  latest.current = data;
  const [isMissing, setMissing] = useState(false);

  // Drawn anew for other lines or colours; new values go in below.
  useEffect(() => {
    let isLeft = false;
    let resized: ResizeObserver | null = null;
    const draw = ({ default: UPlot }: { readonly default: Library }) => {
      const element = box.current;
      if (isLeft || element === null) return;
      const drawn = new UPlot(
        {
          width: element.clientWidth,
          height,
          legend: { show: false },
          cursor: { y: false, drag: { x: false, y: false } },
          scales: { x: { time: true, range: (_plot, from, to) => spanOf(spanned.current, from, to) } },
          series: [{}, ...lines.map((line) => seriesOf(UPlot, line))],
          axes: [timeAxis(days), valueAxis(format)],
        },
        latest.current,
        element,
      );
      plot.current = drawn;
      resized = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height }));
      resized.observe(element);
    };
    import('uplot').then(draw, () => setMissing(true));
    return () => {
      isLeft = true;
      resized?.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape, isDark, height, days]);

  useEffect(() => plot.current?.setData(data), [props.times, props.lines]);

  return (
    <figure class="plot">
      {isMissing && <p class="note">The plot could not be loaded. Load the page again.</p>}
      <div ref={box} role="img" aria-label={spoken(props)} style={{ height: `${height}px` }} />
      {lines.length > 1 && (
        <figcaption class="legend">
          {lines.map(({ label, colour: name }) => (
            <span key={label} class={`key ${name.slice(2)}`}>
              {label}
            </span>
          ))}
        </figcaption>
      )}
    </figure>
  );
}

// The last day of a value as a small curve; what it shows is said in words, too.

const [WIDTH, HEIGHT, EDGE] = [100, 28, 3];

export function Sparkline({ name, values }: { readonly name: string; readonly values: readonly number[] }) {
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined) return <span class="note">no trade yet</span>;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const height = (value: number) =>
    high === low ? HEIGHT / 2 : HEIGHT - EDGE - ((value - low) / (high - low)) * (HEIGHT - 2 * EDGE);
  const points = values.map(
    (value, i) => `${((i / Math.max(1, values.length - 1)) * WIDTH).toFixed(1)},${height(value).toFixed(1)}`,
  );
  return (
    <svg
      class={`spark ${last > first ? 'gain' : last < first ? 'loss' : ''}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${name}: ${signed(last - first)} in 24 hours`}
    >
      <polyline points={points.join(' ')} />
    </svg>
  );
}
