/** The latest events of the stream, in words. */
import { useEffect, useState } from 'preact/hooks';
import { type DeskEvent, onDeskEvent } from '../desk/live.ts';
import { Link } from '../desk/router.tsx';
import { money, outcomeWords, price, shares, signed, Time } from './figures.tsx';
import { Further, useHeld } from './held.tsx';

const KEPT = 30;

const ORDER = /^order\.(.+)$/;

const SIDES = ['YES', 'NO'];

const SETS: Readonly<Record<string, string>> = {
  SPLIT: 'Split',
  MERGE: 'Merge of',
  CONVERT: 'Conversion of',
};

/** Words for a person about an event; `null`: it says nothing that others do not say. */
function wordsFor({ type, data }: DeskEvent): string | null {
  const [, status] = ORDER.exec(type) ?? [];
  // Not every event has data.
  const which = () => outcomeWords(data.outcome, data.outcomeName);
  if (status !== undefined && data.outcome === 'BOTH')
    return `${SETS[data.orderType]} ${shares(data.orderSize)} ${data.orderType === 'CONVERT' ? 'NO' : 'full sets'}: ${status}${
      data.errorCode ? ` (${data.errorCode})` : ''
    }`;
  if (status !== undefined)
    return `${data.side} ${shares(data.orderSize)} ${which()} at ${price(data.price)}: ${status.replaceAll('_', ' ')}${
      data.errorCode ? ` (${data.errorCode})` : ''
    }`;
  switch (type) {
    case 'fill':
      return `${data.side === 'BUY' ? 'Bought' : 'Sold'} ${shares(data.size)} ${which()} at ${price(data.price)} for ${money(data.cost)}, fee ${price(data.fee)}`;
    case 'fill.reversed':
      return `The settlement of a fill of ${shares(data.size)} ${which()} failed: it does not count`;
    case 'market.resolved':
      return `A market was decided: ${outcomeWords(data.payout, data.outcomes?.[SIDES.indexOf(data.payout)])}`;
    case 'risk':
      return data.message;
    case 'fee':
      return `A fee of ${price(data.amount)} was charged`;
    case 'redemption':
      return `${shares(data.size)} ${which()} were redeemed for ${money(data.payout)}`;
    case 'balance':
      return data.reason === 'trade' || data.reason === 'split' || data.reason === 'merge'
        ? null
        : `${signed(data.change)} collateral: ${data.reason}`;
    case 'safeguards':
      return 'Safeguards changed';
    case 'wallet.left':
      return `A wallet left: ${data.walletAddress}`;
    default:
      if (type.startsWith('exit.')) return data.message;
      return type.startsWith('approval')
        ? `Approval: ${type.slice('approval.'.length).replaceAll('_', ' ')}`
        : null;
  }
}

interface Happening {
  readonly key: number;
  readonly event: DeskEvent;
  readonly words: string;
}

/** The place has a fixed height: what comes first fills it, what comes later waits behind the button. */
export function Happenings({ names }: { readonly names: ReadonlyMap<string, string> }) {
  const [list, setList] = useState<readonly Happening[]>([]);
  useEffect(() => {
    let key = 0;
    // Events of one turn are drawn together: a busy agent must not have the page drawn for each event.
    let waiting: Happening[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = onDeskEvent((event) => {
      const words = wordsFor(event);
      if (words === null) return;
      waiting = [{ key: ++key, event, words }, ...waiting].slice(0, KEPT);
      timer ??= setTimeout(() => {
        timer = undefined;
        const fresh = waiting;
        waiting = [];
        setList((before) => [...fresh, ...before].slice(0, KEPT));
      }, 250);
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, []);
  const held = useHeld(list, ({ key }) => String(key), true);
  return (
    <>
      <Further of={held} what="what happens" keepsGone />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section class="scroll tall" aria-label="List of what happens" tabIndex={0}>
        {held.rows.length === 0 ? (
          <p class="note">Nothing yet since this page was opened.</p>
        ) : (
          <ul class="list">
            {held.rows.map(({ key, event, words }) => (
              <li key={key}>
                <span class="note">
                  <Time at={event.createdAt} />{' '}
                </span>
                <Link to={`/agents/${event.agentId}`}>{names.get(event.agentId) ?? 'An agent'}</Link>: {words}
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  );
}
