/** `bellwether-mcp limit`: shows or sets what may be spent through this machine on a UTC day. For a person at a terminal. */
import { DecimalError, type Micro, parseMicro } from '@bellwether/contract/decimals';
import { type DeskPlace, KeystoreError, requirePerson, SpendingLimit } from '@bellwether/sdk/keystore';
import { money } from '../facts.ts';

const LARGEST: Micro = 1_000_000_000_000_000_000n;

function amountOf(text: string): Micro {
  let amount: Micro | null = null;
  try {
    amount = parseMicro(text);
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
  }
  // The limit itself has the bound of what the service takes.
  if (amount !== null && amount >= 0n && amount <= LARGEST) return amount;
  throw new KeystoreError(
    'limit_invalid',
    'That is no amount.',
    'Give collateral with at most 6 decimals, such as 200.',
  );
}

/** @param amount `null` shows the limit only */
export async function limit(
  place: DeskPlace,
  amount: string | null,
  say: (line: string) => void,
): Promise<void> {
  const spending = new SpendingLimit(place);
  const asked = amount === null ? null : amountOf(amount);
  if (asked !== null) await requirePerson(place, 'The spending limit is set');
  const standing = asked === null ? spending.standing() : spending.setLimit(asked);
  say(
    `Spending limit for ${place.url}: ${money(standing.limit)} a UTC day; ${money(standing.spent)} used on ${standing.day}, ${money(standing.left)} left.`,
  );
}
