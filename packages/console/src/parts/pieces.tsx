/** Pieces that many views are made of. */

import type { EquityInterval } from '@bellwether/contract';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Resource } from '../desk/live.ts';
import { route } from '../desk/router.tsx';
import { createStore, Trouble, useRecoveryDay, useStore, wordsOf } from '../desk/session.ts';

export const Badge = ({
  kind = '',
  children,
}: {
  readonly kind?: 'go' | 'stop' | 'warn' | '';
  readonly children: ComponentChildren;
}) => <span class={`badge ${kind}`}>{children}</span>;

interface CardProps {
  readonly title: string;
  /** Beside the title. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
}

export const Card = ({ title, aside, children, wide = false }: CardProps) => {
  const id = useId();
  return (
    <section class={`card ${wide ? 'wide' : ''}`} aria-labelledby={id}>
      <div class="head">
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
};

/** A figure in a list of figures. */
export const Tile = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** Words of strangers: shown as text, and marked as theirs. */
export const Untrusted = ({ from, children }: { readonly from: string; readonly children: string }) => (
  <figure class="quote">
    <figcaption>{from}</figcaption>
    <blockquote>{children}</blockquote>
  </figure>
);

export const Message = ({
  text,
  isError = false,
}: {
  readonly text: string | null;
  readonly isError?: boolean;
}) =>
  text === null ? null : (
    <p class={`message ${isError ? 'error' : ''}`} role={isError ? 'alert' : 'status'}>
      {text}
    </p>
  );

/** A placeholder until there is something to show, and the error when reading failed. */
export function State({
  of: { data, trouble, reload },
  what,
}: {
  readonly of: Resource<unknown>;
  readonly what: string;
}) {
  // Where something is shown, nothing moves for it.
  if (trouble !== null)
    return (
      <div class={data === null ? 'message error' : 'bar'} role="alert">
        <p>
          {data === null ? '' : 'What you see may be old. '}
          {trouble}
        </p>
        <button type="button" onClick={reload}>
          Try again
        </button>
      </div>
    );
  return data === null ? <p class="note loading">Loading {what}…</p> : null;
}

interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly numeric?: boolean;
  /** In two lines: its figure needs no name, or has no place. */
  readonly inLines?: 'plain' | 'none';
  /** Share of the width, 1 without one: a table's columns do not depend on what is in them, so they stand still. */
  readonly width?: number;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly none: string;
  /** Rows that are listed although they are not there any more. */
  readonly gone?: ReadonlySet<string>;
  /**
   * What it is on a phone. Rows are cards, each figure under its name; or cards of two lines: the first column and the last one, then
   * the figures between them; or it stays a table, of a few figures.
   */
  readonly phone?: 'cards' | 'lines' | 'table';
}

/** Wide ones scroll within themselves, by keyboard too. */
export function Table<Row>({ caption, rows, columns, keyOf, none, gone, phone = 'cards' }: TableProps<Row>) {
  if (rows.length === 0) return <p class="note">{none}</p>;
  const whole = columns.reduce((sum, { width = 1 }) => sum + width, 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="scroll" aria-label={`Table: ${caption}`} tabIndex={0}>
      <table class={phone}>
        <caption class="hidden">{caption}</caption>
        <colgroup>
          {columns.map(({ head, width = 1 }) => (
            <col key={head} style={`width: ${((width / whole) * 100).toFixed(2)}%`} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map(({ head, numeric }) => (
              <th key={head} scope="col" class={numeric ? 'numeric' : ''}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={gone?.has(keyOf(row)) ? 'gone' : ''}>
              {columns.map(({ head, cell, numeric, inLines = '' }) => (
                <td key={head} class={`${numeric ? 'numeric' : ''} ${inLines}`} data-head={head}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export const Facts = ({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="facts">
    {rows.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

export interface Action {
  readonly isBusy: boolean;
  /** It is busy, or this is the day after a recovery, on which the desk refuses what does not only reduce. */
  readonly isClosed: boolean;
  /** Does it once, however often it is pressed meanwhile; says beside what was pressed what came of it, `null` nothing. */
  readonly run: (work: () => Promise<string | null>) => Promise<boolean>;
  /** Takes back what it said, because that is over. */
  readonly withdraw: () => void;
}

export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const isRecovering = useRecoveryDay();
  const said = useRef<Spoken | null>(null);
  const run = async (work: () => Promise<string | null>): Promise<boolean> => {
    if (isBusy) return false;
    setBusy(true);
    say(null);
    const beside = document.activeElement;
    try {
      const text = await work();
      if (text !== null) {
        say(text, { beside });
        said.current = spoken.get();
      }
      return true;
    } catch (error) {
      if (!(error instanceof Trouble)) console.error(error);
      say(wordsOf(error), { isError: true, beside });
      return false;
    } finally {
      setBusy(false);
    }
  };
  const withdraw = () => {
    if (said.current !== null && spoken.get() === said.current) spoken.set(null);
  };
  return { isBusy, isClosed: isBusy || isRecovering, run, withdraw };
}

// One of a few words: how far back a plot goes, or in which order a list is.

const INTERVALS: readonly (readonly [EquityInterval, string])[] = [
  ['1d', 'Day'],
  ['1w', 'Week'],
  ['1m', 'Month'],
  ['1y', 'Year'],
];

interface ChoiceProps<Value extends string> {
  readonly name: string;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

export const Interval = (props: ChoiceProps<EquityInterval>) => <Choices choices={INTERVALS} {...props} />;

export const Choices = <Value extends string>({
  name,
  choices,
  value,
  onChange,
}: ChoiceProps<Value> & { readonly choices: readonly (readonly [Value, string])[] }) => (
  <fieldset class="choices">
    <legend class="hidden">{name}</legend>
    {choices.map(([choice, label]) => (
      <button key={choice} type="button" aria-pressed={choice === value} onClick={() => onChange(choice)}>
        {label}
      </button>
    ))}
  </fieldset>
);

// A question before something that adds risk; Escape and the backdrop's focus trap are the browser's own.

interface ConfirmProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly yes: string;
  readonly onYes: () => void;
  /** Another answer, which does less. */
  readonly less?: { readonly label: string; readonly onLess: () => void };
  readonly onNo: () => void;
}

export function Confirm({ title, children, yes, onYes, less, onNo }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next key press can arrive: an Escape that is pressed at once must reach the dialog.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onNo}>
      <h2 id={id}>{title}</h2>
      {children}
      <div class="buttons">
        <button type="button" onClick={onNo}>
          Cancel
        </button>
        {less !== undefined && (
          <button type="button" onClick={less.onLess}>
            {less.label}
          </button>
        )}
        <button type="button" class="primary" onClick={onYes}>
          {yes}
        </button>
      </div>
    </dialog>
  );
}

// What came of an act, beside what was pressed: on the screen wherever the page is scrolled, and nothing moves for it.

interface Spoken {
  readonly text: string;
  readonly isError: boolean;
  /** Where the pressed element was in the window, in pixels. */
  readonly at: { readonly top: number; readonly bottom: number; readonly middle: number } | null;
}

const spoken = createStore<Spoken | null>(null);
/** A success need not be kept for longer; a refusal stays until the next act. */
const SUCCESS_MS = 12_000;

/** @param beside the element that was pressed; without it, at the bottom of the window */
export function say(text: string | null, { isError = false, beside = null as Element | null } = {}): void {
  if (text === null) {
    spoken.set(null);
    return;
  }
  const box = beside?.isConnected ? beside.getBoundingClientRect() : null;
  const isSeen = box !== null && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
  spoken.set({
    text,
    isError,
    at: isSeen ? { top: box.top, bottom: box.bottom, middle: (box.left + box.right) / 2 } : null,
  });
}

const APART = 8;
const WIDTH = 352;
/** Below this width messages stand at the bottom, over the whole width: a style of their own. */
const NARROW = 640;

function placeOf({ at }: Spoken): string {
  if (at === null || innerWidth < NARROW) return '';
  const left = Math.max(APART, Math.min(innerWidth - WIDTH - 2 * APART, at.middle - WIDTH / 2));
  const vertical =
    at.bottom < innerHeight * 0.6
      ? `top: ${at.bottom + APART}px; bottom: auto`
      : `bottom: ${innerHeight - at.top + APART}px`;
  return `left: ${left}px; right: auto; width: ${WIDTH}px; ${vertical}`;
}

export function Toast() {
  const message = useStore(spoken);
  useEffect(() => route.watch(() => spoken.set(null)), []);
  useEffect(() => {
    if (message === null || message.isError) return;
    const timer = setTimeout(() => spoken.set(null), SUCCESS_MS);
    return () => clearTimeout(timer);
  }, [message]);
  if (message === null) return null;
  return (
    <div class={`toast message ${message.isError ? 'error' : ''}`} style={placeOf(message)}>
      <p role={message.isError ? 'alert' : 'status'}>{message.text}</p>
      <button type="button" class="quiet" onClick={() => spoken.set(null)}>
        Close<span class="hidden"> the message</span>
      </button>
    </div>
  );
}
