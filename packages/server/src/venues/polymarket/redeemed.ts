/**
 * Which tokens an account has redeemed, as the Data API lists its activity: one row for each outcome of a redemption. A
 * row is proof, because it comes from a block; a balance that vanished is none, for tokens can be sent elsewhere. In Protocol V2
 * a redemption names its amount, so that one transaction may have several rows of a token.
 */
import type { Address } from '@bellwether/protocol';
import type { RedeemedTokens, Redemption } from '../venue.ts';
import type { VenueHttp } from './http.ts';
import { nextOf } from './paging.ts';
import { conditionOf, microOf } from './translate-market.ts';
import { READ } from './wire.ts';

/** The most that one question may name. */
const CONDITIONS_PER_QUESTION = 20;
const ROWS_PER_PAGE = 1_000;
const MAX_PAGES = 20;
const PATH = '/v2/activity';
const SECOND_MS = 1_000;

export function createRedeemedReads(
  data: Pick<VenueHttp, 'read' | 'lists'>,
): NonNullable<Redemption['redeemed']> {
  const rowsOf = (account: Address, conditionIds: readonly string[]): Promise<readonly Numbered[]> =>
    data.lists.all<Numbered>({
      name: PATH,
      whose: account,
      mostPages: MAX_PAGES,
      // Rows have no id; {@link addedUp} knows which repeat another.
      idOf: () => null,
      async ask(cursor) {
        // With a cursor the same filters are sent again.
        const condition = conditionIds.join(',');
        const query = { user: account, type: 'REDEEM', condition, limit: ROWS_PER_PAGE, cursor };
        const page = await data.read({ path: PATH, query }, READ.dataPage);
        return { rows: numbered(page?.data ?? []), next: nextOf(page?.pagination?.next_cursor) };
      },
    });

  return async (account, conditionIds) => {
    const rows: Numbered[] = [];
    for (let start = 0; start < conditionIds.length; start += CONDITIONS_PER_QUESTION)
      rows.push(...(await rowsOf(account, conditionIds.slice(start, start + CONDITIONS_PER_QUESTION))));
    return addedUp(rows, account, new Set(conditionIds));
  };
}

type Activity = NonNullable<ReturnType<typeof READ.activity>>;

interface Numbered {
  readonly wire: Activity;
  /** What it says, and how many that say the same stand before it on its page. */
  readonly key: string;
}

/** Pages may overlap, and rows have no id. Within one page no row comes twice: what is alike there is as many redemptions. */
function numbered(rows: readonly unknown[]): Numbered[] {
  const counts = new Map<string, number>();
  return rows.flatMap((row) => {
    const wire = READ.activity(row);
    if (wire === null) return [];
    const { token_id: tokenId, timestamp, transaction_hash: hash, size } = wire;
    const text = `${hash ?? timestamp} ${tokenId} ${microOf(size)}`;
    const nth = counts.get(text) ?? 0;
    counts.set(text, nth + 1);
    return [{ wire, key: `${text} ${nth}` }];
  });
}

/** Of rows that could be one, on two pages, one counts: a row too many would close a position. */
function addedUp(rows: readonly Numbered[], account: Address, wanted: ReadonlySet<string>): RedeemedTokens[] {
  const seen = new Set<string>();
  const tokens = new Map<string, RedeemedTokens>();
  for (const { wire, key } of rows) {
    // The filters are checked again.
    if (wire.type !== 'REDEEM' || wire.proxy_wallet.toLowerCase() !== account) continue;
    if (!/^0x[0-9a-fA-F]+$/.test(wire.condition_id) || !wanted.has(conditionOf(wire.condition_id))) continue;
    if (seen.has(key)) continue;
    seen.add(key);
    const { token_id: tokenId, timestamp } = wire;
    const before = tokens.get(tokenId) ?? { tokenId, size: 0n, at: 0 };
    const at = Math.max(before.at, timestamp * SECOND_MS);
    tokens.set(tokenId, { tokenId, size: before.size + microOf(wire.size), at });
  }
  return [...tokens.values()];
}
