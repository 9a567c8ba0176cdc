/** The tables of docs/routes.md. */
import { microToNumber, parseMicro, parsePips } from '@bellwether/contract/decimals';
import { FEE_HUNDREDTHS, venueFee } from '../../packages/sandbox/src/dflow/pricing.ts';
import { readConfig } from '../../packages/server/src/config.ts';
import { table } from './markdown.ts';
import { OPERATIONS, routeOf } from './operations.ts';

export const routesTable = (): string =>
  table(
    ['Route', 'Key', 'What it does'],
    OPERATIONS.map((operation) => [
      `\`${routeOf(operation)}\``,
      operation.permission === 'public' ? '–' : 'yes',
      operation.summary,
    ]),
  );

const factor = (hundredths: bigint): string => (Number(hundredths) / 100).toFixed(2);

/** What a trade on venue B costs beside its price, with the figures of the code that takes it on paper. */
export function quotedFees(): string {
  const { maxCharge } = readConfig({}).fees;
  const example = venueFee([{ price: parsePips('0.08'), size: parseMicro('11') }]);
  return table(
    ['Fee', 'How much', 'Who takes it', 'When'],
    [
      [
        'the venue’s',
        `${factor(FEE_HUNDREDTHS.exchange)} · c · p(1−p), rounded up to a cent over the whole order, and ${factor(FEE_HUNDREDTHS.dflow)} · c · p(1−p), rounded up to a millionth, for c contracts at the price p: ${microToNumber(example)} for 11 contracts at 0.08. A live venue has a schedule of its own, which depends on volume; the amounts of the quote are what holds`,
        'the exchange and DFlow',
        'at the fill, within the quoted amounts: a BUY spends at most its `amount` with the fee in it, and what is left comes back; a SELL pays out its proceeds less the fee. An order that is reverted pays none, a redemption neither',
      ],
      [
        'the platform’s',
        `what the agent says, typically 1% of the order amount, and at most ${maxCharge} collateral a call (\`MAX_FEE_CHARGE\`)`,
        'the operator’s fee wallet (`feeWallet` of `GET /venueb/agent/delegation`), by the delegation that the wallet granted',
        'never by itself: the agent calls `POST /venueb/agent/charge-fee` after a successful trade. It is no part of the quote',
      ],
      [
        'Solana’s',
        'lamports for signatures and priority, and the rent of token accounts that the transaction opens',
        'the chain, from the wallet’s SOL',
        'when the transaction lands, also if it fails there',
      ],
    ],
  );
}
