/** The table of safeguards in docs/limits.md, in the order of judgement. */
import { CAPS } from '@bellwether/contract';
import { formatMicro } from '@bellwether/contract/decimals';
import {
  CAPS_IN_ORDER,
  DEFAULT_SAFEGUARDS,
  meetsExits,
  meetsSplits,
} from '../../packages/server/src/domain/safeguards.ts';
import { table } from './markdown.ts';

const grouped = (figure: number): string => figure.toLocaleString('en-US');

const initial = (value: number | bigint | null): string =>
  value === null ? 'none' : typeof value === 'bigint' ? formatMicro(value) : grouped(value);

export const safeguardsTable = (): string =>
  table(
    [
      'Setting',
      'What it bounds',
      'Values',
      'Default',
      'Binds a SELL of what is held',
      'Binds a split',
      'Refused with',
    ],
    CAPS_IN_ORDER.map((name) => {
      const { label, unit, mayBeZero, maximum, optional, denial } = CAPS[name];
      const values = `${unit === 'count' ? 'integer, 0' : `collateral, ${mayBeZero ? '0' : 'above 0'}`} to ${grouped(maximum)}`;
      return [
        `\`${name}\``,
        label.toLowerCase(),
        optional ? `${values}, or \`null\`` : values,
        initial(DEFAULT_SAFEGUARDS[name]),
        meetsExits(name) ? 'yes' : 'no',
        meetsSplits(name) ? 'yes' : 'no',
        `\`${denial}\``,
      ];
    }),
  );
