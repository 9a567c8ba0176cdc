/**
 * Facts about the callers of trades beside figures: settings, key, owner, wallets and credentials. They change seldom,
 * so it is kept from group to group under the name of its state (functions/callers.sql). The name is read with each
 * group, after its locks: what was kept under it is what the database would answer.
 */
import { arrayOf } from '@bellwether/durable';
import type { Address } from '@bellwether/protocol';
import type { SettingsRow } from '../agents/index.ts';
import { type SettingsColumns, settingsRow } from '../agents/index.ts';
import { BoundedCache } from '../domain/bounded-cache.ts';
import type { Tx } from '../platform/database/connection.ts';
import type {
  AgentsRow,
  ApiKeysRow,
  CallersVersionRow,
  CredentialsRow,
} from '../platform/database/rows.generated.ts';
import { only } from '../platform/database/rows.ts';
import type { StandingQuestion, TradeScope } from './admission.ts';

export interface CallerQuestion extends StandingQuestion {
  readonly caller: { readonly agentId: string; readonly keyId: bigint };
  readonly wallets: readonly Address[];
  readonly quoteId?: string;
}

interface KeyRow extends SettingsColumns, Pick<AgentsRow, 'user_id'>, Pick<CallersVersionRow, 'version'> {
  /** From 1. */
  readonly nth: number;
  /** `null`: the key was deleted. */
  readonly status: ApiKeysRow['status'] | null;
  readonly claimed: boolean;
  /** The agent has traded with the wallet before. */
  readonly is_known: boolean;
  /** Locks of other owners bind the wallet. */
  readonly is_restricted: boolean;
  /** 0 where the agent has no limit for positions. */
  readonly position_value: bigint;
  readonly is_withdrawn: boolean;
}

/** A credential of the owner for one of the trade's wallets. */
type CredentialOf = Pick<CredentialsRow, 'wallet_address' | 'signature_type' | 'api_key_hash'> & {
  readonly is_reachable: boolean;
};

/** One row for each of the trade's credentials; without any, one in which they are null. */
type CallerRow = KeyRow & (CredentialOf | { readonly wallet_address: null });

/** `credentials`: those that the agent may use; `hasUnreachable`: its owner has others of the wallet. */
export interface CallerFacts extends Pick<TradeScope, 'credentials' | 'hasUnreachable'> {
  readonly key: KeyRow;
  readonly settings: SettingsRow;
}

/**
 * In the order of the questions; undefined for an agent that does not exist. Where the statement asks whether a row exists,
 * it selects the row: for `exists` the planner may read the whole table once instead of one row per trade.
 */
export async function readCallers(
  tx: Tx,
  questions: readonly CallerQuestion[],
): Promise<readonly (CallerFacts | undefined)[]> {
  const rows = await tx<CallerRow[]>`
    select t.nth::int as nth, (select version from callers_version) as version, s.*, k.status, a.user_id,
      a.claimed_at is not null as claimed,
      case when s.max_position_value is null then 0 else (
        select value from position_value(t.agent_id, t.funder, array[t.yes, t.no], t.condition_id)) end as position_value,
      (select true from agent_wallets w
        where w.agent_id = t.agent_id and w.address = t.funder and w.is_own and not w.lifted) is not null as is_known,
      (select true from restrictions_by(t.signer, t.agent_id) limit 1) is not null as is_restricted,
      t.quote_id <> '' and (
        select true from quotes q where q.quote_id = t.quote_id and q.withdrawn_at is not null) is not null as is_withdrawn,
      c.wallet_address, c.signature_type, c.api_key_hash, (
        select true from agent_wallets w where w.agent_id = t.agent_id and w.address = c.wallet_address
          and (w.is_own or w.granted)) is not null as is_reachable
    from unnest(${arrayOf('int8', questions, ({ caller }) => caller.keyId)},
        ${arrayOf('uuid', questions, ({ caller }) => caller.agentId)},
        ${arrayOf('text', questions, ({ funder }) => funder)}, ${arrayOf('text', questions, ({ signer }) => signer)},
        ${arrayOf('text', questions, ({ tokenIds }) => tokenIds[0])}, ${arrayOf('text', questions, ({ tokenIds }) => tokenIds[1])},
        ${arrayOf('text', questions, ({ conditionId }) => conditionId)},
        ${arrayOf('text', questions, ({ quoteId }) => quoteId ?? '')},
        ${arrayOf('text', questions, ({ wallets }) => `{${wallets}}`)})
      with ordinality as t(key_id, agent_id, funder, signer, yes, no, condition_id, quote_id, wallets, nth)
    join agents a on a.agent_id = t.agent_id
    join safeguards s on s.agent_id = t.agent_id
    left join api_keys k on k.id = t.key_id
    left join lateral (
      select wallet_address, signature_type, api_key_hash from credentials
      where wallet_address = any(t.wallets::text[]) and user_id = a.user_id) c on true`;
  const callers: (CallerFacts | undefined)[] = questions.map(() => undefined);
  for (const row of rows) callers[row.nth - 1] = withRow(callers[row.nth - 1], row);
  return callers;
}

function withRow(before: CallerFacts | undefined, row: CallerRow): CallerFacts {
  const facts = before ?? { key: row, settings: settingsRow(row), credentials: [], hasUnreachable: false };
  if (row.wallet_address === null) return facts;
  if (!row.is_reachable) return { ...facts, hasUnreachable: true };
  const { wallet_address: walletAddress, signature_type: signatureType, api_key_hash: apiKeyHash } = row;
  return { ...facts, credentials: [...facts.credentials, { walletAddress, signatureType, apiKeyHash }] };
}

const MOST_KNOWN = 10_000;

export class KnownCallers {
  readonly #known = new BoundedCache<CallerFacts>({
    entries: MOST_KNOWN,
    weight: MOST_KNOWN,
    weightOf: () => 1,
  });
  /** Read last. */
  #version = '';

  /**
   * The same as `readCallers`. To be issued behind the statement that locks the agents. A second trip is needed only where
   * something has changed since the last group.
   */
  async read(tx: Tx, questions: readonly CallerQuestion[]): Promise<readonly (CallerFacts | undefined)[]> {
    const known = questions.map((question) => this.#find(question));
    const unknown = questions.filter((_, at) => known[at] === undefined);
    const [current, asked] = await Promise.all([
      tx<Pick<CallersVersionRow, 'version'>[]>`select version from callers_version`,
      this.#ask(tx, unknown),
    ]);
    const { version } = only(current);
    this.#version = version;
    const isOutdated = (facts: CallerFacts | undefined): boolean =>
      facts !== undefined && facts.key.version !== version;
    const outdated = questions.filter((_, at) => isOutdated(known[at]));
    const first = asked.values();
    const again = (await this.#ask(tx, outdated)).values();
    return known.map((facts) => {
      if (facts === undefined) return first.next().value;
      return isOutdated(facts) ? again.next().value : facts;
    });
  }

  async #ask(tx: Tx, questions: readonly CallerQuestion[]): Promise<readonly (CallerFacts | undefined)[]> {
    if (questions.length === 0) return [];
    const callers = await readCallers(tx, questions);
    for (const [at, question] of questions.entries()) {
      const facts = callers[at];
      if (facts !== undefined && mayKeep(question, facts)) this.#known.set(nameOf(question), facts);
    }
    return callers;
  }

  #find(question: CallerQuestion): CallerFacts | undefined {
    if (question.quoteId !== undefined) return undefined;
    const facts = this.#known.get(nameOf(question));
    return facts?.key.version === this.#version ? facts : undefined;
  }
}

/** Figures of limits and withdrawals of quotes change under the same version. */
const mayKeep = ({ quoteId }: CallerQuestion, { settings }: CallerFacts): boolean =>
  quoteId === undefined && settings.maxPositionValue === null;

/** Everything of the question that the answer depends on, if it may be kept. */
const nameOf = ({ caller, funder, signer, wallets }: CallerQuestion): string =>
  `${caller.keyId} ${caller.agentId} ${funder} ${signer} ${wallets}`;
