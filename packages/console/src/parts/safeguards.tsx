/** The owner's limits of an agent, drawn from the desk's own table of safeguards: a new one appears without a change here. */
import type { OwnerAgentDetail, SafeguardRow } from '@bellwether/contract';
import { useId, useState } from 'preact/hooks';
import { useResource } from '../desk/live.ts';
import { send, sendWithPasskey, Trouble } from '../desk/session.ts';
import { money, precise } from './figures.tsx';
import { State, useAction } from './pieces.tsx';

type Value = number | boolean | null;
interface Draft {
  /** As typed; `null`: not touched. */
  readonly limit: string | boolean | null;
  readonly locked: boolean | null;
}
const UNTOUCHED: Draft = { limit: null, locked: null };

interface Present {
  readonly value: Value;
  readonly ceiling: Value | undefined;
}

function presentOf({ settings, lockedByOwner }: OwnerAgentDetail, name: string): Present {
  const value = (settings as Readonly<Record<string, unknown>>)[name] as Value | undefined;
  const ceiling = (lockedByOwner as Readonly<Record<string, unknown>>)[name] as Value | undefined;
  return { value: value ?? null, ceiling };
}

/** The first value of the form: the owner's ceiling where there is one. */
const limitOf = ({ value, ceiling }: Present): Value => ceiling ?? value;

/** @throws {Trouble} for a figure that is none, or out of range */
function figureOf({ label, range, isOptional }: SafeguardRow, text: string): number | null {
  if (text.trim() === '') {
    if (isOptional) return null;
    throw new Trouble(`${label}: enter a limit.`);
  }
  const figure = Number(text);
  if (!Number.isFinite(figure)) throw new Trouble(`${label}: enter a number.`);
  if (range === null) return figure;
  const { minimum, exclusiveMinimum, maximum, decimals } = range;
  if (figure > maximum || figure < minimum || (exclusiveMinimum && figure === minimum))
    throw new Trouble(
      `${label}: enter a number ${exclusiveMinimum ? 'above' : 'from'} ${precise(minimum)} to ${precise(maximum)}.`,
    );
  if (Number(figure.toFixed(decimals)) !== figure)
    throw new Trouble(
      `${label}: enter ${decimals === 0 ? 'a whole number' : `at most ${decimals} decimals`}.`,
    );
  return figure;
}

/** The change that a row would send; `null`: nothing was changed in it. @throws {Trouble} */
function changeOf(row: SafeguardRow, present: Present, { limit, locked }: Draft) {
  const wasLocked = present.ceiling !== undefined;
  const value = limit === null ? limitOf(present) : typeof limit === 'boolean' ? limit : figureOf(row, limit);
  const isLocked = locked ?? wasLocked;
  if (value === limitOf(present) && isLocked === wasLocked) return null;
  if (isLocked && value === null) throw new Trouble(`${row.label}: enter a limit before you lock it.`);
  return { limit: value, locked: isLocked };
}

/** Every fault at once. @throws {Trouble} */
function changesOf(
  rows: readonly SafeguardRow[],
  agent: OwnerAgentDetail,
  drafts: ReadonlyMap<string, Draft>,
) {
  const faults: string[] = [];
  const changes: Record<string, { limit: Value; locked: boolean }> = {};
  for (const row of rows) {
    try {
      const change = changeOf(row, presentOf(agent, row.name), drafts.get(row.name) ?? UNTOUCHED);
      if (change !== null) changes[row.name] = change;
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      faults.push(error.message);
    }
  }
  if (faults.length > 0) throw new Trouble(faults.join(' '));
  return changes;
}

interface RowProps {
  readonly row: SafeguardRow;
  readonly present: Present;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
}

/** Beside the label, in its line: it may come while the owner types below. */
function Lowered({ row, present: { value, ceiling } }: Pick<RowProps, 'row' | 'present'>) {
  if (typeof ceiling !== 'number' || typeof value !== 'number' || value >= ceiling) return null;
  return (
    <span class="note lowered">
      {' '}
      The agent has lowered it to {row.unit === 'collateral' ? money(value) : precise(value)}.
    </span>
  );
}

function Row({ row, present, draft, onDraft }: RowProps) {
  const id = useId();
  const shown = draft.limit ?? limitOf(present);
  const isLocked = draft.locked ?? present.ceiling !== undefined;
  const hint = (
    <p class="hint" id={`${id}-hint`}>
      {row.explanation}
    </p>
  );
  return (
    <div class="row" data-safeguard={row.name}>
      {row.kind === 'switch' ? (
        <div class="field check">
          <input
            id={id}
            type="checkbox"
            checked={shown === true}
            aria-describedby={`${id}-hint`}
            onInput={({ currentTarget }) => onDraft({ ...draft, limit: currentTarget.checked })}
          />
          <label for={id}>{row.label}</label>
          {hint}
        </div>
      ) : (
        <div class="field">
          <div class="labels">
            <label for={id}>{row.label}</label>
            <Lowered row={row} present={present} />
          </div>
          <input
            id={id}
            type="text"
            inputMode="decimal"
            autoComplete="off"
            value={shown === null ? '' : String(shown)}
            placeholder={row.isOptional ? 'no limit' : ''}
            aria-describedby={`${id}-hint`}
            onInput={({ currentTarget }) => onDraft({ ...draft, limit: currentTarget.value })}
          />
          {hint}
        </div>
      )}
      {row.lockable && (
        <label class="lock">
          <input
            type="checkbox"
            checked={isLocked}
            onInput={({ currentTarget }) => onDraft({ ...draft, locked: currentTarget.checked })}
          />{' '}
          <span>
            Lock<span class="hidden"> {row.label}</span>
          </span>
        </label>
      )}
    </div>
  );
}

export function Safeguards({
  agent,
  onDone,
}: {
  readonly agent: OwnerAgentDetail;
  readonly onDone: () => void;
}) {
  const table = useResource<readonly SafeguardRow[]>('/owner/safeguards');
  const [drafts, setDrafts] = useState<ReadonlyMap<string, Draft>>(new Map());
  const action = useAction();
  const rows = table.data;
  if (rows === null) return <State of={table} what="the safeguards" />;
  const save = async (): Promise<string> => {
    const changes = changesOf(rows, agent, drafts);
    if (Object.keys(changes).length === 0) return 'Nothing was changed.';
    await send(`/owner/agents/${agent.agentId}/safeguards`, changes);
    setDrafts(new Map());
    onDone();
    return 'The limits are saved. They hold from the next trade on.';
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(save);
      }}
    >
      <p class="hint">
        What you save holds for the next trade. A locked limit is a ceiling: the agent can go below it, never
        above. A locked silence is a floor: the agent can set more, never less.
      </p>
      <div class="limits">
        {rows.map((row) => (
          <Row
            key={row.name}
            row={row}
            present={presentOf(agent, row.name)}
            draft={drafts.get(row.name) ?? UNTOUCHED}
            onDraft={(draft) => setDrafts(new Map(drafts).set(row.name, draft))}
          />
        ))}
      </div>
      <div class="buttons sticky">
        <button type="button" disabled={drafts.size === 0} onClick={() => setDrafts(new Map())}>
          Discard what I typed
        </button>
        <button type="submit" class="primary" disabled={action.isClosed}>
          Save limits
        </button>
      </div>
    </form>
  );
}

// Whether limits stop exits: to change it takes the passkey, because it lets more of what is held be sold.

interface ExitRuleProps {
  readonly agent: OwnerAgentDetail;
  readonly onDone: () => void;
}

export function ExitRule({ agent, onDone }: ExitRuleProps) {
  const { capsBindExits, exitDistancePercent } = agent.settings;
  const [distance, setDistance] = useState(String(exitDistancePercent));
  const action = useAction();
  const path = `/owner/agents/${agent.agentId}/exit-rule`;
  const save = (binds: boolean) =>
    void action.run(async () => {
      const rule = { capsBindExits: binds, exitDistancePercent: Number(distance) };
      await sendWithPasskey(path, rule);
      onDone();
      return binds ? 'Limits stop exits again.' : 'Exits near the best bid pass the limits.';
    });
  return (
    <>
      <p>
        {capsBindExits
          ? 'A sale of what the agent holds counts against “Amount per trade” and “Trades per day”, and they can stop it.'
          : `A sale of what the agent holds passes “Amount per trade” and “Trades per day”, if it asks for no less than ${100 - exitDistancePercent} % of the best bid.`}
      </p>
      <label for={`exit-distance-${agent.agentId}`}>Percent below the best bid, 1 to 50</label>
      <input
        id={`exit-distance-${agent.agentId}`}
        type="text"
        inputMode="numeric"
        autoComplete="off"
        value={distance}
        onInput={({ currentTarget }) => setDistance(currentTarget.value)}
      />
      <p class="hint">
        The pause, “Ask me above” and what a former owner of a wallet has locked hold in any case.
      </p>
      <div class="buttons">
        {!capsBindExits && (
          <button type="button" disabled={action.isClosed} onClick={() => save(true)}>
            Let limits stop exits
          </button>
        )}
        <button type="button" class="primary" disabled={action.isClosed} onClick={() => save(false)}>
          {capsBindExits ? 'Let exits pass, with your passkey' : 'Change the distance, with your passkey'}
        </button>
      </div>
    </>
  );
}
