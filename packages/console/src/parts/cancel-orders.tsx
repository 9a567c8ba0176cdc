/** Takes what rests off the books, with one tap: a cancel only reduces, so nothing is asked. */
import type { CancelMarketResponse } from '@bellwether/contract';
import { send } from '../desk/call.ts';
import type { Action } from './pieces.tsx';

const orders = (count: number): string => (count === 1 ? 'one order' : `${count} orders`);

type Outcome = Pick<CancelMarketResponse, 'canceled' | 'notCanceled'>;

function outcomeOf({ canceled, notCanceled }: Outcome): string {
  const left = Object.values(notCanceled);
  const done = canceled.length === 0 ? 'No order was canceled.' : `Canceled ${orders(canceled.length)}.`;
  return left.length === 0
    ? done
    : `${done} Not canceled: ${orders(left.length)} (${[...new Set(left)].join('; ')}).`;
}

interface CancelOrdersProps {
  /** Names what is canceled, for a label. */
  readonly label: string;
  readonly path: string;
  readonly body?: { readonly orderId: string };
  /** Nothing can be canceled now; the button keeps its place. */
  readonly isNone?: boolean;
  readonly action: Action;
  readonly onDone: () => void;
}

export function CancelOrders({ label, path, body, isNone = false, action, onDone }: CancelOrdersProps) {
  const cancel = () =>
    void action
      .run(async () => {
        return outcomeOf(await send<Outcome>(path, body));
      })
      .then(onDone);
  return (
    <button type="button" class="stop" disabled={action.isBusy || isNone} onClick={cancel}>
      {label}
    </button>
  );
}
