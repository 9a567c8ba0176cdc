/** The day after a recovery, at the top of every page: the account's owner must read of it wherever a page is open. */
import type { OwnerSession } from '@bellwether/contract';
import { useEffect, useRef } from 'preact/hooks';
import { sendWithPasskey } from '../desk/passkeys.ts';
import { findSession } from '../desk/session.ts';
import { Time } from './figures.tsx';
import { useAction } from './pieces.tsx';

const LOOK_EVERY_MS = 60_000;

export function RecoveryDay({ recovery }: Pick<OwnerSession, 'recovery'>) {
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
