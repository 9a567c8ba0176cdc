/** The last day of a value as a small curve; what it shows is said in words, too. */
import { signed } from './figures.tsx';

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
