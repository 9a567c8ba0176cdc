/** Values over time. What the picture shows is also said in words, for those who cannot see it. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { createStore, useStore } from '../desk/store.ts';

export interface Line {
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

function seriesOf({ label, colour: name, marks = false, bars = false, stepped = false }: Line): uPlot.Series {
  const stroke = colour(name);
  if (bars) {
    const paths = uPlot.paths.bars?.({ size: [0.7, 40] });
    return { label, stroke, fill: stroke, points: { show: false }, ...(paths ? { paths } : {}) };
  }
  if (marks)
    return { label, stroke, paths: () => null, points: { show: true, size: 7, fill: stroke, stroke } };
  const paths = stepped ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  return {
    label,
    stroke,
    width: 2,
    spanGaps: true,
    points: { show: isOne, size: 6 },
    ...(paths ? { paths } : {}),
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

  // Drawn anew for other lines or colours; new values go in below.
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const drawn = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: { x: { time: true, range: (_plot, from, to) => spanOf(spanned.current, from, to) } },
        series: [{}, ...lines.map(seriesOf)],
        axes: [timeAxis(days), valueAxis(format)],
      },
      data,
      element,
    );
    plot.current = drawn;
    const resized = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [shape, isDark, height, days]);

  useEffect(() => plot.current?.setData(data), [props.times, props.lines]);

  return (
    <figure class="plot">
      <div ref={box} role="img" aria-label={spoken(props)} />
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
