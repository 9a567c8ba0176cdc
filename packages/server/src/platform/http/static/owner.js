// The pages' one script: passkeys, the claim, the owner's controls. What the server renders is the truth; after every
// change the page is loaded again, so this script never guesses what holds.

const base = document.body.dataset.base ?? '';
const message = document.getElementById('message');
const NOTE = 'bellwether note';
const CHECKED = 'bellwether session checked';

/** Something that a person can read. */
class Trouble extends Error {}

function say(text, isError = false) {
  message.textContent = text;
  message.hidden = false;
  message.classList.toggle('error', isError);
  message.setAttribute('role', isError ? 'alert' : 'status');
  message.focus();
}

async function send(path, body) {
  let response;
  try {
    response = await fetch(`${base}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body ?? {}),
      credentials: 'same-origin',
    });
  } catch {
    throw new Trouble('The service did not answer. Check your connection and try again.');
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  if (answer.code === 'owner_session_required') {
    throw new Trouble('Your session has ended. Load the page again and sign in.');
  }
  throw new Trouble(
    [answer.detail, answer.fix].filter(Boolean).join(' ') ||
      `The service answered with status ${response.status}.`,
  );
}

/** Explains in words why a passkey did not come about, from the browser's error. */
function passkeyTrouble(error) {
  if (error instanceof Trouble) return error;
  switch (error?.name) {
    case 'NotAllowedError':
      return new Trouble('The passkey prompt was closed, or took too long. Nothing has changed; try again.');
    case 'InvalidStateError':
      return new Trouble('This device already has a passkey for this account: sign in with it.');
    case 'SecurityError':
      return new Trouble('This address cannot use passkeys: they need https, or localhost.');
    default:
      return new Trouble('The passkey did not work on this device. Try another device or browser.');
  }
}

function requirePasskeys() {
  if (!globalThis.SimpleWebAuthnBrowser?.browserSupportsWebAuthn()) {
    throw new Trouble('This browser, or this address, cannot use passkeys: they need https, or localhost.');
  }
  return globalThis.SimpleWebAuthnBrowser;
}

function reload(note) {
  if (note) sessionStorage.setItem(NOTE, note);
  location.reload();
}

async function register(form) {
  const name = form.elements.name.value.trim();
  if (name === '') throw new Trouble('Please enter your name.');
  const { startRegistration } = requirePasskeys();
  const optionsJSON = await send('/owner/passkey/register-options', { name });
  const response = await startRegistration({ optionsJSON }).catch((error) => {
    throw passkeyTrouble(error);
  });
  await send('/owner/passkey/register', { response });
  reload('Your account is ready.');
}

async function signIn() {
  const { startAuthentication } = requirePasskeys();
  const optionsJSON = await send('/owner/passkey/sign-in-options');
  const response = await startAuthentication({ optionsJSON }).catch((error) => {
    throw passkeyTrouble(error);
  });
  await send('/owner/passkey/sign-in', { response });
  reload('You are signed in.');
}

/** One safeguard of the form as it would be sent; `null` when nothing was changed in it. */
function changed(row) {
  const limit = row.querySelector('[name=limit]');
  const locked = row.querySelector('[name=locked]');
  const isSwitch = limit.type === 'checkbox';
  const same = isSwitch ? limit.checked === limit.defaultChecked : limit.value === limit.defaultValue;
  if (same && locked.checked === locked.defaultChecked) return null;
  const label = row.querySelector('.field label').textContent;
  if (!isSwitch && !limit.checkValidity()) {
    limit.setAttribute('aria-invalid', 'true');
    throw new Trouble(`${label}: ${limit.validationMessage}`);
  }
  const value = isSwitch ? limit.checked : limit.value === '' ? null : Number(limit.value);
  if (locked.checked && value === null) throw new Trouble(`${label}: enter a limit before you lock it.`);
  return { limit: value, locked: locked.checked };
}

async function saveSafeguards(form, agent) {
  const change = {};
  for (const row of form.querySelectorAll('[data-safeguard]')) {
    row.querySelector('[name=limit]').removeAttribute('aria-invalid');
    const value = changed(row);
    if (value !== null) change[row.dataset.safeguard] = value;
  }
  if (Object.keys(change).length === 0) return say('Nothing was changed.');
  await send(`/owner/agents/${agent}/safeguards`, change);
  return reload('The limits are saved. They hold from the next trade on.');
}

async function pause(agent, paused) {
  await send(`/owner/agents/${agent}/pause`, { paused });
  reload(paused ? 'Trading is paused.' : 'Trading is allowed again.');
}

async function act(element) {
  const agent = element.closest('[data-agent]')?.dataset.agent;
  switch (element.dataset.action) {
    case 'register':
      return register(element);
    case 'sign-in':
      return signIn();
    case 'sign-out':
      await send('/owner/sign-out');
      return reload('You are signed out.');
    case 'claim':
      await send('/owner/claim', {
        claimCode: element.dataset.claimCode,
        ...(element.dataset.safeguards === undefined
          ? {}
          : { safeguards: JSON.parse(element.dataset.safeguards) }),
      });
      return reload('This agent is yours now.');
    case 'safeguards':
      return saveSafeguards(element, agent);
    case 'pause':
      return pause(agent, true);
    case 'resume':
      return pause(agent, false);
    default:
      return undefined;
  }
}

/** Does it, with the buttons held meanwhile: a second press must not send it twice. */
async function run(element) {
  const buttons = document.querySelectorAll('button');
  for (const button of buttons) button.disabled = true;
  try {
    await act(element);
  } catch (error) {
    say(error instanceof Trouble ? error.message : 'Something went wrong on this page. Load it again.', true);
    if (!(error instanceof Trouble)) console.error(error);
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('button[data-action]');
  if (button !== null) run(button);
});
document.addEventListener('submit', (event) => {
  event.preventDefault();
  run(event.target);
});

const note = sessionStorage.getItem(NOTE);
sessionStorage.removeItem(NOTE);
if (note !== null) say(note);

// Browsers keep the session's cookie back when a link elsewhere led here. Asked from this page they send it: when it
// still holds, the page is loaded once more, this time by itself.
if (document.body.dataset.signedIn === 'no' && sessionStorage.getItem(CHECKED) !== location.href) {
  sessionStorage.setItem(CHECKED, location.href);
  fetch(`${base}/owner/session`, { credentials: 'same-origin' })
    .then((response) => response.json())
    .then(({ signedIn }) => {
      if (signedIn === true) location.replace(location.href);
    })
    .catch(() => {});
} else if (document.body.dataset.signedIn === 'yes') {
  sessionStorage.removeItem(CHECKED);
}
