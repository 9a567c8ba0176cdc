/**
 * How markets ended. One source is no proof: an outcome is believed when two of Gamma, the Data API and the CLOB say the
 * same and none says otherwise. A market that is proposed or disputed has no outcome yet, in none of them.
 */
import { MICRO } from '@bellwether/contract/decimals';
import { type Payout, paysOf } from '@bellwether/contract/positions';
import { BoundedCache } from '../../domain/bounded-cache.ts';
import type { VenueHttp } from './http.ts';
import { conditionOf, exactOf, type ListedMarket, proportionOf } from './translate-market.ts';
import { READ, type WireClobMarket, type WireResolution } from './wire.ts';

const CONDITIONS_PER_QUESTION = 20;
const OUTCOMES_KEPT = 50_000;
/** So many markets whose outcome is not known are asked about one by one in a turn. */
const MAX_SINGLE_QUESTIONS = 20;
const ASK_AGAIN_MS = 30_000;
const FINAL = 'resolved';
/** Two sources may round a part of a collateral differently. */
const SAME_WITHIN = MICRO / 10_000n;

type Ended = Pick<ListedMarket, 'saidPayout'> & {
  readonly record: Pick<ListedMarket['record'], 'conditionId' | 'tokenIds' | 'status' | 'isTurned'>;
};

export interface Resolutions {
  /** The outcomes that are proved, by condition id. Sources that do not answer prove nothing. Never throws. */
  of(markets: readonly Ended[]): Promise<ReadonlyMap<string, Payout>>;
}

export interface ResolutionSources {
  readonly data: VenueHttp;
  readonly clob: VenueHttp;
  /** How long a market without a proved outcome is not asked about again; half a minute when omitted. */
  readonly askAgainMs?: number;
}

export function createResolutions({ data, clob, askAgainMs = ASK_AGAIN_MS }: ResolutionSources): Resolutions {
  const proved = new BoundedCache<Payout>({
    entries: OUTCOMES_KEPT,
    weight: OUTCOMES_KEPT,
    weightOf: () => 1,
  });
  const askedAt = new BoundedCache<number>({
    entries: OUTCOMES_KEPT,
    weight: OUTCOMES_KEPT,
    weightOf: () => 1,
  });

  const fromData = async (markets: readonly Ended[]): Promise<Map<string, Payout>> => {
    const said = new Map<string, Payout>();
    const asked = new Map(markets.map((market) => [market.record.conditionId, market]));
    const page = await data
      .read({ path: '/v2/resolutions', query: { condition: [...asked.keys()].join(',') } }, READ.dataPage)
      .catch(() => null);
    for (const row of page?.data ?? []) {
      const wire = READ.resolution(row);
      const market = wire === null ? undefined : asked.get(conditionOf(wire.condition_id));
      const payout =
        wire === null || market === undefined ? null : payoutOfRow(wire, market.record.isTurned === true);
      if (market !== undefined && payout !== null) said.set(market.record.conditionId, payout);
    }
    return said;
  };
  const fromClob = async ({ record }: Ended): Promise<Payout | null> => {
    const path = `/markets/${record.conditionId}`;
    const wire = await clob.read({ path }, READ.clobMarket).catch(() => null);
    return wire === null ? null : payoutByWinner(wire, record.tokenIds);
  };

  const ask = async (markets: readonly Ended[]): Promise<void> => {
    const questions: Promise<Map<string, Payout>>[] = [];
    for (let start = 0; start < markets.length; start += CONDITIONS_PER_QUESTION)
      questions.push(fromData(markets.slice(start, start + CONDITIONS_PER_QUESTION)));
    const said = new Map((await Promise.all(questions)).flatMap((part) => [...part]));
    let singles = 0;
    await Promise.all(
      markets.map(async (market) => {
        const { conditionId } = market.record;
        const voices = voicesOf(said.get(conditionId) ?? null, market.saidPayout);
        const isHalfKnown = voices.filter((voice) => voice !== null).length === 1;
        if (isHalfKnown && singles++ < MAX_SINGLE_QUESTIONS) voices.push(await fromClob(market));
        const payout = agreed(voices);
        if (payout !== null) proved.set(conditionId, payout);
      }),
    );
  };

  return {
    async of(markets) {
      const now = performance.now();
      const unknown = markets.filter(
        ({ record: { conditionId, status } }) =>
          status !== 'open' &&
          proved.get(conditionId) === undefined &&
          now - (askedAt.get(conditionId) ?? Number.NEGATIVE_INFINITY) >= askAgainMs,
      );
      for (const { record } of unknown) askedAt.set(record.conditionId, now);
      if (unknown.length > 0) await ask(unknown);
      return new Map(
        markets.flatMap(({ record: { conditionId } }) => {
          const payout = proved.get(conditionId);
          return payout === undefined ? [] : [[conditionId, payout] as const];
        }),
      );
    },
  };
}

/** The Data API first: it has the chain's figures. A part that Gamma says may be a last price, so it only confirms. */
const voicesOf = (data: Payout | null, gamma: Payout | null): (Payout | null)[] => [
  data,
  gamma !== null && isPart(gamma) && (data === null || !isSame(data, gamma)) ? null : gamma,
];

/** Two voices that say the same, and none that says otherwise. */
export function agreed(voices: readonly (Payout | null)[]): Payout | null {
  const [first, ...others] = voices.filter((voice) => voice !== null);
  return first !== undefined && others.length > 0 && others.every((voice) => isSame(voice, first))
    ? first
    : null;
}

const isPart = (payout: Payout): boolean => payout.startsWith('0.');

function isSame(a: Payout, b: Payout): boolean {
  const apart = paysOf(a, 'YES') - paysOf(b, 'YES');
  return a === b || (isPart(a) && isPart(b) && apart <= SAME_WITHIN && apart >= -SAME_WITHIN);
}

function payoutOfRow({ status, payouts }: WireResolution, isTurned: boolean): Payout | null {
  if (status?.toLowerCase() !== FINAL || payouts == null) return null;
  return proportionOf(payouts.map(exactOf), isTurned);
}

function payoutByWinner(wire: WireClobMarket, [yes, no]: readonly [string, string]): Payout | null {
  if (wire.closed !== true) return null;
  const winners = wire.tokens.filter(({ winner }) => winner === true).map(({ token_id }) => token_id);
  if (winners.length === 0) return wire.is_50_50_outcome === true ? 'HALF' : null;
  if (winners.length > 1) return null;
  return winners[0] === yes ? 'YES' : winners[0] === no ? 'NO' : null;
}
