/** Order books of some tokens, as they move. A book that cannot be followed just now is not shown as if it could. */
import type { BookEventData, DeltaEventData } from '@bellwether/contract';
import { useEffect, useState } from 'preact/hooks';
import { openStream } from './stream.ts';

export interface Level {
  readonly price: number;
  readonly size: number;
}

export interface Book {
  /** Best first. */
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

type Sides = Record<'bids' | 'asks', Map<string, number>>;
type WireLevel = { readonly price: string; readonly size: string };

/** Books move faster than a person reads. */
const DRAW_EVERY_MS = 250;
const MOST_TOKENS = 50;

const whole = (levels: readonly WireLevel[]): Map<string, number> =>
  new Map(levels.map(({ price, size }) => [price, Number(size)]));

function change(side: Map<string, number>, levels: readonly WireLevel[]): void {
  for (const { price, size } of levels) {
    if (Number(size) === 0) side.delete(price);
    else side.set(price, Number(size));
  }
}

function sorted(side: Map<string, number>, best: 'highest' | 'lowest'): readonly Level[] {
  const levels = [...side].map(([price, size]) => ({ price: Number(price), size }));
  return levels.sort((a, b) => (best === 'highest' ? b.price - a.price : a.price - b.price));
}

export const middleOf = ({ bids, asks }: Book): number | null => {
  const [bid, ask] = [bids[0]?.price, asks[0]?.price];
  // The middle of a crossed book is no price.
  return bid === undefined || ask === undefined || ask <= bid ? null : (bid + ask) / 2;
};

/** By token id. */
export function useBooks(tokens: readonly string[]): ReadonlyMap<string, Book> {
  const [books, setBooks] = useState<ReadonlyMap<string, Book>>(new Map());
  const asked = [...new Set(tokens)].sort().slice(0, MOST_TOKENS).join(',');

  useEffect(() => {
    setBooks(new Map());
    if (asked === '') return;
    const held = new Map<string, Sides>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setBooks(
          new Map(
            [...held].map(([token, { bids, asks }]) => [
              token,
              { bids: sorted(bids, 'highest'), asks: sorted(asks, 'lowest') },
            ]),
          ),
        );
      }, DRAW_EVERY_MS);
    };
    const end = openStream(`/owner/markets/stream?tokens=${encodeURIComponent(asked)}`, {
      onEvent({ type, data }) {
        const { tokenId, bids, asks } = data as BookEventData | DeltaEventData;
        if (type === 'book') held.set(tokenId, { bids: whole(bids), asks: whole(asks) });
        else if (type === 'gap') held.delete(tokenId);
        else if (type === 'delta') {
          const book = held.get(tokenId);
          if (book === undefined) return;
          change(book.bids, bids);
          change(book.asks, asks);
        } else return;
        draw();
      },
      onState({ name }) {
        if (name !== 'lost') return;
        held.clear();
        draw();
      },
      // A new stream begins with whole books.
      onGap() {},
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [asked]);
  return books;
}
