/** The frame around every view: who is signed in, where one can go, whether what is shown is live. */

import type { OwnerSession } from '@bellwether/contract';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { followDesk, liveState } from './desk/live.ts';
import { Link, type Route, route } from './desk/router.tsx';
import {
  createStore,
  findSession,
  readAgain,
  type Session,
  sendWithPasskey,
  session,
  signOut,
  useStore,
  wordsOf,
} from './desk/session.ts';
import { Time } from './parts/figures.tsx';
import { Toast, useAction } from './parts/pieces.tsx';
import { Agent } from './views/agent.tsx';
import { Approvals, useApprovals } from './views/approvals.tsx';
import { Home } from './views/home.tsx';
import { Market } from './views/market.tsx';
import { Operator } from './views/operator.tsx';
import { OrderView } from './views/order.tsx';
import { Passkeys, SessionEnded, SignIn } from './views/sign-in.tsx';

type KnownOwner = Extract<Session, { readonly userId: string }>;

const startTrouble = createStore<string | null>(null);
const RETRY_MS = 3000;

async function start(): Promise<void> {
  try {
    await findSession();
    startTrouble.set(null);
  } catch (error) {
    startTrouble.set(wordsOf(error));
    setTimeout(() => void start(), RETRY_MS);
  }
}

const TITLES: Readonly<Record<Route['view'], string>> = {
  home: 'Home',
  agent: 'Agent',
  market: 'Market',
  approvals: 'Approvals',
  'sign-in': 'Sign-in',
  order: 'Order and receipt',
  operator: 'Operator',
  unknown: 'Not found',
};

function focusContent(): void {
  const content = document.getElementById('content');
  content?.setAttribute('tabindex', '-1');
  content?.focus({ preventScroll: true });
}

function view(to: Route, waiting: ReturnType<typeof useApprovals>) {
  switch (to.view) {
    case 'home':
      return <Home />;
    case 'agent':
      return <Agent key={to.agentId} agentId={to.agentId} part={to.part} />;
    case 'order':
      return <OrderView key={to.orderId} agentId={to.agentId} orderId={to.orderId} />;
    case 'market':
      return <Market key={`${to.venue} ${to.marketId}`} marketId={to.marketId} venue={to.venue} />;
    case 'approvals':
      return <Approvals waits={waiting} />;
    case 'sign-in':
      return <Passkeys />;
    case 'operator':
      return <Operator />;
    default:
      return (
        <main id="content">
          <h1>Not found</h1>
          <p>
            There is no such page. <Link to="">Go to your agents.</Link>
          </p>
        </main>
      );
  }
}

function LiveBadge() {
  const state = useStore(liveState);
  const text = { connecting: 'Connecting…', live: 'Live', lost: 'Not live' }[state.name];
  return (
    <span class={`live ${state.name}`} title="Whether this page follows what happens as it happens">
      {text}
    </span>
  );
}

function LostStream() {
  const state = useStore(liveState);
  if (state.name !== 'lost') return null;
  return (
    <p class="bar" role="status">
      <strong>This page is not live.</strong> {state.why} What you see may be old; the page catches up when it
      is back.
    </p>
  );
}

function Waiting({ count: waiting }: { readonly count: number }) {
  // Its place is kept: the entries beside it must not move when the first one comes.
  return (
    <span class={`count ${waiting === 0 ? 'none' : ''}`}>
      {waiting > 0 && (
        <>
          {waiting}
          <span class="hidden"> waiting</span>
        </>
      )}
    </span>
  );
}

function Navigation({
  owner,
  waiting = 0,
  children,
}: {
  readonly owner: string | null;
  /** Approvals. */
  readonly waiting?: number;
  readonly children?: ComponentChildren;
}) {
  const present = useStore(route).view;
  const current = (name: Route['view']) => (present === name ? ('page' as const) : undefined);
  return (
    <header class="top">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <Link class="brand" to="">
        Bellwether
      </Link>
      <nav aria-label="Console">
        {owner !== null && (
          <>
            <Link to="" aria-current={current('home')}>
              Home
            </Link>
            <Link to="/approvals" aria-current={current('approvals')}>
              Approvals
              <Waiting count={waiting} />
            </Link>
            <Link to="/sign-in" aria-current={current('sign-in')}>
              Sign-in
            </Link>
          </>
        )}
        <Link to="/operator" aria-current={current('operator')}>
          Operator
        </Link>
      </nav>
      {children}
    </header>
  );
}

/** The browser sent a session's cookie with the request for the page: the line of its owner keeps its place until it is found. */
const hadSession = document.querySelector('link[rel=preload]') !== null;

/** The frame of every view: it stays while the session is being found, so that what was typed there stays too. */
function Frame({ owner, to }: { readonly owner: KnownOwner | null; readonly to: Route }) {
  const isIn = owner?.state === 'in';
  // Another owner, or a new session, has another stream.
  useEffect(() => (isIn ? followDesk() : undefined), [owner?.userId, isIn]);
  const waiting = useApprovals(owner === null ? null : 'waiting');
  const isExpected = useStore(session).state === 'unknown' && hadSession;
  return (
    <>
      <Navigation owner={owner?.name ?? null} waiting={waiting.data?.length ?? 0}>
        {owner !== null && (
          <p class="who">
            {isIn && <LiveBadge />} Signed in as <strong>{owner.name}</strong>{' '}
            <button type="button" class="quiet" onClick={() => void signOut().catch(readAgain)}>
              Sign out
            </button>
          </p>
        )}
        {owner === null && isExpected && <p class="who" />}
      </Navigation>
      {isIn && <RecoveryDay recovery={owner.recovery} />}
      {view(to, waiting)}
      {isIn ? <LostStream /> : owner !== null && <SessionEnded />}
      <Toast />
    </>
  );
}

export function App() {
  const present = useStore(session);
  const to = useStore(route);
  const trouble = useStore(startTrouble);
  useEffect(() => void start(), []);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${TITLES[to.view]} · Bellwether`;
    // A link within the page loads nothing: without this a screen reader would not notice the new view.
    if (!isFirst.current) focusContent();
    isFirst.current = false;
  }, [to]);

  // The operator signs in with a key of the service, not as an owner.
  const owner = 'userId' in present ? present : null;
  if (owner !== null || to.view === 'operator') return <Frame owner={owner} to={to} />;
  return (
    <>
      <Navigation owner={null} />
      {trouble !== null && (
        <p class="message error" role="alert">
          {trouble}
        </p>
      )}
      {present.state === 'out' ? <SignIn /> : <main id="content" aria-busy="true" />}
      <Toast />
    </>
  );
}

// The day after a recovery, at the top of every page: the account's owner must read of it wherever a page is open.

const LOOK_EVERY_MS = 60_000;

function RecoveryDay({ recovery }: Pick<OwnerSession, 'recovery'>) {
  const action = useAction();
  const isOn = recovery !== null;
  // One that begins while the page is open stands over it, as nothing may move under the owner's hand.
  const wasOn = useRef(isOn).current;
  // Its end comes without an event.
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => void findSession().catch(() => {}), LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [isOn]);
  const undo = () =>
    void action.run(async () => {
      await sendWithPasskey('/owner/recovery/undo');
      await findSession();
      return 'The recovery is undone: its passkey and the sessions of that are gone. The code is used up: print another one.';
    });
  if (recovery === null) return null;
  return (
    <section class={wasOn ? 'message error' : 'bar'} aria-label="The account was recovered">
      <p role="alert">
        <strong>A recovery code opened this account</strong> on <Time at={recovery.beganAt} />. Until{' '}
        <Time at={recovery.endsAt} /> you can look, pause, cancel and decline, and nothing else, in every
        session. A pause suspends every exit then and sends none, also what was armed for it. If that was not
        you, undo it with a passkey that you had before.
      </p>
      <button type="button" class="stop" disabled={action.isBusy} onClick={undo}>
        Undo it with a passkey of before
      </button>
    </section>
  );
}
