/** How a violation names calls, orders and amounts, for a person who then looks at the history. */
import type { Call, Operation } from './history.ts';

const MICRO = 1_000_000n;

export const short = (id: string): string => (id.length > 12 ? `${id.slice(0, 10)}…` : id);

export function money(amount: bigint): string {
  const [sign, size] = amount < 0n ? ['-', -amount] : ['', amount];
  return `${sign}${size / MICRO}.${String(size % MICRO).padStart(6, '0')}`;
}

function subject(operation: Operation): string {
  if ('orderId' in operation) return ` ${short(operation.orderId)}`;
  if ('exitId' in operation) return ` ${short(operation.exitId)}`;
  if ('approvalId' in operation) return ` ${short(operation.approvalId)}`;
  if ('apiKey' in operation) return ` ${operation.apiKey}`;
  if ('name' in operation) return ` "${operation.name}"`;
  if ('market' in operation) return ` of ${short(operation.market)}`;
  return '';
}

function answered({ outcome }: Call): string {
  if (outcome.kind === 'refused') return `refused: ${outcome.code}`;
  if (outcome.kind === 'unknown') return `no answer: ${outcome.why}`;
  const { success, status, reason } = outcome.answer;
  const words = [success === false ? 'no' : 'ok', status, reason].filter((word) => word !== undefined);
  return words.join(', ');
}

export const named = (call: Call): string =>
  `call ${call.id} (${call.client}: ${call.operation.kind}${subject(call.operation)} → ${answered(call)})`;

/** At most a few of them, and how many more there are. */
export function list(items: readonly string[], most = 4): string {
  const rest = items.length - most;
  return items.slice(0, most).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** Sentence where a rule gives up: nothing is known to be broken, and nothing is proved. */
export const TOO_MANY = 'has too many calls without an answer';
export const isUnchecked = (sentence: string): boolean => sentence.includes(TOO_MANY);

/** "exits: 12 left, 7 sent, 1 failed" */
export const exitsText = (exits: ReadonlyMap<string, number>): string =>
  `exits: ${[...exits].map(([word, count]) => `${count} ${word.replaceAll('_', ' ')}`).join(', ')}`;
