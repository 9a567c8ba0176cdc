/** The JSON of markets and events with what is nested in them, put together from the texts of their records. */
import type { Directory, GammaEvent, GammaMarket } from './directory.ts';

export interface MarketShape {
  readonly withTags: boolean;
}

/** A market of its own, with its event inside. */
export function marketText(directory: Directory, market: GammaMarket, { withTags }: MarketShape): string {
  const event = directory.event(market.event);
  const fields = [listOf(directory, 'events', event === undefined ? [] : [event.record])];
  if (withTags) fields.push(listOf(directory, 'tags', market.event.tags));
  return extended(directory, market.record, fields);
}

export interface EventShape {
  readonly withMarkets: boolean;
  /** Whether closed markets of the event are among them. */
  readonly withClosed: boolean;
}

export function eventText(
  directory: Directory,
  event: GammaEvent,
  { withMarkets, withClosed }: EventShape,
): string {
  const fields = [listOf(directory, 'tags', event.listed.tags)];
  if (withMarkets) {
    const records = directory.marketsOf(event).map(({ record }) => record);
    const shown = withClosed ? records : records.filter(({ closed }) => !closed);
    fields.push(listOf(directory, 'markets', shown));
  }
  return extended(directory, event.record, fields);
}

/** The record's text with further fields at its end. */
const extended = (directory: Directory, record: object, fields: readonly string[]): string =>
  `${directory.textOf(record).slice(0, -1)},${fields.join(',')}}`;

const listOf = (directory: Directory, name: string, records: readonly object[]): string =>
  `"${name}":[${records.map((record) => directory.textOf(record)).join(',')}]`;
