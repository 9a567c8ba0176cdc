/** How far back a plot goes. */
import type { EquityInterval } from '@bellwether/contract';

const CHOICES: readonly (readonly [EquityInterval, string])[] = [
  ['1d', 'Day'],
  ['1w', 'Week'],
  ['1m', 'Month'],
  ['1y', 'Year'],
];

interface IntervalProps {
  readonly name: string;
  readonly value: EquityInterval;
  readonly onChange: (value: EquityInterval) => void;
}

export const Interval = ({ name, value, onChange }: IntervalProps) => (
  <fieldset class="choices">
    <legend class="hidden">{name}</legend>
    {CHOICES.map(([interval, label]) => (
      <button
        key={interval}
        type="button"
        aria-pressed={interval === value}
        onClick={() => onChange(interval)}
      >
        {label}
      </button>
    ))}
  </fieldset>
);
