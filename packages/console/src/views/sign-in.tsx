/** The ways in: a passkey, new or known, or a printed code. A passkey is also asked for in the middle, when a session has ended under an open page. */

import type { NewRecoveryCode, OwnerPasskey, OwnerPasskeys } from '@bellwether/contract';
import { useState } from 'preact/hooks';
import { useResource } from '../desk/live.ts';
import {
  BASE,
  findSession,
  makePasskey,
  recover,
  register,
  send,
  sendWithPasskey,
  session,
  signIn,
  Trouble,
  useStore,
} from '../desk/session.ts';
import { Time } from '../parts/figures.tsx';
import { type Action, Badge, Card, Confirm, State, useAction } from '../parts/pieces.tsx';

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

// How the owner gets in: passkeys with names, and a printed code for the day on which none of them is left.

/** As the contract limits it. */
const NAME_CHARS = 60;

interface NameFieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

const NameField = ({ id, label, value, onValue }: NameFieldProps) => (
  <>
    <label for={id}>{label}</label>
    <input
      id={id}
      type="text"
      maxLength={NAME_CHARS}
      autoComplete="off"
      value={value}
      onInput={({ currentTarget }) => onValue(currentTarget.value)}
    />
  </>
);

interface ChangesProps {
  readonly passkey: OwnerPasskey;
  readonly isOnly: boolean;
  readonly change: (work: () => Promise<string>) => void;
  readonly action: Action;
}

function Changes({ passkey: { passkeyId, name, isOfThisSession }, isOnly, change, action }: ChangesProps) {
  const [typed, setTyped] = useState(name);
  const [asks, setAsks] = useState(false);
  const path = `/owner/passkeys/${passkeyId}`;
  const rename = async () => {
    await send(`${path}/name`, { name: typed });
    return `The passkey is named ${typed.trim()}.`;
  };
  const remove = async () => {
    await sendWithPasskey(`${path}/remove`);
    return `The passkey ${name} is removed; its sessions have ended.`;
  };
  return (
    <details>
      <summary>
        Rename or remove<span class="hidden"> {name}</span>
      </summary>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          change(rename);
        }}
      >
        <NameField id={`name-${passkeyId}`} label="Name" value={typed} onValue={setTyped} />
        <div class="buttons">
          <button type="submit" disabled={action.isBusy}>
            Save the name
          </button>
          {!isOnly && (
            <button type="button" class="stop" disabled={action.isBusy} onClick={() => setAsks(true)}>
              Remove<span class="hidden"> {name}</span>
            </button>
          )}
        </div>
      </form>
      {isOnly && <p class="hint">Your only passkey cannot be removed.</p>}
      {asks && (
        <Confirm
          title={`Remove the passkey ${name}?`}
          yes="Remove it, with a passkey"
          onNo={() => setAsks(false)}
          onYes={() => {
            setAsks(false);
            change(remove);
          }}
        >
          <p>
            It no longer opens your account, and what it signed in is signed out
            {isOfThisSession ? ': this page, too' : ''}. Any passkey of yours confirms it.
          </p>
        </Confirm>
      )}
    </details>
  );
}

/** Two taps, because browsers let one tap ask for one passkey. */
function Add({ change, action }: Pick<ChangesProps, 'change' | 'action'>) {
  const [name, setName] = useState('');
  const [options, setOptions] = useState<unknown>(null);
  const confirm = async () => {
    setOptions(
      await sendWithPasskey('/owner/passkeys/register-options', {}, '/owner/passkeys/passkey-options'),
    );
    return 'Confirmed. Now make the new passkey, within five minutes.';
  };
  const add = async () => {
    const response = await makePasskey(options);
    // Good for one answer.
    setOptions(null);
    await send('/owner/passkeys/register', {
      response,
      ...(name.trim() === '' ? {} : { name: name.trim() }),
    });
    setName('');
    return 'The passkey is added.';
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        change(options === null ? confirm : add);
      }}
    >
      <h3>Another passkey</h3>
      <p>
        On another device or a security key, so that losing one does not lock you out. Confirm with a passkey
        that you have; then make the new one.
      </p>
      <NameField id="new-name" label="Its name, as “Telephone”" value={name} onValue={setName} />
      <button type="submit" class={options === null ? '' : 'primary'} disabled={action.isBusy}>
        {options === null ? 'Add a passkey' : 'Make the new passkey'}
      </button>
    </form>
  );
}

interface RecoveryCodeProps {
  readonly madeAt: string | null;
  readonly name: string;
  readonly isClosed: boolean;
  readonly onDone: () => void;
}

/** On paper it is alone, so it says what it is. */
const Printed = ({ made, name }: { readonly made: NewRecoveryCode; readonly name: string }) => (
  <div class="printed">
    <p>
      Bellwether, {location.host}: the recovery code of <strong>{name}</strong>, made on{' '}
      <Time at={made.madeAt} />
    </p>
    <p class="code">
      {made.recoveryCode.split('-').map((group, i) => (
        <span key={group}>
          {i > 0 && '-'}
          <wbr />
          {group}
        </span>
      ))}
    </p>
    <p>Use it once, at {`${location.host}${BASE}/console`}. Keep it where you keep papers of value.</p>
  </div>
);

function RecoveryCode({ madeAt, name, isClosed, onDone }: RecoveryCodeProps) {
  const [made, setMade] = useState<NewRecoveryCode | null>(null);
  // It was used meanwhile.
  const shown = isClosed ? null : made;
  const action = useAction();
  const make = () =>
    void action
      .run(async () => {
        setMade(await sendWithPasskey<NewRecoveryCode>('/owner/recovery-code'));
        return 'Print this code now or write it down: it is shown this once.';
      })
      .then(onDone);
  return (
    <Card title="Recovery code">
      <p>
        For the day on which no passkey is left: a code on paper opens your account once and makes a new
        passkey. For 24 hours you can then look, pause, cancel and decline, and nothing else, and any passkey
        of before can undo it, so a thief of the paper gains little.
      </p>
      <p>
        {madeAt === null ? (
          'No code is in force.'
        ) : (
          <>
            The code of <Time at={madeAt} /> is in force.
          </>
        )}
      </p>
      {shown !== null && <Printed made={shown} name={name} />}
      <div class="buttons">
        {shown !== null && (
          <>
            <button type="button" class="primary" onClick={() => print()}>
              Print it
            </button>
            <button type="button" onClick={() => setMade(null)}>
              I have it: hide it
            </button>
          </>
        )}
        {shown === null && !isClosed && (
          <button type="button" disabled={action.isBusy} onClick={make}>
            {madeAt === null ? 'Make a recovery code' : 'Make a new one, which ends that'}
          </button>
        )}
      </div>
    </Card>
  );
}

export function Passkeys() {
  const present = useStore(session);
  const passkeys = useResource<OwnerPasskeys>('/owner/passkeys');
  const action = useAction();
  const isClosed = 'userId' in present && present.recovery !== null;
  const onDone = () => {
    passkeys.reload();
    void findSession().catch(() => {});
  };
  const change = (work: () => Promise<string>) => void action.run(work).then(onDone);
  const { data } = passkeys;
  return (
    <main id="content" class="narrow">
      <h1>Sign-in</h1>
      {isClosed && <p class="note">On the day after a recovery nothing can be changed here.</p>}
      <State of={passkeys} what="your passkeys" />
      {data !== null && (
        <>
          <Card title="Passkeys">
            <ul class="list">
              {data.passkeys.map((passkey) => (
                <li key={passkey.passkeyId}>
                  <h3>
                    {passkey.name} {passkey.isOfThisSession && <Badge>signed in here</Badge>}{' '}
                    {passkey.isOfRecovery && <Badge kind="warn">made by the recovery</Badge>}
                  </h3>
                  <p class="note">
                    Made <Time at={passkey.createdAt} />, last used <Time at={passkey.lastUsedAt} />
                  </p>
                  {!isClosed && (
                    <Changes
                      key={passkey.name}
                      passkey={passkey}
                      isOnly={data.passkeys.length === 1}
                      change={change}
                      action={action}
                    />
                  )}
                </li>
              ))}
            </ul>
            {!isClosed && <Add change={change} action={action} />}
          </Card>
          <RecoveryCode
            madeAt={data.recoveryCodeMadeAt}
            name={'userId' in present ? present.name : ''}
            isClosed={isClosed}
            onDone={onDone}
          />
        </>
      )}
    </main>
  );
}
