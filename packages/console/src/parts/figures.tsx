/** How figures, times and states read. */

const MONEY = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const SHARES = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });
/** Ticks go down to a ten-thousandth. */
const PRICE = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 4 });
const PRECISE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });
const WHEN = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const WHEN_SHORT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

type Figure = number | string | null | undefined;
const numberOf = (value: Figure): number | null =>
  value === null || value === undefined || value === '' || !Number.isFinite(Number(value))
    ? null
    : Number(value);

const NONE = '—';

export function money(value: Figure): string {
  const number = numberOf(value);
  return number === null ? NONE : MONEY.format(number);
}

/** A number of shares. */
export function shares(value: Figure): string {
  const number = numberOf(value);
  return number === null ? NONE : SHARES.format(number);
}

/** Many shares in little room: without the parts of a share that say nothing there. */
export function roundShares(value: Figure): string {
  const number = numberOf(value);
  return shares(number !== null && number >= 100 ? Math.round(number) : number);
}

/** Collateral for a share, and fees, which may be parts of a cent. */
export function price(value: Figure): string {
  const number = numberOf(value);
  return number === null ? NONE : PRICE.format(number);
}

/** Every digit that the desk keeps: for receipts and checks. */
export function precise(value: Figure): string {
  const number = numberOf(value);
  return number === null ? NONE : PRECISE.format(number);
}

/** With its sign: gains and losses are distinguished without colour. */
export function signed(value: Figure): string {
  const number = numberOf(value);
  if (number === null) return NONE;
  const text = MONEY.format(Math.abs(number));
  if (Number(text.replaceAll(',', '')) === 0) return text;
  return number < 0 ? `−${text}` : `+${text}`;
}

/** What rounds to nothing is neither a gain nor a loss. */
export const Gain = ({ value }: { readonly value: Figure }) => {
  const text = signed(value);
  return <span class={text.startsWith('−') ? 'loss' : text.startsWith('+') ? 'gain' : ''}>{text}</span>;
};

/** ISO 8601, or milliseconds since 1970 as text or number. */
export function timeOf(value: string | number | null | undefined): Date | null {
  if (value === null || value === undefined || value === '') return null;
  const date = new Date(typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value);
  return Number.isNaN(date.getTime()) ? null : date;
}

export const Time = ({
  at,
  short = false,
}: {
  readonly at: string | number | null | undefined;
  readonly short?: boolean;
}) => {
  const date = timeOf(at);
  if (date === null) return <span>{NONE}</span>;
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()}>
      {(short ? WHEN_SHORT : WHEN).format(date)}
    </time>
  );
};

export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NONE;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = seconds / 60;
  if (minutes < 120) return `${Math.round(minutes)} min`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} days`;
}

/** Ids are long: their ends tell them apart, and the whole is in the title. */
export const Id = ({ id }: { readonly id: string }) => (
  <span class="code" title={id}>
    {id.length <= 16 ? id : `${id.slice(0, 8)}…${id.slice(-6)}`}
  </span>
);

const PLAIN_NAMES: Readonly<Record<string, string | undefined>> = { YES: 'yes', NO: 'no' };
const NAME_CHARS = 100;

/** A side, with the venue's name of it where that says more: words of strangers, so in quotes, and cut. */
export function outcomeWords(outcome: string, name: string | null | undefined): string {
  const shown = [...(name ?? '').trim()];
  if (shown.length === 0 || shown.join('').toLowerCase() === PLAIN_NAMES[outcome]) return outcome;
  return `${outcome} “${shown.slice(0, NAME_CHARS).join('')}${shown.length > NAME_CHARS ? '…' : ''}”`;
}
