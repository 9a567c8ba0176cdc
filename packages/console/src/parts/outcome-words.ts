/** How an outcome reads. */

const PLAIN_NAMES: Readonly<Record<string, string | undefined>> = { YES: 'yes', NO: 'no' };
const NAME_CHARS = 100;

/** A side, with the venue's name of it where that says more: words of strangers, so in quotes, and cut. */
export function outcomeWords(outcome: string, name: string | null | undefined): string {
  const shown = [...(name ?? '').trim()];
  if (shown.length === 0 || shown.join('').toLowerCase() === PLAIN_NAMES[outcome]) return outcome;
  return `${outcome} “${shown.slice(0, NAME_CHARS).join('')}${shown.length > NAME_CHARS ? '…' : ''}”`;
}
