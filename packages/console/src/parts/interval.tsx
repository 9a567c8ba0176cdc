/** One of a few words: how far back a plot goes, or in which order a list is. */
import type { EquityInterval } from '@bellwether/contract';

const INTERVALS: readonly (readonly [EquityInterval, string])[] = [
  ['1d', 'Day'],
  ['1w', 'Week'],
  ['1m', 'Month'],
  ['1y', 'Year'],
];

interface ChoiceProps<Value extends string> {
  readonly name: string;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

export const Interval = (props: ChoiceProps<EquityInterval>) => <Choices choices={INTERVALS} {...props} />;

export const Choices = <Value extends string>({
  name,
  choices,
  value,
  onChange,
}: ChoiceProps<Value> & { readonly choices: readonly (readonly [Value, string])[] }) => (
  <fieldset class="choices">
    <legend class="hidden">{name}</legend>
    {choices.map(([choice, label]) => (
      <button key={choice} type="button" aria-pressed={choice === value} onClick={() => onChange(choice)}>
        {label}
      </button>
    ))}
  </fieldset>
);
