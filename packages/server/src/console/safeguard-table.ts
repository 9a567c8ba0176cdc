/** The table of safeguards as data, from which a form can be made that knows every row. */
import { CAP_NAMES, CAPS, type CapName, type JudgedCap, type SafeguardRow } from '@bellwether/contract';
import { microToNumber } from '@bellwether/contract/decimals';
import { DEFAULT_SAFEGUARDS, meetsExits } from '../domain/safeguards.ts';

const MICRO_DECIMALS = 6;

function capRow(name: CapName): SafeguardRow {
  const { unit, minimum, maximum, optional, label, hint, denial } = CAPS[name];
  const initial = DEFAULT_SAFEGUARDS[name];
  const isCount = unit === 'count';
  return {
    name,
    kind: 'cap',
    unit,
    range: {
      minimum,
      exclusiveMinimum: !isCount,
      maximum,
      decimals: isCount ? 0 : MICRO_DECIMALS,
    },
    default: typeof initial === 'bigint' ? microToNumber(initial) : initial,
    isOptional: optional,
    lockable: true,
    label,
    explanation: hint,
    denial,
    bindsExits: denial !== null && meetsExits(name as JudgedCap),
  };
}

const CAPS_SWITCH: SafeguardRow = {
  name: 'tradeLimitEnabled',
  kind: 'switch',
  unit: null,
  range: null,
  default: DEFAULT_SAFEGUARDS.tradeLimitEnabled,
  isOptional: false,
  lockable: true,
  label: 'Caps apply',
  explanation:
    'Off lifts every cap, never the pause. While a cap is locked, the caps cannot be switched off.',
  denial: null,
  bindsExits: false,
};

const TABLE: readonly SafeguardRow[] = [...CAP_NAMES.map(capRow), CAPS_SWITCH];

/** In the order in which forms show them. */
export const safeguardTable = (): SafeguardRow[] => [...TABLE];
