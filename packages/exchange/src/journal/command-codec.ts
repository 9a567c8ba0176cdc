/** Converts commands to JSON texts and back. Amounts are decimal strings, recognised by the field's name. */
import type { PublicCommand } from '../world/types.ts';

/**
 * A journalled command. `speed` in thousandths; with a step only when it changes. `slots`: their number in the plan of
 * the world's founding; absent for the first plan. `boundedSweeps`: from this command on; absent before that release.
 */
export type JournalCommand =
  | PublicCommand
  | {
      readonly kind: 'begin';
      readonly seed: string;
      readonly speed: number;
      readonly slots?: number;
      readonly boundedSweeps?: true;
    }
  | { readonly kind: 'step'; readonly speed?: number; readonly boundedSweeps?: true }
  | { readonly kind: 'sweep' };

/**
 * The same command with its amounts as texts: JSON without a callback for every part is several times as fast, and a
 * recovery reads thousands of commands.
 */
export function encodeCommand(command: JournalCommand): string {
  switch (command.kind) {
    case 'place': {
      const { size, spend, ...order } = command.order;
      const amounts = spend === undefined ? { size: text(size) } : { size: text(size), spend: text(spend) };
      return JSON.stringify({ kind: 'place', order: { ...order, ...amounts } });
    }
    case 'deposit':
    case 'split':
    case 'merge':
      return JSON.stringify({ ...command, amount: text(command.amount) });
    default:
      return JSON.stringify(command);
  }
}

export function decodeCommand(line: string): JournalCommand {
  const command = JSON.parse(line) as Read;
  if (command.kind === 'place') {
    const { order } = command;
    order.size = BigInt(order.size);
    if (order.spend !== undefined) order.spend = BigInt(order.spend);
  } else if (command.amount !== undefined) command.amount = BigInt(command.amount);
  return command as JournalCommand;
}

/** As parsed: amounts are texts. */
type Read =
  | { readonly kind: 'place'; readonly order: { size: string | bigint; spend?: string | bigint } }
  | { readonly kind: Exclude<JournalCommand['kind'], 'place'>; amount?: string | bigint };

const text = (amount: bigint): string => amount.toString();
