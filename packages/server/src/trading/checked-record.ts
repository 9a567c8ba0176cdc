/** Figures by which an order was judged, as the wire and receipts show them: [limit, used, asked] of each safeguard, as texts. */
import type { CapName } from '@bellwether/contract';
import type { Checked } from '../domain/records.ts';
import { figureText } from '../domain/safeguards.ts';

export const checkedRecord = ({ approval, ...figures }: Checked): Record<string, string[]> => ({
  ...Object.fromEntries(
    Object.entries(figures).map(([name, values]) => [
      name,
      values.map((value) => figureText(name as CapName, value)),
    ]),
  ),
  ...(approval === undefined ? {} : { approval: [...approval] }),
});
