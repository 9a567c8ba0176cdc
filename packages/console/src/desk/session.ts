/**
 * Who is signed in. A session that ends while a page is open leaves the page as it is, with what was typed, and asks for
 * the passkey again; when another owner signs in then, the page starts anew, so nothing of the first one stays.
 */
import type { OwnerSession } from '@bellwether/contract';
import { onSessionEnd, read, send } from './call.ts';
import { createStore } from './store.ts';

export type Session =
  | { readonly state: 'unknown' | 'out' }
  | {
      readonly state: 'in' | 'ended';
      readonly userId: string;
      readonly name: string;
      readonly canRecover: boolean;
      readonly recovery: OwnerSession['recovery'];
    };

export const session = createStore<Session>({ state: 'unknown' });
/** Grows when everything that is shown must be read again. */
export const resync = createStore(0);
export const readAgain = (): void => resync.set(resync.get() + 1);

onSessionEnd(() => {
  const present = session.get();
  if (present.state === 'in') session.set({ ...present, state: 'ended' });
  if (present.state === 'unknown') session.set({ state: 'out' });
});

/** @throws {import('./call.ts').Trouble} */
export async function findSession(): Promise<void> {
  const { signedIn, userId, name, canRecover, recovery } = await read<OwnerSession>('/owner/session');
  const before = session.get();
  if (!signedIn || userId === null) {
    session.set(
      before.state === 'in'
        ? { ...before, state: 'ended' }
        : before.state === 'ended'
          ? before
          : { state: 'out' },
    );
    return;
  }
  if ('userId' in before && before.userId !== userId) return location.reload();
  session.set({ state: 'in', userId, name: name ?? '', canRecover, recovery });
  const isOther =
    before.state === 'ended' || (before.state === 'in' && before.recovery?.beganAt !== recovery?.beganAt);
  if (isOther) readAgain();
}

export async function signOut(): Promise<void> {
  await send('/owner/sign-out');
  session.set({ state: 'out' });
}
