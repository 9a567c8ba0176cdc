/** The ways in: a passkey, new or known, or a printed code. A passkey is also asked for in the middle, when a session has ended under an open page. */
import { useState } from 'preact/hooks';
import { Trouble } from '../desk/call.ts';
import { recover, register, signIn } from '../desk/passkeys.ts';
import { findSession } from '../desk/session.ts';
import { useAction } from '../parts/pieces.tsx';

const entered = (work: () => Promise<void>) => async (): Promise<string> => {
  await work();
  await findSession();
  return 'You are signed in.';
};

function Known({ action }: { readonly action: ReturnType<typeof useAction> }) {
  return (
    <button
      type="button"
      class="primary"
      disabled={action.isBusy}
      onClick={() => action.run(entered(signIn))}
    >
      Sign in with a passkey
    </button>
  );
}

function Recover({ action }: { readonly action: ReturnType<typeof useAction> }) {
  const [code, setCode] = useState('');
  return (
    <details class="card line">
      <summary>No passkey left? Use your printed recovery code</summary>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void action.run(entered(() => recover(code)));
        }}
      >
        <p>
          The code works once: this device makes a new passkey, and you are signed in. For a day you can then
          look, pause, cancel and decline, and nothing else; who still has a passkey of before can undo it.
        </p>
        <label for="recovery-code">Recovery code</label>
        <input
          id="recovery-code"
          type="text"
          maxLength={100}
          autoComplete="off"
          autoCapitalize="characters"
          spellcheck={false}
          value={code}
          onInput={({ currentTarget }) => setCode(currentTarget.value)}
        />
        <button type="submit" disabled={action.isBusy}>
          Use the code
        </button>
      </form>
    </details>
  );
}

export function SignIn() {
  const action = useAction();
  const [name, setName] = useState('');
  return (
    <main id="content" class="narrow">
      <h1>Your agents</h1>
      <p>Sign in to see what the agents that you have claimed do, to limit them, and to stop them.</p>
      <section class="card ways" aria-label="Ways to sign in">
        <div class="way">
          <h2>Been here before?</h2>
          <p>Use the passkey of your owner account.</p>
          <Known action={action} />
        </div>
        <form
          class="way"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void action.run(
              entered(async () => {
                if (name.trim() === '') throw new Trouble('Please enter your name.');
                await register(name.trim());
              }),
            );
          }}
        >
          <h2>New here?</h2>
          <p>Your device makes a passkey: no password, nothing to remember.</p>
          <label for="owner-name">Your name</label>
          <input
            id="owner-name"
            type="text"
            maxLength={100}
            autoComplete="name"
            required
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
          <button type="submit" disabled={action.isBusy}>
            Create account with a passkey
          </button>
        </form>
      </section>
      <Recover action={action} />
    </main>
  );
}

/** Asks for the passkey; the page behind it stays as it is, with everything that was typed. */
export function SessionEnded() {
  const action = useAction();
  return (
    <div class="ended" role="alertdialog" aria-label="Your session has ended">
      <p>
        <strong>Your session has ended.</strong> What you see may be old; what you have typed is kept. Sign in
        again to go on.
      </p>
      <Known action={action} />
    </div>
  );
}
