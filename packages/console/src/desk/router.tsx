/** Which view the address names. Links change it without loading the page; the server answers every one of them. */
import type { ComponentChildren } from 'preact';
import { BASE, createStore } from './session.ts';

const AGENT_PARTS = ['positions', 'exits', 'orders', 'decisions', 'limits', 'keys'] as const;
export type AgentPart = 'overview' | (typeof AGENT_PARTS)[number];

export type Route =
  | { readonly view: 'home' | 'approvals' | 'sign-in' | 'operator' | 'unknown' }
  | { readonly view: 'agent'; readonly agentId: string; readonly part: AgentPart }
  | { readonly view: 'order'; readonly agentId: string; readonly orderId: string }
  | { readonly view: 'market'; readonly marketId: string; readonly venue: string | null };

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** An address that was cut off is distinguished from one whose agent or order is not there. */
const AGENT_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const ORDER_ID = /^(0x[\da-f]{64}|[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})$/i;

function routeOf({ pathname, search }: Location): Route {
  const parts = pathname.slice(`${BASE}/console`.length).split('/').filter(Boolean).map(decoded);
  const [first, id = '', below, lowest = ''] = parts;
  const shape = `${first ?? ''}${parts.length > 1 ? '/*' : ''}${below === undefined ? '' : `/${below}`}${parts.length > 3 ? '/*' : ''}`;
  const part = AGENT_PARTS.find((name) => shape === `agents/*/${name}`);
  if (shape === 'agents/*' || part !== undefined)
    return AGENT_ID.test(id)
      ? { view: 'agent', agentId: id.toLowerCase(), part: part ?? 'overview' }
      : { view: 'unknown' };
  switch (shape) {
    case '':
      return { view: 'home' };
    case 'approvals':
    case 'sign-in':
    case 'operator':
      return { view: shape };
    case 'agents/*/orders/*':
      return AGENT_ID.test(id) && ORDER_ID.test(lowest)
        ? { view: 'order', agentId: id.toLowerCase(), orderId: lowest.toLowerCase() }
        : { view: 'unknown' };
    case 'markets/*':
      return { view: 'market', marketId: id, venue: new URLSearchParams(search).get('venue') };
    default:
      return { view: 'unknown' };
  }
}

export const route = createStore<Route>(routeOf(location));
let shown = location.pathname + location.search;
/** A link within the view, as to its content, leads to the same view. */
const follow = (): void => {
  const asked = location.pathname + location.search;
  if (asked === shown) return;
  shown = asked;
  route.set(routeOf(location));
};
window.addEventListener('popstate', follow);

/** A path below /console, as an address. */
const addressOf = (path: string): string => `${BASE}/console${path}`;

function go(path: string): void {
  history.pushState(null, '', addressOf(path));
  follow();
  scrollTo(0, 0);
}

interface LinkProps {
  /** Below /console: '' is home. */
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly 'aria-current'?: 'page' | 'true' | undefined;
}

export const Link = ({ to, children, ...rest }: LinkProps) => (
  <a
    {...rest}
    href={addressOf(to)}
    onClick={(event) => {
      if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey)
        return;
      event.preventDefault();
      go(to);
    }}
  >
    {children}
  </a>
);
