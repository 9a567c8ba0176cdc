/** Acts that only a person may do: at a terminal, by the passphrase of the keys, typed there and found nowhere else. */
import { hasKeys, readKeys } from './keys.ts';
import { KeystoreError } from './keystore-error.ts';
import { askHidden, ownTerminal, type Terminal } from './passphrase.ts';
import type { DeskPlace } from './place.ts';

/**
 * @param what the sentence's beginning, such as "The spending limit is raised"
 * @returns the passphrase that was typed; `null` where there is no keystore whose passphrase could be
 * @throws KeystoreError `person_required`, `passphrase_wrong`
 * @example
 * await requirePerson(place, 'A higher limit');
 */
export async function requirePerson(
  place: DeskPlace,
  what: string,
  terminal: Terminal | undefined = ownTerminal(),
): Promise<string | null> {
  if (terminal === undefined)
    throw new KeystoreError(
      'person_required',
      `${what} by a person at a terminal alone.`,
      'Run the command yourself in a terminal, and type the passphrase of the keys there: the environment does not count.',
    );
  if (!hasKeys(place))
    throw new KeystoreError(
      'person_required',
      `${what} with the passphrase of the keys, and there is no keystore for ${place.url}.`,
      'Make one first: bellwether init, or bellwether-mcp init, without keys in the environment.',
    );
  const passphrase = await askHidden(terminal, 'Passphrase: ');
  await readKeys(place, passphrase);
  return passphrase;
}
