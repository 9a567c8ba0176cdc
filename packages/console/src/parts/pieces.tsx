/** Pieces that many views are made of. */
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { Trouble, wordsOf } from '../desk/call.ts';
import type { Resource } from '../desk/resource.ts';

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
  if (trouble !== null)
    return (
      <div class="message error" role="alert">
        <p>
          {data === null ? '' : 'What you see may be old. '}
          {trouble}
        </p>
        <button type="button" onClick={reload}>
          Try again
        </button>
      </div>
    );
  return data === null ? <p class="note">Loading {what}…</p> : null;
}

interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly numeric?: boolean;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly none: string;
}

/** Wide ones scroll within themselves, by keyboard too. */
export function Table<Row>({ caption, rows, columns, keyOf, none }: TableProps<Row>) {
  if (rows.length === 0) return <p class="note">{none}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="scroll" aria-label={`Table: ${caption}`} tabIndex={0}>
      <table>
        <caption class="hidden">{caption}</caption>
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
            <tr key={keyOf(row)}>
              {columns.map(({ head, cell, numeric }) => (
                <td key={head} class={numeric ? 'numeric' : ''}>
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
  readonly said: { readonly text: string; readonly isError: boolean } | null;
  /** Does it once, however often it is pressed meanwhile; says what came of it, `null` nothing. */
  readonly run: (work: () => Promise<string | null>) => Promise<boolean>;
}

export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [said, setSaid] = useState<Action['said']>(null);
  const run = async (work: () => Promise<string | null>): Promise<boolean> => {
    if (isBusy) return false;
    setBusy(true);
    setSaid(null);
    try {
      const text = await work();
      setSaid(text === null ? null : { text, isError: false });
      return true;
    } catch (error) {
      if (!(error instanceof Trouble)) console.error(error);
      setSaid({ text: wordsOf(error), isError: true });
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, said, run };
}

export const Said = ({ said }: Pick<Action, 'said'>) => (
  <Message text={said?.text ?? null} isError={said?.isError ?? false} />
);
