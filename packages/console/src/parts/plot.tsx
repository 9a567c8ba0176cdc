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

function seriesOf({ label, colour: name, marks = false, bars = false, stepped = false }: Line): uPlot.Series {
  const stroke = colour(name);
  if (bars) {
    const paths = uPlot.paths.bars?.({ size: [0.7, 40] });
    return { label, stroke, fill: stroke, points: { show: false }, ...(paths ? { paths } : {}) };
  }
  if (marks)
    return { label, stroke, paths: () => null, points: { show: true, size: 7, fill: stroke, stroke } };
  const paths = stepped ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  return { label, stroke, width: 2, spanGaps: true, points: { show: false }, ...(paths ? { paths } : {}) };
}

function axis(values?: uPlot.Axis['values'], size?: number): uPlot.Axis {
  const line = { stroke: colour('--line'), width: 1 };
  return {
    stroke: colour('--soft'),
    grid: line,
    ticks: line,
    ...(values === undefined ? {} : { values }),
    ...(size === undefined ? {} : { size }),
  };
}

const DAYS: uPlot.Axis['values'] = (_plot, splits) =>
  splits.map((at) =>
    new Date(at * 1000).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }),
  );

export function Plot(props: PlotProps) {
  const { times, lines, format, height = 220, days = false } = props;
  const box = useRef<HTMLDivElement>(null);
  const isDark = useStore(scheme);
  const plot = useRef<uPlot | null>(null);
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
        scales: { x: { time: true } },
        series: [{}, ...lines.map(seriesOf)],
        axes: [axis(days ? DAYS : undefined), axis((_plot, splits) => splits.map(format), 64)],
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
