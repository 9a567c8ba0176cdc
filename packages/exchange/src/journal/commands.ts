/**
 * The commands of the journal: as JSON texts and back, and which of their events are public. Amounts are decimal
 * strings, recognised by the field's name.
 */
import type { EngineCommand, EngineEvent, ReversedLeg } from '../engine/commands.ts';
import { HOUSE_PREFIX, isHouse } from '../world/house.ts';
import type { PublicCommand } from '../world/markets.ts';
import type { MirrorChange } from '../world/mirror.ts';
import type { V2Share } from '../world/slots.ts';

/**
 * A journalled command. `speed` in thousandths; with a step only when it changes. `slots`: their number in the plan of
 * the world's founding; absent for the first plan. `boundedSweeps`: from this command on; absent before that release; `derivedTokens` likewise.
 * `v2Share`: of the founding; absent where there are no markets of Protocol V2.
 */
export type JournalCommand =
  | PublicCommand
  | {
      readonly kind: 'begin';
      readonly seed: string;
      readonly speed: number;
      readonly slots?: number;
      readonly boundedSweeps?: true;
      readonly derivedTokens?: true;
      readonly v2Share?: V2Share;
    }
  | {
      readonly kind: 'step';
      readonly speed?: number;
      readonly boundedSweeps?: true;
      readonly derivedTokens?: true;
    }
  | { readonly kind: 'sweep' }
  | { readonly kind: 'mirror'; readonly changes: readonly MirrorChange[] }
  | Extract<EngineCommand, { readonly kind: 'reverse' }>;

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
    case 'convert':
      return JSON.stringify({ ...command, amount: text(command.amount) + NO_SHARES });
    case 'mirror':
    case 'reverse':
      return JSON.stringify(command, (_key, part: unknown) => (typeof part === 'bigint' ? text(part) : part));
    default:
      return JSON.stringify(command);
  }
}

/**
 * Releases before conversions pass over a command of an unknown kind. They cannot read this amount, so they do not lead an exchange
 * whose state they would compute otherwise.
 */
const NO_SHARES = ' NO';

/** The amounts of a change of a mirrored market, by name; a level's size is its third part. */
const AMOUNTS: ReadonlySet<string> = new Set(['size', 'minOrderSize', 'feeRate']);

function changeOf(read: MirrorChange): MirrorChange {
  if (read.kind === 'levels')
    return { ...read, levels: read.levels.map(([side, price, size]) => [side, price, BigInt(size)]) };
  const exact = (fields: object): object =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        name,
        AMOUNTS.has(name) ? BigInt(value as string) : value,
      ]),
    );
  if (read.kind === 'list') return { ...read, market: exact(read.market) as typeof read.market };
  if (read.kind === 'terms') return { ...read, terms: exact(read.terms) as typeof read.terms };
  return exact(read) as MirrorChange;
}

const legOf = ({ size, cost, fee, ...leg }: ReversedLeg): ReversedLeg => ({
  ...leg,
  ...{ size: BigInt(size), cost: BigInt(cost), fee: BigInt(fee) },
});

export function decodeCommand(line: string): JournalCommand {
  const command = JSON.parse(line) as Read;
  if (command.kind === 'place') {
    const { order } = command;
    order.size = BigInt(order.size);
    if (order.spend !== undefined) order.spend = BigInt(order.spend);
  } else if (command.kind === 'mirror') command.changes = command.changes.map(changeOf);
  else if (command.kind === 'reverse') command.legs = command.legs.map(legOf);
  else if (command.kind === 'convert') command.amount = BigInt(String(command.amount).replace(NO_SHARES, ''));
  else if (command.amount !== undefined) command.amount = BigInt(command.amount);
  return command as JournalCommand;
}

/** As parsed: amounts are texts. */
type Read =
  | { readonly kind: 'place'; readonly order: { size: string | bigint; spend?: string | bigint } }
  | { readonly kind: 'mirror'; changes: readonly MirrorChange[] }
  | { readonly kind: 'reverse'; legs: readonly ReversedLeg[] }
  | {
      readonly kind: Exclude<JournalCommand['kind'], 'place' | 'mirror' | 'reverse'>;
      amount?: string | bigint;
    };

const text = (amount: bigint): string => amount.toString();

// The public events of a command. Internal events of the house are omitted: the acceptance and end of its quotes, its
// deposits, merges and redemptions. Fills stay, also those between house accounts, because they are the market's public
// trades; so do all events of markets.

const isPublic = (event: EngineEvent): boolean => {
  if (event.kind === 'fill') return true;
  if ('account' in event) return !isHouse(event.account);
  if (event.kind === 'cancel_refused') return !event.orderId.startsWith(HOUSE_PREFIX);
  return true;
};

export const publicEvents = (events: readonly EngineEvent[]): EngineEvent[] => events.filter(isPublic);
