/** The owner's passkeys: a new account, a sign-in, a recovery, and the word for one act. */
import { readRecoveryCode } from '@bellwether/contract/recovery-code';
import { browserSupportsWebAuthn, startAuthentication, startRegistration } from '@simplewebauthn/browser';
import { send, Trouble } from './call.ts';

type SignInOptions = Parameters<typeof startAuthentication>[0]['optionsJSON'];
type RegistrationOptions = Parameters<typeof startRegistration>[0]['optionsJSON'];

/** Explains in words why a passkey did not come about, from the browser's error. */
function passkeyTrouble(error: unknown): Trouble {
  switch ((error as Error | undefined)?.name) {
    case 'NotAllowedError':
    case 'AbortError':
      return new Trouble('The passkey prompt was closed, or took too long. Nothing has changed; try again.');
    case 'InvalidStateError':
      return new Trouble(
        'This device already has a passkey of this account. Sign in with it, or choose another device or a security key.',
      );
    case 'SecurityError':
      return new Trouble('This address cannot use passkeys: they need https, or localhost.');
    default:
      return new Trouble('The passkey did not work on this device. Try another device or browser.');
  }
}

const asTrouble = (error: unknown): never => {
  throw passkeyTrouble(error);
};

function requirePasskeys(): void {
  if (!browserSupportsWebAuthn())
    throw new Trouble('This browser, or this address, cannot use passkeys: they need https, or localhost.');
}

/** The device's answer to a challenge of the desk. @throws {Trouble} */
export async function answerChallenge(optionsJSON: unknown) {
  requirePasskeys();
  return startAuthentication({ optionsJSON: optionsJSON as SignInOptions }).catch(asTrouble);
}

/** The device's new passkey for a challenge of the desk. @throws {Trouble} */
export async function makePasskey(optionsJSON: unknown) {
  requirePasskeys();
  return startRegistration({ optionsJSON: optionsJSON as RegistrationOptions }).catch(asTrouble);
}

/** Sends what takes the word of a passkey. @param asking the path that gives the challenge for it @throws {Trouble} */
export async function sendWithPasskey<T>(
  path: string,
  body: object = {},
  asking = `${path}/passkey-options`,
): Promise<T> {
  const options = await send(asking, body);
  return send<T>(path, { ...body, response: await answerChallenge(options) });
}

/** @throws {Trouble} */
export async function register(name: string): Promise<void> {
  requirePasskeys();
  const options = await send('/owner/passkey/register-options', { name });
  await send('/owner/passkey/register', { response: await makePasskey(options) });
}

/** Uses a printed code. @param typed as people type it @throws {Trouble} */
export async function recover(typed: string): Promise<void> {
  requirePasskeys();
  const code = readRecoveryCode(typed);
  if (code === null)
    throw new Trouble(
      'This is no recovery code. Compare every character with the printed one: six groups of five. Nothing was sent.',
    );
  const options = await send('/owner/recovery/register-options', { code });
  await send('/owner/recovery', { code, response: await makePasskey(options) });
}

/** @throws {Trouble} */
export async function signIn(): Promise<void> {
  requirePasskeys();
  const options = await send<SignInOptions>('/owner/passkey/sign-in-options');
  await send('/owner/passkey/sign-in', { response: await answerChallenge(options) });
}
